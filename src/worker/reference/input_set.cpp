// SPDX-License-Identifier: MIT
#include "worker/reference/input_set.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "kbench/error.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/content_digest.hpp"
#include "worker/device/judge_kernels.hpp"

namespace kbench::worker {
namespace {

/// Up to this many tensors get an allocation each. Reading past the end of such a tensor meets an
/// unmapped page.
constexpr std::size_t kMostApart = 48;

/// True if no view or attribute shares the tensor. It then needs no copy.
bool is_alone(const at::Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1 && tensor.is_contiguous() &&
         tensor.storage().nbytes() == tensor.nbytes() && !tensor.requires_grad();
}

Answers answers_of(std::vector<at::Tensor> outputs, const std::vector<at::Tensor>& exact,
                   const EagerErrors& usual) {
  Answers answers;
  for (auto& output : outputs)
    answers.outputs.push_back(
        is_alone(output) ? std::move(output) : output.detach().clone(at::MemoryFormat::Contiguous));
  answers.expected_outputs = expected_outputs_of(answers.outputs, exact, usual);
  // If both have the same type, the more exact one is enough.
  for (std::size_t i = 0; i < answers.outputs.size(); ++i)
    if (answers.expected_outputs[i].value.scalar_type() == answers.outputs[i].scalar_type())
      answers.outputs[i] = answers.expected_outputs[i].value;
  return answers;
}

}  // namespace

at::Tensor tensor_view(const SharedBuffer& buffer, const Device& device, at::ScalarType dtype,
                       at::IntArrayRef sizes) {
  const auto options =
      at::TensorOptions().dtype(dtype).device(at::Device(std::string(device.name())));
  return at::from_blob(buffer.data(), sizes, options);
}

SharedBuffer create_shared(Device& device, BufferLayout layout, bool writable) {
  try {
    return device.create(layout, writable);
  } catch (const CandidateFailure& failure) {
    if (failure.outcome != Outcome::kOutOfMemory) throw;
  }
  release_memory(std::string(device.name()));
  return device.create(layout, writable);
}

std::vector<SharedBuffer> create_shared(Device& device, std::span<const std::size_t> data_bytes,
                                        bool red_zone, bool writable) {
  std::vector<SharedBuffer> buffers;
  if (data_bytes.size() <= kMostApart) {
    for (const std::size_t bytes : data_bytes)
      buffers.push_back(
          create_shared(device, buffer_layout(bytes, device.granularity(), red_zone), writable));
    return buffers;
  }
  const auto layouts = packed_layouts(data_bytes, device.granularity(), red_zone);
  const SharedBuffer whole = create_shared(device, layouts.front(), writable);
  for (const BufferLayout& layout : layouts) {
    buffers.push_back(whole.part(layout));
    fill_red_zones(device, buffers.back());
  }
  return buffers;
}

/// The digest of a tensor that only this process can access. A candidate may have mapped the memory
/// that the tensor is copied to.
std::int64_t digest_of(const at::Tensor& drawn) {
  return drawn.nbytes() > 0 ? content_digest(drawn.contiguous()) : 0;
}

/// Copies a drawn tensor into memory that candidates read, and returns its digest.
std::int64_t copy_drawn(const at::Tensor& drawn, at::Tensor& to) {
  JudgeKernels* kernels = JudgeKernels::active();
  const bool alike = drawn.is_contiguous() && drawn.scalar_type() == to.scalar_type() &&
                     drawn.device() == to.device();
  if (kernels != nullptr && alike) {
    const JudgeKernels::Data from{drawn.data_ptr(), drawn.nbytes()},
        into{to.data_ptr(), to.nbytes()};
    // One read for both copy and digest saves a third of the memory traffic.
    if (JudgeKernels::can_copy(from, into))
      return static_cast<std::int64_t>(kernels->copy(from, into, digest_key()));
  }
  to.copy_(drawn);
  return digest_of(drawn);
}

Slot InputSet::make_slot(Device& device, std::string name, const at::Tensor& drawn, bool writable,
                         SharedBuffer memory) {
  Slot slot;
  slot.name = std::move(name);
  const auto bytes = static_cast<std::size_t>(drawn.numel()) * drawn.element_size();
  const bool fits = memory.base() != nullptr && memory.size_bytes() == bytes;
  slot.source =
      fits ? std::move(memory)
           : create_shared(device, buffer_layout(bytes, device.granularity(), false), writable);
  slot.source_view = tensor_view(slot.source, device, drawn.scalar_type(), drawn.sizes());
  slot.live = drawn;
  slot.digest = copy_drawn(drawn, slot.source_view);
  return slot;
}

void InputSet::draw(ProblemHost& host, Device& device, const DrawOptions& options,
                    InputMemory& memory) {
  const std::size_t kept = memory.inputs.size();
  has_kept_memory_ = kept > 0;
  arguments_ = host.draw_inputs(std::string(device.name()), options.precision, options.input_seed);
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].is_tensor) {
      argument_slots_.push_back(-1);
      continue;
    }
    const std::size_t index = inputs_.size();
    argument_slots_.push_back(static_cast<int>(index));
    SharedBuffer old = index < kept ? std::move(memory.inputs[index]) : SharedBuffer();
    const std::byte* before = old.base();
    inputs_.push_back(make_slot(device, std::to_string(i), arguments_[i].tensor, options.writable,
                                std::move(old)));
    has_kept_memory_ =
        has_kept_memory_ && before != nullptr && inputs_.back().source.base() == before;
  }
  has_kept_memory_ = has_kept_memory_ && inputs_.size() == kept;
}

