// SPDX-License-Identifier: MIT
#include "worker/candidate/module_python.hpp"

#include <fmt/format.h>
#include <torch/csrc/autograd/python_variable.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "score/kernelbench.hpp"
#include "worker/device/hidden_memory.hpp"
#include "worker/reference/embedded_python.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

using nlohmann::json;

struct CauseRow {
  std::string_view cause;
  Outcome outcome;
};

/// Outcomes of the causes that module_host.py reports. Other causes are crashes.
constexpr CauseRow kCauses[] = {
    {"import_failed", Outcome::kLoadFailure},
    {"no_modelnew", Outcome::kLoadFailure},
    {"init_raised", Outcome::kLoadFailure},
    {"wrong_init_signature", Outcome::kLoadFailure},
    {"missing_package", Outcome::kLoadFailure},
    {"missing_file", Outcome::kLoadFailure},
    {"no_permission", Outcome::kLoadFailure},
    {"exits", Outcome::kLoadFailure},
    {"outside_folder", Outcome::kLoadFailure},
    {"bad_extension_name", Outcome::kCompileFailure},
    {"build_failed", Outcome::kCompileFailure},
    {"unsupported", Outcome::kUnsupported},
    {"out_of_memory", Outcome::kOutOfMemory},
    {"not_a_tensor", Outcome::kWrongShape},
    {"not_plain", Outcome::kWrongShape},
    {"not_dense", Outcome::kWrongShape},
    {"overlapping", Outcome::kWrongShape},
    {"wrong_device", Outcome::kWrongDtype},
    {"wrong_signature", Outcome::kCrash},
    {"forward_raised", Outcome::kCrash},
    {"cuda_error", Outcome::kCrash},
    {"candidate_raised", Outcome::kCrash},
};

Outcome outcome_of(std::string_view cause) {
  const auto row = std::ranges::find(kCauses, cause, &CauseRow::cause);
  return row == std::end(kCauses) ? Outcome::kCrash : row->outcome;
}

json json_of(const py::object& value) {
  const auto text = py::module_::import("json").attr("dumps")(value).cast<std::string>();
  return json::parse(text);
}

/// Properties of the GPU that the executor emulates.
constexpr int kSms = 16;
constexpr int kSharedBytes = 227 * 1024;

}  // namespace

py::object value_to_python(const Value& value) {
  return std::visit([](const auto& plain) -> py::object { return py::cast(plain); }, value);
}

ModulePython::ModulePython(const CandidateJob& job, Fd compile,
                           std::function<std::vector<ptx::Region>()> regions)
    : job_(job), compiler_(std::move(compile), job.nonce) {
  const bool on_cpu = job.device == "cpu";
  if (regions) runtime_ = on_cpu ? make_cpu_runtime(std::move(regions)) : make_cuda_runtime();
  // An extension's function gets only tensors, and nothing else of the problem.
  const bool is_module = job.kind == CandidateKind::kModule;
  if (is_module && by_kernelbench())  // its file can use all names of its problem
    problem_ = std::make_unique<ProblemHost>(job.module.problem_path, job.module.problem_source,
                                             job.module.sizes);
  else if (is_module)
    given_ = call_python("problem_values", "Given", py::bytes(job.module.problem_values));
  py::dict known;
  known["multi_processor_count"] = kSms;
  known["shared_memory_per_block_optin"] = kSharedBytes;
  if (on_cpu) follow_interpreter();
  // Defines "cuda" in this process before any of the candidate's code runs.
  host("prepare", on_cpu, known);
}

void ModulePython::follow_interpreter() {
  embedded_module("module_cpu_triton")
      .attr("follow_launches")(
          py::cpp_function([this] {
            if (skips_interpreted_) return false;
            ++interpreted_launches_;
            HiddenMemory::instance().open(HiddenMemory::Reader::kKernel);
            return true;
          }),
          py::cpp_function([] { HiddenMemory::instance().close(HiddenMemory::Reader::kKernel); }));
}

void ModulePython::fail(py::error_already_set& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) throw;
  // A kernel's own failure says more than the exception that it caused in host code.
  if (runtime_) runtime_->explain();
  CandidateFailure failure{Outcome::kCrash, "candidate_raised", ""};
  try {
    const auto parts = embedded_module("module_host")
                           .attr("failure_of")(error.value())
                           .cast<std::tuple<std::string, std::string, std::string>>();
    failure.cause = std::get<0>(parts);
    failure.outcome = outcome_of(failure.cause);
    failure.message = std::get<1>(parts);
    const auto& log = std::get<2>(parts);
    std::fwrite(log.data(), 1, log.size(), stderr);
    std::fflush(stderr);
  } catch (py::error_already_set& again) {
    failure.message = again.what();
  }
  if (failure.cause == "build_failed" && build_failure_) {
    failure.outcome = build_failure_->outcome;
    failure.cause = build_failure_->cause;
    failure.message = build_failure_->message;
  }
  throw failure;
}

