// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "plan/plan_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

/// One parameter's type, what the plan passes, and the bytes that arrive (or why none do).
struct ScalarCase {
  const char* type;
  const char* argument;
  std::uint8_t size;
  std::uint64_t bits;
};

std::variant<LaunchPlan, PlanError> resolved(const std::string& arguments,
                                             std::vector<KernelParameter> parameters) {
  const BoundPlan plan =
      bound("//@ out y like x\n//@ tmp t: int32[4]\n//@ k<<<1, 1>>>(" + arguments + ")");
  return resolve_plan(plan, {{"k", "_Z1kv", std::move(parameters)}});
}

TEST(PlanResolve, ScalarsBecomeTheBytesOfTheParameter) {
  const ScalarCase cases[] = {
      {"int", "-2", 4, 0xFFFFFFFE},
      {"const int", "2.0", 4, 2},
      {"unsigned int", "4294967295", 4, 0xFFFFFFFF},
      {"unsigned", "7", 4, 7},
      {"long", "-1", 8, ~0ull},
      {"long long", "-1", 8, ~0ull},
      {"long long int", "3", 8, 3},
      {"unsigned long", "9223372036854775807", 8, 0x7FFFFFFFFFFFFFFF},
      {"unsigned long long", "18446744073709549568.0", 8, 18446744073709549568ull},
      {"size_t", "5", 8, 5},
      {"std::uint32_t", "5", 4, 5},
      {"int64_t", "5", 8, 5},
      {"short", "-32768", 2, 0x8000},
      {"unsigned short", "65535", 2, 65535},
      {"char", "-128", 1, 0x80},
      {"signed char", "127", 1, 127},
      {"unsigned char", "255", 1, 255},
      {"bool", "true", 1, 1},
      {"bool", "0", 1, 0},
      {"int", "causal", 4, 1},
      {"float", "1", 4, 0x3F800000},
      {"float", "0.1", 4, 0x3DCCCCCD},
      {"float", "-inf", 4, 0xFF800000},
      {"float", "16777217", 4, 0x4B800000},
      {"float const", "bn.eps", 4, 0x3727C5AC},
      {"double", "0.1", 8, 0x3FB999999999999A},
      {"__half", "0.1", 2, 0x2E66},
      {"half", "-2", 2, 0xC000},
      {"__nv_bfloat16", "0.1", 2, 0x3DCD},
      {"nv_bfloat16", "1", 2, 0x3F80},
  };
  for (const ScalarCase& row : cases) {
    SCOPED_TRACE(std::string(row.type) + " <- " + row.argument);
    const auto result = resolved(row.argument, {{false, row.type}});
    if (const auto* error = std::get_if<PlanError>(&result)) {
      ADD_FAILURE() << error->message;
      continue;
    }
    const LaunchArgument& argument = std::get<LaunchPlan>(result).launches[0].arguments[0];
    EXPECT_FALSE(argument.tensor.has_value());
    EXPECT_EQ(argument.size, row.size);
    std::uint64_t bits = 0;
    std::memcpy(&bits, argument.bytes.data(), sizeof bits);
    EXPECT_EQ(bits, row.bits) << std::hex << bits;
  }
}

/// A parameter, what the plan passes, and what the error says.
struct RefusedCase {
  KernelParameter parameter;
  const char* argument;
  const char* says;
};

TEST(PlanResolve, WhatCppWouldChangeSilentlyIsRefused) {
  const RefusedCase cases[] = {
      {{false, "int"}, "0.5", "0.5 has a fraction"},
      {{false, "int"}, "2147483648", "2147483648 is out of its range"},
      {{false, "int"}, "-2147483649", "out of its range"},
      {{false, "int"}, "nan", "is not an integer"},
      {{false, "int"}, "1e30", "out of its range"},
      {{false, "unsigned int"}, "-1", "-1 is out of its range"},
      {{false, "unsigned long"}, "-1.0", "out of its range"},
      {{false, "unsigned long"}, "18446744073709551616.0", "out of its range"},
      {{false, "char"}, "200", "out of its range"},
      {{false, "bool"}, "2", "neither true nor false"},
      {{false, "float"}, "1e39", "out of its range"},
      {{false, "__half"}, "65520", "out of its range"},
      {{false, "float"}, "x", "takes no tensor; pass a number, or make it a float*"},
      {{false, "Params"}, "1", "a type that a plan cannot pass"},
      {{false, "float4"}, "1", "a type that a plan cannot pass"},
      {{true, "float"}, "0", "takes a tensor, not a number"},
      {{true, "float"}, "h", "cannot point to `h`, which is float16; make it a __half*"},
      {{true, "const __half"}, "x", "make it a float*"},
      {{true, "float"}, "t", "which is int32; make it a int*"},
      {{true, "float*"}, "x", "cannot point to"},
      {{true, "int4"}, "x", "cannot point to"},
  };
  for (const RefusedCase& row : cases) {
    SCOPED_TRACE(row.parameter.type + " <- " + row.argument);
    const auto result = resolved(row.argument, {row.parameter});
    const auto* error = std::get_if<PlanError>(&result);
    if (error == nullptr) {
      ADD_FAILURE() << "accepted";
      continue;
    }
    EXPECT_THAT(error->message, HasSubstr(row.says));
    EXPECT_THAT(error->message, HasSubstr("parameter 1 of `k`"));
    EXPECT_EQ(error->cause, "type_mismatch");
    EXPECT_EQ(error->line, 3);
    EXPECT_EQ(error->column, 17);
  }
}

