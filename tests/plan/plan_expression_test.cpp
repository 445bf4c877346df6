// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "plan/eval.hpp"
#include "plan/plan_fixture.hpp"

namespace kbench {
namespace {

using Number = std::variant<std::size_t, std::int64_t, double, bool>;

struct ExpressionCase {
  const char* text;
  Number expected;
};

std::int64_t integer(std::int64_t value) { return value; }

Number evaluated(const std::string& text) {
  const BoundPlan plan = bound("//@ dims x[N, C]\n//@ let two = 2\n//@ k<<<1, 1>>>(" + text + ")");
  return plan.launches.empty() ? Number(std::size_t{0}) : plan.launches[0].arguments[0].value;
}

TEST(PlanExpression, EvaluatesAsInC) {
  const ExpressionCase cases[] = {
      {"42", integer(42)},
      {"0.5", 0.5},
      {"1e3", 1000.0},
      {"2.5e-1", 0.25},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"1 + 2 * 3", integer(7)},
      {"(1 + 2) * 3", integer(9)},
      {"10 - 4 - 3", integer(3)},
      {"7 / 2", integer(3)},
      {"-7 / 2", integer(-3)},
      {"-7 % 2", integer(-1)},
      {"7 % -2", integer(1)},
      {"100 / 10 / 5", integer(2)},
      {"7.0 / 2", 3.5},
      {"1 + 0.5", 1.5},
      {"- - 3", integer(3)},
      {"+3", integer(3)},
      {"-2.5", -2.5},
      {"!0", true},
      {"!two", false},
      {"1 < 2", true},
      {"2 <= 1", false},
      {"2 > 1.5", true},
      {"2 >= 2", true},
      {"1 == 1.0", true},
      {"1 != 1", false},
      {"true + true", integer(2)},
      {"1 && 0", false},
      {"0 || 3", true},
      {"0 && 1 / 0", false},
      {"1 || 1 / 0", true},
      {"1 || 0 && 0", true},
      {"two == 2 ? 5 : 1 / 0", integer(5)},
      {"0 ? 1 : 0 ? 2 : 3", integer(3)},
      {"1 + 1 == 2 && 3 > 2", true},
      {"N", integer(16)},
      {"C * two", integer(2048)},
      {"steps", integer(3)},
      {"momentum", 0.25},
      {"causal", true},
      {"bn.eps", 1e-5},
      {"init.alpha", 0.5},
      {"init.features / 2", integer(512)},
      {"device.sms", integer(132)},
      {"device.smem", integer(232'448)},
      {"conv.stride[0]", integer(2)},
      {"conv.stride[-1]", integer(3)},
      {"conv.stride[two - 1] * 2", integer(6)},
      {"scales[1]", 1.5},
      {"init.mode == \"max\"", true},
      {"pool.padding_mode != \"zeros\"", false},
      {"dtype(x) == float32", true},
      {"dtype(`net.0.1.weight`) == bfloat16", true},
      {"dtype(net.0.1.weight) != bfloat16", false},
      {"numel(`odd name`)", integer(2)},
      {"min(3, 1, 2)", integer(1)},
      {"min(3, 1.5)", 1.5},
      {"max(3, N)", integer(16)},
      {"max(0.5, 0.25)", 0.5},
      {"cdiv(10, 3)", integer(4)},
      {"cdiv(9, 3)", integer(3)},
      {"cdiv(0, 3)", integer(0)},
      {"cdiv(-7, 2)", integer(-3)},
      {"numel(h)", integer(512)},
      {"size(h, 2)", integer(8)},
      {"size(h, -1)", integer(8)},
      {"sqrt(16)", 4.0},
      {"rsqrt(4)", 0.5},
      {"exp2(3)", 8.0},
      {"log2(8)", 3.0},
      {"pow(2, 10)", integer(1024)},
      {"pow(-2, 3)", integer(-8)},
      {"pow(1, 9223372036854775807)", integer(1)},
      {"pow(2, 62)", integer(1ll << 62)},
      {"pow(2, -1)", 0.5},
      {"pow(4.0, 0.5)", 2.0},
      {"-inf", -std::numeric_limits<double>::infinity()},
  };
  for (const ExpressionCase& row : cases) EXPECT_EQ(evaluated(row.text), row.expected) << row.text;
  EXPECT_TRUE(std::isnan(std::get<double>(evaluated("nan"))));
}

TEST(PlanExpression, WholeFloatsServeWhereIntegersAreNeeded) {
  const BoundPlan plan = bound("//@ k<<<exp2(3), 2.0>>>()");
  EXPECT_EQ(plan.launches[0].grid[0], 8u);
  EXPECT_EQ(plan.launches[0].block[0], 2u);
}

/// Every row of the function table is reached by its name, and counts its arguments.
TEST(PlanExpression, EveryFunctionOfTheTableChecksItsArguments) {
  for (const plan::FunctionRow& row : plan::functions()) {
    SCOPED_TRACE(row.name);
    const auto call = [&](std::size_t arguments) {
      std::string text = "//@ let a = " + std::string(row.name) + "(";
      for (std::size_t i = 0; i < arguments; ++i) text += i == 0 ? "x" : ", x";
      const auto result = bind_source(text + ")", plan_signature());
      const auto* error = std::get_if<PlanError>(&result);
      return error == nullptr ? std::string() : error->message;
    };
    EXPECT_NE(call(0).find("does not take 0 arguments; write " + std::string(row.usage)),
              std::string::npos)
        << call(0);
    EXPECT_NE(call(row.max_arguments + 1).find("does not take"), std::string::npos);
    EXPECT_EQ(call(row.min_arguments).find("does not take"), std::string::npos);
    EXPECT_EQ(call(row.min_arguments).find("no function"), std::string::npos);
  }
}

}  // namespace
}  // namespace kbench
