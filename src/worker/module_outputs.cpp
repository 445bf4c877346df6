// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>

#include "worker/module_python.hpp"

namespace py = pybind11;

// What a call of a module gave: looked at natively, once it has come back from Python.
namespace kbench::worker {
namespace {

/// What Python asked before, asked where nobody can have replaced the answer: nothing is left to
/// be computed when it is copied.
void check_plain(const at::Tensor& output) {
  constexpr c10::DispatchKeySet kLater(
      {c10::DispatchKey::Python, c10::DispatchKey::Negative, c10::DispatchKey::Conjugate,
       c10::DispatchKey::ZeroTensor, c10::DispatchKey::Functionalize,
       c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper});
  const bool plain = output.defined() && output.layout() == at::kStrided &&
                     !output.key_set().has_any(kLater) && !output.is_quantized() &&
                     !output.is_nested() && output.has_storage();
  if (!plain)
    throw CandidateFailure{Outcome::kWrongShape, "not_plain", "an output is no plain dense tensor"};
}

}  // namespace

/// A tensor is another thing than a tuple or list of one; of other numbers, the number tells.
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
      throw CandidateFailure{Outcome::kWrongShape, "not_a_tensor", "an output is no tensor"};
    outputs.push_back(THPVariable_Unpack(output.ptr()));
    check_plain(outputs.back());
  }
  check_structure(pair[0].cast<std::string>(), outputs.size());
  return outputs;
}

}  // namespace kbench::worker