InputMemory InputSet::take_memory() {
  InputMemory memory{{}, std::move(written_)};
  for (Slot& slot : inputs_) memory.inputs.push_back(std::move(slot.source));
  return memory;
}

void InputSet::note_written(const InputMemory& before) {
  for (const Slot& slot : inputs_) written_.push_back(slot.mutated);
  for (const Slot& slot : state()) written_.push_back(slot.mutated);
  has_kept_memory_ = has_kept_memory_ && written_ == before.written;
}

InputSet::InputSet(ProblemHost& host, Device& device, const DrawOptions& options,
                   std::uint32_t trial, InputMemory memory)
    : trial_(trial) {
  const std::string device_name(device.name());
  const bool shared = static_cast<bool>(options.shared_model);
  model_ = shared ? options.shared_model
                  : host.build_model(device_name, options.precision, options.init_seed);
  if (options.keeps_state) kept_ = host.keep_state(model_);
  draw(host, device, options, memory);
  if (!shared) make_state(device, host.state_of(model_), options.writable);

  const std::vector<pybind11::object> objects = objects_of(arguments_);
  // The call below may write to the inputs, so the exact answers come first.
  const auto exact =
      !shared && options.exact ? host.exact_outputs(model_, objects) : std::vector<at::Tensor>();
  // The first call shows which tensors the reference writes. Only those are restored later.
  auto outputs = host.forward(model_, objects);
  if (shared) random_state_ = host.random_state(device_name);
  keep_what_changed(shared);
  note_written(memory);
  answers_ = answers_of(std::move(outputs), exact, options.errors);
  use_shared_memory();
}

void InputSet::make_state(Device& device, const std::vector<StateEntry>& entries, bool writable) {
  std::vector<std::size_t> bytes;
  for (const auto& entry : entries) bytes.push_back(entry.tensor.nbytes());
  auto memory = create_shared(device, bytes, false, writable);
  for (std::size_t i = 0; i < entries.size(); ++i)
    state_.push_back(make_slot(device, entries[i].name, entries[i].tensor.detach(), writable,
                               std::move(memory[i])));
}

InputSet::InputSet(ProblemHost& host, Device& device, const DrawOptions& options, InputSet& owner,
                   InputMemory memory)
    : owner_(&owner), trial_(owner.trial_), model_(owner.model_) {
  draw(host, device, options, memory);
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].mutated = owner.inputs_[i].mutated;
  note_written(memory);
  use_shared_memory();
}

/// Reference and candidate read the same memory, so that neither has better addresses.
void InputSet::use_shared_memory() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (argument_slots_[i] < 0) continue;
    auto& slot = inputs_[static_cast<std::size_t>(argument_slots_[i])];
    if (!slot.mutated) slot.live = slot.source_view;
    arguments_[i].tensor = slot.live;
    arguments_[i].object = to_python(slot.live);
  }
}

void InputSet::keep_what_changed(bool shared) {
  for (auto* slots : {&inputs_, &state_})
    for (auto& slot : *slots) {
      // Not compared with the shared memory, because the candidate may have written to it.
      slot.mutated = digest_of(slot.live) != slot.digest;
      if (!slot.mutated) continue;
      slot.expected = slot.live.clone();
      if (!shared) continue;
      slot.source_view.copy_(slot.live);
      slot.digest = content_digest(slot.source_view);
      slot.mutated = false;
    }
}

std::vector<Slot*> InputSet::written_slots() {
  std::vector<Slot*> written;
  for (auto* slots : {&inputs_, owner_ != nullptr ? &owner_->state_ : &state_})
    for (auto& slot : *slots)
      if (slot.mutated) written.push_back(&slot);
  return written;
}

void InputSet::replace_inputs(const std::vector<Argument>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (argument_slots_[i] < 0) continue;
    Slot& slot = inputs_[static_cast<std::size_t>(argument_slots_[i])];
    slot.digest = copy_drawn(values[i].tensor, slot.source_view);
  }
}

void InputSet::replace_inputs(const std::vector<Argument>& values, Device& device,
                              const protocol::EncryptionKey& key) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (argument_slots_[i] < 0) continue;
    const auto index = static_cast<std::size_t>(argument_slots_[i]);
    Slot& slot = inputs_[index];
    // Encrypts a copy, because encryption extends to the next multiple of 16 bytes. Other tensors
    // may lie there.
    const at::Tensor hidden = at::empty_like(slot.source_view, at::MemoryFormat::Contiguous);
    hidden.copy_(values[i].tensor);
    slot.digest = digest_of(hidden);
    device.encrypt(static_cast<std::byte*>(hidden.data_ptr()), hidden.nbytes(),
                   key.of_input(index));
    device.copy(slot.source.data(), static_cast<const std::byte*>(hidden.const_data_ptr()),
                hidden.nbytes());
  }
  device.synchronize();
}

