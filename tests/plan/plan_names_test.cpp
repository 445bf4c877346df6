// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "plan/plan_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

BoundPlan bound_to(const std::string& source, const Signature& signature) {
  auto result = bind_source(source, signature);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << error->line << ":" << error->column << " " << error->message << "\n" << source;
    return {};
  }
  return std::get<BoundPlan>(result);
}

TEST(PlanNames, ListsEverythingInGroups) {
  EXPECT_EQ(plan_names(plan_signature(), kLimits),
            "inputs\n"
            "  x                  float32[16, 1024]\n"
            "  h                  float16[16, 4, 8]\n"
            "  ids                int64[16]\n"
            "  steps              3\n"
            "  momentum           0.25\n"
            "  causal             true\n"
            "parameters\n"
            "  linear.weight      float32[64, 1024]\n"
            "  net.0.1.weight     bfloat16[8]\n"
            "  `odd name`         float32[2]\n"
            "buffers\n"
            "  bn.running_mean    float32[1024]\n"
            "attributes of the modules\n"
            "  N                  99\n"
            "  bn.eps             1e-05\n"
            "  conv.stride        [2, 3]\n"
            "  dim                1\n"
            "  pool.padding_mode  \"zeros\"\n"
            "  scales             [0.5, 1.5]\n"
            "init arguments\n"
            "  init.alpha         0.5\n"
            "  init.features      1024\n"
            "  init.mode          \"max\"\n"
            "device\n"
            "  device.sms         132\n"
            "  device.smem        232448 (bytes of shared memory a block may ask for)\n");
}

/// Every listed name stands for something when it is written as listed.
TEST(PlanNames, EveryListedNameIsKnownToThePlan) {
  Signature signature = plan_signature();
  signature.inputs.push_back({"true", TensorInfo{"true", DType::kFloat32, {3}}});
  signature.inputs.push_back({"\xCE\xB1", Value(0.5)});
  signature.inputs.push_back({"float32", Value(std::int64_t{2})});
  signature.attributes.emplace("_", Value(std::int64_t{2}));
  signature.state.push_back({{"0.weight", DType::kFloat32, {3}}, false});
  std::istringstream lines(plan_names(signature, kLimits));
  std::size_t names = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    const std::string name = line.substr(2, line.find("  ", 2) - 2);
    const auto result = bind_source("//@ let a = " + name, signature);
    EXPECT_TRUE(std::holds_alternative<BoundPlan>(result)) << line;
    ++names;
  }
  constexpr std::size_t kOfDevice = 2;
  EXPECT_EQ(names, signature.inputs.size() + signature.state.size() + signature.attributes.size() +
                       signature.init.size() + kOfDevice);
}

TEST(PlanNames, TheSkeletonHasTheFormOfTheOutputs) {
  const Signature signature = plan_signature();
  const std::string source = plan_skeleton(signature);
  const BoundPlan plan = bound_to(source, signature);
  std::vector<TensorInfo> outputs;
  for (const BoundTensor& tensor : plan.tensors) {
    if (tensor.role == BoundTensor::Role::kOutput) outputs.push_back(tensor.info);
  }
  ASSERT_EQ(outputs.size(), signature.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].dtype, signature.outputs[i].dtype);
    EXPECT_EQ(outputs[i].shape, signature.outputs[i].shape);
  }
  EXPECT_EQ(std::get<Plan>(parse_plan(source)).problem(), "level2/7_Example");
  EXPECT_THAT(source, HasSubstr("#include <cuda_fp16.h>"));
}

TEST(PlanNames, TheSkeletonResolvesAgainstItsOwnKernels) {
  const Signature signature = plan_signature();
  const BoundPlan plan = bound_to(plan_skeleton(signature), signature);
  const std::vector<KernelParameter> inputs{{true, "const float"},     {true, "const __half"},
                                            {true, "const long long"}, {false, "long long"},
                                            {false, "float"},          {false, "bool"}};
  std::vector<KernelEntry> kernels{{"compute0", "c0", inputs}, {"compute1", "c1", inputs}};
  kernels[0].parameters.insert(kernels[0].parameters.end(),
                               {{true, "float"}, {false, "long long"}});
  kernels[1].parameters.insert(kernels[1].parameters.end(),
                               {{true, "long long"}, {false, "long long"}});
  const auto result = resolve_plan(plan, kernels);
  const auto* error = std::get_if<PlanError>(&result);
  EXPECT_EQ(error, nullptr) << (error != nullptr ? error->message : "");
}

