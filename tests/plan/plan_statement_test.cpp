// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "plan/plan_fixture.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using Extents = std::array<std::uint32_t, 3>;

const Plan& parsed(std::variant<Plan, PlanError>& plan) {
  if (const auto* error = std::get_if<PlanError>(&plan)) {
    throw std::runtime_error(error->message);
  }
  return std::get<Plan>(plan);
}

TEST(PlanStatement, ProblemFlagsAndLimit) {
  auto plan = parse_plan(
      "__global__ void k() {}\n"
      "//@ problem level1/19_Re-LU   # where it belongs\n"
      "//@ flags -use_fast_math --std=c++17\n"
      "//@ flags --maxrregcount=64 --fmad=false\n"
      "//@ limit 500ms\n"
      "//@ k<<<1, 1>>>()\n");
  EXPECT_EQ(parsed(plan).problem(), "level1/19_Re-LU");
  EXPECT_THAT(parsed(plan).flags(),
              ElementsAre("--use_fast_math", "-std=c++17", "-maxrregcount=64", "--fmad=false"));
  EXPECT_EQ(parsed(plan).limit_s(), 0.5);
  plan = parse_plan("//@ limit 1.5s");
  EXPECT_EQ(parsed(plan).limit_s(), 1.5);
  EXPECT_EQ(parsed(plan).problem(), std::nullopt);
}

TEST(PlanStatement, TheExampleOfTheDesign) {
  const BoundPlan plan = bound(R"(
//@ dims x[N, C]                                      # sizes of an input
//@ let rows = 4
//@ tmp partial: float32[cdiv(N, rows)]               # scratch, undefined
//@ out y: float32[N, C]
//@ reduce<128, float><<<cdiv(N, rows), 128>>>(x, partial, N, C)
//@ scale<<<(C, N), 256, 4 * C>>>(x, partial, linear.weight, bn.eps, init.alpha, y,
//@                               N, C)               # goes on in the next line
)");
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_THAT(plan.name_expressions, ElementsAre("reduce<128, float>", "scale"));
  EXPECT_EQ(plan.launches[0].grid, (Extents{4, 1, 1}));
  EXPECT_EQ(plan.launches[0].block, (Extents{128, 1, 1}));
  const BoundLaunch& scale = plan.launches[1];
  EXPECT_EQ(scale.grid, (Extents{1024, 16, 1}));
  EXPECT_EQ(scale.shared_bytes, 4096u);
  EXPECT_EQ(scale.line, 7);
  EXPECT_EQ(scale.column, 5);
  ASSERT_EQ(scale.arguments.size(), 8u);
  EXPECT_EQ(std::get<double>(scale.arguments[3].value), 1e-5);
  EXPECT_EQ(std::get<double>(scale.arguments[4].value), 0.5);
  EXPECT_EQ(std::get<std::int64_t>(scale.arguments[7].value), 1024);
  EXPECT_EQ(scale.arguments[7].line, 8);
  ASSERT_EQ(plan.tensors.size(), 4u);
  EXPECT_EQ(plan.tensors[0].role, BoundTensor::Role::kScratch);
  EXPECT_EQ(plan.tensors[1].role, BoundTensor::Role::kOutput);
  EXPECT_EQ(plan.tensors[1].info.shape, (Shape{16, 1024}));
  EXPECT_EQ(plan.tensors[2].role, BoundTensor::Role::kInput);
  EXPECT_FALSE(plan.tensors[2].writable);
  EXPECT_EQ(plan.tensors[3].role, BoundTensor::Role::kState);
  EXPECT_EQ(plan.tensors[3].info.name, "linear.weight");
}

TEST(PlanStatement, DimsDefineAssertAndIgnore) {
  const BoundPlan plan = bound(
      "//@ dims x[N, C]\n"
      "//@ dims h[N, _, 8]\n"
      "//@ dims linear.weight[_, C]\n"
      "//@ dims `net.0.1.weight`[C / 128]\n"
      "//@ dims bn.running_mean[init.features]\n"
      "//@ k<<<N, 32>>>(C)\n");
  EXPECT_EQ(plan.launches[0].grid[0], 16u);
  EXPECT_EQ(std::get<std::int64_t>(plan.launches[0].arguments[0].value), 1024);
}

