// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plan/plan_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

/// A plan with `^` before its mistake, and what the message has to say.
struct ErrorCase {
  const char* marked;
  const char* says;
  const char* cause = "faulty_plan";
};

void expect_errors(std::span<const ErrorCase> cases) {
  for (const ErrorCase& row : cases) {
    SCOPED_TRACE(row.marked);
    const Marked marked = without_mark(row.marked);
    const auto result = bind_source(marked.source, plan_signature());
    const auto* error = std::get_if<PlanError>(&result);
    if (error == nullptr) {
      ADD_FAILURE() << "no error";
      continue;
    }
    EXPECT_EQ(error->line, marked.line) << error->message;
    EXPECT_EQ(error->column, marked.column) << error->message;
    EXPECT_THAT(error->message, HasSubstr(row.says));
    EXPECT_EQ(error->cause, row.cause) << error->message;
  }
}

TEST(PlanError, Words) {
  constexpr ErrorCase kCases[] = {
      {"^", "no plan", "no_plan"},
      {"^__global__ void k() {}\n// @param a = 1\n// @ out of bounds\n", "no plan", "no_plan"},
      {"//@ out y like x\n  ^// @ let a = 1\n", "remove the space between `//` and `@`"},
      {"^// @out y like x\n", "remove the space"},
      {"^//  @ k<<<1, 1>>>(x)\n", "remove the space"},
      {"//@ let a = ^1.5f", "without a suffix"},
      {"//@ let a = ^1.", "write 1.0"},
      {"//@ let a = ^.5", "write 0.5"},
      {"//@ let a = ^0x10", "not a number"},
      {"//@ let a = ^9223372036854775808", "out of range"},
      {"//@ let a = ^1e999", "out of range"},
      {"//@ let a = ^`b", "closing ` is missing"},
      {"//@ let a = ^\"b", "closing \" is missing"},
      {"//@ let a = ^``", "no name between"},
      {"//@ let a = 1 ^$ 2", "`$` has no meaning"},
      {"//@ let a = ^\xC3\xA9", "byte 0xc3"},
      {"//@ let a = \"\xC3\xA9\" == ^b", "there is no `b`", "unknown_name"},
      {"//@ let a = 1 ^| 2", "`|` has no meaning"},
      {"\n\n  //@ let ^", "the name of the value is missing before the end of the line"},
  };
  expect_errors(kCases);
}

TEST(PlanError, Statements) {
  constexpr ErrorCase kCases[] = {
      {"//@ ^tpm a: float32[4]", "did you mean `tmp`?"},
      {"//@ ^42", "no statement begins with `42`"},
      {"//@ ^k(x)", "k<<<grid, block>>>"},
      {"//@ ^`k`<<<1, 1>>>()", "no statement begins"},
      {"//@ let a = 1^; let b = 2", "remove the `;`"},
      {"//@ let a = 1 ^let b = 2", "line of its own"},
      {"//@ problem^\n", "needs a value"},
      {"//@ problem a ^b", "should end before `b`"},
      {"//@ problem a\n//@ problem ^b", "occurs twice"},
      {"//@ limit 2s\n//@ limit ^3s", "occurs twice"},
      {"//@ limit ^2", "2s or 500ms"},
      {"//@ limit ^-2s", "not a time limit"},
      {"//@ limit ^0s", "not a time limit"},
      {"//@ limit ^2min", "not a time limit"},
      {"//@ if (1) {\n//@ ^flags -std=c++17\n//@ }", "out of the block"},
      {"//@ flags ^-I/etc", "allowed are --use_fast_math, -std=…", "bad_flag"},
      {"//@ flags -std=c++17 ^-std=c++98", "c++11, c++14, c++17 or c++20", "bad_flag"},
      {"//@ flags ^--maxrregcount=9", "16 to 255", "bad_flag"},
      {"//@ flags ^--maxrregcount=64x", "16 to 255", "bad_flag"},
      {"//@ flags ^--use_fast_math=true", "takes no value", "bad_flag"},
      {"//@ flags ^use_fast_math", "not a flag", "bad_flag"},
      {"//@ flags ^--", "not a flag", "bad_flag"},
      {"//@ dims ^[N]", "name of a tensor is missing"},
      {"//@ dims x ^N", "`[` is missing after the tensor's name, before `N`"},
      {"//@ dims x[N, C\n//@ ^let a = 1", "`,` or `]` (for the `[` of line 1, column 11)"},
      {"//@ let ^a.b = 1", "letters, digits and _"},
      {"//@ let ^float32 = 1", "means something already"},
      {"//@ let ^_ = 1", "means something already"},
      {"//@ let a ^1", "`=` is missing after the name, before `1`"},
      {"//@ let a = ^\n", "missing before the end of the line"},
      {"//@ out y ^float32[4]", "or `like`"},
      {"//@ out y: ^[4]", "a dtype"},
      {"//@ out y: float32^\n", "a scalar's shape is []"},
      {"//@ inout ^3", "name of a tensor"},
      {"//@ if ^1 { }", "`(` is missing after `if`"},
      {"//@ if (1) ^k<<<1, 1>>>()", "`{` is missing to begin the block"},
      {"//@ if (1) ^{\n//@ let a = 1\n", "never closed"},
      {"//@ for i ^of 0..3 { }", "`in` is missing"},
      {"//@ for i in 0 ^{ }", "`..` is missing"},
      {"//@ let a = 1\n//@ ^}", "no statement begins with `}`"},
      {"//@ if (1) { } else ^let a = 1", "`{` is missing"},
  };
  expect_errors(kCases);
}

