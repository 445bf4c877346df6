// SPDX-License-Identifier: MIT
#include "worker/reference/problem_host.hpp"

#include <fmt/format.h>
#include <torch/csrc/autograd/python_variable.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "worker/reference/embedded_python.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

py::module_& host_module() { return embedded_module("problem_host"); }

/// Calls a function of one of kbench's Python modules. Its exceptions become a ProblemFailure.
template <typename... Args>
py::object call_in(py::module_& module, const char* name, Args&&... arguments) {
  try {
    return module.attr(name)(std::forward<Args>(arguments)...);
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) throw;
    ProblemFailure failure{"reference_raised", "", error.what()};
    try {
      const auto pair = host_module().attr("failure_of")(error.value()).cast<py::tuple>();
      failure.cause = pair[0].cast<std::string>();
      failure.message = pair[1].cast<std::string>();
    } catch (py::error_already_set& again) {
      failure.message = again.what();
    }
    throw failure;
  }
}

template <typename... Args>
py::object call(const char* name, Args&&... arguments) {
  return call_in(host_module(), name, std::forward<Args>(arguments)...);
}

template <typename... Args>
void call_quietly(py::module_& module, const char* function, const Args&... args) {
  try {
    call_in(module, function, args...);
  } catch (const ProblemFailure&) {
    // Opening a problem on this device will fail the same way, and that error is reported.
  }
}

py::dict python_sizes(const Sizes& sizes) {
  py::dict dict;
  for (const auto& [name, value] : sizes) dict[py::str(name)] = value;
  return dict;
}

/// A file's bytes as a Python string. Invalid UTF-8 is replaced; Python's parser reports errors.
py::object python_text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

template <typename... Args>
py::object call_kernelbench(const char* name, Args&&... arguments) {
  return call_in(embedded_module("kernelbench_rules"), name, std::forward<Args>(arguments)...);
}

template <typename... Args>
py::object call_distributions(const char* name, Args&&... arguments) {
  return call_in(embedded_module("input_distributions"), name, std::forward<Args>(arguments)...);
}

py::list python_inputs(const std::vector<Argument>& inputs) {
  py::list list;
  for (const auto& input : inputs) list.append(input.object);
  return list;
}

py::list python_list(const std::vector<py::object>& objects) {
  py::list list;
  for (const auto& object : objects) list.append(object);
  return list;
}

void check(const PyStatus& status) {
  if (PyStatus_Exception(status) != 0)
    throw Error(
        fmt::format("Python does not start: {}; check KBENCH_PYTHON, or run "
                    "scripts/kbench setup",
                    status.err_msg != nullptr ? status.err_msg : "no reason given"));
}

}  // namespace

namespace {

/// If torch is installed without bytecode, in an image or a read-only folder, Python compiles two
/// thousand files in each process that imports torch. kbench then keeps the bytecode in `folder`.
void keep_bytecode(const std::string& folder) {
  const auto sys = py::module_::import("sys");
  const py::object spec = py::module_::import("importlib.util").attr("find_spec")("torch");
  if (spec.is_none() || spec.attr("origin").is_none() || !sys.attr("pycache_prefix").is_none())
    return;
  const std::filesystem::path package(spec.attr("origin").cast<std::string>());
  if (std::filesystem::is_directory(package.parent_path() / "__pycache__")) return;
  sys.attr("pycache_prefix") = folder;
  sys.attr("dont_write_bytecode") = false;
}

}  // namespace

void start_python(const std::string& python, const std::string& bytecode) {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  config.install_signal_handlers = 0;
  // Python finds the venv by the executable's path.
  check(PyConfig_SetBytesString(&config, &config.executable, python.c_str()));
  check(PyConfig_SetBytesString(&config, &config.program_name, python.c_str()));
  check(Py_InitializeFromConfig(&config));
  PyConfig_Clear(&config);
  try {
    keep_bytecode(bytecode);
    py::module_::import("torch");
    host_module();
  } catch (py::error_already_set& error) {
    throw Error(fmt::format("{} cannot import torch: {}", python, error.what()));
  }
}

std::string torch_version() {
  return py::str(py::module_::import("torch").attr("__version__")).cast<std::string>();
}

void set_precision(const std::string& precision) { call("set_precision", precision); }

void set_eval_mode(bool is_eval) {
  call_in(embedded_module("model_setup"), "set_eval_mode", is_eval);
}

