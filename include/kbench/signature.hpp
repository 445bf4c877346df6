// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kbench/dtype.hpp"
#include "kbench/speed_of_light.hpp"

namespace kbench {

/// A plain Python value of an init argument, a scalar input or a module's attribute.
/// bool is its own alternative; lists and tuples hold numbers only, nested ones are left out.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                           std::vector<double>>;

/// What a tensor looks like from outside: name, element type, shape.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  /// Bytes of the dense tensor.
  std::size_t bytes() const;
};

/// One argument of Model.forward: a tensor, or a plain value (an int, a float, a bool).
struct InputInfo {
  std::string name;
  std::variant<TensorInfo, Value> value;
};

/// One entry of the reference's state_dict.
struct StateInfo {
  TensorInfo tensor;
  bool is_buffer = false;  ///< a buffer (running statistics, …), not a parameter
};

/// Everything about a problem that a plan may name, as found by running its file: made once by the
/// worker for (problem source, sizes, precision, torch) and kept in the cache.
struct Signature {
  std::string problem;                      ///< "<level>/<file stem>" or the stem alone
  std::vector<InputInfo> inputs;            ///< in the order of Model.forward
  std::vector<TensorInfo> outputs;          ///< in order; names are "0", "1", …
  std::vector<StateInfo> state;             ///< parameters and buffers in state_dict order
  std::map<std::string, Value> init;        ///< arguments of Model.__init__ by parameter name
  std::map<std::string, Value> attributes;  ///< plain attributes of all modules: "bn.eps"
  std::string precision = "native";
  bool returns_sequence = false;  ///< a tuple or list of the outputs, though it were of one
  std::optional<LeastWork> work;  ///< none where the call could not be followed

  std::int64_t parameter_count() const;  ///< elements of all parameters, buffers not counted
  std::size_t input_bytes() const;       ///< bytes of all input tensors
  std::size_t output_bytes() const;
};

/// JSON forms, used for the cache and between driver and worker. from_json throws kbench::Error
/// where a field is missing or of another type.
///
/// A tensor is {"name", "dtype": "float32", "shape": [...]}; an input that is a plain value is
/// {"name", "value"}; an entry of the state has "is_buffer" besides. Values are plain JSON, so that
/// an int stays an int and 2.0 a float; a float that JSON has no word for is {"float": "inf"},
/// "-inf" or "nan", and an empty list of floats is {"floats": []}.
nlohmann::json to_json(const Signature& signature);
Signature signature_from_json(const nlohmann::json& json);
nlohmann::json to_json(const TensorInfo& tensor);
TensorInfo tensor_info_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Value& value);
Value value_from_json(const nlohmann::json& json);

/// "float32[16, 1024]", for people.
std::string describe(const TensorInfo& tensor);
/// "2", "0.5", "true", "[1, 1]", for people.
std::string describe(const Value& value);

}  // namespace kbench
