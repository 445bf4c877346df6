// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "worker/compare/expected_output.hpp"
#include "worker/device/device.hpp"
#include "worker/reference/problem_host.hpp"

namespace kbench::worker {

/// Allocates device memory for the judge and the candidate. If the device is out of memory, torch's
/// cache is released first.
SharedBuffer create_shared(Device& device, BufferLayout layout, bool writable);

/// Allocates such memory for several tensors. A few tensors get one allocation each. More share one
/// allocation, because each takes a descriptor and, on a GPU, at least 2 MiB.
std::vector<SharedBuffer> create_shared(Device& device, std::span<const std::size_t> data_bytes,
                                        bool red_zone, bool writable);

/// A dense torch tensor on memory of the device. It does not own the memory.
at::Tensor tensor_view(const SharedBuffer& buffer, const Device& device, at::ScalarType dtype,
                       at::IntArrayRef sizes);

/// A tensor of the problem that candidates receive: an input, a parameter or a buffer.
struct Slot {
  std::string name;
  at::Tensor live;          ///< the reference reads and writes this tensor
  SharedBuffer source;      ///< as drawn; shared with candidates
  at::Tensor source_view;   ///< `source` as a tensor
  bool mutated = false;     ///< the reference writes it
  at::Tensor expected;      ///< content after one call, if `mutated`
  std::int64_t digest = 0;  ///< digest of `source`
};

/// The arguments in the form that forward() takes.
std::vector<pybind11::object> objects_of(const std::vector<Argument>& arguments);

/// The memory that a set passes to the next one in its slot, so that candidates need not map it
/// again. Only inputs pass: a candidate that packs weights once may recognise a model's weights by
/// their address, so each model's weights get new memory.
struct InputMemory {
  std::vector<SharedBuffer> inputs;
  std::vector<bool> written;  ///< the inputs, then the state, that the reference writes
};

/// Settings for drawing one trial's set.
struct DrawOptions {
  std::string precision;
  std::uint64_t init_seed = 0, input_seed = 0;
  /// Only under KernelBench's rules: one model for all trials. Its state persists between calls.
  /// Candidates do not get its state; they get inputs as the reference leaves them.
  pybind11::object shared_model = {};
  bool writable = false;     ///< candidates can write to their inputs and weights
  bool exact = true;         ///< also compute the answers in double precision
  EagerErrors errors;        ///< the reference's usual errors, if not `exact`
  bool keeps_state = false;  ///< restore the model's attributes before each call
};

/// The reference's answers to the inputs of a set.
struct Answers {
  std::vector<at::Tensor> outputs;
  std::vector<ExpectedOutput> expected_outputs;  ///< one per output
  std::vector<at::Tensor> written;  ///< written inputs and state, in order, after the call
};

/// The data of one trial: model, inputs and the reference's answers. A set for timed calls has only
/// inputs, and uses the model of another set. Its answers are computed on demand.
class InputSet {
 public:
  /// Draws one trial's set and runs the reference once. Throws ProblemFailure.
  InputSet(ProblemHost& host, Device& device, const DrawOptions& options, std::uint32_t trial,
           InputMemory memory = {});
  /// Draws other inputs for the model and the state of `owner`, which must outlive this set.
  InputSet(ProblemHost& host, Device& device, const DrawOptions& options, InputSet& owner,
           InputMemory memory = {});

  /// Takes the memory that the next set in this slot may use. Afterwards this set is unusable.
  InputMemory take_memory();
  /// True if the set uses the given memory, and the reference writes the same inputs and state as
  /// in the previous set.
  bool has_kept_memory() const { return has_kept_memory_; }

