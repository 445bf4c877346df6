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

/// A plain value as Python has it.
pybind11::object value_to_python(const Value& value);

/// The Python side of a module candidate: its import, its model, its calls, and the extensions that
/// it has built. What candidate code raises is thrown as CandidateFailure.
class ModulePython {
 public:
  /// `regions` tells which memory kernels on the CPU may touch.
  ModulePython(const CandidateJob& job, Fd compile,
               std::function<std::vector<ptx::Region>()> regions);

  /// Imports the candidate.
  void load();
  /// Imports it as far as it goes without what is to be built, which is ordered on the way.
  void dry_import();
  /// What stands for the model of an extension: its function, with inputs and state by name.
  pybind11::object extension_model(const pybind11::list& input_names,
                                   const pybind11::list& state_names, const pybind11::list& state);
  /// Its model, made under a seed with the reference's init arguments, as the judge has packed them
  /// (problem_values.py); by KernelBench's rules with those of the problem's file.
  pybind11::object build_model(std::uint64_t seed, const std::string& init_arguments);
  /// What became of the reference's state in a model: see module_weights.Placement.
  struct Placement {
    std::uint32_t rule = 0;
    std::vector<std::size_t> unplaced;
    std::vector<at::Tensor> takers;  ///< undefined where none took it
    bool by_seed = false, is_given = false;
  };
  /// Overwrites the model's state by names and tensors, unless it is to stay as built.
  Placement place_weights(const pybind11::object& model, const pybind11::list& names,
                          const pybind11::list& tensors, bool as_built);
  std::vector<at::Tensor> buffers_of(const pybind11::object& model);
  /// Puts the model in eval mode, for good.
  void enter_eval_mode(const pybind11::object& model);
  /// The outputs of one call: plain dense tensors on the device.
  std::vector<at::Tensor> call(const pybind11::object& model, const pybind11::list& arguments);
  /// The same, with what torch's operators cost in it.
  std::vector<at::Tensor> counted_call(const pybind11::object& model,
                                       const pybind11::list& arguments,
                                       std::vector<OperatorCost>& operators);

  /// What a call by KernelBench's rules gives: its output, and what kbench would have said of it.
  struct KernelbenchCall {
    at::Tensor output;
    std::vector<std::string> outcomes;
  };
  /// One call with torch's generators in that state (module_kernelbench.call).
  KernelbenchCall call_by_kernelbench(const pybind11::object& model,
                                      const pybind11::list& arguments,
                                      const std::string& random_state);
  /// Milliseconds of each call, as KernelBench takes them.
  std::vector<double> time_by_kernelbench(const pybind11::object& model,
                                          const pybind11::list& arguments, int calls);
  /// Bits of the global state of torch that decides how it multiplies, as the candidate left it.
  std::uint32_t math_modes();
  /// Whether a call needed tensors moved that its constructor had left on the host.
  static bool moved_host_tensors();
  /// Whether the candidate's file has given constants of its problem other values.
  bool replaces_constants();

  void watch(const Watch& watch) { runtime_->watch(watch); }
  /// Whether the coming launches of its kernels do nothing and succeed.
  void skip_launches(bool skips);
  /// Makes the pool of exported memory; false if this torch has no such pools.
  static bool open_exported_pool();
  /// While it lives, this thread's new tensors lie in exported memory.
  class InExportedPool {
   public:
    InExportedPool();
    ~InExportedPool();
    InExportedPool(const InExportedPool&) = delete;
    InExportedPool& operator=(const InExportedPool&) = delete;
  };
  /// Torch's current stream, as the driver knows it.
  static void* current_stream();
  /// What torch's allocator has of the GPU's memory for its next tensors.
  std::vector<std::span<std::byte>> free_memory();
  std::vector<LaunchReport> take_reports() { return runtime_->take_reports(); }
  /// Launches since the last time of kernels that Triton's interpreter ran.
  std::uint32_t take_interpreted_launches();
  /// Throws what a launch has failed with.
  void check() { runtime_->check(); }

 private:
  pybind11::object build_extension(const pybind11::object& request);
  pybind11::object load_extension(BuiltExtension built);
  static void note_own_kernels(int shared_object);
  void follow_interpreter();
  void start(void* library, DeviceCode device);
  std::string entry() const;
  /// Stage, cause and sentence of the dry import's end.
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
  /// Of kernels that Triton's interpreter runs: counted here, where no name in Python leads.
  std::uint32_t interpreted_launches_ = 0;
  bool skips_interpreted_ = false;
  CompileClient compiler_;
  std::unique_ptr<ProblemHost> problem_;  ///< by KernelBench's rules
  pybind11::object given_;                ///< of the problem, by kbench's own
  pybind11::object module_;
  /// Kept open: an extension's file is found by its descriptor.
  std::vector<Fd> shared_objects_;
  std::vector<std::unique_ptr<std::byte>> kernel_marks_;
  /// What the last failed build was, which the exception that Python made of it does not say.
  std::optional<BuildFailure> build_failure_;
};

}  // namespace kbench::worker
