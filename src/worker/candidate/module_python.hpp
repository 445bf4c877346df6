// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/utils/pybind.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kbench/profile.hpp"
#include "protocol/candidate_job.hpp"
#include "worker/candidate/compile_client.hpp"
#include "worker/candidate/extension_runtime.hpp"
#include "worker/reference/problem_host.hpp"

namespace kbench::worker {

/// A plain value as a Python object.
pybind11::object value_to_python(const Value& value);

/// The Python side of a module candidate: its import, its model, its calls, and the extensions that
/// it has built. Exceptions of candidate code are thrown as CandidateFailure.
class ModulePython {
 public:
  /// `regions`: the memory that kernels on the CPU may access. Empty for a dry import, which
  /// launches none.
  ModulePython(const CandidateJob& job, Fd compile,
               std::function<std::vector<ptx::Region>()> regions);

  /// Imports the candidate.
  void load();
  /// Imports the candidate as far as possible without its builds, and requests those builds.
  void dry_import();
  /// An object in place of an extension's model: its function, with inputs and state by name.
  pybind11::object extension_model(const pybind11::list& input_names,
                                   const pybind11::list& state_names, const pybind11::list& state);
  /// Builds its model under a seed, with the reference's init arguments. The judge has packed them
  /// (problem_values.py). By KernelBench's rules, they come from the problem's file instead.
  pybind11::object build_model(std::uint64_t seed, const std::string& init_arguments);
  /// How a model got the reference's state; see module_weights.Placement.
  struct Placement {
    std::uint32_t rule = 0;
    std::vector<std::size_t> unplaced;
    std::vector<at::Tensor> takers;  ///< the model's tensor for each; undefined if there is none
    bool by_seed = false, is_given = false;
  };
  /// Overwrites the model's state by names and tensors. If `as_built`, the model keeps its own.
  Placement place_weights(const pybind11::object& model, const pybind11::list& names,
                          const pybind11::list& tensors, bool as_built);
  std::vector<at::Tensor> buffers_of(const pybind11::object& model);
  /// Puts the model in eval mode permanently.
  void enter_eval_mode(const pybind11::object& model);
  /// The outputs of one call: plain dense tensors on the device.
  std::vector<at::Tensor> call(const pybind11::object& model, const pybind11::list& arguments);
  /// Makes one call, and also returns the costs of torch's operators in `operators`.
  std::vector<at::Tensor> counted_call(const pybind11::object& model,
                                       const pybind11::list& arguments,
                                       std::vector<OperatorCost>& operators);

  /// The result of a call by KernelBench's rules: its output, and its failures by kbench's own
  /// rules.
  struct KernelbenchCall {
    at::Tensor output;
    std::vector<std::string> outcomes;
  };
  /// Makes one call, with torch's generators in the given state (module_kernelbench.call).
  KernelbenchCall call_by_kernelbench(const pybind11::object& model,
                                      const pybind11::list& arguments,
                                      const std::string& random_state);
  /// Milliseconds of each call, by KernelBench's method.
  std::vector<double> time_by_kernelbench(const pybind11::object& model,
                                          const pybind11::list& arguments, int calls);
  /// Torch's matrix product settings as the candidate left them, as bits.
  std::uint32_t math_modes();
  /// True if kbench moved tensors to the device for a call, because the constructor had left them
  /// on the host.
  static bool moved_host_tensors();
  /// True if the candidate's file gives other values to constants of its problem.
  bool replaces_constants();

  void watch(const Watch& watch) { runtime_->watch(watch); }
  /// If `skips`, later launches of the candidate's kernels do nothing and succeed.
  void skip_launches(bool skips);
  /// Makes the pool of exported memory; false if this torch has no such pools.
  static bool open_exported_pool();
  /// While this object exists, this thread's new tensors lie in exported memory.
  class InExportedPool {
   public:
    InExportedPool();
    ~InExportedPool();
    InExportedPool(const InExportedPool&) = delete;
    InExportedPool& operator=(const InExportedPool&) = delete;
  };
  /// The driver's handle of torch's current stream.
  static void* current_stream();
  /// Free memory of the GPU that torch's allocator keeps for its next tensors.
  std::vector<std::span<std::byte>> free_memory();
  std::vector<LaunchReport> take_reports() { return runtime_->take_reports(); }
  /// Takes the number of kernels that Triton's interpreter has run since the previous call.
  std::uint32_t take_interpreted_launches();
  /// Throws the failure of a launch, if there is one.
  void check() { runtime_->check(); }

 private:
  pybind11::object build_extension(const pybind11::object& request);
  pybind11::object load_extension(BuiltExtension built);
  static void note_own_kernels(int shared_object);
  void follow_interpreter();
  void start(void* library, DeviceCode device);
  std::string entry() const;
  /// Stage, cause and message of the dry import's end.
  std::tuple<std::string, std::string, std::string> run_dry_import();
  pybind11::object load_kernel(const std::string& name, BuiltExtension built);
  pybind11::object own_init_arguments();
  template <typename... Args>
  pybind11::object host(const char* name, Args&&... arguments);
  template <typename... Args>
  pybind11::object call_python(const char* module, const char* name, Args&&... arguments);
  pybind11::object problem_names();
  pybind11::object changed_constants();
  bool by_kernelbench() const;
  std::vector<at::Tensor> outputs_of(const pybind11::object& called) const;
  void check_structure(const std::string& structure, std::size_t count) const;
  [[noreturn]] void fail(pybind11::error_already_set& error);

  const CandidateJob& job_;
  std::unique_ptr<ExtensionRuntime> runtime_;
  /// Launches in Triton's interpreter. Counted here, because no name in Python leads to this
  /// member.
  std::uint32_t interpreted_launches_ = 0;
  bool skips_interpreted_ = false;
  CompileClient compiler_;
  std::unique_ptr<ProblemHost> problem_;  ///< only by KernelBench's rules
  pybind11::object given_;                ///< values of the problem, by kbench's own rules
  pybind11::object module_;
  /// Kept open, because the path of an extension names its descriptor.
  std::vector<Fd> shared_objects_;
  std::vector<std::unique_ptr<std::byte>> kernel_marks_;
  /// The last failed build. The Python exception for it has only the message.
  std::optional<BuildFailure> build_failure_;
};

}  // namespace kbench::worker