  std::uint32_t trial() const { return trial_; }
  const std::vector<Slot>& inputs() const { return inputs_; }  ///< one per tensor input
  /// In state_dict order.
  const std::vector<Slot>& state() const { return owner_ ? owner_->state_ : state_; }
  /// Index into inputs() for each argument of forward; −1 for a plain value.
  const std::vector<int>& argument_slots() const { return argument_slots_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  /// The arguments in the form that forward() takes, in memory that candidates have mapped. For
  /// calls before any candidate starts, and for calls whose outputs are not compared.
  std::vector<pybind11::object> objects() const { return objects_of(arguments_); }
  /// Copies the arguments to memory that only the judge can access, and restores the state. For
  /// calls whose outputs are compared. Returns nothing if the shared memory has been changed.
  std::optional<std::vector<Argument>> own_arguments();
  const std::vector<at::Tensor>& expected() const { return answers_.outputs; }
  /// The expected outputs for candidates, one for each of expected().
  const std::vector<ExpectedOutput>& expected_outputs() const { return answers_.expected_outputs; }
  const pybind11::object& model() const { return model_; }
  /// The state of torch's generators after the reference's call; empty if candidates do not need
  /// it.
  const std::string& random_state() const { return random_state_; }

  /// Restores the state and calls `model` (the reference, or a compiled form of it) on this set.
  std::vector<at::Tensor> call(ProblemHost& host, const pybind11::object& model);
  /// Restores the inputs and state that the reference writes. Called before each call, outside of
  /// timed intervals.
  void restore();
  /// Writes other inputs into the same memory, one for each argument. The answers to them replace
  /// the set's by exchange_answers().
  void replace_inputs(const std::vector<Argument>& values);
  /// Writes encrypted inputs. Only encrypt_inputs() with the same key makes them readable.
  void replace_inputs(const std::vector<Argument>& values, Device& device,
                      const protocol::EncryptionKey& key);
  /// Encrypts the inputs in the shared memory. A second call with the same key decrypts them.
  void encrypt_inputs(Device& device, const protocol::EncryptionKey& key);
  void exchange_answers(Answers& answers);
  void replace_expected_outputs(std::vector<ExpectedOutput> expected_outputs) {
    answers_.expected_outputs = std::move(expected_outputs);
  }
  /// Digests of the inputs as written to the shared memory.
  std::vector<std::int64_t> input_digests() const;
  /// Restores the state and computes the reference's answers to arguments from own_arguments(). The
  /// expected outputs have the errors `usual`. The reference may write to the arguments.
  Answers answer(ProblemHost& host, const std::vector<Argument>& own, const EagerErrors& usual);
  /// Computes the answers after calls on `earlier`. The answers are in double precision if
  /// possible.
  Answers answer_after(ProblemHost& host, const std::vector<std::vector<pybind11::object>>& earlier,
                       const std::vector<Argument>& own, const EagerErrors& usual);
  /// Errors of the reference's answers to the set as drawn.
  EagerErrors eager_errors() const;
  /// The first input or state whose shared memory has changed since it was drawn; null if there is
  /// none.
  const Slot* first_changed_source() const;
  /// Device memory that such a set takes, in bytes.
  std::size_t size_bytes() const;

 private:
  void draw(ProblemHost& host, Device& device, const DrawOptions& options, InputMemory& memory);
  void make_state(Device& device, const std::vector<StateEntry>& entries, bool writable);
  void use_shared_memory();
  static Slot make_slot(Device& device, std::string name, const at::Tensor& drawn, bool writable,
                        SharedBuffer memory = {});
  void note_written(const InputMemory& before);
  void keep_what_changed(bool shared);
  std::vector<Slot*> written_slots();
  bool is_input(const Slot* slot) const;
  Answers answer(ProblemHost& host, const std::vector<Argument>& own,
                 const std::vector<at::Tensor>& exact, const EagerErrors& usual);

  InputSet* owner_ = nullptr;
  std::uint32_t trial_;
  bool has_kept_memory_ = false;
  std::vector<bool> written_;  ///< kept here, because the owner may be destroyed first
  pybind11::object model_;
  pybind11::object kept_;  ///< see ProblemHost::keep_state(); null if not needed
  std::string random_state_;
  std::vector<Argument> arguments_;
  std::vector<int> argument_slots_;
  std::vector<Slot> inputs_, state_;
  Answers answers_;
};

}  // namespace kbench::worker
