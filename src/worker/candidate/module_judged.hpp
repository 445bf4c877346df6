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
  /// Buffers of the model that stand for the reference's, which a call may change, and what they
  /// are before it. Others are its own: a workspace, or what its first call packs.
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers;
  /// The model's tensors that took the reference's state, by index into the plan's tensors.
  std::map<std::size_t, at::Tensor> state;
  bool is_as_built = false;
  bool called = false;    ///< so that what its first call packs is packed
  unsigned versions = 0;  ///< of an extension's weights, which change in place
  /// The model's attributes as it was built, which each call is to find; null where the reference
  /// keeps no state in its own.
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
  /// Its tensor inputs as they are shared, which it cannot write to.
  std::vector<at::Tensor> inputs_of(const ModuleSet& set) const;
  /// The same, as copies of its own if it may keep them: the next call's inputs come to the same
  /// memory.
  std::vector<at::Tensor> inputs_to_keep(const ModuleSet& set) const;
  /// The arguments of forward with these inputs.
  pybind11::list arguments(const std::vector<at::Tensor>& inputs) const;
  /// Buffers of the model that are not its own, and inputs that it may write to, as they were; the
  /// buffers stay if it `goes_on`.
  void restore_state(ModuleSet& set, bool goes_on = false);
  /// The same, and outputs filled; on the CPU all memory to come will be.
  void restore(ModuleSet& set, Poison poison, bool goes_on = false);
  /// Throws where outputs are not of the reference's shapes and types.
  void check_outputs(const std::vector<at::Tensor>& outputs) const;
  /// Copies what a call returned to where the judge looks.
  void keep(ModuleSet& set, const std::vector<at::Tensor>& outputs);
  /// Queues that; kbench's own copies are on the default stream.
  void copy_outputs(ModuleSet& set, const std::vector<at::Tensor>& outputs, bool on_default_stream);
  /// Before a call: what was launched until then, by a module's import and constructor, is looked
  /// at and not counted.
  void set_early_apart();
  void settle();
  void check_torch_memory() const;
  void poison_free_memory(Poison poison, std::span<const std::byte> data);
  std::span<const std::byte> largest_input(const ModuleSet& set) const;
  /// Makes calls of the model, and notes whose kernels compute in them. Of so many it is looked at
  /// what they copy to the host; of none where a model may only read its weights once.
  void watched(const std::function<void()>& call, std::size_t looked_at);
  /// While it lives, host code cannot touch the inputs of a call without being noticed; on a GPU it
  /// cannot in any case.
  class InputsHidden {
   public:
    InputsHidden(ModuleCandidate& candidate, const ModuleSet& set,
                 const std::vector<at::Tensor>& inputs);
    ~InputsHidden();
    /// Notes whether kernels wrote something of what the call returns.
    void take_outputs(const std::vector<at::Tensor>& outputs);
    InputsHidden(const InputsHidden&) = delete;
    InputsHidden& operator=(const InputsHidden&) = delete;

   private:
    ModuleCandidate& candidate_;
    bool hides_;
  };
  /// Has the executor, where there is one, look at the coming calls until the limit is over.
  void watch(double limit_s, bool sanitize, bool count = false);

  const CandidateJob& job_;
  std::unique_ptr<Device> device_;
  ModulePython python_;
  std::unique_ptr<KernelTrace> trace_;  ///< on a GPU, where there can be one

 private:
  std::vector<LaunchReport> early_;
  std::vector<LaunchReport> gpu_reports_;  ///< of a call on a GPU that was counted
  pybind11::list input_names() const;
  /// Gives the model of a set the reference's state, or sees what it has of it.
  void place_weights(ModuleSet& set, bool as_built);
  /// What kernels of extensions may touch: the sets' tensors, and all memory of torch.
  std::vector<ptx::Region> regions() const;
  std::vector<at::Tensor> forward(ModuleSet& set, const std::vector<at::Tensor>& inputs);
  std::size_t bytes_of(BoundTensor::Role role) const;
  /// Of inputs and the model's state, which a call has to read.
  std::size_t read_bytes() const;
  /// Adds what the request's clock says of a call to `times`.
  void time_call(ModuleSet& set, const protocol::TimeBody& body, bool hides,
                 std::vector<double>& times);
  /// Milliseconds that what a call began on the host worked on after its return; throws where a
  /// process stays that may write to its results at any time.
  double wait_for_begun(const HostTasks& before);
  HostTasks tasks_before() const;

  /// Calls a set and adds the places of its outputs; false if they do not lie in exported memory.
  bool queue_call(std::uint32_t index, std::vector<protocol::OutputPlace>& places);

  std::map<std::uint32_t, ModuleSet> sets_;
  /// Notes from the trace of calls, of which `looked_at` may read inputs back to the host.
  void note_trace(std::size_t looked_at);
  std::size_t traced_calls_ = 0;    ///< of a queued block
  std::vector<at::Tensor> queued_;  ///< outputs of queued calls, which the judge may still read
  Fd init_arguments_;               ///< of the next model
  CallNotes notes_;                 ///< of the last call
  ModelWeights weights_;            ///< of the model that was built last
  /// A model that was wrong as built: what packs weights once may know them by their address.
  pybind11::object rejected_;
  bool reads_back_ = false;  ///< calls copy inputs to the host
  // On the CPU, of the last calls:
  bool host_reads_ = false;      ///< host code touched hidden inputs
  bool returns_others_ = false;  ///< no kernel wrote anything of an answer
  bool may_be_own_ = true;       ///< of all calls so far: nothing but kernels has computed
  bool called_ = false;
  bool has_pool_ = false;              ///< of exported memory
  std::optional<Poison> free_poison_;  ///< with which free memory was filled last
};

/// A module by KernelBench's rules (`--kb-compat`).
std::unique_ptr<JudgedCandidate> make_kernelbench_candidate(const CandidateJob& job, Fd compile);

}  // namespace kbench::worker
