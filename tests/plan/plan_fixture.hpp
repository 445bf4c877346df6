// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "kbench/plan.hpp"

namespace kbench {

inline constexpr DeviceLimits kLimits{132, 232'448, 1024};

/// A problem with one of everything that a plan may name.
inline Signature plan_signature() {
  Signature signature;
  signature.problem = "level2/7_Example";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {16, 1024}}},
                      {"h", TensorInfo{"h", DType::kFloat16, {16, 4, 8}}},
                      {"ids", TensorInfo{"ids", DType::kInt64, {16}}},
                      {"steps", Value(std::int64_t{3})},
                      {"momentum", Value(0.25)},
                      {"causal", Value(true)}};
  signature.outputs = {{"0", DType::kFloat32, {16, 1024}}, {"1", DType::kInt64, {16}}};
  signature.state = {{{"linear.weight", DType::kFloat32, {64, 1024}}, false},
                     {{"net.0.1.weight", DType::kBFloat16, {8}}, false},
                     {{"odd name", DType::kFloat32, {2}}, false},
                     {{"bn.running_mean", DType::kFloat32, {1024}}, true}};
  signature.init = {{"alpha", Value(0.5)},
                    {"mode", Value(std::string("max"))},
                    {"features", Value(std::int64_t{1024})}};
  signature.attributes = {{"bn.eps", Value(1e-5)},
                          {"conv.stride", Value(std::vector<std::int64_t>{2, 3})},
                          {"scales", Value(std::vector<double>{0.5, 1.5})},
                          {"pool.padding_mode", Value(std::string("zeros"))},
                          {"dim", Value(std::int64_t{1})},
                          {"N", Value(std::int64_t{99})}};
  return signature;
}

/// Parses and binds; a mistake is a PlanError.
inline std::variant<BoundPlan, PlanError> bind_source(std::string_view source,
                                                      const Signature& signature,
                                                      const DeviceLimits& limits = kLimits) {
  auto plan = parse_plan(source);
  if (auto* error = std::get_if<PlanError>(&plan)) return *error;
  return bind_plan(std::get<Plan>(plan), signature, limits);
}

/// Binds a plan without mistakes; fails the test where it has one.
inline BoundPlan bound(std::string_view source, const DeviceLimits& limits = kLimits) {
  auto result = bind_source(source, plan_signature(), limits);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    ADD_FAILURE() << source << "\n" << error->line << ":" << error->column << " " << error->message;
    return {};
  }
  return std::get<BoundPlan>(result);
}

/// A plan in which `^` marks where the mistake is: the plan without it, and its place.
struct Marked {
  std::string source;
  int line = 1, column = 1;
};

inline Marked without_mark(std::string_view text) {
  Marked result;
  for (const char c : text.substr(0, text.find('^'))) {
    result.column = c == '\n' ? 1 : result.column + ((c & 0xC0) != 0x80 ? 1 : 0);
    result.line += c == '\n' ? 1 : 0;
  }
  result.source = text;
  if (const std::size_t mark = text.find('^'); mark != std::string_view::npos) {
    result.source.erase(mark, 1);
  }
  return result;
}

}  // namespace kbench
