// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "plan/parser.hpp"

namespace kbench::plan {
namespace {

bool is_standard(std::string_view value) {
  constexpr std::array<std::string_view, 4> kStandards{"c++11", "c++14", "c++17", "c++20"};
  return std::ranges::find(kStandards, value) != kStandards.end();
}

bool is_register_count(std::string_view value) {
  const int count = to_number<int>(value).value_or(0);
  return count >= 16 && count <= 255;
}

bool is_switch(std::string_view value) { return value == "true" || value == "false"; }

/// One flag that a plan may set. All rows change only the generated code: no flag reads a file,
/// names a folder, or changes the architecture.
struct FlagRow {
  std::string_view name;      ///< without dashes
  std::string_view spelling;  ///< as the compiler gets it, without the value
  bool (*accepts)(std::string_view value);
  std::string_view values;  ///< for messages; empty: the flag has no value
};

constexpr std::array<FlagRow, 8> kFlags{{
    {"use_fast_math", "--use_fast_math", nullptr, ""},
    {"std", "-std=", is_standard, "c++11, c++14, c++17 or c++20"},
    {"maxrregcount", "-maxrregcount=", is_register_count, "16 to 255"},
    {"ftz", "--ftz=", is_switch, "true or false"},
    {"prec-div", "--prec-div=", is_switch, "true or false"},
    {"prec-sqrt", "--prec-sqrt=", is_switch, "true or false"},
    {"fmad", "--fmad=", is_switch, "true or false"},
    {"extra-device-vectorization", "--extra-device-vectorization", nullptr, ""},
}};

std::string allowed_flags() {
  std::vector<std::string> spellings;
  spellings.reserve(kFlags.size());
  for (const FlagRow& row : kFlags) {
    spellings.push_back(fmt::format("{}{}", row.spelling, row.values.empty() ? "" : "…"));
  }
  return fmt::format("{}", fmt::join(spellings, ", "));
}

}  // namespace

std::string checked_flag(std::string_view flag, Position at) {
  std::string_view name = flag;
  for (int dashes = 0; dashes < 2 && name.starts_with('-'); ++dashes) name.remove_prefix(1);
  const bool dashed = name.size() < flag.size();
  const std::size_t equals = std::min(name.find('='), name.size());
  const std::string_view value = name.substr(std::min(equals + 1, name.size()));
  const auto* row = std::ranges::find(kFlags, name.substr(0, equals), &FlagRow::name);
  if (!dashed || row == kFlags.end()) {
    fail(at,
         fmt::format("`{}` is not a flag that a plan may set; allowed are {}", flag.substr(0, 80),
                     allowed_flags()),
         "bad_flag");
  }
  if (row->accepts == nullptr) {
    if (equals == name.size()) return std::string(row->spelling);
    fail(at, fmt::format("{} takes no value; remove the `=` and the value", row->spelling),
         "bad_flag");
  }
  if (!row->accepts(value)) {
    fail(at,
         fmt::format("`{}` is not a value of {}; write {}", value.substr(0, 80), row->spelling,
                     row->values),
         "bad_flag");
  }
  return fmt::format("{}{}", row->spelling, value);
}

}  // namespace kbench::plan
