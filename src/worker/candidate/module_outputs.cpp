// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>

#include "worker/candidate/module_judged.hpp"
#include "worker/compare/tensor_types.hpp"

namespace py = pybind11;

// The outputs of a module's call: C++ code checks them after Python returns, and copies them to
// memory that the judge reads.
namespace kbench::worker {
namespace {

/// Throws unless an output is a plain dense tensor, whose copy triggers no computation. Python has
/// checked the same, but a candidate may have replaced functions that the check uses.
void check_plain(const at::Tensor& output) {
  constexpr c10::DispatchKeySet kLater(
      {c10::DispatchKey::Python, c10::DispatchKey::Negative, c10::DispatchKey::Conjugate,
       c10::DispatchKey::ZeroTensor, c10::DispatchKey::Functionalize,
       c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper});
  const bool plain = output.defined() && output.layout() == at::kStrided &&
                     !output.key_set().has_any(kLater) && !output.is_quantized() &&
                     !output.is_nested() && output.has_storage();
  if (!plain)
    throw CandidateFailure{Outcome::kWrongShape, "not_plain",
                           "an output is not a plain dense tensor"};
}

}  // namespace

/// Distinguishes a tensor from a tuple or list of one tensor. With any other number of outputs, the
/// number shows a wrong structure.
void ModulePython::check_structure(const std::string& structure, std::size_t count) const {
  const auto wanted =
      std::ranges::count(job_.plan.tensors, BoundTensor::Role::kOutput, &BoundTensor::role);
  if (count != 1 || wanted != 1 || (structure != "tensor") == job_.module.returns_sequence) return;
  if (structure == "tensor")
    throw CandidateFailure{
        Outcome::kWrongShape, "structure",
        "the candidate returns a tensor, the reference a tuple or list of 1 tensor"};
  throw CandidateFailure{
      Outcome::kWrongShape, "structure",
      fmt::format("the candidate returns a {} of 1 tensor, the reference a tensor", structure)};
}

std::vector<at::Tensor> ModulePython::outputs_of(const py::object& called) const {
  const auto pair = called.cast<py::tuple>();
  std::vector<at::Tensor> outputs;
  for (const auto& output : pair[1].cast<py::list>()) {
    if (!THPVariable_Check(output.ptr()))
      throw CandidateFailure{Outcome::kWrongShape, "not_a_tensor", "an output is not a tensor"};
    outputs.push_back(THPVariable_Unpack(output.ptr()));
    check_plain(outputs.back());
  }
  check_structure(pair[0].cast<std::string>(), outputs.size());
  return outputs;
}

void ModuleCandidate::check_outputs(const std::vector<at::Tensor>& outputs) const {
  std::size_t next = 0;
  for (const BoundTensor& expected : job_.plan.tensors) {
    if (expected.role != BoundTensor::Role::kOutput) continue;
    if (next == outputs.size()) break;
    const at::Tensor& output = outputs[next++];
    if (output.sizes() != at::IntArrayRef(expected.info.shape))
      throw CandidateFailure{
          Outcome::kWrongShape, "shape",
          fmt::format("output {} has shape {}, but the reference returns {}", expected.info.name,
                      shape_text(output.sizes()), shape_text(expected.info.shape))};
    if (output.scalar_type() != scalar_type(expected.info.dtype))
      throw CandidateFailure{
          Outcome::kWrongDtype, "dtype",
          fmt::format("output {} is {}, but the reference returns {}", expected.info.name,
                      dtype_name(output.scalar_type()), dtype_row(expected.info.dtype).name)};
  }
  const auto wanted =
      std::ranges::count(job_.plan.tensors, BoundTensor::Role::kOutput, &BoundTensor::role);
  if (outputs.size() != static_cast<std::size_t>(wanted))
    throw CandidateFailure{
        Outcome::kWrongShape, "output_count",
        fmt::format("the candidate returns {} outputs, but the reference returns {}",
                    outputs.size(), wanted)};
}

void ModuleCandidate::keep(ModuleSet& set, const std::vector<at::Tensor>& outputs) {
  copy_outputs(set, outputs, true);
  device_->synchronize();
}

void ModuleCandidate::copy_outputs(ModuleSet& set, const std::vector<at::Tensor>& outputs,
                                   bool on_default_stream) {
  const at::NoGradGuard no_grad;
  std::size_t next = 0;
  for (const auto& [tensor, buffer] : set.works) {
    const BoundTensor& bound = job_.plan.tensors[tensor];
    if (bound.role == BoundTensor::Role::kInput) continue;
    if (bound.role == BoundTensor::Role::kState) {
      const auto state = set.state.find(tensor);
      if (state != set.state.end()) view(buffer, bound).copy_(state->second);
      continue;
    }
    const at::Tensor& output = outputs.at(next++);
    if (buffer.size_bytes() == 0) continue;
    if (output.is_cpu() && !is_readable(static_cast<const std::byte*>(output.const_data_ptr()),
                                        std::min(output.nbytes(), buffer.size_bytes())))
      throw CandidateFailure{Outcome::kCheat, "unreadable_output",
                             fmt::format("output {} is in memory that cannot be read, so a later "
                                         "read could trigger its computation",
                                         bound.info.name)};
    // Avoids torch's copy operator, because a candidate may have registered its own in its place.
    if (on_default_stream && output.is_contiguous() && output.nbytes() == buffer.size_bytes())
      device_->copy(buffer.data(), static_cast<const std::byte*>(output.const_data_ptr()),
                    buffer.size_bytes());
    else
      view(buffer, bound).copy_(output);
  }
}

}  // namespace kbench::worker