TEST(PlanNames, ASkeletonCopesWithOddProblems) {
  Signature signature;
  signature.problem = "odd";
  signature.inputs = {{"y", TensorInfo{"y", DType::kFloat32, {}}},
                      {"y_0", TensorInfo{"y_0", DType::kBool, {0, 3}}},
                      {"true", TensorInfo{"true", DType::kFloat32, {3}}},
                      {"float", Value(0.5)},
                      {"n", Value(std::int64_t{1})},
                      {"\xCE\xB1", TensorInfo{"\xCE\xB1", DType::kInt8, {7}}},
                      {"mode", Value(std::string("max"))}};
  signature.outputs = {{"0", DType::kBool, {}}};
  const std::string source = plan_skeleton(signature);
  const BoundPlan plan = bound_to(source, signature);
  ASSERT_EQ(plan.launches.size(), 1u) << source;
  EXPECT_EQ(plan.launches[0].arguments.size(), 8u);
  EXPECT_THAT(source, HasSubstr("compute(const float* y, "));
  EXPECT_THAT(source, HasSubstr("const float* true_"));
}

/// The line of a skeleton that declares the output.
std::string out_line(const Signature& signature) {
  const std::string source = plan_skeleton(signature);
  const std::size_t begin = source.find("//@ out");
  return source.substr(begin, source.find('\n', begin) - begin);
}

TEST(PlanNames, ASkeletonNamesSizesSoThatItHoldsAtOthers) {
  Signature signature;
  signature.problem = "conv";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {16, 8, 32, 32}}}};
  signature.outputs = {{"0", DType::kFloat32, {16, 24, 32, 1}}};
  signature.attributes = {{"a", Value(std::int64_t{24})},
                          {"conv.out_channels", Value(std::int64_t{24})}};
  EXPECT_EQ(out_line(signature), "//@ out y: float32[x_0, conv.out_channels, x_2, 1]");
  signature.attributes.clear();
  signature.init = {{"channels", Value(std::int64_t{24})}};
  EXPECT_EQ(out_line(signature), "//@ out y: float32[x_0, init.channels, x_2, 1]");
  signature.init.clear();
  signature.state = {{{"conv.weight", DType::kFloat32, {24, 8, 3, 3}}, false}};
  EXPECT_EQ(out_line(signature), "//@ out y: float32[x_0, size(conv.weight, 0), x_2, 1]");
  signature.outputs = {{"0", DType::kFloat32, {30, 16}}};
  EXPECT_EQ(out_line(signature),
            "//@ out y: float32[30, x_0]  # no name has this size: replace the number by a "
            "formula");
  bound_to(plan_skeleton(signature), signature);
}

/// The first fenced block of the language's reference, which a reader will copy.
std::string worked_example() {
  std::ifstream file(KBENCH_SOURCE_DIR "/src/plan/PLAN.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str(), fence = "```cuda\n";
  const std::size_t begin = all.find(fence);
  if (begin == std::string::npos) return "";
  return all.substr(begin + fence.size(), all.find("```", begin + 3) - begin - fence.size());
}

TEST(PlanNames, TheWorkedExampleOfTheReferenceBinds) {
  Signature signature;
  signature.problem = "level2/3_Linear_Softmax";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {64, 512}}}};
  signature.outputs = {{"0", DType::kFloat32, {64, 128}}};
  signature.state = {{{"linear.weight", DType::kFloat32, {128, 512}}, false},
                     {{"linear.bias", DType::kFloat32, {128}}, false}};
  signature.init = {{"temperature", Value(0.5)}};
  const BoundPlan plan = bound_to(worked_example(), signature);
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[0].kernel, "linear_kernel<float, 16>");
  EXPECT_EQ(plan.launches[0].grid, (std::array<std::uint32_t, 3>{8, 4, 1}));
  const auto resolved = resolve_plan(
      plan, {{"linear_kernel<float, 16>",
              "a",
              {{true, "const float"},
               {true, "const float"},
               {true, "const float"},
               {true, "float"},
               {false, "int"},
               {false, "int"},
               {false, "int"}}},
             {"softmax_kernel<float>",
              "b",
              {{true, "const float"}, {true, "float"}, {false, "int"}, {false, "float"}}}});
  const auto* error = std::get_if<PlanError>(&resolved);
  EXPECT_EQ(error, nullptr) << (error != nullptr ? error->message : "");
}

}  // namespace
}  // namespace kbench
