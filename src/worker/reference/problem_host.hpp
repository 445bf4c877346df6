// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/utils/pybind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/problem.hpp"
#include "kbench/profile.hpp"

namespace kbench::worker {

/// The problem's own failure: it cannot be imported, raises, does not fit, or is random.
struct ProblemFailure {
  std::string cause;    ///< stable slug
  std::string message;  ///< one sentence
  std::string log;      ///< Python's traceback, if any
};

/// The cause of a failure from lack of memory, on the host or the device.
inline constexpr std::string_view kDoesNotFit = "does_not_fit";

/// An argument of Model.forward, and its tensor if it is one.
struct Argument {
  pybind11::object object;
  bool is_tensor = false;
  at::Tensor tensor;
};

/// An entry of a model's state_dict.
struct StateEntry {
  std::string name;
  at::Tensor tensor;  ///< the model's own tensor, not a copy
  bool is_buffer = false;
};

/// The changes of enter_eval_mode().
struct SwitchedToEval {
  pybind11::list parts;  ///< the modules that were in training mode
  bool has_running_statistics =
      false;  ///< some modules use batch statistics in training mode, running ones in eval mode
};

/// Starts the interpreter of `python` in this process and imports torch. It starts nothing else of
/// torch, so the process may fork afterwards. `bytecode`: folder for Python's bytecode, used if
/// torch's own folder has none. Throws kbench::Error.
void start_python(const std::string& python, const std::string& bytecode);
/// Version of the imported torch.
std::string torch_version();

/// One problem file, imported with its sizes. All members throw ProblemFailure.
class ProblemHost {
 public:
  ProblemHost(const std::string& path, const std::string& source, const Sizes& sizes);

  /// Computes the signature without real data, if the problem allows it.
  Signature describe(const std::string& key, const std::string& precision);
  /// Computes the signature from real data, after a call of forward.
  Signature signature(const std::string& key, const std::string& precision,
                      const pybind11::object& model, const std::vector<Argument>& inputs,
                      const std::vector<at::Tensor>& outputs);

  pybind11::object build_model(const std::string& device, const std::string& precision,
                               std::uint64_t seed);
  /// The arguments of the model's constructor, as a list. Random ones are drawn under the seed.
  pybind11::object init_arguments(const std::string& device, const std::string& precision,
                                  std::uint64_t seed);
  std::vector<Argument> draw_inputs(const std::string& device, const std::string& precision,
                                    std::uint64_t seed);
  std::vector<StateEntry> state_of(const pybind11::object& model);
  /// Calls the reference. `arguments`: in the form that forward() takes.
  std::vector<at::Tensor> forward(const pybind11::object& model,
                                  const std::vector<pybind11::object>& arguments);
  /// Puts a model in eval mode; leave_eval_mode() reverts its `parts` to training mode.
  SwitchedToEval enter_eval_mode(const pybind11::object& model);
  void leave_eval_mode(const pybind11::list& parts);
  /// The outputs of a call in double precision, after calls on `earlier`; empty if the reference
  /// does not run in it. Changes nothing.
  std::vector<at::Tensor> exact_outputs(
      const pybind11::object& model, const std::vector<pybind11::object>& arguments,
      const std::vector<std::vector<pybind11::object>>& earlier = {});
  /// A candidate's indices `got`, its output `number`. Indices of elements that are as good as the
  /// expected ones are replaced by those of `expected`. Changes what the reference writes.
  at::Tensor without_ties(const pybind11::object& model,
                          const std::vector<pybind11::object>& arguments, std::size_t number,
                          const at::Tensor& expected, const at::Tensor& got, double tolerance);
  /// The outputs of a call in the half type below the problem's. If the reference does not run in
  /// one: no outputs, and a sentence with the reason.
  std::pair<std::vector<at::Tensor>, std::string> half_outputs(
      const pybind11::object& model, const std::vector<pybind11::object>& arguments);
  /// Changes drawn inputs in place to members of a distribution; false if nothing changes. `noisy`:
  /// no two elements of a tensor are equal.
  bool change_inputs(const std::string& distribution, const std::vector<Argument>& inputs,
                     std::uint64_t seed, bool noisy = false);
  /// Copies of inputs in which each element differs by a rounding error: of its own type, or, if
  /// `exact`, in double precision. Each `rounding` gives other differences.
  std::vector<pybind11::object> nudged(const std::vector<Argument>& inputs, bool exact,
                                       int rounding = 0);
  /// The memory traffic and operations of each operator in a call.
  std::vector<OperatorCost> operators(const pybind11::object& model,
                                      const std::vector<pybind11::object>& arguments);
  /// The most numbers that the operators of a call may sum for one element.
  std::int64_t added_up(const pybind11::object& model,
                        const std::vector<pybind11::object>& arguments);
  /// The callable that replaces the model for a baseline. It is compiled or captured by calls on
  /// these arguments. Compilers keep their results in the folder `cache`, unless it is empty.
  pybind11::object baseline(const std::string& name, const pybind11::object& model,
                            const std::vector<pybind11::object>& arguments,
                            const std::string& cache);
  /// The state of a model and the problem's file before a call, for changed().
  pybind11::object trace(const pybind11::object& model);
  /// Names of the model's attributes and the file's globals that have changed since `before`.
  std::vector<std::string> changed(const pybind11::object& before, const pybind11::object& model);
  /// A copy of the state that a newly built model has besides its parameters; see restore_model().
  pybind11::object keep_state(const pybind11::object& model);
  /// Sets the state of all of Python's and torch's random generators.
  void reseed(std::uint64_t seed);

