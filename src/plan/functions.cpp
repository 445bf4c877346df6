// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plan/eval.hpp"

namespace kbench::plan {
namespace {

constexpr std::size_t kMany = 1000;

TensorRef tensor_argument(const Call& call, std::size_t index) {
  if (const auto* tensor = std::get_if<TensorRef>(&call.arguments[index])) return *tensor;
  fail(call.positions[index],
       fmt::format("a tensor is needed here, and this is {}", kind_of(call.arguments[index])),
       "type_mismatch");
}

double real_argument(const Call& call, std::size_t index) {
  return real_of(call.arguments[index], call.positions[index]);
}

std::int64_t integer_argument(const Call& call, std::size_t index) {
  return integer_of(call.arguments[index], call.positions[index]);
}

bool any_real(const Call& call) {
  return std::ranges::any_of(call.arguments,
                             [](const auto& v) { return std::holds_alternative<double>(v); });
}

/// If finite arguments give a result that is not finite, the plan has a mistake.
PlanValue checked(const Call& call, double result) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!std::isfinite(real_argument(call, i))) return result;
  }
  if (std::isfinite(result)) return result;
  fail(call.at, std::isnan(result) ? "the function has no value for this argument"
                                   : "the function's value is infinite for this argument");
}

template <typename Pick>
PlanValue fold(const Call& call, Pick pick) {
  if (any_real(call)) {
    double result = real_argument(call, 0);
    for (std::size_t i = 1; i < call.arguments.size(); ++i) {
      result = pick(result, real_argument(call, i));
    }
    return result;
  }
  std::int64_t result = integer_argument(call, 0);
  for (std::size_t i = 1; i < call.arguments.size(); ++i) {
    result = pick(result, integer_argument(call, i));
  }
  return result;
}

PlanValue call_min(const Call& call) {
  return fold(call, [](auto a, auto b) { return b < a ? b : a; });
}

PlanValue call_max(const Call& call) {
  return fold(call, [](auto a, auto b) { return b > a ? b : a; });
}

PlanValue call_cdiv(const Call& call) {
  const std::int64_t a = integer_argument(call, 0), b = integer_argument(call, 1);
  if (b <= 0) fail(call.positions[1], fmt::format("cdiv divides by {}; it has to be above 0", b));
  return a / b + (a % b > 0 ? 1 : 0);
}

PlanValue call_numel(const Call& call) {
  return numel(call.scope.info(tensor_argument(call, 0)).shape);
}

PlanValue call_size(const Call& call) {
  const Shape& shape = call.scope.info(tensor_argument(call, 0)).shape;
  const std::int64_t index = integer_argument(call, 1);
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (index < -rank || index >= rank) {
    fail(call.positions[1],
         fmt::format("there is no dimension {}; the tensor has {}", index, rank));
  }
  return shape[static_cast<std::size_t>(index < 0 ? index + rank : index)];
}

PlanValue call_dtype(const Call& call) { return call.scope.info(tensor_argument(call, 0)).dtype; }

PlanValue call_sqrt(const Call& call) { return checked(call, std::sqrt(real_argument(call, 0))); }

PlanValue call_rsqrt(const Call& call) {
  return checked(call, 1 / std::sqrt(real_argument(call, 0)));
}

PlanValue call_exp2(const Call& call) { return checked(call, std::exp2(real_argument(call, 0))); }

PlanValue call_log2(const Call& call) { return checked(call, std::log2(real_argument(call, 0))); }

/// Integers give an integer, so that pow(2, i) can be a size.
PlanValue call_pow(const Call& call) {
  if (any_real(call) || integer_argument(call, 1) < 0) {
    return checked(call, std::pow(real_argument(call, 0), real_argument(call, 1)));
  }
  std::int64_t base = integer_argument(call, 0), exponent = integer_argument(call, 1);
  std::int64_t result = 1;
  bool overflowed = false;
  for (; exponent > 0 && !overflowed; exponent >>= 1) {
    if ((exponent & 1) != 0) overflowed = __builtin_mul_overflow(result, base, &result);
    if (exponent > 1) overflowed = __builtin_mul_overflow(base, base, &base) || overflowed;
  }
  if (overflowed) {
    fail(call.at, "the result does not fit in 64 bits; use smaller numbers or a float (2.0)");
  }
  return result;
}

constexpr std::array<FunctionRow, 11> kFunctions{{
    {"min", 1, kMany, "min(a, b, …)", call_min},
    {"max", 1, kMany, "max(a, b, …)", call_max},
    {"cdiv", 2, 2, "cdiv(a, b)", call_cdiv},
    {"numel", 1, 1, "numel(x)", call_numel},
    {"size", 2, 2, "size(x, i)", call_size},
    {"dtype", 1, 1, "dtype(x)", call_dtype},
    {"sqrt", 1, 1, "sqrt(a)", call_sqrt},
    {"rsqrt", 1, 1, "rsqrt(a)", call_rsqrt},
    {"exp2", 1, 1, "exp2(a)", call_exp2},
    {"log2", 1, 1, "log2(a)", call_log2},
    {"pow", 2, 2, "pow(a, b)", call_pow},
}};

}  // namespace

std::span<const FunctionRow> functions() { return kFunctions; }

}  // namespace kbench::plan
