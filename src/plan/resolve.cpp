// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "kbench/plan.hpp"
#include "plan/ast.hpp"
#include "plan/scalar.hpp"

namespace kbench {
namespace plan {
namespace {

/// Names a parameter in messages: "parameter 2 of `scale` (const float*)".
std::string describe(const BoundLaunch& launch, const KernelParameter& parameter,
                     std::size_t index) {
  return fmt::format("parameter {} of `{}` ({}{})", index + 1, launch.kernel, parameter.type,
                     parameter.is_pointer ? "*" : "");
}

LaunchArgument resolve_tensor(const BoundTensor& tensor, std::size_t slot,
                              const KernelParameter& parameter, const std::string& what,
                              Position at) {
  const DTypeRow& row = dtype_row(tensor.info.dtype);
  if (!parameter.is_pointer) {
    fail(at,
         fmt::format("{} takes no tensor; pass a number, or make it a {}*", what, row.cuda_type),
         "type_mismatch");
  }
  if (!pointee_fits(parameter.type, tensor.info.dtype)) {
    fail(at,
         fmt::format("{} cannot point to `{}`, which is {}; make it a {}*", what, tensor.info.name,
                     row.name, row.cuda_type),
         "type_mismatch");
  }
  LaunchArgument argument;
  argument.tensor = slot;
  return argument;
}

LaunchArgument resolve_number(const Number& number, const KernelParameter& parameter,
                              const std::string& what, Position at) {
  if (parameter.is_pointer) {
    fail(at, fmt::format("{} takes a tensor, not a number", what), "type_mismatch");
  }
  const auto format = scalar_format(parameter.type);
  if (!format) {
    fail(at, fmt::format("{} is of a type that a plan cannot pass; use numbers and pointers", what),
         "type_mismatch");
  }
  const Encoded encoded = encode(*format, number);
  if (!encoded.bits) {
    fail(at, fmt::format("{} cannot take this: {}", what, encoded.why_none), "type_mismatch");
  }
  LaunchArgument argument;
  argument.size = static_cast<std::uint8_t>(format->bytes);
  for (std::size_t i = 0; i < std::min(format->bytes, argument.bytes.size()); ++i) {
    argument.bytes[i] = static_cast<std::uint8_t>(*encoded.bits >> (8 * i));
  }
  return argument;
}

LaunchArgument resolve(const BoundPlan& bound, const BoundLaunch& launch, const KernelEntry& kernel,
                       std::size_t index) {
  const BoundArgument& argument = launch.arguments[index];
  const KernelParameter& parameter = kernel.parameters[index];
  const std::string what = describe(launch, parameter, index);
  const Position at{argument.line, argument.column};
  if (const auto* slot = std::get_if<std::size_t>(&argument.value)) {
    return resolve_tensor(bound.tensors.at(*slot), *slot, parameter, what, at);
  }
  if (const auto* flag = std::get_if<bool>(&argument.value)) {
    return resolve_number(*flag, parameter, what, at);
  }
  if (const auto* real = std::get_if<double>(&argument.value)) {
    return resolve_number(*real, parameter, what, at);
  }
  return resolve_number(std::get<std::int64_t>(argument.value), parameter, what, at);
}

std::string parameter_list(const KernelEntry& kernel) {
  std::vector<std::string> types;
  for (const KernelParameter& parameter : kernel.parameters) {
    types.push_back(parameter.type + (parameter.is_pointer ? "*" : ""));
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

LaunchPlan::Launch resolve(const BoundPlan& bound, const BoundLaunch& launch,
                           const KernelEntry& kernel) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    fail({launch.line, launch.column},
         fmt::format("`{}` takes {} argument{} ({}), and the plan passes {}", launch.kernel,
                     kernel.parameters.size(), kernel.parameters.size() == 1 ? "" : "s",
                     parameter_list(kernel), launch.arguments.size()),
         "type_mismatch");
  }
  LaunchPlan::Launch result;
  result.symbol = kernel.symbol;
  result.kernel = launch.kernel;
  result.grid = launch.grid;
  result.block = launch.block;
  result.cluster = launch.cluster;
  result.shared_bytes = launch.shared_bytes;
  result.cooperative = launch.cooperative;
  result.line = launch.line;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    result.arguments.push_back(resolve(bound, launch, kernel, i));
  }
  return result;
}

}  // namespace
}  // namespace plan

std::variant<LaunchPlan, PlanError> resolve_plan(const BoundPlan& bound,
                                                 const std::vector<KernelEntry>& kernels) {
  std::map<std::string_view, const KernelEntry*> by_expression;
  for (const KernelEntry& kernel : kernels) by_expression.emplace(kernel.expression, &kernel);
  try {
    LaunchPlan result;
    result.tensors = bound.tensors;
    for (const BoundLaunch& launch : bound.launches) {
      const auto kernel = by_expression.find(launch.kernel);
      if (kernel == by_expression.end()) {
        plan::fail({launch.line, launch.column},
                   fmt::format("there is no kernel `{}` in the code; define it as a __global__ "
                               "function",
                               launch.kernel),
                   "unknown_name");
      }
      result.launches.push_back(plan::resolve(bound, launch, *kernel->second));
    }
    return result;
  } catch (plan::PlanFault& fault) {
    return std::move(fault.error);
  }
}

}  // namespace kbench