/// An element type and what pointers to it may be called.
struct PointeeCase {
  DType dtype;
  std::vector<const char*> types;
};

TEST(PlanResolve, PointersTakeTheirElementType) {
  const PointeeCase cases[] = {
      {DType::kFloat32, {"float", "const float", "float const", "float4", "float2", "void"}},
      {DType::kFloat64, {"double", "double2", "double4_16a"}},
      {DType::kFloat16, {"__half", "half", "__half2", "half2", "const __half"}},
      {DType::kBFloat16, {"__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162"}},
      {DType::kInt8, {"char", "signed char", "int8_t", "char4"}},
      {DType::kUInt8, {"unsigned char", "uint8_t", "uchar4"}},
      {DType::kInt16, {"short", "short int", "unsigned short", "short2"}},
      {DType::kInt32, {"int", "int4", "unsigned int", "unsigned", "uint2", "int32_t"}},
      {DType::kInt64,
       {"long", "long long", "long long int", "unsigned long long", "int64_t", "longlong2"}},
      {DType::kBool, {"bool", "const bool"}},
  };
  for (const PointeeCase& row : cases) {
    const std::string name(dtype_row(row.dtype).name);
    const BoundPlan plan = bound("//@ tmp t: " + name + "[4]\n//@ k<<<1, 1>>>(t)");
    for (const char* type : row.types) {
      SCOPED_TRACE(name + " <- " + type);
      const auto result = resolve_plan(plan, {{"k", "k", {{true, type}}}});
      EXPECT_TRUE(std::holds_alternative<LaunchPlan>(result));
      // No pointee but void may point to every element type.
      std::size_t fitting = 0;
      for (const DTypeRow& other : dtypes()) {
        const BoundPlan plain =
            bound("//@ tmp t: " + std::string(other.name) + "[4]\n//@ k<<<1, 1>>>(t)");
        const auto of_other = resolve_plan(plain, {{"k", "k", {{true, type}}}});
        fitting += std::holds_alternative<LaunchPlan>(of_other) ? 1 : 0;
      }
      EXPECT_EQ(fitting, std::string_view(type) == "void" ? dtypes().size() : 1);
    }
  }
}

TEST(PlanResolve, CountsArgumentsAndFindsKernels) {
  const auto too_few = resolved("x", {{true, "float"}, {false, "int"}});
  EXPECT_THAT(std::get<PlanError>(too_few).message,
              HasSubstr("`k` takes 2 arguments (float*, int), and the plan passes 1"));
  EXPECT_EQ(std::get<PlanError>(too_few).line, 3);
  EXPECT_EQ(std::get<PlanError>(too_few).column, 5);
  const auto missing = resolve_plan(bound("//@ k<4><<<1, 1>>>()"), {{"k<5>", "k", {}}});
  EXPECT_EQ(std::get<PlanError>(missing).cause, "unknown_name");
}

LaunchPlan example() {
  const BoundPlan plan = bound(
      "//@ inout bn.running_mean\n//@ tmp s: float16[3] = -inf\n//@ out y: int64[16]\n"
      "//@ cluster(2) cooperative k<128><<<(4, 2), 64, 100>>>(x, s, y, 0.5, -3, true)\n"
      "//@ other<<<1, 1>>>(bn.running_mean)\n");
  return std::get<LaunchPlan>(resolve_plan(plan, {{"k<128>",
                                                   "_Z1kILi128EEvv",
                                                   {{true, "float"},
                                                    {true, "__half"},
                                                    {true, "long"},
                                                    {false, "float"},
                                                    {false, "int"},
                                                    {false, "bool"}}},
                                                  {"other", "_Z5otherPf", {{true, "float"}}}}));
}

