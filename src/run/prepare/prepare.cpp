// SPDX-License-Identifier: MIT
#include "run/prepare/prepare.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "run/devices.hpp"
#include "run/environment.hpp"
#include "run/process/judge_client.hpp"
#include "run/process/waiting.hpp"
#include "score/kernelbench.hpp"

namespace kbench::run {
namespace {

/// Limit of the reason in a record; the log has the whole reason.
constexpr std::size_t kMaxFallbackBytes = 300;

/// The tensors of a problem that a module's process shares with the judge.
LaunchPlan module_plan(const Signature& signature) {
  LaunchPlan plan;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i)
    if (const auto* info = std::get_if<TensorInfo>(&signature.inputs[i].value))
      plan.tensors.push_back({BoundTensor::Role::kInput, i, *info, false, false, 0});
  // By KernelBench's rules a candidate keeps the weights that it draws.
  const bool has_own = kernelbench_row(signature.precision) != nullptr;
  for (std::size_t i = 0; i < signature.state.size() && !has_own; ++i)
    plan.tensors.push_back(
        {BoundTensor::Role::kState, i, signature.state[i].tensor, false, false, 0});
  for (std::size_t i = 0; i < signature.outputs.size(); ++i)
    plan.tensors.push_back({BoundTensor::Role::kOutput, i, signature.outputs[i], true, false, 0});
  return plan;
}

/// True for a module that catches exceptions, because it may continue without a failed build.
bool may_recover(const Candidate& candidate) {
  return candidate.source.find("except") != std::string::npos;
}

/// True for a .cu file that is neither a kernel nor an extension.
bool lacks_plan_and_entry(const Candidate& candidate, const std::string& entry) {
  if (candidate.kind != CandidateKind::kExtension || !entry.empty()) return false;
  const auto may_have_entry = [](std::string_view text) {
    return text.find("forward") != std::string_view::npos ||
           text.find("torch") != std::string_view::npos;
  };
  return !may_have_entry(candidate.source) &&
         std::ranges::none_of(candidate.files,
                              [&](const auto& file) { return may_have_entry(file.second); });
}

std::optional<ReadyCode> finish_dry_import(Prepared& prepared, int cancel_fd);

/// The names of the kernels that a source defines.
std::vector<std::string> kernels_in(std::string_view source) {
  constexpr std::string_view kMark = "__global__";
  std::vector<std::string> names;
  for (std::size_t at = source.find(kMark); at != std::string_view::npos;
       at = source.find(kMark, at + kMark.size())) {
    std::size_t open = source.find('(', at);
    if (open == std::string_view::npos) break;
    // The name may follow __launch_bounds__(…).
    if (trimmed(source.substr(at, open - at)).ends_with("__launch_bounds__"))
      open = source.find('(', source.find(')', open));
    if (open == std::string_view::npos) break;
    std::size_t end = open;
    while (end > at && !is_word_char(source[end - 1])) --end;
    std::size_t begin = end;
    while (begin > at && is_word_char(source[begin - 1])) --begin;
    names.emplace_back(source.substr(begin, end - begin));
  }
  return names;
}

/// "; did you mean relu?" for the first launched kernel that the source does not define.
std::string nearest_kernel(const Prepared& prepared) {
  const std::vector<std::string> kernels = kernels_in(prepared.candidate->source);
  for (const std::string& expression : prepared.bound->name_expressions) {
    const std::string name = expression.substr(0, expression.find('<'));
    if (!is_one_of(name, kernels)) return did_you_mean(name, kernels);
  }
  return "";
}

}  // namespace

void decide(Prepared& prepared, Outcome outcome, Stage stage, std::string_view cause,
            std::string message) {
  prepared.decided = true;
  prepared.record.outcome = outcome;
  prepared.record.stage = stage;
  prepared.record.cause = cause;
  prepared.record.message = std::move(message);
}

