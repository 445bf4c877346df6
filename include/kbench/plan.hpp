// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kbench/problem.hpp"

namespace kbench {

/// A mistake in a plan: a sentence that says what to do, and its place in the candidate's source
/// (line and column from 1; columns count characters).
struct PlanError {
  std::string message;
  int line = 0;
  int column = 0;
  /// Stable slug: "faulty_plan", or more exactly "too_many_threads", "too_much_shared_memory",
  /// "unknown_name", "type_mismatch", "bad_flag", "no_plan".
  std::string cause = "faulty_plan";
  bool list_helps = false;  ///< the list of names (plan_names) shows what to write
};

/// The device's limits for a launch; for the CPU executor, those of the GPU that it emulates.
struct DeviceLimits {
  std::int64_t sms = 0;         ///< device.sms
  std::int64_t smem_bytes = 0;  ///< device.smem: dynamic shared memory a block may ask for
  std::int64_t max_threads_per_block = 1024;
};

/// The parsed `//@` lines of one kernel candidate. The grammar is in src/plan/parser.hpp;
/// src/plan/PLAN.md explains the language.
class Plan {
 public:
  Plan();
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// The name given by `//@ problem NAME`, if any.
  const std::optional<std::string>& problem() const;
  /// The compiler flags of `//@ flags`, all from the allow-list.
  const std::vector<std::string>& flags() const;
  /// The limit of `//@ limit`, in seconds, if any.
  std::optional<double> limit_s() const;

  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Parses the plan of `source` (the whole candidate). No plan at all is an error too.
std::variant<Plan, PlanError> parse_plan(std::string_view source);

/// The error of a plan that declares no output or launches nothing; none if it does both.
std::optional<PlanError> missing_part(const Plan& plan);

/// A tensor that a launch may name: an input, a parameter or buffer, an output, or scratch.
struct BoundTensor {
  enum class Role : std::uint8_t { kInput, kState, kOutput, kScratch };
  Role role = Role::kInput;
  std::size_t index = 0;  ///< index in Signature::inputs, ::state, or among the outputs/scratch
  TensorInfo info;
  bool writable = false;  ///< outputs, scratch, and what `inout` names
  bool filled = false;    ///< set to `fill_bits` before each call's first launch, within its time
  std::uint64_t fill_bits = 0;  ///< the element's bits
};

/// One argument of a launch before the kernel's parameter types are known.
struct BoundArgument {
  std::variant<std::size_t, std::int64_t, double, bool> value;  ///< index into tensors, or a scalar
  int line = 0;
  int column = 0;
};

/// One launch with all expressions evaluated.
struct BoundLaunch {
  std::string kernel;  ///< name expression for the compiler: "reduce<128, float>"
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{0, 0, 0};  ///< 0: no cluster
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<BoundArgument> arguments;
  int line = 0;
  int column = 0;
};

/// A plan bound to one problem's signature: what is allocated, and what is launched in order.
struct BoundPlan {
  /// The tensors that launches and `inout` name, and all outputs and scratch. Outputs and scratch
  /// are each numbered in the order of their declarations.
  std::vector<BoundTensor> tensors;
  std::vector<BoundLaunch> launches;
  std::vector<std::string> name_expressions;  ///< the distinct kernels of `launches`, in order
};

/// Evaluates every expression of `plan` for one problem on one device. Time and memory are bounded;
/// a plan above the bounds is an error.
std::variant<BoundPlan, PlanError> bind_plan(const Plan& plan, const Signature& signature,
                                             const DeviceLimits& limits);

/// A parameter of a compiled kernel as the compiler names it.
struct KernelParameter {
  bool is_pointer = false;
  std::string type;  ///< "float", "const float" (pointee of a pointer), "int", "__half", …
};

/// A kernel that the compiler made for one name expression.
struct KernelEntry {
  std::string expression;  ///< as in the plan
  std::string symbol;      ///< lowered name in the image
  std::vector<KernelParameter> parameters;
};

/// One argument ready for the launch: a tensor's address, or the bytes of a scalar.
struct LaunchArgument {
  std::optional<std::size_t> tensor;    ///< index into BoundPlan::tensors
  std::array<std::uint8_t, 8> bytes{};  ///< a scalar's bytes, little endian
  std::uint8_t size = 8;                ///< bytes of the parameter
};

/// The tensors and launches that a worker executes, without expressions and names of the problem.
struct LaunchPlan {
  struct Launch {
    std::string symbol;
    std::string kernel;  ///< the name expression, for messages
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{0, 0, 0};
    std::uint32_t shared_bytes = 0;
    bool cooperative = false;
    int line = 0;  ///< of the launch in the candidate's source
    std::vector<LaunchArgument> arguments;
  };
  std::vector<BoundTensor> tensors;
  std::vector<Launch> launches;
};

/// Checks every argument against the compiled kernels' parameters. Converts the scalars as C++
/// would, but refuses a value that the parameter's type cannot hold. A pointer to void takes any
/// tensor. Other pointers take tensors of their element type; unsigned and vector variants of the
/// type (unsigned, float4, __half2, …) match too. const is ignored.
std::variant<LaunchPlan, PlanError> resolve_plan(const BoundPlan& bound,
                                                 const std::vector<KernelEntry>& kernels);

/// JSON form, from driver to worker. launch_plan_from_json throws kbench::Error on anything else.
nlohmann::json to_json(const LaunchPlan& plan);
LaunchPlan launch_plan_from_json(const nlohmann::json& json);

/// Lists every name that a plan for this problem may use, grouped, one line each with type or
/// value.
std::string plan_names(const Signature& signature, const DeviceLimits& limits);
/// A candidate to start from. It compiles and has the right shapes and dtypes, but computes
/// nothing.
std::string plan_skeleton(const Signature& signature);

}  // namespace kbench
