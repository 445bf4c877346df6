// SPDX-License-Identifier: MIT
#include "cli/eval_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kbench/error.hpp"
#include "report/gate/gate.hpp"
#include "run/devices.hpp"

namespace kbench::cli {
namespace {

/// Rejects options that need the other kind of device, before anything runs.
void check_watching(const EvalOptions& options, const EvalRun& run) {
  if (options.require_clean && options.sanitize == "none")
    throw UsageError("--require clean needs a sanitizer: give --sanitize memory or --sanitize all");
  if (!options.ncu.empty() && !run.devices().front().gpu)
    throw UsageError("--profile ncu profiles kernels on a GPU, and this run is on the CPU");
}

/// Throws UsageError if a gate can never be met on this device, or has no problem.
void check_gates(const EvalArguments& arguments, const std::vector<Problem>& problems,
                 const EvalRun& run) {
  const bool timed = is_timed(arguments.options);
  const bool on_gpu = run.devices().front().gpu.has_value();
  if (!on_gpu) check_on_cpu(fail_on_of(arguments.report));
  for (const auto& argument : arguments.report.gates) {
    const Gate gate = parse_gate(argument);
    if (gate.level >= 0 &&
        std::ranges::find(problems, gate.level, &Problem::level) == problems.end())
      throw UsageError(
          fmt::format("--fail-under {}: the run has no problem of level {}", argument, gate.level));
    if (gate.metric.needs_speedup() && !(on_gpu && timed))
      throw UsageError(fmt::format(
          "--fail-under {}: {} needs the times of a GPU, and this run {}: gate on correct, fast_0 "
          "or pass@1",
          argument, gate.metric.name(), timed ? "is on the CPU" : "takes none (--timing none)"));
  }
}

}  // namespace

std::vector<ManifestEntry> manifest_of(const std::vector<Candidate>& candidates,
                                       const std::vector<Problem>& problems) {
  std::vector<ManifestEntry> manifest;
  for (const auto& candidate : candidates) {
    const auto problem = std::ranges::find(problems, candidate.problem, &Problem::key);
    manifest.push_back(
        {candidate.problem, problem->level, candidate.model, candidate.sample, problem->tags});
  }
  return manifest;
}

void check_before_run(const EvalArguments& arguments, const std::vector<Problem>& problems,
                      const EvalRun& run) {
  check_watching(arguments.options, run);
  check_baselines(arguments.options);
  check_gates(arguments, problems, run);
}

std::optional<RunFile> earlier_run(const EvalArguments& arguments, const std::filesystem::path& out,
                                   const EvalRun& run) {
  std::error_code unreadable;
  // A run that was killed before its first line left an empty file.
  if (!arguments.resume || std::filesystem::file_size(out, unreadable) == 0 || unreadable)
    return std::nullopt;
  RunFile before = read_run(out);
  const QueueDevice& device = run.devices().front();
  for (const Record& record : before.records) {
    if ((record.device == "cpu") == !device.gpu) continue;
    throw UsageError(fmt::format(
        "{} holds records of {}, and this run is on {}; one report cannot hold both: name another "
        "file with --out",
        out.string(), record.device, device.model));
  }
  return before;
}

}  // namespace kbench::cli
