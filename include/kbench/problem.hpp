// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kbench/profile.hpp"

namespace kbench {

/// Overrides of a problem's module-level constants: name → Python literal ("4096", "(3, 3)").
using Sizes = std::map<std::string, std::string>;

/// One problem file in KernelBench's form; it has not been run.
struct Problem {
  std::string id;    ///< digits before the first "_" of the file name, "" if there are none
  std::string name;  ///< file stem: "19_ReLU"
  std::string key;   ///< "level1/19_ReLU", or the stem outside of a level folder; unique in a run
  int level = 0;     ///< of the folder "level<N>" or "level_<N>"; 0 if there is none
  std::filesystem::path path;
  std::string source;                        ///< the file's bytes
  std::map<std::string, Sizes> named_sizes;  ///< from sizes.json: "cpu", "gpu", and further names
  std::vector<std::string> tags;             ///< from sizes.json, if it has any
  /// Input distributions that do not suit the problem, and why; from sizes.json.
  std::map<std::string, std::string> distributions_off;
  std::string
      argument;  ///< names it on the command line: its key in one of the sets, else its path
};

/// The module-level constants that sizes and `--set` may override, in the file's order. Each has a
/// name and its value's text, from `NAME = …` or `A, B = (…, …)`.
std::vector<std::pair<std::string, std::string>> problem_constants(const Problem& problem);

/// Parses the values of `--set`. Throws UsageError if one is not "NAME=VALUE", or its name is not a
/// module-level constant of any of `problems`.
Sizes parse_overrides(const std::vector<std::string>& settings,
                      const std::vector<Problem>& problems);

/// The sizes to run `problem` with on a device class ("cpu" or "gpu", or a further name of
/// sizes.json). `overrides` replaces the sizes of constants that this problem has.
Sizes sizes_for(const Problem& problem, std::string_view device_class, const Sizes& overrides);

/// Hash of what defines the problem: its source and the sizes it runs with.
std::string problem_hash(const Problem& problem, const Sizes& sizes);

/// Finds problems by file, folder (searched to any depth; files without `class Model` are skipped),
/// glob, or name within `sets`. A name is a key ("level1/19_ReLU"), a stem, an id, the part after
/// the id in any case ("relu"), a whole level ("level1"), or a glob on keys in any case
/// ("level1/*norm*"). It may follow a folder ("path/to/KernelBench/level1/relu"). An existing path
/// takes precedence over a name, and an earlier set over a later one. Without patterns, all of
/// `sets`. Sorted by level, then natural order of names; each file once.
///
/// Throws UsageError if a pattern is ambiguous or finds nothing (with the nearest names), if a file
/// cannot be read or is not a problem, or if two files have the same key.
std::vector<Problem> find_problems(const std::vector<std::string>& patterns,
                                   const std::vector<std::filesystem::path>& sets);

/// `--reduce-sizes`: when the sizes of a problem are reduced, and how far. Problems with sizes for
/// the device in their sizes.json are never reduced.
struct ReduceSizesOptions {
  enum class When : std::uint8_t { kOnCpu, kAlways, kNever };
  When when = When::kOnCpu;
  double max_bytes = 4 << 20;  ///< of inputs, parameters, buffers and outputs
  double max_flops = 50e6;     ///< of one call of the reference

  /// True if `problem` may be reduced for a device class ("cpu" or "gpu").
  bool applies_to(const Problem& problem, std::string_view device_class) const;
};

/// Parses "auto" (on the CPU), "on", "off", or limits: bytes, or bytes and operations, as in
/// "16MiB" or "16M,0.5G". In bytes, k, M, G, T are powers of 1024; in operations, of 1000. Throws
/// UsageError.
ReduceSizesOptions parse_reduce_sizes(std::string_view text);
/// {"when", "max_bytes", "max_flops"}: the options as a run file holds them.
nlohmann::json to_json(const ReduceSizesOptions& options);

/// The result for a problem that was above the limits.
struct ReducedSizes {
  double bytes = 0, flops = 0;            ///< as run
  double full_bytes = 0, full_flops = 0;  ///< at the sizes of its file
  bool within = false;                    ///< true if the reduced sizes are within the limits