void touch_device(const std::string& device) { call_quietly(host_module(), "touch", device); }
void warm_up(const std::string& device) {
  call_quietly(embedded_module("warm_up"), "warm_up", device);
}
void warm_up_for(const std::string& device, const std::string& text) {
  call_quietly(embedded_module("warm_up"), "warm_up", device, python_text(text));
}

void keep_devices(const std::string& text) {
  call_in(embedded_module("warm_up"), "keep_devices", python_text(text));
}

std::string measured_peaks(const std::string& device) {
  return call_in(embedded_module("device_peaks"), "measured", device).cast<std::string>();
}

void release_memory(const std::string& device) { call("release_memory", device); }
void release_idle_memory(const std::string& device) { call("release_idle_memory", device); }

py::object to_python(const at::Tensor& tensor) { return py::cast(tensor); }

ProblemHost::ProblemHost(const std::string& path, const std::string& source, const Sizes& sizes) {
  module_ = call("load", path, python_text(source), python_sizes(sizes));
}

std::vector<std::string> input_distributions() {
  return call_distributions("names").cast<std::vector<std::string>>();
}

std::string reduce_problem(const std::string& path, const std::string& source, const Sizes& sizes,
                           double max_bytes, double max_flops) {
  return call_in(embedded_module("problem_reduce"), "reduce_sizes", path, python_text(source),
                 python_sizes(sizes), max_bytes, max_flops)
      .cast<std::string>();
}

Signature ProblemHost::describe(const std::string& key, const std::string& precision) {
  const auto text = call("describe", key, module_, precision).cast<std::string>();
  return signature_from_json(nlohmann::json::parse(text));
}

Signature ProblemHost::signature(const std::string& key, const std::string& precision,
                                 const py::object& model, const std::vector<Argument>& inputs,
                                 const std::vector<at::Tensor>& outputs) {
  py::list python_inputs;
  for (const auto& input : inputs) python_inputs.append(input.object);
  py::list python_outputs;
  for (const auto& output : outputs) python_outputs.append(to_python(output));
  const auto text = call("signature", key, module_, model, python_inputs, python_outputs, precision,
                         returns_sequence_)
                        .cast<std::string>();
  return signature_from_json(nlohmann::json::parse(text));
}

py::object ProblemHost::build_model(const std::string& device, const std::string& precision,
                                    std::uint64_t seed) {
  return call("build_model", module_, device, precision, seed);
}

py::object ProblemHost::init_arguments(const std::string& device, const std::string& precision,
                                       std::uint64_t seed) {
  return call("init_arguments", module_, device, precision, seed);
}