template <typename... Args>
py::object ModulePython::call_python(const char* module, const char* name, Args&&... arguments) {
  try {
    return embedded_module(module).attr(name)(std::forward<Args>(arguments)...);
  } catch (py::error_already_set& error) {
    fail(error);
  }
}

template <typename... Args>
py::object ModulePython::host(const char* name, Args&&... arguments) {
  return call_python("module_host", name, std::forward<Args>(arguments)...);
}

/// The names that the candidate's file can use: constants and imports of its problem's file. By
/// KernelBench's rules, all names of that file.
py::object ModulePython::problem_names() {
  if (!by_kernelbench()) return given_.attr("names");
  return call_python("module_kernelbench", "names_of", problem_->module());
}

/// Constants of the problem that have other values because it runs at other sizes.
py::object ModulePython::changed_constants() {
  return by_kernelbench() ? problem_->module().attr("kbench_changed") : given_.attr("changed");
}

bool ModulePython::by_kernelbench() const {
  return kernelbench_row(job_.module.precision) != nullptr;
}

std::string ModulePython::entry() const {
  auto [name, sentence] = embedded_module("module_entry")
                              .attr("entry_of")(job_.module.source, job_.module.entry)
                              .cast<std::pair<std::string, std::string>>();
  if (!sentence.empty())
    throw CandidateFailure{Outcome::kLoadFailure, "no_entry",
                           fmt::format("{} {}", job_.module.file_name, sentence)};
  return std::move(name);
}

py::object ModulePython::extension_model(const py::list& input_names, const py::list& state_names,
                                         const py::list& state) {
  const auto entry_module = embedded_module("module_entry");
  const std::string name = entry();
  const auto names = entry_module.attr("argument_names")(job_.module.source, name);
  return entry_module.attr("ExtensionModel")(module_.attr(name.c_str()), names, input_names,
                                             state_names, state);
}

void ModulePython::load() {
  if (job_.kind == CandidateKind::kExtension) {
    const std::string name = entry();
    try {
      module_ = build_extension(
          embedded_module("module_entry").attr("request_of")(job_.module.source, name));
    } catch (const std::runtime_error&) {
      if (!build_failure_) throw;
      throw CandidateFailure{build_failure_->outcome, build_failure_->cause,
                             build_failure_->message};
    }
    if (!py::hasattr(module_, name.c_str()))
      throw CandidateFailure{Outcome::kLoadFailure, "no_entry",
                             fmt::format("{} binds no function {}", job_.module.file_name, name)};
    return;
  }
  const auto request =
      py::cpp_function([this](const py::object& asked) { return build_extension(asked); });
  module_ =
      host("load_candidate", job_.module.file_name, py::bytes(job_.module.source),
           job_.module.folder, request, problem_names(), changed_constants(), by_kernelbench());
}

void ModulePython::dry_import() {
  json end{{"stage", "import"}, {"cause", ""}, {"message", ""}};
  try {
    const auto parts = run_dry_import();
    end["stage"] = std::get<0>(parts);
    end["cause"] = std::get<1>(parts);
    end["message"] = std::get<2>(parts);
    end["outcome"] = to_string(outcome_of(std::get<1>(parts)));
  } catch (const CandidateFailure& failure) {
    end["cause"] = failure.cause;
    end["message"] = failure.message;
    end["outcome"] = to_string(failure.outcome);
  }
  compiler_.dry_imported(end);
}

std::tuple<std::string, std::string, std::string> ModulePython::run_dry_import() {
  const auto order = py::cpp_function([this](const py::object& asked) {
    compiler_.order(json_of(asked));
    return py::none();
  });
  if (job_.kind == CandidateKind::kExtension) {
    order(embedded_module("module_entry").attr("request_of")(job_.module.source, entry()));
    return {"import", "", ""};
  }
  py::object arguments = py::none();
  py::object draw = py::none();
  if (!by_kernelbench()) {
    arguments = call_python("problem_values", "init_arguments_of", given_);
    draw = given_.attr("inputs_as_shapes");
  } else {
    try {
      arguments = own_init_arguments();
    } catch (const ProblemFailure&) {
      // The judge reports this failure.
    }
  }
  return call_python("module_dry_import", "dry_import", job_.module.file_name,
                     py::bytes(job_.module.source), job_.module.folder, order, arguments, draw,
                     problem_names(), changed_constants(), by_kernelbench())
      .cast<std::tuple<std::string, std::string, std::string>>();
}

