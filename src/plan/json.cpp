// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/plan.hpp"

namespace kbench {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kRoles{"input", "state", "output", "scratch"};

/// A number from 0 to the largest T. Throws kbench::Error for others, because nlohmann's own
/// conversion would wrap them.
template <typename T>
T natural(const json& value) {
  const bool negative =
      value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
  if (!value.is_number_integer() || negative ||
      value.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
    throw Error(fmt::format("a launch plan has {} instead of a number", value.dump()));
  }
  return value.get<T>();
}

template <typename T>
void natural_array(const json& list, T& result) {
  if (!list.is_array() || list.size() != result.size()) {
    throw Error(fmt::format("a launch plan lacks a list of {} numbers", result.size()));
  }
  std::ranges::transform(list, result.begin(), natural<typename T::value_type>);
}

json tensor_to_json(const BoundTensor& tensor) {
  json result = to_json(tensor.info);
  result["role"] = kRoles.at(static_cast<std::size_t>(tensor.role));
  result["index"] = tensor.index;
  result["writable"] = tensor.writable;
  result["fill_bits"] = tensor.filled ? json(tensor.fill_bits) : json();
  return result;
}

BoundTensor tensor_from_json(const json& object) {
  BoundTensor tensor;
  tensor.info = tensor_info_from_json(object);
  const auto role = object.at("role").get<std::string>();
  const auto* found = std::ranges::find(kRoles, role);
  if (found == kRoles.end())
    throw Error(fmt::format("a launch plan has the unknown role \"{}\"", role));
  tensor.role = static_cast<BoundTensor::Role>(found - kRoles.begin());
  tensor.index = natural<std::size_t>(object.at("index"));
  tensor.writable = object.at("writable").get<bool>();
  const json& fill = object.at("fill_bits");
  tensor.filled = !fill.is_null();
  if (tensor.filled) tensor.fill_bits = natural<std::uint64_t>(fill);
  return tensor;
}

/// {"tensor": 3}, or {"bytes": [1, 0, 0, 0]} with all bytes of the parameter.
json argument_to_json(const LaunchArgument& argument) {
  if (argument.tensor) return {{"tensor", *argument.tensor}};
  const std::size_t size = std::min<std::size_t>(argument.size, argument.bytes.size());
  return {{"bytes", std::vector<int>(argument.bytes.begin(),
                                     argument.bytes.begin() + static_cast<std::ptrdiff_t>(size))}};
}

LaunchArgument argument_from_json(const json& object, std::size_t tensors) {
  LaunchArgument argument;
  if (object.contains("tensor")) {
    argument.tensor = natural<std::size_t>(object.at("tensor"));
    if (*argument.tensor >= tensors)
      throw Error("a launch plan names a tensor that it does not define");
    return argument;
  }
  const json& bytes = object.at("bytes");
  if (!bytes.is_array() || bytes.size() > argument.bytes.size()) {
    throw Error("a launch plan has a scalar that is not a list of up to 8 bytes");
  }
  std::ranges::transform(bytes, argument.bytes.begin(), natural<std::uint8_t>);
  argument.size = static_cast<std::uint8_t>(bytes.size());
  return argument;
}

json launch_to_json(const LaunchPlan::Launch& launch) {
  json arguments = json::array();
  for (const LaunchArgument& argument : launch.arguments) {
    arguments.push_back(argument_to_json(argument));
  }
  return {{"symbol", launch.symbol},
          {"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"cluster", launch.cluster},
          {"shared_bytes", launch.shared_bytes},
          {"cooperative", launch.cooperative},
          {"line", launch.line},
          {"arguments", std::move(arguments)}};
}

LaunchPlan::Launch launch_from_json(const json& object, std::size_t tensors) {
  LaunchPlan::Launch launch;
  object.at("symbol").get_to(launch.symbol);
  object.at("kernel").get_to(launch.kernel);
  natural_array(object.at("grid"), launch.grid);
  natural_array(object.at("block"), launch.block);
  natural_array(object.at("cluster"), launch.cluster);
  launch.shared_bytes = natural<std::uint32_t>(object.at("shared_bytes"));
  object.at("cooperative").get_to(launch.cooperative);
  object.at("line").get_to(launch.line);
  for (const json& argument : object.at("arguments")) {
    launch.arguments.push_back(argument_from_json(argument, tensors));
  }
  return launch;
}

}  // namespace

nlohmann::json to_json(const LaunchPlan& plan) {
  json tensors = json::array(), launches = json::array();
  for (const BoundTensor& tensor : plan.tensors) tensors.push_back(tensor_to_json(tensor));
  for (const auto& launch : plan.launches) launches.push_back(launch_to_json(launch));
  return {{"tensors", std::move(tensors)}, {"launches", std::move(launches)}};
}

LaunchPlan launch_plan_from_json(const nlohmann::json& json) {
  try {
    LaunchPlan plan;
    for (const auto& tensor : json.at("tensors")) plan.tensors.push_back(tensor_from_json(tensor));
    for (const auto& launch : json.at("launches")) {
      plan.launches.push_back(launch_from_json(launch, plan.tensors.size()));
    }
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("the launch plan is malformed: {}", error.what()));
  }
}

}  // namespace kbench