TEST(PlanStatement, AnOwnNameHidesAnAttribute) {
  const BoundPlan plan = bound(
      "//@ dims x[N, dim]\n//@ let eps = 2 * bn.eps\n"
      "//@ k<<<N, 1>>>(dim, eps)\n");
  EXPECT_EQ(plan.launches[0].grid[0], 16u);
  EXPECT_EQ(std::get<std::int64_t>(plan.launches[0].arguments[0].value), 1024);
  EXPECT_EQ(std::get<double>(plan.launches[0].arguments[1].value), 2e-5);
}

struct FillCase {
  const char* declaration;
  DType dtype;
  std::uint64_t bits;
};

TEST(PlanStatement, FillsBecomeTheBitsOfTheElementType) {
  const FillCase cases[] = {
      {"float32[4] = 0", DType::kFloat32, 0},
      {"float32[4] = 1", DType::kFloat32, 0x3F800000},
      {"float32[4] = -inf", DType::kFloat32, 0xFF800000},
      {"float32[4] = nan", DType::kFloat32, 0x7FC00000},
      {"float64[4] = -0.1", DType::kFloat64, 0xBFB999999999999A},
      {"float16[4] = 1.0009765625 + 0.00048828125", DType::kFloat16, 0x3C02},
      {"float16[4] = 65504", DType::kFloat16, 0x7BFF},
      {"float16[4] = 0.00000005960464477539063", DType::kFloat16, 0x0001},
      {"bfloat16[4] = 3.140625", DType::kBFloat16, 0x4049},
      {"bfloat16[4] = 1.00390625", DType::kBFloat16, 0x3F80},
      {"int8[4] = -1", DType::kInt8, 0xFF},
      {"uint8[4] = 255", DType::kUInt8, 255},
      {"int16[4] = -2", DType::kInt16, 0xFFFE},
      {"int32[4] = 2147483647", DType::kInt32, 0x7FFFFFFF},
      {"int64[4] = -1", DType::kInt64, ~0ull},
      {"int64[4] = 2.0", DType::kInt64, 2},
      {"bool[4] = true", DType::kBool, 1},
      {"torch.float32[4] = 0.5", DType::kFloat32, 0x3F000000},
      {"dtype(h)[4] = 1", DType::kFloat16, 0x3C00},
      {"(causal ? float16 : float32)[4] = 1", DType::kFloat16, 0x3C00},
  };
  for (const FillCase& row : cases) {
    SCOPED_TRACE(row.declaration);
    const BoundPlan plan = bound(std::string("//@ tmp t: ") + row.declaration);
    ASSERT_EQ(plan.tensors.size(), 1u);
    EXPECT_TRUE(plan.tensors[0].filled);
    EXPECT_EQ(plan.tensors[0].info.dtype, row.dtype);
    EXPECT_EQ(plan.tensors[0].fill_bits, row.bits);
  }
  EXPECT_FALSE(bound("//@ tmp t: float32[4]").tensors[0].filled);
}

TEST(PlanStatement, SeveralOutsAreATupleInOrder) {
  const BoundPlan plan = bound(
      "//@ dims x[N, C]\n"
      "//@ out a like x\n"
      "//@ tmp s: float64[] = 0\n"
      "//@ out b: int64[N] = -1\n"
      "//@ tmp t like b\n"
      "//@ k<<<1, 1>>>(b, t, a, s)\n");
  ASSERT_EQ(plan.tensors.size(), 4u);
  EXPECT_EQ(plan.tensors[0].index, 0u);
  EXPECT_EQ(plan.tensors[0].info.dtype, DType::kFloat32);
  EXPECT_EQ(plan.tensors[1].info.shape, Shape{});
  EXPECT_EQ(plan.tensors[1].role, BoundTensor::Role::kScratch);
  EXPECT_EQ(plan.tensors[2].role, BoundTensor::Role::kOutput);
  EXPECT_EQ(plan.tensors[2].index, 1u);
  EXPECT_EQ(plan.tensors[3].index, 1u);
  EXPECT_EQ(plan.tensors[3].info.dtype, DType::kInt64);
  EXPECT_EQ(std::get<std::size_t>(plan.launches[0].arguments[0].value), 2u);
  EXPECT_EQ(std::get<std::size_t>(plan.launches[0].arguments[3].value), 1u);
}

