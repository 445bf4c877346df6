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

/// The cause of a failure for want of memory, host's or device's.
inline constexpr std::string_view kDoesNotFit = "does_not_fit";

/// An argument of Model.forward and its tensor, where it is one.
struct Argument {
  pybind11::object object;
  bool is_tensor = false;
  at::Tensor tensor;
};

/// An entry of a model's state_dict.
struct StateEntry {
  std::string name;
  at::Tensor tensor;  ///< the model's own
  bool is_buffer = false;
};

/// What putting a model in eval mode has changed.
struct SwitchedToEval {
  pybind11::list parts;                 ///< its modules that were in training mode
  bool has_running_statistics = false;  ///< some of them take the batch's there, and those in eval
};

/// Starts the interpreter of `python` inside this process and imports torch; nothing else of torch
/// is touched, so that children may be forked afterwards. `bytecode` is a folder for Python's
/// bytecode, used where torch's own folder has none. Throws kbench::Error.
void start_python(const std::string& python, const std::string& bytecode);
/// Version of the imported torch.
std::string torch_version();

/// One problem file, imported with its sizes. All members throw ProblemFailure.
class ProblemHost {
 public:
  ProblemHost(const std::string& path, const std::string& source, const Sizes& sizes);

  /// The signature, made without the cost of the real data where the problem allows it.
  Signature describe(const std::string& key, const std::string& precision);
  /// The signature as found on real data, after a call of forward.
  Signature signature(const std::string& key, const std::string& precision,
                      const pybind11::object& model, const std::vector<Argument>& inputs,
                      const std::vector<at::Tensor>& outputs);

  pybind11::object build_model(const std::string& device, const std::string& precision,
                               std::uint64_t seed);
  /// The arguments of the model's constructor, a list; drawn under the seed where they are random.
  pybind11::object init_arguments(const std::string& device, const std::string& precision,
                                  std::uint64_t seed);
  std::vector<Argument> draw_inputs(const std::string& device, const std::string& precision,
                                    std::uint64_t seed);
  std::vector<StateEntry> state_of(const pybind11::object& model);
  /// One call of the reference; `arguments` as forward takes them.
  std::vector<at::Tensor> forward(const pybind11::object& model,
                                  const std::vector<pybind11::object>& arguments);
  /// Puts a model in eval mode; leave_eval_mode() puts those parts of it back.
  SwitchedToEval enter_eval_mode(const pybind11::object& model);
  void leave_eval_mode(const pybind11::list& parts);
  /// The same in double precision, after calls on `earlier`; empty where it cannot be had. Changes
  /// nothing.
  std::vector<at::Tensor> exact_outputs(
      const pybind11::object& model, const std::vector<pybind11::object>& arguments,
      const std::vector<std::vector<pybind11::object>>& earlier = {});
  /// Indices that a candidate gave as output `number`, with those of `expected` in place of such
  /// that name elements as good as those do; changes what the reference writes.
  at::Tensor without_ties(const pybind11::object& model,
                          const std::vector<pybind11::object>& arguments, std::size_t number,
                          const at::Tensor& expected, const at::Tensor& got, double tolerance);
  /// The same in a half type below its own; with a sentence, and without outputs, where it cannot
  /// be had.
  std::pair<std::vector<at::Tensor>, std::string> half_outputs(
      const pybind11::object& model, const std::vector<pybind11::object>& arguments);
  /// Makes drawn inputs members of a distribution, in place; false where that changes nothing.
  /// `noisy`: no two elements of a tensor are equal.
  bool change_inputs(const std::string& distribution, const std::vector<Argument>& inputs,
                     std::uint64_t seed, bool noisy = false);
  /// Copies of inputs in which each element is a rounding error away, in double precision or each
  /// in its own type.
  std::vector<pybind11::object> nudged(const std::vector<Argument>& inputs, bool exact);
  /// What each operator of one such call moves and computes.
  std::vector<OperatorCost> operators(const pybind11::object& model,
                                      const std::vector<pybind11::object>& arguments);
  /// How many numbers the operators of one such call may add up for one element, at most.
  std::int64_t added_up(const pybind11::object& model,
                        const std::vector<pybind11::object>& arguments);
  /// What a baseline of that name calls in place of the model, compiled or captured by calls on
  /// these arguments; what compilers make stays in the folder `cache`, unless that is empty.
  pybind11::object baseline(const std::string& name, const pybind11::object& model,
                            const std::vector<pybind11::object>& arguments,
                            const std::string& cache);
  /// What changed() needs to know of a model and the problem's file from before a call.
  pybind11::object trace(const pybind11::object& model);
  /// Names of attributes and of what stands in the file that have changed since.
  std::vector<std::string> changed(const pybind11::object& before, const pybind11::object& model);
  /// What a model holds besides its parameters, as it was built; see restore_model().
  pybind11::object keep_state(const pybind11::object& model);
  /// Sets the state of all of Python's and torch's random generators.
  void reseed(std::uint64_t seed);

  /// The seeds by KernelBench's rules: of each trial's inputs, and last of those of timed calls.
  std::vector<std::uint64_t> kernelbench_seeds(int trials);
  /// State of torch's generators for the device, as a candidate's process can be given it.
  std::string random_state(const std::string& device);
  /// How torch multiplies: bits of its global state, and their setting.
  std::uint32_t math_modes();
  void set_math_modes(std::uint32_t modes);
  /// Milliseconds of calls of a model, as KernelBench takes them.
  std::vector<double> time_by_kernelbench(const pybind11::object& model,
                                          const std::vector<pybind11::object>& arguments,
                                          const std::string& device, int calls);
  /// Whether this process is the same after the problem as it was before.
  bool leaves_no_trace() const;
  /// The module that the file became.
  const pybind11::object& module() const { return module_; }

 private:
  pybind11::object module_;
  bool returns_sequence_ = false;  ///< by the last call of forward
};

/// Puts back what keep_state() has of a model (model_state.py). Throws ProblemFailure.
void restore_model(const pybind11::object& kept);

/// Names of the input distributions (input_distributions.py), in their order.
std::vector<std::string> input_distributions();

/// Sizes at which a problem is within the limits, or as near as it comes: {"sizes",
/// "reduced_sizes"} as JSON. Throws ProblemFailure.
std::string reduce_problem(const std::string& path, const std::string& source, const Sizes& sizes,
                           double max_bytes, double max_flops);

/// Global state that decides what fp32 means, for this process.
void set_precision(const std::string& precision);

/// Whether models of this process are built in eval mode, or as their constructors leave them.
void set_eval_mode(bool is_eval);

/// Starts what torch starts on a device's first use (context, libraries), so that the first problem
/// does not pay for it. Fails silently: the problem will tell.
void warm_up(const std::string& device);
/// Of that, what a model with this text seems to call.
void warm_up_for(const std::string& device, const std::string& text);
/// Torch knows from here on, in this process and those that it forks, which GPUs there are without
/// opening one; see close_gpus(). For a process that has opened one, to run a module of that text.
void keep_devices(const std::string& text);
/// Of that, the device alone.
void touch_device(const std::string& device);
/// What a copy and products reach there, as JSON of Peaks. Throws ProblemFailure.
std::string measured_peaks(const std::string& device);
/// Gives back what torch's allocator keeps of the device's memory without using it.
void release_memory(const std::string& device);
/// The same, where the device has little left.
void release_idle_memory(const std::string& device);

/// A Python object of a tensor, for Argument lists.
pybind11::object to_python(const at::Tensor& tensor);

}  // namespace kbench::worker
