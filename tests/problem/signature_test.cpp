// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/problem.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

Signature example() {
  Signature signature;
  signature.problem = "level2/3_Fused";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat16, {4, 8}}},
                      {"mask", TensorInfo{"mask", DType::kBool, {4}}},
                      {"axis", Value(std::int64_t{1})},
                      {"scale", Value(2.0)}};
  signature.outputs = {{"0", DType::kFloat16, {4, 8}}, {"1", DType::kInt64, {}}};
  signature.state = {{{"linear.weight", DType::kFloat32, {8, 8}}, false},
                     {{"bn.running_mean", DType::kFloat32, {8}}, true}};
  signature.init = {{"features", Value(std::int64_t{8})}, {"mode", Value(std::string("max"))}};
  signature.attributes = {{"bn.eps", Value(1e-5)},
                          {"bn.affine", Value(true)},
                          {"conv.stride", Value(std::vector<std::int64_t>{1, 2})},
                          {"floor", Value(-std::numeric_limits<double>::infinity())}};
  signature.precision = "fp16";
  signature.work = LeastWork{.read_bytes = 356, .written_bytes = 72, .flops = {0, 1024}};
  return signature;
}

TEST(Signature, RoundTripsThroughItsText) {
  const Signature before = example();
  const std::string text = to_json(before).dump();
  const Signature after = signature_from_json(nlohmann::json::parse(text));
  EXPECT_EQ(to_json(after).dump(), text);
  EXPECT_EQ(after.problem, before.problem);
  EXPECT_EQ(after.precision, "fp16");
  ASSERT_EQ(after.inputs.size(), 4u);
  EXPECT_EQ(std::get<TensorInfo>(after.inputs[1].value).dtype, DType::kBool);
  EXPECT_EQ(std::get<Value>(after.inputs[3].value), Value(2.0));
  EXPECT_EQ(after.outputs[1].shape, Shape{});
  EXPECT_TRUE(after.state[1].is_buffer);
  EXPECT_EQ(after.init, before.init);
  EXPECT_EQ(after.attributes, before.attributes);
}

TEST(Signature, CountsElementsAndBytes) {
  const Signature signature = example();
  EXPECT_EQ(signature.parameter_count(), 64);
  EXPECT_EQ(signature.input_bytes(), 4u * 8 * 2 + 4);
  EXPECT_EQ(signature.output_bytes(), 4u * 8 * 2 + 8);
}

TEST(Signature, EveryKindOfValueKeepsItsType) {
  const Value values[] = {true,
                          std::int64_t{-3},
                          2.0,
                          std::numeric_limits<double>::infinity(),
                          std::string("relu"),
                          std::vector<std::int64_t>{1, 2},
                          std::vector<std::int64_t>{},
                          std::vector<double>{1.0, 2.5},
                          std::vector<double>{1.0, 2.0},
                          std::vector<double>{}};
  for (const Value& value : values) {
    const Value again = value_from_json(nlohmann::json::parse(to_json(value).dump()));
    EXPECT_EQ(again, value) << describe(value);
  }
  const Value nan = value_from_json(to_json(Value(std::nan(""))));
  EXPECT_TRUE(std::isnan(std::get<double>(nan)));
  EXPECT_EQ(value_from_json(nlohmann::json::parse("[1, 2.5]")), Value(std::vector{1.0, 2.5}));
}

TEST(Signature, DescribesTensorsAndValues) {
  EXPECT_EQ(describe(TensorInfo{"x", DType::kFloat32, {16, 1024}}), "float32[16, 1024]");
  EXPECT_EQ(describe(Value(2.0)), "2.0");
  EXPECT_EQ(describe(Value(true)), "true");
  EXPECT_EQ(describe(Value(std::vector<std::int64_t>{1, 1})), "[1, 1]");
}

TEST(Signature, AMissingOrWrongFieldIsAnErrorThatNamesIt) {
  const nlohmann::json whole = to_json(example());
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json broken = whole;
    broken.erase(key);
    try {
      signature_from_json(broken);
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(key));
    }
    broken[key] = 7;
    EXPECT_THROW(signature_from_json(broken), Error) << key;
  }
  EXPECT_THROW(value_from_json(nullptr), Error);
  EXPECT_THROW(value_from_json(nlohmann::json::parse(R"(["a"])")), Error);
  EXPECT_THROW(value_from_json(nlohmann::json::parse(R"({"float": "huge"})")), Error);
  EXPECT_THROW(tensor_info_from_json({{"name", "x"}, {"dtype", "complex64"}, {"shape", {1}}}),
               Error);
  EXPECT_THROW(tensor_info_from_json({{"name", "x"}, {"dtype", "int8"}, {"shape", {-1}}}), Error);
  EXPECT_THROW(signature_from_json(nlohmann::json::array()), Error);
}

}  // namespace
}  // namespace kbench