TEST(PlanStatement, InoutMakesInputsAndStateWritable) {
  const BoundPlan plan = bound(
      "//@ inout bn.running_mean\n//@ inout x\n"
      "//@ k<<<1, 1>>>(x, bn.running_mean, h)\n");
  ASSERT_EQ(plan.tensors.size(), 3u);
  EXPECT_EQ(plan.tensors[0].role, BoundTensor::Role::kState);
  EXPECT_EQ(plan.tensors[0].index, 3u);
  EXPECT_TRUE(plan.tensors[0].writable);
  EXPECT_TRUE(plan.tensors[1].writable);
  EXPECT_FALSE(plan.tensors[2].writable);
}

TEST(PlanStatement, LaunchesWithExtentsModifiersAndSharedMemory) {
  const BoundPlan plan = bound(
      "//@ cooperative k<<<device.sms, (8, 8, 16), device.smem>>>()\n"
      "//@ cluster(2, 1, 1) ns::k<<<dim3(4, 2), 64>>>(x)\n"
      "//@ cluster(2) cooperative k<<<(2 + 2) * 2, (32)>>>()\n"
      "//@ cooperative<<<1, 1>>>()\n"
      "//@ limit<<<1, 1>>>()\n"
      "//@ out<4><<<1, 1>>>()\n");
  ASSERT_EQ(plan.launches.size(), 6u);
  EXPECT_TRUE(plan.launches[0].cooperative);
  EXPECT_EQ(plan.launches[0].grid, (Extents{132, 1, 1}));
  EXPECT_EQ(plan.launches[0].block, (Extents{8, 8, 16}));
  EXPECT_EQ(plan.launches[0].shared_bytes, 232'448u);
  EXPECT_EQ(plan.launches[0].cluster, (Extents{0, 0, 0}));
  EXPECT_EQ(plan.launches[1].kernel, "ns::k");
  EXPECT_EQ(plan.launches[1].grid, (Extents{4, 2, 1}));
  EXPECT_EQ(plan.launches[1].cluster, (Extents{2, 1, 1}));
  EXPECT_EQ(plan.launches[2].grid[0], 8u);
  EXPECT_TRUE(plan.launches[2].cooperative);
  EXPECT_FALSE(plan.launches[3].cooperative);
  EXPECT_THAT(plan.name_expressions, ElementsAre("k", "ns::k", "cooperative", "limit", "out<4>"));
}

struct TemplateCase {
  const char* arguments;
  const char* expected;
};

TEST(PlanStatement, TemplateArgumentsAreExpressionsOrTypes) {
  const TemplateCase cases[] = {
      {"128", "k<128>"},
      {"rows * 2, -1", "k<8, -1>"},
      {"float, kBlock, unsigned int", "k<float, kBlock, unsigned int>"},
      {"dtype(h), dtype(ids)", "k<__half, long long>"},
      {"int8, T", "k<signed char, float>"},
      {"true, (rows > 3), !causal", "k<true, true, false>"},
      {"0.5, 1e-5, 2.0", "k<0.5f, 1e-05f, 2.0f>"},
      {"Vec<float, rows>", "k<Vec<float, 4>>"},
      {"Vec<Vec<T, 2>, rows>", "k<Vec<Vec<float, 2>, 4>>"},
      {"cute::Int<rows>, rows::value", "k<cute::Int<4>, rows::value>"},
      {"const float *, T&", "k<const float*, float&>"},
      {"min(rows, 2), rows == 4", "k<2, true>"},
      {"conv.stride[1], steps", "k<3, 3>"},
      {"causal ? 1 : 2", "k<1>"},
      {"-9223372036854775807 - 1", "k<(-9223372036854775807LL - 1)>"},
  };
  for (const TemplateCase& row : cases) {
    SCOPED_TRACE(row.arguments);
    const BoundPlan plan = bound(std::string("//@ let rows = 4\n//@ let T = dtype(x)\n//@ k<") +
                                 row.arguments + "><<<1, 1>>>()");
    EXPECT_THAT(plan.name_expressions, ElementsAre(row.expected));
  }
  const BoundPlan plan = bound("//@ k<Vec<Vec<int>>,\n//@   4><<<1,\n//@  32>>>(\n//@ x\n//@ )");
  EXPECT_THAT(plan.name_expressions, ElementsAre("k<Vec<Vec<int>>, 4>"));
}

TEST(PlanStatement, IfTakesOneBranch) {
  const std::string text =
      "//@ if (N > 16) { a<<<1, 1>>>() } else if (N == 16) {\n"
      "//@   let inner = 2\n"
      "//@   b<<<inner, 1>>>()\n"
      "//@ }\n"
      "//@ else {\n"
      "//@   c<<<1, 1>>>()\n"
      "//@ }\n"
      "//@ if (causal) { d<<<1, 1>>>() }\n"
      "//@ let inner = 5\n"
      "//@ e<<<inner, 1>>>()\n";
  EXPECT_THAT(bound("//@ dims x[N, _]\n" + text).name_expressions, ElementsAre("b", "d", "e"));
  EXPECT_THAT(bound("//@ let N = 17\n" + text).name_expressions, ElementsAre("a", "d", "e"));
  EXPECT_THAT(bound("//@ let N = 0\n" + text).name_expressions, ElementsAre("c", "d", "e"));
}

TEST(PlanStatement, ForExcludesItsEndAndScopesItsNames) {
  const BoundPlan plan = bound(
      "//@ for i in 1..steps + 1 {\n"
      "//@   let n = pow(2, i)\n"
      "//@   for j in 0..2 { k<<<n, 1>>>(i, j) }\n"
      "//@ }\n"
      "//@ for i in 5..5 { never<<<1, 1>>>() }\n"
      "//@ for i in 5..0 { never<<<1, 1>>>() }\n");
  ASSERT_EQ(plan.launches.size(), 6u);
  EXPECT_EQ(plan.launches[0].grid[0], 2u);
  EXPECT_EQ(plan.launches[5].grid[0], 8u);
  EXPECT_EQ(std::get<std::int64_t>(plan.launches[5].arguments[0].value), 3);
  EXPECT_EQ(std::get<std::int64_t>(plan.launches[5].arguments[1].value), 1);
  EXPECT_THAT(plan.name_expressions, ElementsAre("k"));
}

TEST(PlanStatement, TensorsCanBeChosenAndNamed) {
  const BoundPlan plan = bound(
      "//@ let w = steps > 2 ? linear.weight : bn.running_mean\n"
      "//@ out y like w\n//@ k<<<1, 1>>>(w, causal ? x : h)\n");
  ASSERT_EQ(plan.tensors.size(), 3u);
  EXPECT_EQ(plan.tensors[0].info.shape, (Shape{64, 1024}));
  EXPECT_EQ(plan.tensors[1].info.name, "linear.weight");
  EXPECT_EQ(plan.tensors[2].info.name, "x");
}

TEST(PlanStatement, LinesMayBeIndentedAndEndAsOnWindows) {
  const BoundPlan plan =
      bound("\xEF\xBB\xBF//@ let n = 2\r\n\r\n  \t//@k<<<n, 1>>>()\r\n#define X\r\n");
  EXPECT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].line, 3);
  EXPECT_EQ(plan.launches[0].column, 7);
}

TEST(PlanStatement, AnotherNumberOfOutputsThanTheReferenceIsForTheJudge) {
  EXPECT_EQ(bound("//@ k<<<1, 1>>>(x)").tensors.size(), 1u);
}

}  // namespace
}  // namespace kbench
