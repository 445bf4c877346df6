// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/problem.hpp"

namespace kbench {
namespace {

using nlohmann::json;

const json& field(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) {
    throw Error(fmt::format("the signature has no field \"{}\"", key));
  }
  return object.at(key);
}

/// The field `key`, converted. A wrong type throws kbench::Error that names the field.
template <typename T>
T field_as(const json& object, const char* key) {
  try {
    return field(object, key).get<T>();
  } catch (const json::exception& error) {
    throw Error(
        fmt::format("the signature's field \"{}\" has the wrong type: {}", key, error.what()));
  }
}

json float_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return {{"float", "nan"}};
  return {{"float", value > 0 ? "inf" : "-inf"}};
}

double float_from_json(const json& value) {
  if (value.is_number()) return value.get<double>();
  const auto word = field_as<std::string>(value, "float");
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  throw Error(fmt::format("the signature has a float \"{}\"; known are inf, -inf and nan", word));
}

bool fits_int64(const json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() ||
          value.get<std::uint64_t>() <=
              static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

Value list_from_json(const json& list) {
  if (std::ranges::all_of(list, fits_int64)) return list.get<std::vector<std::int64_t>>();
  std::vector<double> floats;
  floats.reserve(list.size());
  for (const json& element : list) floats.push_back(float_from_json(element));
  return floats;
}

std::map<std::string, Value> values_from_json(const json& object, const char* key) {
  const json& values = field(object, key);
  if (!values.is_object()) {
    throw Error(fmt::format("the signature's field \"{}\" is not an object", key));
  }
  std::map<std::string, Value> result;
  for (const auto& [name, value] : values.items()) result.emplace(name, value_from_json(value));
  return result;
}

json values_to_json(const std::map<std::string, Value>& values) {
  json object = json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}

const json& list_field(const json& object, const char* key) {
  const json& list = field(object, key);
  if (!list.is_array()) throw Error(fmt::format("the signature's field \"{}\" is not a list", key));
  return list;
}

std::string describe_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::size_t TensorInfo::bytes() const {
  const auto count = static_cast<std::size_t>(numel(shape));
  std::size_t result = 0;
  if (__builtin_mul_overflow(count, dtype_row(dtype).size_bytes, &result)) {
    return std::numeric_limits<std::size_t>::max();
  }
  return result;
}

std::int64_t Signature::parameter_count() const {
  std::int64_t count = 0;
  for (const StateInfo& entry : state) {
    if (!entry.is_buffer) count += numel(entry.tensor.shape);
  }
  return count;
}

std::size_t Signature::input_bytes() const {
  std::size_t total = 0;
  for (const InputInfo& input : inputs) {
    if (const auto* tensor = std::get_if<TensorInfo>(&input.value)) total += tensor->bytes();
  }
  return total;
}

std::size_t Signature::output_bytes() const {
  std::size_t total = 0;
  for (const TensorInfo& output : outputs) total += output.bytes();
  return total;
}

nlohmann::json to_json(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return float_to_json(*number);
  if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
    if (floats->empty()) return {{"floats", json::array()}};
    json list = json::array();
    for (const double number : *floats) list.push_back(float_to_json(number));
    return list;
  }
  return std::visit([](const auto& plain) { return json(plain); }, value);
}

Value value_from_json(const nlohmann::json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (fits_int64(json)) return json.get<std::int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return list_from_json(json);
  if (json.is_object() && json.contains("floats")) return std::vector<double>{};
  if (json.is_number() || json.is_object()) return float_from_json(json);
  throw Error(fmt::format("the signature has a value of JSON type {}", json.type_name()));
}

nlohmann::json to_json(const TensorInfo& tensor) {
  return {{"name", tensor.name}, {"dtype", dtype_row(tensor.dtype).name}, {"shape", tensor.shape}};
}

TensorInfo tensor_info_from_json(const nlohmann::json& json) {
  TensorInfo tensor;
  tensor.name = field_as<std::string>(json, "name");
  const auto dtype = field_as<std::string>(json, "dtype");
  const std::optional<DType> known = dtype_from_name(dtype);
  if (!known) {
    throw Error(
        fmt::format("tensor \"{}\" has dtype {}, which kbench does not know", tensor.name, dtype));
  }
  tensor.dtype = *known;
  tensor.shape = field_as<Shape>(json, "shape");
  if (std::ranges::any_of(tensor.shape, [](std::int64_t size) { return size < 0; })) {
    throw Error(fmt::format("tensor \"{}\" has a negative size", tensor.name));
  }
  return tensor;
}

nlohmann::json to_json(const Signature& signature) {
  json inputs = json::array();
  for (const InputInfo& input : signature.inputs) {
    if (const auto* tensor = std::get_if<TensorInfo>(&input.value)) {
      inputs.push_back(to_json(*tensor));
      inputs.back()["name"] = input.name;
    } else {
      inputs.push_back({{"name", input.name}, {"value", to_json(std::get<Value>(input.value))}});
    }
  }
  json outputs = json::array();
  for (const TensorInfo& output : signature.outputs) outputs.push_back(to_json(output));
  json state = json::array();
  for (const StateInfo& entry : signature.state) {
    state.push_back(to_json(entry.tensor));
    state.back()["is_buffer"] = entry.is_buffer;
  }
  return {{"problem", signature.problem},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"state", std::move(state)},
          {"init", values_to_json(signature.init)},
          {"attributes", values_to_json(signature.attributes)},
          {"precision", signature.precision},
          {"returns_sequence", signature.returns_sequence},
          {"work", signature.work ? to_json(*signature.work) : json()}};
}

Signature signature_from_json(const nlohmann::json& json) {
  Signature signature;
  signature.problem = field_as<std::string>(json, "problem");
  for (const auto& input : list_field(json, "inputs")) {
    const auto name = field_as<std::string>(input, "name");
    if (input.contains("value")) {
      signature.inputs.push_back({name, value_from_json(input.at("value"))});
    } else {
      signature.inputs.push_back({name, tensor_info_from_json(input)});
    }
  }
  for (const auto& output : list_field(json, "outputs")) {
    signature.outputs.push_back(tensor_info_from_json(output));
  }
  for (const auto& entry : list_field(json, "state")) {
    signature.state.push_back({tensor_info_from_json(entry), field_as<bool>(entry, "is_buffer")});
  }
  signature.init = values_from_json(json, "init");
  signature.attributes = values_from_json(json, "attributes");
  signature.precision = field_as<std::string>(json, "precision");
  signature.returns_sequence = field_as<bool>(json, "returns_sequence");
  if (const auto& work = field(json, "work"); !work.is_null())
    signature.work = least_work_from_json(work);
  return signature;
}

std::string describe(const TensorInfo& tensor) {
  return fmt::format("{}[{}]", dtype_row(tensor.dtype).name, fmt::join(tensor.shape, ", "));
}

std::string describe(const Value& value) {
  struct Describe {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return describe_float(number); }
    std::string operator()(const std::string& text) const { return fmt::format("\"{}\"", text); }
    std::string operator()(const std::vector<std::int64_t>& list) const {
      return fmt::format("[{}]", fmt::join(list, ", "));
    }
    std::string operator()(const std::vector<double>& list) const {
      std::vector<std::string> words(list.size());
      std::ranges::transform(list, words.begin(), describe_float);
      return fmt::format("[{}]", fmt::join(words, ", "));
    }
  };
  return std::visit(Describe{}, value);
}

}  // namespace kbench
