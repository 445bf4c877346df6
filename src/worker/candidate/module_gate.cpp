// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "worker/candidate/exported_memory.hpp"
#include "worker/candidate/module_judged.hpp"
#include "worker/reference/embedded_python.hpp"

// Calls of a module that are queued behind the judge's gate: their outputs lie in memory that the
// judge can read.
namespace py = pybind11;

namespace kbench::worker {
namespace {

py::object gate(const char* name) { return embedded_module("module_gate").attr(name); }

}  // namespace

bool ModulePython::open_exported_pool() {
  return gate("open_pool")(reinterpret_cast<std::uintptr_t>(&exported_allocate),
                           reinterpret_cast<std::uintptr_t>(&exported_release))
      .cast<bool>();
}

ModulePython::InExportedPool::InExportedPool() { gate("enter")(); }
ModulePython::InExportedPool::~InExportedPool() { gate("leave")(); }

void* ModulePython::current_stream() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python returns an integer
  return reinterpret_cast<void*>(gate("stream")().cast<std::uintptr_t>());
}

bool ModuleCandidate::use_gate(Fd page, Fd memory, std::uint64_t memory_bytes) {
  BufferLayout layout;
  layout.mapped_bytes = layout.data_bytes = memory_bytes;
  use_exported_memory(device_->map(std::move(memory), layout, true));
  const bool has_gate = device_->use_gate(std::move(page));
  return has_pool_ && has_gate;
}

bool ModuleCandidate::queue_call(std::uint32_t index, std::vector<protocol::OutputPlace>& places) {
  ModuleSet& set = sets_.at(index);
  for (at::Tensor& output : forward(set, inputs_of(set))) {
    // Two calls cannot have one place: the judge reads all outputs after the last call.
    const auto shares = [&](const at::Tensor& earlier) {
      const auto* begin = static_cast<const std::byte*>(output.const_data_ptr());
      const auto* other = static_cast<const std::byte*>(earlier.const_data_ptr());
      return begin < other + earlier.nbytes() && other < begin + output.nbytes();
    };
    if (std::ranges::any_of(queued_, shares)) return false;
    const auto offset = exported_offset(output.const_data_ptr(), output.nbytes());
    if (!offset || !output.is_non_overlapping_and_dense() ||
        output.dim() > static_cast<std::int64_t>(protocol::OutputPlace::kMaxDims))
      return false;
    protocol::OutputPlace place{
        .dims = static_cast<std::uint32_t>(output.dim()), .offset_bytes = *offset, .strides = {}};
    std::ranges::copy(output.strides(), place.strides);
    places.push_back(place);
    queued_.push_back(std::move(output));
  }
  return true;
}

void ModuleCandidate::end_trace() { note_trace(traced_calls_); }

QueuedCalls ModuleCandidate::queue(std::span<const std::uint32_t> sets,
                                   const protocol::QueueBody& body) {
  queued_.clear();
  for (const std::uint32_t index : sets) {
    ModuleSet& set = sets_.at(index);
    const bool writes_inputs = std::ranges::any_of(set.works, [&](const auto& work) {
      return job_.plan.tensors[work.first].role == BoundTensor::Role::kInput;
    });
    // kbench would have to restore the inputs before each call, inside of the time.
    if (writes_inputs && body.alone == 0) return refused(GateRefusal::kInputsWritten);
    restore_state(set);
  }
  watch(body.limit_s, false);
  traced_calls_ = body.traced != 0 ? sets.size() : 0;
  if (body.traced != 0) set_early_apart();
  if (trace_ && body.traced != 0) trace_->start();
  if (trace_ && body.traced == 0) trace_->pause();
  QueuedCalls queued;
  bool in_pool = true;
  void* stream = ModulePython::current_stream();
  const auto call = [&](std::size_t i) {
    ModuleSet& set = sets_.at(sets[i]);
    if (body.copies != 0)
      copy_outputs(set, forward(set, inputs_of(set)), stream == nullptr);
    else
      in_pool = in_pool && queue_call(sets[i], queued.outputs);
  };
  try {
    std::optional<ModulePython::InExportedPool> pool;
    // Outputs that are copied may lie anywhere.
    if (has_pool_ && body.copies == 0) pool.emplace();
    queue_behind_gate(*device_, stream, body, call);
    if (!in_pool) queued = refused(GateRefusal::kOutputsElsewhere);
  } catch (const CandidateFailure&) {
    // Not a failure of the candidate: kbench then makes its calls alone, which may succeed.
    if (body.alone != 0) throw;
    queued = refused(GateRefusal::kFailed);
  }
  if (body.traced == 0) python_.take_reports();
  return queued;
}

}  // namespace kbench::worker
