// SPDX-License-Identifier: MIT
#include "compile/languages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kbench {
namespace {

constexpr Flag kFlags[] = {
    {"use_fast_math", Flag::Value::kNone, true},
    {"std", Flag::Value::kStandard, true},
    {"maxrregcount", Flag::Value::kNumber, true},
    {"fmad", Flag::Value::kBool, true},
    {"ftz", Flag::Value::kBool, true},
    {"prec-div", Flag::Value::kBool, true},
    {"prec-sqrt", Flag::Value::kBool, true},
    {"extra-device-vectorization", Flag::Value::kNone, true},
    {"default-device", Flag::Value::kNone, true},
    {"D", Flag::Value::kMacro, true},
    {"O2", Flag::Value::kNone, false},
    {"O3", Flag::Value::kNone, false},
    {"lineinfo", Flag::Value::kNone, false},
    {"expt-relaxed-constexpr", Flag::Value::kNone, false},
    {"expt-extended-lambda", Flag::Value::kNone, false},
    {"extended-lambda", Flag::Value::kNone, false},
};

constexpr std::array<std::string_view, 4> kStandards = {"c++11", "c++14", "c++17", "c++20"};

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), is_word_char);
}

bool fits(Flag::Value kind, std::string_view value, bool has_value) {
  switch (kind) {
    case Flag::Value::kNone:
      return !has_value;
    case Flag::Value::kBool:
      return value == "true" || value == "false";
    case Flag::Value::kNumber:
      return !value.empty() && value.size() <= 3 &&
             std::all_of(value.begin(), value.end(), is_digit);
    case Flag::Value::kStandard:
      return std::find(kStandards.begin(), kStandards.end(), value) != kStandards.end();
    case Flag::Value::kMacro:
      return std::none_of(value.begin(), value.end(), [](char c) { return c < ' '; });
  }
  return false;
}

/// The row that allows `flag`, or null.
const Flag* allowed(std::string_view flag) {
  if (!flag.starts_with('-')) return nullptr;
  flag.remove_prefix(flag.starts_with("--") ? 2 : 1);
  const std::size_t equals = flag.find('=');
  const bool has_value = equals != std::string_view::npos;
  const std::string_view name = flag.substr(0, equals);
  const std::string_view value = has_value ? flag.substr(equals + 1) : std::string_view();
  for (const Flag& row : kFlags) {
    const bool same =
        row.value == Flag::Value::kMacro
            ? name.starts_with(row.name) && is_identifier(name.substr(row.name.size()))
            : name == row.name;
    if (same) return fits(row.value, value, has_value) ? &row : nullptr;
  }
  return nullptr;
}

Options nvrtc_options(const std::vector<std::string>& flags) {
  std::vector<std::string> options;
  for (const std::string& flag : flags) {
    const Flag* row = allowed(flag);
    if (row == nullptr) {
      return compile_error("illegal_flag",
                           fmt::format("the flag {} is not allowed; "
                                       "src/compile/languages.cpp lists the allowed flags",
                                       flag));
    }
    // The compatibility headers need C++14; valid C++11 code means the same in C++14.
    const bool too_old = row->value == Flag::Value::kStandard && flag.ends_with("c++11");
    // NVRTC accepts every flag with one dash, but not every flag with two.
    const std::string option = flag.substr(flag.starts_with("--") ? 1 : 0);
    if (row->passed) options.push_back(too_old ? "-std=c++14" : option);
  }
  return options;
}

constexpr Language kLanguages[] = {
    {"cuda", "nvrtc", nvrtc_options},
    // Like torch.cuda._compile_kernel: without the headers that nvcc includes implicitly.
    {"torch_kernel", "nvrtc", nvrtc_options, false},
};

}  // namespace

std::span<const Language> languages() { return kLanguages; }

const Language* find_language(std::string_view name) {
  const auto* row = std::find_if(std::begin(kLanguages), std::end(kLanguages),
                                 [&](const Language& language) { return language.name == name; });
  return row == std::end(kLanguages) ? nullptr : row;
}

std::span<const Flag> nvrtc_flags() { return kFlags; }

}  // namespace kbench
