// SPDX-License-Identifier: MIT
#include "ptx/observe/print.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

#include "ptx/memory/access.hpp"

namespace kbench::ptx {
namespace {

constexpr std::size_t kLongestText = 4096;

/// One conversion after '%', as in C, without %n and without positional arguments.
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

  /// The next argument of 4 or 8 bytes; none after a fault.
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
    const std::byte* from =
        resolve(c, in, lane, Space::kGeneric, address + text.size(), 1, Access::kRead);
    if (from == nullptr) return std::nullopt;
    if (*from == std::byte{0}) break;
    text += static_cast<char>(*from);
  }
  return text;
}

namespace {

/// Replaces each '*' by the width or precision argument; false after a fault.
bool fill_stars(std::string& flags, Arguments& arguments) {
  for (std::size_t star = 0; (star = flags.find('*')) != std::string::npos;) {
    const auto argument = arguments.next(4);
    if (!argument) return false;
    const auto width = static_cast<std::int32_t>(*argument);
    const bool precision = star > 0 && flags[star - 1] == '.';
    if (precision && width < 0) {
      flags.erase(star - 1, 2);  // ignore it
    } else {
      flags.replace(star, 1, std::to_string(width));
    }
  }
  return true;
}

enum class Class : std::uint8_t { kInteger, kFloat, kText, kPointer, kUnknown };

Class class_of(char kind) {
  if (std::strchr("diuoxXc", kind) != nullptr) return Class::kInteger;
  if (std::strchr("fFeEgGaA", kind) != nullptr) return Class::kFloat;
  return kind == 's' ? Class::kText : kind == 'p' ? Class::kPointer : Class::kUnknown;
}

}  // namespace

std::optional<Printed> format_printf(Context& c, const Instr& in, unsigned lane,
                                     std::uint64_t format_at, std::uint64_t arguments_at) {
  if (format_at == 0) return Printed{{}, -1};
  const auto format = read_string(c, in, lane, format_at);
  if (!format) return std::nullopt;
  Arguments arguments(c, in, lane, arguments_at);
  Printed out;
  for (std::size_t at = 0; at < format->size();) {
    if ((*format)[at] != '%') {
      out.text += (*format)[at++];
      continue;
    }
    ++at;
    Conversion conversion = parse_conversion(*format, at);
    if (conversion.kind == '%' || conversion.kind == '\0') {
      out.text += '%';
      continue;
    }
    if (!fill_stars(conversion.flags, arguments)) return std::nullopt;
    const Class kind = class_of(conversion.kind);
    const std::string head = "%" + conversion.flags;
    if (kind == Class::kUnknown) {
      out.text += head + conversion.length + conversion.kind;
      continue;
    }
    const bool wide =
        kind != Class::kInteger || conversion.length.find_first_of("lzjt") != std::string::npos;
    const auto value = arguments.next(wide ? 8 : 4);
    if (!value) return std::nullopt;
    ++out.conversions;
    if (kind == Class::kFloat) {
      append(out.text, head + conversion.kind, std::bit_cast<double>(*value));
    } else if (kind == Class::kText) {
      const auto string = *value == 0 ? std::string("(null)") : read_string(c, in, lane, *value);
      if (!string) return std::nullopt;
      append(out.text, head + "s", string->c_str());
    } else if (kind == Class::kPointer) {
      append(out.text, head + "p", static_cast<const void*>(at_address(*value)));
    } else if (wide && conversion.kind != 'c') {
      append(out.text, head + "ll" + conversion.kind, static_cast<long long>(*value));
    } else {
      const bool narrow = conversion.length == "h" || conversion.length == "hh";
      append(out.text, head + (narrow ? conversion.length : "") + conversion.kind,
             static_cast<int>(*value));
    }
  }
  return out;
}

}  // namespace kbench::ptx
