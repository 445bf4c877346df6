// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "protocol/candidate_job.hpp"
#include "worker/candidate/judged_candidate.hpp"
#include "worker/candidate/module_python.hpp"
#include "worker/device/host_tasks.hpp"
#include "worker/device/kernel_trace.hpp"
#include "worker/reference/input_set.hpp"

namespace kbench::worker {

/// The tensors of one input set, and the model that computes on them.
struct ModuleSet {
  std::map<std::size_t, SharedBuffer> sources, works;  ///< by index into the plan's tensors
  pybind11::object model;
  /// Buffers of the model that correspond to the reference's buffers, each with its content before
  /// a call, which may change it. Other buffers belong to the model: a workspace, or weights that
  /// its first call packs.
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers;
  /// The model's tensors that took the reference's state, by index into the plan's tensors.
  std::map<std::size_t, at::Tensor> state;
  bool is_as_built = false;
  bool called = false;    ///< its first call, which may pack weights, has ended
  unsigned versions = 0;  ///< how often weights have changed in the same memory
  /// The model's attributes as built, which are restored before each call. Null if the reference
  /// keeps no state in its attributes.
  pybind11::object kept;
};

/// A module candidate by kbench's rules: a model per set, with the judge's weights.
class ModuleCandidate : public JudgedCandidate {
 public:
  ModuleCandidate(const CandidateJob& job, Fd compile);

  void map(const protocol::BufferEntry& entry, ReceivedMemory& memory) override;
  void take_init_arguments(Fd packed) override { init_arguments_ = std::move(packed); }
  void build(const protocol::ModelBody& body) override;
  void call(const protocol::CallBody& body) override;
  std::vector<double> time(std::span<const std::uint32_t> sets,
                           const protocol::TimeBody& body) override;
  bool use_gate(Fd page, Fd memory, std::uint64_t memory_bytes) override;
  QueuedCalls queue(std::span<const std::uint32_t> sets, const protocol::QueueBody& body) override;
  void end_trace() override;
  std::vector<LaunchReport> take_reports() override;
  ModelWeights weights() const override { return weights_; }
  CallNotes take_notes() override;
  std::uint32_t noted() const override;

 protected:
  at::Tensor view(const SharedBuffer& buffer, const BoundTensor& tensor) const;
  ModuleSet& set(std::uint32_t index) { return sets_.at(index); }
  /// The shared tensor inputs, or writable copies of those that the reference writes to.
  std::vector<at::Tensor> inputs_of(const ModuleSet& set) const;
  /// The same inputs. If the candidate may keep them, copies of them, because the next call's
  /// inputs come to the same memory.
  std::vector<at::Tensor> inputs_to_keep(const ModuleSet& set) const;
  /// The arguments of forward() with these inputs.
  pybind11::list arguments(const std::vector<at::Tensor>& inputs) const;
  /// Restores buffers (ModuleSet::buffers), attributes, and inputs that the candidate may write to.
  /// If `goes_on`, the model keeps the buffers and attributes of its last call.
  void restore_state(ModuleSet& set, bool goes_on = false);
  /// Fills the outputs with poison, and restores the state. On the CPU, torch then also fills new
  /// memory.
  void restore(ModuleSet& set, Poison poison, bool goes_on = false);
  /// Throws CandidateFailure if the outputs differ from the reference's in number, shape or type.
  void check_outputs(const std::vector<at::Tensor>& outputs) const;
  /// Copies a call's outputs to the work buffers, which the judge reads.
  void keep(ModuleSet& set, const std::vector<at::Tensor>& outputs);
  /// Queues these copies. kbench's own copy function needs the default stream.
  void copy_outputs(ModuleSet& set, const std::vector<at::Tensor>& outputs, bool on_default_stream);
  /// Called before a call. Marks launches until then, by a module's import and constructor: their
  /// findings are reported, but they do not count.
  void set_early_apart();
  void settle();
  void check_torch_memory() const;
  void poison_free_memory(Poison poison, std::span<const std::byte> data);
  std::span<const std::byte> largest_input(const ModuleSet& set) const;
  /// Makes calls of the model, and notes whose kernels compute in them. `looked_at`: number of
  /// calls whose copies to the host count; 0 for a model's first call, which may read its weights
  /// once.
  void watched(const std::function<void()>& call, std::size_t looked_at);
  /// While this object exists, kbench notices if host code accesses the inputs of a call. Does
  /// nothing on a GPU, whose memory host code cannot access.
  class InputsHidden {
   public:
    InputsHidden(ModuleCandidate& candidate, const ModuleSet& set,
                 const std::vector<at::Tensor>& inputs);
    ~InputsHidden();
    /// Notes if no kernel wrote any part of the outputs.
    void take_outputs(const std::vector<at::Tensor>& outputs);
    InputsHidden(const InputsHidden&) = delete;
    InputsHidden& operator=(const InputsHidden&) = delete;