  bool reduced() const { return bytes < full_bytes || flops < full_flops; }
  /// True if it is so far above the limits that one call on a CPU would take hours.
  bool hopeless(const ReduceSizesOptions& options) const;
};

/// JSON with the fields' names.
nlohmann::json to_json(const ReducedSizes& reduced_sizes);

/// The sizes that a problem is to run with.
struct ChosenSizes {
  Sizes sizes;
  std::optional<ReducedSizes> reduced_sizes;  ///< none: within the limits, or not checked
};

/// {"sizes": {name: literal}, "reduced_sizes": … or null}.
nlohmann::json to_json(const ChosenSizes& chosen);
ChosenSizes chosen_sizes_from_json(const nlohmann::json& json);

/// For people, as in "12.0 GiB and 1.6 GFLOP".
std::string cost_text(double bytes, double flops);
/// For people: "12 problems at reduced sizes (--reduce-sizes)", and which ones are still above the
/// limits. "" if `problems` is empty. Its keys are problem names.
std::string reduced_sizes_text(const std::map<std::string, ReducedSizes>& problems);

/// Element types that a tensor of a problem may have; names and sizes as in torch.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kInt8,
  kUInt8,
  kInt16,
  kInt32,
  kInt64,
  kBool,
};

/// One row per DType: its torch name, bytes per element, and the C++ spelling that kernels use.
struct DTypeRow {
  DType dtype;
  std::string_view name;       ///< "float32", as after "torch."
  std::size_t size_bytes;      ///< of one element
  bool floating;               ///< takes part in precision casts and tolerances
  std::string_view cuda_type;  ///< "float", "__half", "long long", …
};

/// The table of element types, in the order of the enum.
std::span<const DTypeRow> dtypes();
/// The row of `dtype`.
const DTypeRow& dtype_row(DType dtype);
/// The element type of that torch name ("float32", also "torch.float32"), if there is one.
std::optional<DType> dtype_from_name(std::string_view name);

using Shape = std::vector<std::int64_t>;

/// The product of the sizes; 1 for a scalar's empty shape, the largest int64 on overflow.
std::int64_t numel(const Shape& shape);

/// A plain Python value of an init argument, a scalar input or a module's attribute. bool is its
/// own alternative. Lists and tuples hold numbers only; nested ones are left out.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                           std::vector<double>>;

/// Name, element type and shape of a tensor.
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

/// Everything of a problem that a plan may name, found by running the problem's file. The worker
/// makes it once for (problem source, sizes, precision, torch); the cache keeps it.
struct Signature {
  std::string problem;                      ///< "<level>/<file stem>" or the stem alone
  std::vector<InputInfo> inputs;            ///< in the order of Model.forward
  std::vector<TensorInfo> outputs;          ///< in order; names are "0", "1", …
  std::vector<StateInfo> state;             ///< parameters and buffers in state_dict order
  std::map<std::string, Value> init;        ///< arguments of Model.__init__ by parameter name
  std::map<std::string, Value> attributes;  ///< plain attributes of all modules: "bn.eps"
  std::string precision = "native";
  bool returns_sequence = false;  ///< returns a tuple or list, even of one output
  std::optional<LeastWork> work;  ///< none if the call could not be traced

  std::int64_t parameter_count() const;  ///< elements of all parameters, buffers not counted
  std::size_t input_bytes() const;       ///< bytes of all input tensors
  std::size_t output_bytes() const;
};

/// JSON forms, used for the cache and between driver and worker. from_json throws kbench::Error if
/// a field is missing or of another type.
///
/// A tensor is {"name", "dtype": "float32", "shape": [...]}; an input that is a plain value is
/// {"name", "value"}; an entry of the state also has "is_buffer". Values are plain JSON, so that an
/// int stays an int and 2.0 a float. A float that JSON cannot write is {"float": "inf"}, "-inf" or
/// "nan", and an empty list of floats is {"floats": []}.
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
