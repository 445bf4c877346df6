// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "ptx/exact.hpp"
#include "ptx/scalar_forms.hpp"

/// What an instruction gives, by the manual's words and not by the executor's code. Each function
/// knows a family and gives nothing for forms of others.
namespace kbench::ptx::testing {

std::optional<Result> integer_oracle(const Form& form, const Tuple& t);
std::optional<Result> video_oracle(const Form& form, const Tuple& t);
std::optional<Result> bit_oracle(const Form& form, const Tuple& t);
std::optional<Result> float_oracle(const Form& form, const Tuple& t);
std::optional<Result> compare_oracle(const Form& form, const Tuple& t);
std::optional<Result> convert_oracle(const Form& form, const Tuple& t);
std::optional<Result> move_oracle(const Form& form, const Tuple& t);

/// The type at the end of a form's name, as "f32" of add.f32.
inline const std::string& last_type(const Form& form) { return form.name.back(); }

/// Value of the low bits of an integer type.
inline __int128 integer(const std::string& type, std::uint64_t bits) {
  const unsigned width = static_cast<unsigned>(std::stoul(type.substr(1)));
  const unsigned up = 64 - width;
  if (type[0] == 's') return static_cast<std::int64_t>(bits << up) >> up;
  return (bits << up) >> up;
}

/// Low bits of a value, as a register of that many bits holds them.
inline std::uint64_t cut(__int128 value, unsigned bits) {
  return static_cast<std::uint64_t>(value) &
         (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
}

/// "f16x2" → "f16": results and operands are then taken in halves.
inline std::string half_type(const std::string& type) {
  return type.ends_with("x2") ? type.substr(0, type.size() - 2) : type;
}

}  // namespace kbench::ptx::testing