void InputSet::encrypt_inputs(Device& device, const protocol::EncryptionKey& key) {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    device.encrypt(inputs_[i].source.data(), inputs_[i].source.size_bytes(), key.of_input(i));
}

std::vector<std::int64_t> InputSet::input_digests() const {
  std::vector<std::int64_t> digests;
  for (const auto& slot : inputs_) digests.push_back(slot.digest);
  return digests;
}

void InputSet::exchange_answers(Answers& answers) {
  std::swap(answers_.outputs, answers.outputs);
  std::swap(answers_.expected_outputs, answers.expected_outputs);
  const auto written = written_slots();
  answers.written.resize(written.size());
  for (std::size_t i = 0; i < written.size(); ++i)
    std::swap(written[i]->expected, answers.written[i]);
}

EagerErrors InputSet::eager_errors() const {
  EagerErrors errors;
  for (const ExpectedOutput& expected_output : answers_.expected_outputs)
    errors.push_back(expected_output.eager_error);
  return errors;
}

Answers InputSet::answer(ProblemHost& host, const std::vector<Argument>& own,
                         const EagerErrors& usual) {
  return answer(host, own, {}, usual);
}

Answers InputSet::answer_after(ProblemHost& host,
                               const std::vector<std::vector<pybind11::object>>& earlier,
                               const std::vector<Argument>& own, const EagerErrors& usual) {
  restore();
  const auto exact = host.exact_outputs(model_, objects_of(own), earlier);
  for (const auto& arguments : earlier) host.forward(model_, arguments);
  return answer(host, own, exact, exact.empty() ? usual : EagerErrors());
}

Answers InputSet::answer(ProblemHost& host, const std::vector<Argument>& own,
                         const std::vector<at::Tensor>& exact, const EagerErrors& usual) {
  Answers answers = answers_of(host.forward(model_, objects_of(own)), exact, usual);
  std::size_t input = 0;
  for (const Argument& argument : own)
    if (argument.is_tensor && inputs_[input++].mutated)
      answers.written.push_back(argument.tensor.clone());
  for (const Slot* slot : written_slots())
    if (!is_input(slot)) answers.written.push_back(slot->live.clone());
  return answers;
}

std::optional<std::vector<Argument>> InputSet::own_arguments() {
  restore();
  for (const Slot* slot : written_slots())
    if (!is_input(slot) && digest_of(slot->live) != slot->digest) return std::nullopt;
  std::vector<Argument> own = arguments_;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (argument_slots_[i] < 0) continue;
    const Slot& slot = inputs_[static_cast<std::size_t>(argument_slots_[i])];
    own[i].tensor = slot.source_view.clone();
    own[i].object = to_python(own[i].tensor);
    if (digest_of(own[i].tensor) != slot.digest) return std::nullopt;
  }
  return own;
}

bool InputSet::is_input(const Slot* slot) const {
  return std::ranges::any_of(inputs_, [&](const Slot& input) { return &input == slot; });
}

void InputSet::restore() {
  const pybind11::object& kept = owner_ != nullptr ? owner_->kept_ : kept_;
  if (kept) restore_model(kept);
  for (Slot* slot : written_slots()) slot->live.copy_(slot->source_view);
}

std::vector<pybind11::object> objects_of(const std::vector<Argument>& arguments) {
  std::vector<pybind11::object> objects;
  objects.reserve(arguments.size());
  for (const auto& argument : arguments) objects.push_back(argument.object);
  return objects;
}

std::vector<at::Tensor> InputSet::call(ProblemHost& host, const pybind11::object& model) {
  return host.forward(model, objects());
}

const Slot* InputSet::first_changed_source() const {
  for (const auto* slots : {&inputs_, &state_})
    for (const auto& slot : *slots)
      if (slot.source.size_bytes() > 0 && content_digest(slot.source_view) != slot.digest)
        return &slot;
  return nullptr;
}

std::size_t InputSet::size_bytes() const {
  std::size_t total = 0;
  std::set<const std::byte*> counted;  // tensors may share memory
  for (const auto* slots : {&inputs_, &state_})
    for (const auto& slot : *slots) {
      if (counted.insert(slot.source.base()).second) total += slot.source.layout().mapped_bytes;
      if (slot.mutated) total += 2 * slot.source.size_bytes();
    }
  for (const auto& slot : state_) total += slot.source.size_bytes();
  for (const auto& expected_output : answers_.expected_outputs)
    if (expected_output.eager_error && expected_output.value.scalar_type() == at::kFloat)
      total += static_cast<std::size_t>(expected_output.value.numel()) * sizeof(float);
  for (const auto& output : answers_.outputs)
    total += static_cast<std::size_t>(output.numel()) * output.element_size();
  return total;
}

}  // namespace kbench::worker
