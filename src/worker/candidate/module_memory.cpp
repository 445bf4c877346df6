// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "worker/candidate/module_judged.hpp"
#include "worker/compare/tensor_types.hpp"
#include "worker/device/hidden_memory.hpp"
#include "worker/reference/embedded_python.hpp"
#include "worker/reference/torch_memory.hpp"

// The content of memory before a module's call, and the memory that the module may access.
namespace kbench::worker {

at::Tensor ModuleCandidate::view(const SharedBuffer& buffer, const BoundTensor& tensor) const {
  return tensor_view(buffer, *device_, scalar_type(tensor.info.dtype), tensor.info.shape);
}

/// A tensor that the candidate does not fill may lie in the memory of an earlier answer, which may
/// be right again. So kbench fills free memory. On the CPU the allocator does so itself.
void ModuleCandidate::poison_free_memory(Poison poison, std::span<const std::byte> data) {
  if (device_->name() == "cpu") return;
  for (const std::span<std::byte> block : python_.free_memory())
    fill_with_poison(*device_, block.data(), block.size(), poison, data);
  device_->synchronize();
}

std::vector<ptx::Region> ModuleCandidate::regions() const {
  auto regions = torch_regions();
  for (const auto& [index, set] : sets_)
    for (const auto& [tensor, buffer] : set.sources) {
      const BoundTensor& bound = job_.plan.tensors[tensor];
      const bool input = bound.role == BoundTensor::Role::kInput;
      regions.push_back({fmt::format("{} {}", input ? "input" : "state", bound.info.name),
                         buffer.data(), buffer.size_bytes(), buffer.layout().red_before,
                         buffer.layout().red_after, job_.sources_writable, nullptr});
      const auto copy = set.works.find(tensor);
      if (!input || copy == set.works.end()) continue;
      const SharedBuffer& work = copy->second;
      regions.push_back({fmt::format("input {}", bound.info.name), work.data(), work.size_bytes(),
                         work.layout().red_before, work.layout().red_after, true, nullptr});
    }
  return regions;
}

ModuleCandidate::InputsHidden::InputsHidden(ModuleCandidate& candidate, const ModuleSet& set,
                                            const std::vector<at::Tensor>& inputs)
    : candidate_(candidate), hides_(candidate.device_->name() == "cpu") {
  if (!hides_) return;
  std::vector<HiddenMemory::Input> hidden;
  for (const auto* buffers : {&set.sources, &set.works})
    for (const auto& [tensor, buffer] : *buffers)
      if (candidate.job_.plan.tensors[tensor].role == BoundTensor::Role::kInput)
        hidden.push_back({{buffer.data(), buffer.size_bytes()},
                          buffers == &set.works || candidate.job_.sources_writable});
  HiddenMemory::instance().begin(hidden);
  // The inputs may be copies, see inputs_to_keep().
  for (const at::Tensor& input : inputs)
    if (input.nbytes() > 0) HiddenMemory::instance().derive(input.const_data_ptr(), false);
}

void ModuleCandidate::InputsHidden::take_outputs(const std::vector<at::Tensor>& outputs) {
  HiddenMemory& memory = HiddenMemory::instance();
  if (!hides_ || memory.has_given_up()) return;
  const auto is_empty = [](const at::Tensor& output) { return output.nbytes() == 0; };
  const auto is_written = [&](const at::Tensor& output) {
    return memory.content(output.const_data_ptr()).is_written;
  };
  if (std::ranges::all_of(outputs, is_empty) || std::ranges::any_of(outputs, is_written)) return;
  candidate_.returns_others_ = true;
}

ModuleCandidate::InputsHidden::~InputsHidden() {
  if (!hides_) return;
  const std::size_t touched = HiddenMemory::instance().end();
  if (is_read_back(touched, candidate_.bytes_of(BoundTensor::Role::kInput)))
    candidate_.host_reads_ = true;
}

void ModuleCandidate::restore_state(ModuleSet& set, bool goes_on) {
  const at::NoGradGuard no_grad;
  if (!goes_on) {
    if (set.kept) embedded_module("model_state").attr("restore")(set.kept);
    for (auto& [buffer, before] : set.buffers) buffer.copy_(before);
  }
  // The candidate may write to inputs that the reference writes to.
  for (const auto& [tensor, copy] : set.works)
    if (job_.plan.tensors[tensor].role == BoundTensor::Role::kInput)
      device_->copy(copy.data(), set.sources.at(tensor).data(), copy.size_bytes());
}

std::span<const std::byte> ModuleCandidate::largest_input(const ModuleSet& set) const {
  std::span<const std::byte> largest;
  for (const auto& [tensor, buffer] : set.sources)
    if (job_.plan.tensors[tensor].role == BoundTensor::Role::kInput &&
        buffer.size_bytes() > largest.size())
      largest = {buffer.data(), buffer.size_bytes()};
  return largest;
}

void ModuleCandidate::restore(ModuleSet& set, Poison poison, bool goes_on) {
  const auto data = largest_input(set);
  // On a GPU torch's own allocator is used; poison_free_memory() fills its memory.
  if (device_->name() == "cpu") set_memory_poison(poison, data);
  for (const auto& [tensor, buffer] : set.works)
    fill_with_poison(*device_, buffer.data(), buffer.size_bytes(), poison, data);
  restore_state(set, goes_on);
}

std::vector<at::Tensor> ModuleCandidate::inputs_to_keep(const ModuleSet& set) const {
  auto inputs = inputs_of(set);
  if (!set.kept) return inputs;
  std::size_t next = 0;
  for (const auto& argument : job_.module.arguments)
    if (const auto* index = std::get_if<std::size_t>(&argument)) {
      at::Tensor& input = inputs[next++];
      // No copy if the reference writes to the input, because kbench compares it in place.
      if (!set.works.contains(*index)) input = input.clone();
    }
  return inputs;
}

std::vector<at::Tensor> ModuleCandidate::inputs_of(const ModuleSet& set) const {
  std::vector<at::Tensor> inputs;
  for (const auto& argument : job_.module.arguments)
    if (const auto* index = std::get_if<std::size_t>(&argument)) {
      const auto copy = set.works.find(*index);
      inputs.push_back(view(copy != set.works.end() ? copy->second : set.sources.at(*index),
                            job_.plan.tensors[*index]));
    }
  return inputs;
}

void ModuleCandidate::check_torch_memory() const {
  if (device_->name() != "cpu") return;
  const auto broken = broken_torch_allocations();
  if (broken.empty()) return;
  throw CandidateFailure{
      Outcome::kIllegalWrite, "out_of_bounds_write",
      fmt::format("the candidate wrote past the ends of a tensor of {} bytes", broken.front())};
}

}  // namespace kbench::worker