TEST(PlanError, Launches) {
  constexpr ErrorCase kCases[] = {
      {"//@ k<4>^(x)", "`<<<grid, block>>>` is missing before `(`"},
      {"//@ k<<<1^>>>(x)", "`,` is missing between the grid and the block"},
      {"//@ k<<<1, 1, 0^, 0>>>(x)", "no stream"},
      {"//@ k<<<1, 1 ^(x)", "`>>>` (for the `<<<` of line 1, column 6)"},
      {"//@ k^<<<1, 1", "never closed"},
      {"//@ k<<<1, 1>>>^\n", "`(` is missing before the kernel's arguments"},
      {"//@ k<<<1, 1>>>(x,^", "missing before the end of the plan"},
      {"//@ k<<<1, 1>>>^(x", "never closed; add the `)`"},
      {"//@ k^<4", "never closed; add the `>`"},
      {"//@ k<<<^(1, 1, 1, 1), 1>>>()", "one to three extents"},
      {"//@ ^a.b::k<<<1, 1>>>()", "not a kernel's name"},
      {"//@ cooperative ^3", "not a kernel's name"},
      {"//@ k<<<^0, 1>>>()", "the grid's x is 0"},
      {"//@ k<<<(1, ^65536), 1>>>()", "CUDA allows 65535"},
      {"//@ k<<<^2147483648, 1>>>()", "CUDA allows 2147483647"},
      {"//@ k<<<1, ^-1>>>()", "the block's x is -1"},
      {"//@ k<<<1, ^1025>>>()", "the block's x is 1025", "too_many_threads"},
      {"//@ k<<<1, ^(32, 33)>>>()", "1056 threads", "too_many_threads"},
      {"//@ k<<<1, (1, 1, ^65)>>>()", "block's z is 65", "too_many_threads"},
      {"//@ k<<<1, 1, ^-4>>>()", "0 or more"},
      {"//@ k<<<1, 1, ^device.smem + 1>>>()", "232449 bytes", "too_much_shared_memory"},
      {"//@ cluster^(3, 3) k<<<9, 1>>>()", "9 blocks"},
      {"//@ cluster(^9) k<<<9, 1>>>()", "cluster's x is 9"},
      {"//@ cluster(^2) k<<<3, 1>>>()", "not a multiple"},
      {"//@ k<<<^1.5, 1>>>()", "1.5 has a fraction", "type_mismatch"},
      {"//@ k<<<^x, 1>>>()", "use numel(x) or size(x, i)", "type_mismatch"},
      {"//@ k<<<1, 1>>>(^conv.stride)", "choose an element", "type_mismatch"},
      {"//@ k<<<1, 1>>>(^float32)", "this is a dtype", "type_mismatch"},
      {"//@ k<^x><<<1, 1>>>()", "its type is dtype(x)", "type_mismatch"},
      {"//@ k<^nope + 1><<<1, 1>>>()", "there is no `nope`", "unknown_name"},
      {"//@ k<^inf><<<1, 1>>>()", "cannot be a template argument", "type_mismatch"},
  };
  expect_errors(kCases);
}