void decide(Prepared& prepared, const PlanError& error) {
  std::string message =
      fmt::format("line {}, column {}: {}", error.line, error.column, error.message);
  if (error.list_helps && prepared.problem != nullptr)
    message += fmt::format(
        "; `kbench list {} --names` prints all names",
        prepared.problem->argument.empty() ? prepared.problem->key : prepared.problem->argument);
  decide(prepared, Outcome::kCompileFailure, Stage::kCompile, error.cause, std::move(message));
}

bool decide_rejected(Prepared& prepared) {
  const Candidate& candidate = *prepared.candidate;
  if (candidate.reject_cause.empty()) return false;
  const bool missing =
      candidate.reject_cause == "no_code" || candidate.reject_cause == "no_code_block";
  decide(prepared, missing ? Outcome::kMissing : Outcome::kRejected, Stage::kManifest,
         candidate.reject_cause, candidate.reject_message);
  return true;
}

void prepare(Prepared& prepared, const Signature& signature, const DeviceLimits& limits,
             const std::string& arch, double call_limit_s, CompilePool& pool) {
  const Candidate& candidate = *prepared.candidate;
  if (decide_rejected(prepared)) return;
  auto parsed = parse_plan(candidate.source);
  if (const auto* error = std::get_if<PlanError>(&parsed)) return decide(prepared, *error);
  const Plan& plan = std::get<Plan>(parsed);
  if (const auto error = missing_part(plan)) return decide(prepared, *error);
  auto bound = bind_plan(plan, signature, limits);
  if (const auto* error = std::get_if<PlanError>(&bound)) return decide(prepared, *error);
  prepared.bound = std::get<BoundPlan>(std::move(bound));
  prepared.call_limit_s = call_limit_s;
  if (plan.limit_s())
    prepared.call_limit_s =
        call_limit_s > 0 ? std::min(call_limit_s, *plan.limit_s()) : *plan.limit_s();
  CompileRequest request;
  request.source = candidate.source;
  request.file_name = candidate.id;  // a path that users can open, for logs and findings
  request.flags = plan.flags();
  request.name_expressions = prepared.bound->name_expressions;
  request.arch = arch;
  prepared.compiled = pool.compile(std::move(request));
}

void begin_module(Prepared& prepared, const std::string& entry, const std::string& precision) {
  const Candidate& candidate = *prepared.candidate;
  CandidateJob& job = prepared.module.emplace();
  job.kind = candidate.kind;
  job.module.file_name = candidate.id;
  job.module.source = candidate.source;
  job.module.entry = entry;
  job.module.files = candidate.files;
  job.module.problem_path = prepared.problem->path.string();
  job.module.problem_source = prepared.problem->source;
  job.module.sizes = prepared.sizes;
  job.module.precision = precision;
}

void prepare_module(Prepared& prepared, const Signature& signature, const std::string& entry,
                    double call_limit_s) {
  if (decide_rejected(prepared)) return;
  prepared.call_limit_s = call_limit_s;
  if (lacks_plan_and_entry(*prepared.candidate, entry))
    return decide(
        prepared, Outcome::kCompileFailure, Stage::kCompile, "no_plan",
        "the file has neither a plan (`//@` lines) nor a function `forward`; `kbench list "
        "PROBLEM --names` prints a plan to begin with");
  if (!prepared.module) begin_module(prepared, entry, signature.precision);
  CandidateJob& job = *prepared.module;
  job.plan = module_plan(signature);
  job.module.returns_sequence = signature.returns_sequence;
  std::size_t tensors = 0;
  for (const auto& input : signature.inputs) {
    if (const auto* value = std::get_if<Value>(&input.value))
      job.module.arguments.emplace_back(*value);
    else
      job.module.arguments.emplace_back(tensors++);
  }
}

std::size_t needed_bytes(const Signature& signature) {
  std::size_t state = 0;
  for (const auto& entry : signature.state) state += entry.tensor.bytes();
  // Inputs and state twice (drawn, shared), outputs twice (reference, candidate).
  return 2 * (signature.input_bytes() + signature.output_bytes() + state);
}