std::vector<Argument> ProblemHost::draw_inputs(const std::string& device,
                                               const std::string& precision, std::uint64_t seed) {
  std::vector<Argument> arguments;
  const auto drawn = call("draw_inputs", module_, device, precision, seed).cast<py::list>();
  for (const auto& item : drawn) {
    Argument argument{py::reinterpret_borrow<py::object>(item), false, {}};
    argument.is_tensor = THPVariable_Check(item.ptr()) != 0;
    if (argument.is_tensor) argument.tensor = item.cast<at::Tensor>();
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::vector<StateEntry> ProblemHost::state_of(const py::object& model) {
  std::vector<StateEntry> entries;
  for (const auto& item : call("state_of", model).cast<py::list>()) {
    const auto triple = item.cast<py::tuple>();
    entries.push_back(
        {triple[0].cast<std::string>(), triple[1].cast<at::Tensor>(), triple[2].cast<bool>()});
  }
  return entries;
}

std::vector<at::Tensor> ProblemHost::forward(const py::object& model,
                                             const std::vector<py::object>& arguments) {
  std::vector<at::Tensor> outputs;
  const auto pair = call("structured", model, python_list(arguments)).cast<py::tuple>();
  returns_sequence_ = pair[0].cast<bool>();
  for (const auto& item : pair[1].cast<py::list>()) outputs.push_back(item.cast<at::Tensor>());
  return outputs;
}

SwitchedToEval ProblemHost::enter_eval_mode(const py::object& model) {
  const auto pair = call("enter_eval_mode", model).cast<py::tuple>();
  return {pair[0].cast<py::list>(), pair[1].cast<bool>()};
}

void ProblemHost::leave_eval_mode(const py::list& parts) { call("leave_eval_mode", parts); }

std::vector<at::Tensor> ProblemHost::exact_outputs(
    const py::object& model, const std::vector<py::object>& arguments,
    const std::vector<std::vector<py::object>>& earlier) {
  std::vector<at::Tensor> outputs;
  py::list calls;
  for (const auto& of_call : earlier) calls.append(python_list(of_call));
  const auto found =
      call_in(embedded_module("oracle"), "outputs", model, python_list(arguments), calls);
  if (found.is_none()) return outputs;
  for (const auto& item : found.cast<py::list>()) outputs.push_back(item.cast<at::Tensor>());
  return outputs;
}

at::Tensor ProblemHost::without_ties(const py::object& model,
                                     const std::vector<py::object>& arguments, std::size_t number,
                                     const at::Tensor& expected, const at::Tensor& got,
                                     double tolerance) {
  return call_in(embedded_module("ties"), "settled", model, python_list(arguments), number,
                 expected, got, tolerance)
      .cast<at::Tensor>();
}

std::pair<std::vector<at::Tensor>, std::string> ProblemHost::half_outputs(
    const py::object& model, const std::vector<py::object>& arguments) {
  const py::tuple found =
      call_in(embedded_module("oracle"), "half_outputs", model, python_list(arguments));
  std::vector<at::Tensor> outputs;
  if (!found[0].is_none())
    for (const auto& item : found[0].cast<py::list>()) outputs.push_back(item.cast<at::Tensor>());
  return {std::move(outputs), found[1].cast<std::string>()};
}

bool ProblemHost::change_inputs(const std::string& distribution,
                                const std::vector<Argument>& inputs, std::uint64_t seed,
                                bool noisy) {
  return call_distributions("change", distribution, python_inputs(inputs), seed >> 1, noisy)
      .cast<bool>();
}

std::vector<py::object> ProblemHost::nudged(const std::vector<Argument>& inputs, bool exact,
                                            int rounding) {
  std::vector<py::object> copies;
  for (const auto& item :
       call_distributions("nudged", python_inputs(inputs), exact, rounding).cast<py::list>())
    copies.push_back(py::reinterpret_borrow<py::object>(item));
  return copies;
}

std::vector<OperatorCost> ProblemHost::operators(const py::object& model,
                                                 const std::vector<py::object>& arguments) {
  std::vector<OperatorCost> costs;
  const auto text = call("operators", model, python_list(arguments)).cast<std::string>();
  for (const auto& item : nlohmann::json::parse(text))
    costs.push_back(operator_cost_from_json(item));
  return costs;
}

std::int64_t ProblemHost::added_up(const py::object& model,
                                   const std::vector<py::object>& arguments) {
  return call("added_up", model, python_list(arguments)).cast<std::int64_t>();
}

py::object ProblemHost::baseline(const std::string& name, const py::object& model,
                                 const std::vector<py::object>& arguments,
                                 const std::string& cache) {
  return call("baseline", name, model, python_list(arguments), cache);
}

py::object ProblemHost::trace(const py::object& model) {
  return call_in(embedded_module("model_state"), "trace", model, module_);
}

std::vector<std::string> ProblemHost::changed(const py::object& before, const py::object& model) {
  return call_in(embedded_module("model_state"), "changed", before, model, module_)
      .cast<std::vector<std::string>>();
}

py::object ProblemHost::keep_state(const py::object& model) {
  return call_in(embedded_module("model_state"), "keep", model);
}

void restore_model(const py::object& kept) {
  call_in(embedded_module("model_state"), "restore", kept);
}

void ProblemHost::reseed(std::uint64_t seed) { call("reseed", seed); }

std::vector<std::uint64_t> ProblemHost::kernelbench_seeds(int trials) {
  return call_kernelbench("trial_seeds", trials).cast<std::vector<std::uint64_t>>();
}

std::string ProblemHost::random_state(const std::string& device) {
  return call_kernelbench("random_state", device).cast<std::string>();
}

std::uint32_t ProblemHost::math_modes() {
  return call_kernelbench("math_modes").cast<std::uint32_t>();
}

void ProblemHost::set_math_modes(std::uint32_t modes) { call_kernelbench("set_math_modes", modes); }

bool ProblemHost::leaves_no_trace() const {
  return module_.attr("kbench_leaves_no_trace").cast<bool>();
}

std::vector<double> ProblemHost::time_by_kernelbench(const py::object& model,
                                                     const std::vector<py::object>& arguments,
                                                     const std::string& device, int calls) {
  return call_kernelbench("time_calls", model, python_list(arguments), device, calls)
      .cast<std::vector<double>>();
}

}  // namespace kbench::worker
