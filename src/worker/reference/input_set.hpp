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

/// Memory of the device for both processes; before it says that there is none, torch gives back its
/// cache.
SharedBuffer create_shared(Device& device, BufferLayout layout, bool writable);

/// Such memory for several tensors: for a few of them one allocation each, else one for all, since
/// each takes a descriptor and, on a GPU, at least 2 MiB.
std::vector<SharedBuffer> create_shared(Device& device, std::span<const std::size_t> data_bytes,
                                        bool red_zone, bool writable);

/// A dense torch tensor over memory of the device, not owning it.
at::Tensor tensor_view(const SharedBuffer& buffer, const Device& device, at::ScalarType dtype,
                       at::IntArrayRef sizes);

/// A tensor of the problem that candidates get: an input, a parameter or a buffer.
struct Slot {
  std::string name;
  at::Tensor live;          ///< what the reference works on
  SharedBuffer source;      ///< as drawn; shared with candidates
  at::Tensor source_view;   ///< `source` as a tensor
  bool mutated = false;     ///< the reference writes it
  at::Tensor expected;      ///< its content after one call, where it is written
  std::int64_t digest = 0;  ///< of `source`
};

/// As forward takes them.
std::vector<pybind11::object> objects_of(const std::vector<Argument>& arguments);

/// What a set leaves to the next one in its place: the inputs' memory, so that candidates need not
/// map it again. A model's weights get memory of their own each time: who packs them once may know
/// them by their address.
struct InputMemory {
  std::vector<SharedBuffer> inputs;
  std::vector<bool> written;  ///< which inputs, and then which state, the reference writes
};

/// How one trial is drawn.
struct DrawOptions {
  std::string precision;
  std::uint64_t init_seed = 0, input_seed = 0;
  /// By KernelBench's rules: the one model of all trials. Its state goes on from call to call, and
  /// candidates get none of it; they get inputs as the reference leaves them.
  pybind11::object shared_model = {};
  bool writable = false;     ///< candidates can write to what they get
  bool exact = true;         ///< ask for the answers in double precision
  EagerErrors errors;        ///< else what the reference's errors usually are
  bool keeps_state = false;  ///< the model's attributes are put back before each call
};

/// What the reference makes of the inputs of a set.
struct Answers {
  std::vector<at::Tensor> outputs;
  std::vector<ExpectedOutput> expected_outputs;  ///< one for each of `outputs`
  std::vector<at::Tensor> written;  ///< what is left in inputs and state that it writes, in order
};

/// One trial's data: model, inputs, and what the reference makes of them. Or inputs alone, for
/// timed calls of another set's model: what the reference makes of those is found when it is asked
/// for.
class InputSet {
 public:
  /// Draws the set of one trial and runs the reference once. Throws ProblemFailure.
  InputSet(ProblemHost& host, Device& device, const DrawOptions& options, std::uint32_t trial,
           InputMemory memory = {});
  /// Other inputs for the model and the state of `lender`, which has to outlive this set.
  InputSet(ProblemHost& host, Device& device, const DrawOptions& options, InputSet& lender,
           InputMemory memory = {});

  /// What can be kept of a set that is to be drawn anew; of no further use itself.
  InputMemory take_memory();
  /// Whether it was drawn into the memory that it was given, and is written as the one before.
  bool has_kept_memory() const { return has_kept_memory_; }

  std::uint32_t trial() const { return trial_; }
  const std::vector<Slot>& inputs() const { return inputs_; }  ///< one per tensor input
  /// In state_dict order.
  const std::vector<Slot>& state() const { return lender_ ? lender_->state_ : state_; }
  /// Index into inputs() for each argument of forward; −1 for a plain value.
  const std::vector<int>& argument_slots() const { return argument_slots_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  /// The same as forward takes them: memory that candidates have mapped, for calls of which only
  /// the time counts, and before there is a candidate.
  std::vector<pybind11::object> objects() const { return objects_of(arguments_); }
  /// Copies of them that nobody else has, state restored: for calls of which the outputs count.
  /// None where the shared memory no longer holds what was drawn.
  std::optional<std::vector<Argument>> own_arguments();
  const std::vector<at::Tensor>& expected() const { return answers_.outputs; }
  /// What candidates' outputs are compared with, one for each of expected().
  const std::vector<ExpectedOutput>& expected_outputs() const { return answers_.expected_outputs; }
  const pybind11::object& model() const { return model_; }
  /// Where the reference left torch's generators; empty where a candidate has no use for it.
  const std::string& random_state() const { return random_state_; }

  /// One call of `model` (the reference, or a compiled form of it) on this set, state restored.
  std::vector<at::Tensor> call(ProblemHost& host, const pybind11::object& model);
  /// Puts back what the reference writes: before each call, outside of any time.
  void restore();
  /// Other inputs in the same memory, one for each argument, and the answers to them, which are
  /// exchanged for those of the set.
  void replace_inputs(const std::vector<Argument>& values);
  /// The same, encrypted: nobody can compute from them until veil_inputs() decrypts them.
  void replace_inputs(const std::vector<Argument>& values, Device& device,
                      const protocol::VeilKey& key);
  /// Encrypts the inputs in the shared memory; a second time decrypts them.
  void veil_inputs(Device& device, const protocol::VeilKey& key);
  void exchange_answers(Answers& answers);
  void replace_expected_outputs(std::vector<ExpectedOutput> expected_outputs) {
    answers_.expected_outputs = std::move(expected_outputs);
  }
  /// Of what the inputs' shared memory was given.
  std::vector<std::int64_t> input_digests() const;
  /// What the reference makes of arguments that nobody else has, state restored; its expected
  /// outputs are of the usual errors. It may write to the arguments.
  Answers answer(ProblemHost& host, const std::vector<Argument>& own, const EagerErrors& usual);
  /// The same after calls on `earlier`, with answers in double precision where there are any.
  Answers answer_after(ProblemHost& host, const std::vector<std::vector<pybind11::object>>& earlier,
                       const std::vector<Argument>& own, const EagerErrors& usual);
  /// Of the reference's answers to the set as drawn.
  EagerErrors eager_errors() const;
  /// The first input or state whose shared memory no longer holds what was drawn, or none.
  const Slot* first_changed_source() const;
  /// Bytes on the device that a set of this kind takes.
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

  InputSet* lender_ = nullptr;
  std::uint32_t trial_;
  bool has_kept_memory_ = false;
  std::vector<bool> written_;  ///< a lender may be gone when it is asked for
  pybind11::object model_;
  pybind11::object kept_;  ///< see ProblemHost::keep_state(); null where nothing has to be
  std::string random_state_;
  std::vector<Argument> arguments_;
  std::vector<int> argument_slots_;
  std::vector<Slot> inputs_, state_;
  Answers answers_;
};

}  // namespace kbench::worker