std::optional<Unfit> unfit(const Signature& signature, const QueueDevice& device,
                           const std::optional<ReducedSizes>& reduced_sizes,
                           const ReduceSizesOptions& reduce_sizes) {
  const std::size_t memory = device.gpu ? device.gpu->memory_bytes : total_memory_bytes();
  const std::size_t needed = needed_bytes(signature);
  if (needed > memory)
    return Unfit{"does_not_fit",
                 fmt::format("the problem needs {:.1f} GB, and {} has {:.1f} GB: choose smaller "
                             "sizes with --set",
                             static_cast<double>(needed) / 1e9, device.model,
                             static_cast<double>(memory) / 1e9)};
  if (reduced_sizes && !device.gpu && reduced_sizes->hopeless(reduce_sizes))
    return Unfit{
        "too_large_for_cpu",
        fmt::format("the problem needs {} at the smallest sizes that --reduce-sizes finds: "
                    "choose sizes with --set, or use --full-sizes",
                    cost_text(reduced_sizes->bytes, reduced_sizes->flops))};
  return std::nullopt;
}

bool is_compiled(const Prepared& prepared) {
  const auto now = std::chrono::seconds(0);
  if (prepared.module)
    return prepared.dry_imported.valid() &&
           prepared.dry_imported.wait_for(now) == std::future_status::ready;
  return prepared.compiled.valid() && prepared.compiled.wait_for(now) == std::future_status::ready;
}

std::optional<ReadyCode> finish_compile(Prepared& prepared, int cancel_fd) {
  if (prepared.decided) return std::nullopt;
  if (prepared.module) return finish_dry_import(prepared, cancel_fd);
  wait_for(prepared.compiled, cancel_fd);
  const CompileResult& result = prepared.compiled.get();
  if (const auto* error = std::get_if<CompileError>(&result)) {
    prepared.record.compile = CompileInfo{error->seconds, error->cached, "nvrtc", {}, ""};
    prepared.log = error->log;
    const bool is_unknown = error->cause == "unknown_kernel";
    decide(prepared, Outcome::kCompileFailure, Stage::kCompile, error->cause,
           error->message + (is_unknown ? nearest_kernel(prepared) : ""));
    return std::nullopt;
  }
  const auto& artifact = std::get<Artifact>(result);
  prepared.record.compile = CompileInfo{artifact.seconds, artifact.cached, artifact.way, {}, ""};
  prepared.log = artifact.log;
  auto resolved = resolve_plan(*prepared.bound, artifact.kernels);
  if (const auto* error = std::get_if<PlanError>(&resolved)) {
    decide(prepared, *error);
    return std::nullopt;
  }
  ReadyCode code;
  code.plan = std::get<LaunchPlan>(std::move(resolved));
  code.image = artifact.image;
  code.undefined_ptx = artifact.undefined_ptx;
  return code;
}

namespace {

std::optional<ReadyCode> finish_dry_import(Prepared& prepared, int cancel_fd) {
  if (prepared.dry_imported.valid()) {
    wait_for(prepared.dry_imported, cancel_fd);
    const BuildSummary& builds = prepared.dry_imported.get().builds;
    if (builds.builds > 0)
      prepared.record.compile =
          CompileInfo{builds.seconds, builds.cached, builds.way.empty() ? "split" : builds.way,
                      builds.host_s, as_utf8(builds.fallback.substr(0, kMaxFallbackBytes))};
    prepared.log = builds.log;
    // Without a build that it waits for, it would take as long again.
    if (const DryImported& dry = prepared.dry_imported.get(); dry.timed_out && builds.builds == 0) {
      decide(prepared, Outcome::kTimeout, Stage::kLoad, "loading_limit",
             fmt::format("loading took longer than {:.3g} s", dry.limit_s));
      return std::nullopt;
    }
    if (builds.failure && !may_recover(*prepared.candidate)) {
      decide(prepared, builds.failure->outcome, Stage::kCompile, builds.failure->cause,
             builds.failure->message);
      return std::nullopt;
    }
  }
  return ReadyCode{prepared.module->plan, "", prepared.module->kind, prepared.module->module, ""};
}

}  // namespace

}  // namespace kbench::run
