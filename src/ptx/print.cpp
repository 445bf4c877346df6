// SPDX-License-Identifier: MIT
#include "ptx/print.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "ptx/access.hpp"

namespace kbench::ptx {
namespace {

constexpr std::size_t kLongestText = 4096;

/// One conversion after '%', as in C without n and without positions.
struct Conversion {
  std::string flags;   ///< flags, width and precision
  std::string length;  ///< "ll"
  char kind = '\0';
};

Conversion parse_conversion(std::string_view format, std::size_t& at) {
  Conversion conversion;
  const auto run = [&](std::string_view among, std::string& into) {
    while (at < format.size() && among.find(format[at]) != std::string_view::npos) {
      into += format[at++];
    }
  };
  run("-+ #0123456789.*", conversion.flags);
  run("hljztL", conversion.length);
  if (at < format.size()) conversion.kind = format[at++];
  return conversion;
}

class Arguments {
 public:
  Arguments(Context& c, const Instr& in, unsigned lane, std::uint64_t at)
      : c_(c), in_(in), lane_(lane), at_(at) {}

  /// The next argument of 4 or 8 bytes; nothing after a fault.
  std::optional<std::uint64_t> next(unsigned bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    const std::byte* from = resolve(c_, in_, lane_, Space::kGeneric, at_, bytes, Access::kRead);
    at_ += bytes;
    if (from == nullptr) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    return value;
  }

 private:
  Context& c_;
  const Instr& in_;
  unsigned lane_;
  std::uint64_t at_;
};

template <class T>
void append(std::string& out, const std::string& specification, T value) {
  std::array<char, kLongestText> text{};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int written = std::snprintf(text.data(), text.size(), specification.c_str(), value);
#pragma GCC diagnostic pop
  if (written > 0)
    out.append(text.data(),
               std::min<std::size_t>(text.size() - 1, static_cast<std::size_t>(written)));
}

}  // namespace

std::optional<std::string> read_string(Context& c, const Instr& in, unsigned lane,
                                       std::uint64_t address) {
  std::string text;
  while (text.size() < kLongestText) {
    const std::byte* from = resolve(c, in, lane, Space::kGeneric, address + text.size(), 1, Access::kRead);
    if (from == nullptr) return std::nullopt;
    if (*from == std::byte{0}) break;
    text += static_cast<char>(*from);
  }
  return text;
}

std::optional<std::string> format_printf(Context& c, const Instr& in, unsigned lane,
                                         std::uint64_t format_at, std::uint64_t arguments_at) {
  const auto format = read_string(c, in, lane, format_at);
  if (!format) return std::nullopt;
  Arguments arguments(c, in, lane, arguments_at);
  std::string out;
  for (std::size_t at = 0; at < format->size();) {
    if ((*format)[at] != '%') {
      out += (*format)[at++];
      continue;
    }
    ++at;
    Conversion conversion = parse_conversion(*format, at);
    if (conversion.kind == '%' || conversion.kind == '\0') {
      out += '%';
      continue;
    }
    for (std::size_t star = 0; (star = conversion.flags.find('*')) != std::string::npos;) {
      const auto width = arguments.next(4);
      if (!width) return std::nullopt;
      conversion.flags.replace(star, 1, std::to_string(static_cast<std::int32_t>(*width)));
    }
    const bool floating = std::strchr("fFeEgGaA", conversion.kind) != nullptr;
    const bool text = conversion.kind == 's';
    const bool pointer = conversion.kind == 'p';
    const bool wide =
        floating || text || pointer || conversion.length.find_first_of("lzjt") != std::string::npos;
    const auto value = arguments.next(wide ? 8 : 4);
    if (!value) return std::nullopt;
    const std::string head = "%" + conversion.flags;
    if (floating) {
      append(out, head + conversion.kind, std::bit_cast<double>(*value));
    } else if (text) {
      const auto string = read_string(c, in, lane, *value);
      if (!string) return std::nullopt;
      append(out, head + "s", string->c_str());
    } else if (pointer) {
      append(out, head + "p", static_cast<const void*>(at_address(*value)));
    } else if (std::strchr("diuoxXc", conversion.kind) != nullptr) {
      if (wide) {
        append(out, head + "ll" + conversion.kind, static_cast<long long>(*value));
      } else {
        append(out, head + conversion.length + conversion.kind, static_cast<int>(*value));
      }
    } else {
      out += head + conversion.length + conversion.kind;
    }
  }
  return out;
}

}  // namespace kbench::ptx