py::object ModulePython::own_init_arguments() {
  return problem_->init_arguments(job_.device, job_.module.precision, 0);
}

py::object ModulePython::build_model(std::uint64_t seed, const std::string& init_arguments) {
  const py::object arguments =
      by_kernelbench() ? own_init_arguments()
                       : call_python("problem_values", "unpack_list", py::bytes(init_arguments));
  return host("build_model", module_, arguments, job_.device, job_.module.precision, seed);
}

ModulePython::Placement ModulePython::place_weights(const py::object& model, const py::list& names,
                                                    const py::list& tensors, bool as_built) {
  const auto found =
      call_python("module_weights", "place", model, names, tensors, as_built).cast<py::tuple>();
  Placement placement{found[0].cast<std::uint32_t>(),
                      found[1].cast<std::vector<std::size_t>>(),
                      {},
                      found[3].cast<bool>(),
                      found[4].cast<bool>()};
  for (const auto& taker : found[2].cast<py::list>())
    placement.takers.push_back(THPVariable_Check(taker.ptr()) ? THPVariable_Unpack(taker.ptr())
                                                              : at::Tensor());
  return placement;
}

bool ModulePython::moved_host_tensors() {
  return embedded_module("module_host").attr("moved_host_tensors")().cast<bool>();
}

std::vector<at::Tensor> ModulePython::buffers_of(const py::object& model) {
  std::vector<at::Tensor> buffers;
  for (const auto& buffer : model.attr("buffers")())
    if (THPVariable_Check(buffer.ptr())) buffers.push_back(THPVariable_Unpack(buffer.ptr()));
  return buffers;
}

void ModulePython::enter_eval_mode(const py::object& model) { host("enter_eval_mode", model); }

std::vector<at::Tensor> ModulePython::call(const py::object& model, const py::list& arguments) {
  return outputs_of(host("call", model, arguments, job_.device));
}

std::vector<at::Tensor> ModulePython::counted_call(const py::object& model,
                                                   const py::list& arguments,
                                                   std::vector<OperatorCost>& operators) {
  const py::object function = embedded_module("module_host").attr("call");
  const auto pair = call_python("operator_cost", "counted", function, model, arguments, job_.device)
                        .cast<py::tuple>();
  operators.clear();
  for (const auto& item : json::parse(pair[1].cast<std::string>()))
    operators.push_back(operator_cost_from_json(item));
  return outputs_of(pair[0]);
}

void ModulePython::skip_launches(bool skips) {
  runtime_->skip_launches(skips);
  skips_interpreted_ = skips;
}

std::vector<std::span<std::byte>> ModulePython::free_memory() {
  std::vector<std::span<std::byte>> blocks;
  for (const auto& [address, bytes] :
       host("free_memory").cast<std::vector<std::pair<std::uintptr_t, std::size_t>>>())
    // NOLINTNEXTLINE(performance-no-int-to-ptr): Python's addresses are integers
    blocks.emplace_back(reinterpret_cast<std::byte*>(address), bytes);
  return blocks;
}

std::uint32_t ModulePython::take_interpreted_launches() {
  return std::exchange(interpreted_launches_, 0);
}

ModulePython::KernelbenchCall ModulePython::call_by_kernelbench(const py::object& model,
                                                                const py::list& arguments,
                                                                const std::string& random_state) {
  const auto pair = call_python("module_kernelbench", "call", model, arguments, job_.device,
                                py::bytes(random_state))
                        .cast<py::tuple>();
  return {THPVariable_Unpack(py::object(pair[0]).ptr()), pair[1].cast<std::vector<std::string>>()};
}

std::vector<double> ModulePython::time_by_kernelbench(const py::object& model,
                                                      const py::list& arguments, int calls) {
  return call_python("kernelbench_rules", "time_calls", model, arguments, job_.device, calls)
      .cast<std::vector<double>>();
}

std::uint32_t ModulePython::math_modes() {
  return call_python("kernelbench_rules", "math_modes").cast<std::uint32_t>();
}

bool ModulePython::replaces_constants() {
  return call_python("module_kernelbench", "replaces_constants", problem_names(), module_)
      .cast<bool>();
}

py::object ModulePython::build_extension(const py::object& asked) {
  const json request = json_of(asked);
  auto answer = compiler_.build(request);
  if (auto* failure = std::get_if<BuildFailure>(&answer)) {
    build_failure_ = *failure;
    throw std::runtime_error(failure->log.empty() ? failure->message : failure->log);
  }
  auto& built = std::get<BuiltExtension>(answer);
  if (request.value("kind", "") == "kernel")
    return load_kernel(request.at("name"), std::move(built));
  return load_extension(std::move(built));
}

}  // namespace kbench::worker