TEST(PlanError, Names) {
  constexpr ErrorCase kCases[] = {
      {"//@ let a = ^linear.wieght", "did you mean `linear.weight`", "unknown_name"},
      {"//@ let a = ^weight", "did you mean `linear.weight`", "unknown_name"},
      {"//@ let a = ^init.alhpa", "`init.alpha`", "unknown_name"},
      {"//@ let a = ^device.sm", "did you mean `device.sms` or", "unknown_name"},
      {"//@ let a = ^zzzzzz", "there is no `zzzzzz`", "unknown_name"},
      {"//@ let a = ^X", "did you mean `x`", "unknown_name"},
      {"//@ let a = ^IDS", "did you mean `ids`", "unknown_name"},
      {"//@ let a = ^Weight", "did you mean `linear.weight`", "unknown_name"},
      {"//@ ^OUT y like x", "did you mean `out`"},
      {"//@ tmp t: ^float31[4]", "`float32`", "unknown_name"},
      {"//@ let a = ^cdvi(1, 2)", "no function `cdvi` (did you mean `cdiv`?)", "unknown_name"},
      {"//@ dims ^z[N]", "there is no `z`", "unknown_name"},
      {"//@ inout ^z", "there is no `z`", "unknown_name"},
      {"//@ let a = ^`steps `", "there is no `steps `", "unknown_name"},
      {"//@ let rows = 1\n//@ let a = ^`rows`", "there is no `rows`", "unknown_name"},
      {"//@ if (1) { let inner = 2 }\n//@ let a = ^inner", "block of line 1", "unknown_name"},
      {"//@ for i in 0..2 { }\n//@ let a = ^i", "block of line 1", "unknown_name"},
      {"//@ let a = 1\n//@ ^let a = 2", "`a` is defined on line 1"},
      {"//@ let a = 1\n//@ if (1) {\n//@   ^let a = 2\n//@ }", "`a` is defined on line 1"},
      {"//@ let i = 1\n//@ ^for i in 0..2 { }", "`i` is defined on line 1"},
      {"//@ dims x[N, _]\n//@ ^out N: float32[4]", "`N` is defined on line 1"},
      {"//@ ^out x: float32[4]", "`x` is an input of the problem"},
      {"//@ dims x[^h, _]", "`h` is an input of the problem"},
      {"//@ dims x[^float32, _]", "means something already"},
  };
  expect_errors(kCases);
}

TEST(PlanError, Sizes) {
  constexpr ErrorCase kCases[] = {
      {"//@ dims x[N, C]\n//@ dims h[^C, _, _]", "`C` is 1024 here, but size 0 of `h` is 16"},
      {"//@ dims x[N, ^N * 2]", "this is 32 here, but size 1 of `x` is 1024"},
      {"//@ dims x[^steps, _]", "`steps` is 3 here, but size 0 of `x` is 16"},
      {"//@ dims x[_, ^64]", "this is 64 here"},
      {"//@ dims ^x[N]", "`x` is float32[16, 1024]: 2 sizes, and the plan names 1"},
      {"//@ dims ^steps[N]", "a tensor is needed here, and this is an integer", "type_mismatch"},
      {"//@ tmp t: float32[4, ^-1]", "a size is -1"},
      {"//@ tmp t: float32[^0.5]", "0.5 has a fraction", "type_mismatch"},
      {"//@ ^tmp t: float32[1000000000000, 1000000000]", "more bytes than 63 bits"},
      {"//@ ^tmp t: float64[9000000000000000000]", "more bytes than 63 bits"},
      {"//@ tmp s: int8[9000000000000000000]\n//@ ^tmp t: int8[9000000000000000000]",
       "more bytes than 63 bits"},
      {"//@ tmp t: ^steps[4]", "a dtype is needed here", "type_mismatch"},
      {"//@ tmp t like ^4", "a tensor is needed here", "type_mismatch"},
      {"//@ tmp t: int8[4] = ^128", "int8 cannot be filled with this: 128 is out", "type_mismatch"},
      {"//@ tmp t: int32[4] = ^0.5", "0.5 has a fraction", "type_mismatch"},
      {"//@ tmp t: int32[4] = ^-inf", "-inf is not an integer", "type_mismatch"},
      {"//@ tmp t: bool[4] = ^2", "neither true nor false", "type_mismatch"},
      {"//@ tmp t: float16[4] = ^65520", "65520 is out of its range", "type_mismatch"},
      {"//@ tmp t: uint8[4] = ^x", "this is a tensor", "type_mismatch"},
      {"//@ out y like x\n//@ inout ^y", "may be written anyway"},
      {"//@ inout ^steps", "a tensor is needed", "type_mismatch"},
  };
  expect_errors(kCases);
}