TEST(PlanResolve, TheLaunchPlanKeepsWhatIsLaunched) {
  const LaunchPlan plan = example();
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[0].symbol, "_Z1kILi128EEvv");
  EXPECT_EQ(plan.launches[0].kernel, "k<128>");
  EXPECT_EQ(plan.launches[0].line, 4);
  EXPECT_EQ(plan.launches[0].grid[1], 2u);
  EXPECT_EQ(plan.launches[0].cluster[0], 2u);
  EXPECT_TRUE(plan.launches[0].cooperative);
  EXPECT_EQ(plan.tensors[plan.launches[1].arguments[0].tensor.value()].info.name,
            "bn.running_mean");
}

TEST(PlanResolve, TheLaunchPlanRoundTripsAsJson) {
  const LaunchPlan before = example();
  const std::string text = to_json(before).dump();
  const LaunchPlan after = launch_plan_from_json(nlohmann::json::parse(text));
  EXPECT_EQ(to_json(after).dump(), text);
  ASSERT_EQ(after.tensors.size(), before.tensors.size());
  for (std::size_t i = 0; i < after.tensors.size(); ++i) {
    EXPECT_EQ(after.tensors[i].role, before.tensors[i].role);
    EXPECT_EQ(after.tensors[i].index, before.tensors[i].index);
    EXPECT_EQ(after.tensors[i].info.name, before.tensors[i].info.name);
    EXPECT_EQ(after.tensors[i].info.dtype, before.tensors[i].info.dtype);
    EXPECT_EQ(after.tensors[i].info.shape, before.tensors[i].info.shape);
    EXPECT_EQ(after.tensors[i].writable, before.tensors[i].writable);
    EXPECT_EQ(after.tensors[i].filled, before.tensors[i].filled);
    EXPECT_EQ(after.tensors[i].fill_bits, before.tensors[i].fill_bits);
  }
  for (std::size_t i = 0; i < after.launches.size(); ++i) {
    const auto& launch = after.launches[i];
    EXPECT_EQ(launch.symbol, before.launches[i].symbol);
    EXPECT_EQ(launch.kernel, before.launches[i].kernel);
    EXPECT_EQ(launch.grid, before.launches[i].grid);
    EXPECT_EQ(launch.block, before.launches[i].block);
    EXPECT_EQ(launch.cluster, before.launches[i].cluster);
    EXPECT_EQ(launch.shared_bytes, before.launches[i].shared_bytes);
    EXPECT_EQ(launch.cooperative, before.launches[i].cooperative);
    EXPECT_EQ(launch.line, before.launches[i].line);
    ASSERT_EQ(launch.arguments.size(), before.launches[i].arguments.size());
    for (std::size_t j = 0; j < launch.arguments.size(); ++j) {
      EXPECT_EQ(launch.arguments[j].tensor, before.launches[i].arguments[j].tensor);
      EXPECT_EQ(launch.arguments[j].bytes, before.launches[i].arguments[j].bytes);
      EXPECT_EQ(launch.arguments[j].size, before.launches[i].arguments[j].size);
    }
  }
}

TEST(PlanResolve, JsonOfAnythingElseIsAnError) {
  using nlohmann::json;
  using namespace nlohmann::literals;
  const json whole = to_json(example());
  EXPECT_THROW(launch_plan_from_json(json::object()), Error);
  EXPECT_THROW(launch_plan_from_json(json::array()), Error);
  for (const char* path : {"/tensors/0/role", "/tensors/0/index", "/launches/0/grid",
                           "/launches/0/arguments/0/tensor", "/launches/0/arguments/3/bytes"}) {
    for (const json& wrong : {json("nothing"), json(-1), json(0.5), json::array({300, 1})}) {
      json broken = whole;
      broken[json::json_pointer(path)] = wrong;
      EXPECT_THROW(launch_plan_from_json(broken), Error) << path << " = " << wrong;
    }
    json lacking = whole;
    const json::json_pointer pointer(path);
    lacking[pointer.parent_pointer()].erase(pointer.back());
    EXPECT_THROW(launch_plan_from_json(lacking), Error) << path;
  }
  json beyond = whole;
  beyond["/launches/0/arguments/0/tensor"_json_pointer] = 1000;
  EXPECT_THROW(launch_plan_from_json(beyond), Error);
}

}  // namespace
}  // namespace kbench