   private:
    ModuleCandidate& candidate_;
    bool hides_;
  };
  /// Sets the checks of later calls in the executor, if there is one, and their time limit.
  void watch(double limit_s, bool sanitize, bool count = false);

  const CandidateJob& job_;
  std::unique_ptr<Device> device_;
  ModulePython python_;
  std::unique_ptr<KernelTrace> trace_;  ///< only on a GPU, if CUPTI is available

 private:
  std::vector<LaunchReport> early_;
  std::vector<LaunchReport> gpu_reports_;  ///< of a counted call on a GPU
  pybind11::list input_names() const;
  /// Gives the model of a set the reference's state. If `as_built`, finds what the model has of it.
  void place_weights(ModuleSet& set, bool as_built);
  /// The memory that kernels of extensions may access: the sets' tensors, and all memory of torch.
  std::vector<ptx::Region> regions() const;
  std::vector<at::Tensor> forward(ModuleSet& set, const std::vector<at::Tensor>& inputs);
  std::size_t bytes_of(BoundTensor::Role role) const;
  /// Bytes that a call has to read: the inputs and the model's state.
  std::size_t read_bytes() const;
  /// Makes a call as JudgedCandidate::time() describes. Appends to `times`.
  void time_call(ModuleSet& set, const protocol::TimeBody& body, bool hides,
                 std::vector<double>& times);
  /// Waits until host tasks that a call has started have ended or sleep. Throws CandidateFailure if
  /// a process remains, because it may write to results at any time.
  void wait_for_begun(const HostTasks& before);
  HostTasks tasks_before() const;

  /// Queues a call on a set, and appends the places of its outputs. False if they do not lie in
  /// exported memory.
  bool queue_call(std::uint32_t index, std::vector<protocol::OutputPlace>& places);

  std::map<std::uint32_t, ModuleSet> sets_;
  /// Ends the trace of calls and takes notes from it. `looked_at`: as in watched().
  void note_trace(std::size_t looked_at);
  std::size_t traced_calls_ = 0;    ///< number of calls in a traced queued block
  std::vector<at::Tensor> queued_;  ///< outputs of queued calls, which the judge may still read
  Fd init_arguments_;               ///< of the next model
  CallNotes notes_;                 ///< of the last call
  ModelWeights weights_;            ///< of the model that was built last
  /// A model that was wrong as built. Kept, because code that packs weights once may recognise them
  /// by their address: the next model's weights get other addresses.
  pybind11::object rejected_;
  bool reads_back_ = false;  ///< calls copy inputs to the host
  // On the CPU, of the last calls:
  bool host_reads_ = false;      ///< host code touched hidden inputs
  bool returns_others_ = false;  ///< no kernel wrote any part of an answer
  bool may_be_own_ = true;       ///< in all calls so far, only kernels computed
  bool called_ = false;
  bool has_pool_ = false;              ///< torch has a pool of exported memory
  std::optional<Poison> free_poison_;  ///< the last fill of free memory
};

/// A module by KernelBench's rules (`--kb-compat`).
std::unique_ptr<JudgedCandidate> make_kernelbench_candidate(const CandidateJob& job, Fd compile);

}  // namespace kbench::worker