TEST(PlanError, Expressions) {
  constexpr ErrorCase kCases[] = {
      {"//@ let a = 1 ^/ (2 - 2)", "division by zero"},
      {"//@ let a = 1 ^% 0", "division by zero"},
      {"//@ let a = 1.0 ^/ 0", "division by zero"},
      {"//@ let a = 1.5 ^% 2", "`%` is for integers"},
      {"//@ let a = 9223372036854775807 ^+ 1", "64 bits"},
      {"//@ let a = -9223372036854775807 ^- 2", "64 bits"},
      {"//@ let a = 9223372036854775807 ^* 2", "64 bits"},
      {"//@ let a = (-9223372036854775807 - 1) ^/ -1", "64 bits"},
      {"//@ let a = ^-(-9223372036854775807 - 1)", "64 bits"},
      {"//@ let a = ^pow(2, 63)", "64 bits"},
      {"//@ let a = ^sqrt(-1)", "no value"},
      {"//@ let a = ^log2(0)", "infinite"},
      {"//@ let a = ^exp2(5000)", "infinite"},
      {"//@ let a = cdiv(1, ^0)", "above 0"},
      {"//@ let a = size(x, ^2)", "no dimension 2; the tensor has 2"},
      {"//@ let a = numel(^steps)", "a tensor is needed here", "type_mismatch"},
      {"//@ let a = ^min()", "does not take 0 arguments"},
      {"//@ let a = ^x + 1", "a number is needed here", "type_mismatch"},
      {"//@ let a = 1 + ^init.mode", "this is a text", "type_mismatch"},
      {"//@ let a = ^dtype(x) < float32", "this is a dtype", "type_mismatch"},
      {"//@ let a = ^x ? 1 : 2", "this is a tensor", "type_mismatch"},
      {"//@ let a = 1 ? 2 ^\n", "`:` is missing between"},
      {"//@ let a = conv.stride[^2]", "no element 2; the list has 2"},
      {"//@ let a = x^[0]", "elements of a tensor are not known", "type_mismatch"},
      {"//@ let a = steps^[0]", "only lists have elements", "type_mismatch"},
      {"//@ let a = (1 ^2)", "missing before `2`"},
      {"//@ let a = ^(1 + 2", "never closed"},
      {"//@ let a = 1 + ^* 2", "missing before `*`"},
      {"//@ let a = min(1, ^)", "missing before `)`"},
      {"//@ if (^init.mode) { }", "this is a text", "type_mismatch"},
      {"//@ for i in ^0.5..3 { }", "0.5 has a fraction", "type_mismatch"},
      {"//@ for i in 0..^inf { }", "inf is not an integer", "type_mismatch"},
  };
  expect_errors(kCases);
}

TEST(PlanError, LimitsOfTheDeviceAreThoseGiven) {
  const auto result = bind_source("//@ k<<<1, 512, 100>>>()", plan_signature(), {8, 99, 256});
  EXPECT_EQ(std::get<PlanError>(result).cause, "too_many_threads");
  const auto shared = bind_source("//@ k<<<1, 256, 100>>>()", plan_signature(), {8, 99, 256});
  EXPECT_EQ(std::get<PlanError>(shared).cause, "too_much_shared_memory");
}

TEST(PlanError, APlanNeedsAnOutputAndALaunch) {
  constexpr ErrorCase kCases[] = {
      {"//@ ^problem level1/x\n", "has no output", "no_plan"},
      {"\n//@ ^flags --use_fast_math\n//@ k<<<1, 1>>>(x)\n", "has no output", "no_plan"},
      {"//@ ^tmp t like x\n//@ k<<<1, 1>>>(x, t)\n", "has no output", "no_plan"},
      {"//@ ^out y like x\n//@ if (true) { let a = 1 }\n", "launches nothing", "no_plan"},
      {"//@ out y like x\n//@ k<<<1, 1>>>(x, y)\n", ""},
      {"//@ out y like x\n//@ if (true) { } else { for i in 0..2 { k<<<1, 1>>>(x, y) } }\n", ""},
  };
  for (const ErrorCase& row : kCases) {
    SCOPED_TRACE(row.marked);
    const Marked marked = without_mark(row.marked);
    const auto plan = parse_plan(marked.source);
    ASSERT_TRUE(std::holds_alternative<Plan>(plan));
    const auto error = missing_part(std::get<Plan>(plan));
    ASSERT_EQ(error.has_value(), *row.says != '\0');
    if (!error) continue;
    EXPECT_THAT(error->message, HasSubstr(row.says));
    EXPECT_EQ(error->line, marked.line);
    EXPECT_EQ(error->column, marked.column);
    EXPECT_EQ(error->cause, row.cause);
  }
}

}  // namespace
}  // namespace kbench