  /// The seeds under KernelBench's rules: of each trial's inputs, and last of the timed calls'
  /// inputs.
  std::vector<std::uint64_t> kernelbench_seeds(int trials);
  /// State of torch's generators for the device, in a form that can be sent to a candidate's
  /// process.
  std::string random_state(const std::string& device);
  /// torch's math modes: bits of its global state.
  std::uint32_t math_modes();
  void set_math_modes(std::uint32_t modes);
  /// Milliseconds of calls of a model, measured by KernelBench's method.
  std::vector<double> time_by_kernelbench(const pybind11::object& model,
                                          const std::vector<pybind11::object>& arguments,
                                          const std::string& device, int calls);
  /// True if the problem has left this process unchanged.
  bool leaves_no_trace() const;
  /// The Python module of the file.
  const pybind11::object& module() const { return module_; }

 private:
  pybind11::object module_;
  bool returns_sequence_ = false;  ///< forward() returned a sequence in its last call
};

/// Restores the state that keep_state() copied (model_state.py). Throws ProblemFailure.
void restore_model(const pybind11::object& kept);

/// Names of the input distributions (input_distributions.py), in their order.
std::vector<std::string> input_distributions();

/// Reduces sizes until the problem is within the limits, or as near as possible: {"sizes",
/// "reduced_sizes"} as JSON. Throws ProblemFailure.
std::string reduce_problem(const std::string& path, const std::string& source, const Sizes& sizes,
                           double max_bytes, double max_flops);

/// Sets torch's global state for a precision, such as TF32 for fp32, in this process.
void set_precision(const std::string& precision);

/// Decides if this process builds models in eval mode, or leaves them as their constructors do.
void set_eval_mode(bool is_eval);

/// Starts everything that torch starts on a device's first use (context, libraries), so that the
/// first problem does not pay for it. Errors are ignored here, because the problem meets them
/// again.
void warm_up(const std::string& device);
/// Starts only those parts that a model with this source text seems to call.
void warm_up_for(const std::string& device, const std::string& text);
/// From now on, torch knows which GPUs exist without opening one, in this process and its forks;
/// see close_gpus(). For a process that has opened one, to run a module with that text.
void keep_devices(const std::string& text);
/// Opens the device without its libraries.
void touch_device(const std::string& device);
/// Measures the device's peak rates for a copy and for products, as JSON of Peaks. Throws
/// ProblemFailure.
std::string measured_peaks(const std::string& device);
/// Releases device memory that torch's allocator keeps unused.
void release_memory(const std::string& device);
/// Releases that memory only if the device has little left.
void release_idle_memory(const std::string& device);

/// A Python object for a tensor, for Argument lists.
pybind11::object to_python(const at::Tensor& tensor);

}  // namespace kbench::worker
