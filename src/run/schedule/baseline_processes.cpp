// SPDX-License-Identifier: MIT
#include "run/schedule/baseline_processes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "record/baseline.hpp"
#include "run/eval_options.hpp"

namespace kbench::run {
namespace {

constexpr std::string_view kTf32 =
    "\n\nimport torch\n\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
    "torch.backends.cudnn.allow_tf32 = True\n";

/// A model that torch.compile compiles in this mode.
std::string compiled(std::string_view mode) {
  return fmt::format(R"(

class ModelNew(Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.compile(mode="{}")
)",
                     mode);
}

/// The reference as an answer to its own problem.
Candidate reference_of(const Problem& problem, const Baseline& baseline) {
  Candidate candidate;
  candidate.kind = CandidateKind::kModule;
  candidate.id = problem.path.string();
  candidate.path = problem.path;
  candidate.source = problem.source;
  candidate.source +=
      baseline.is_compiled() ? compiled(baseline.compile_mode) : "\n\nModelNew = Model\n";
  if (baseline.tf32) candidate.source += kTf32;
  return candidate;
}

}  // namespace

std::vector<std::unique_ptr<StartedCandidate>> start_baselines(const QueueSetup& setup,
                                                               const Prepared& prepared,
                                                               JudgeClient& judge, Ahead& ahead) {
  std::vector<std::unique_ptr<StartedCandidate>> processes;
  const EvalOptions& options = *setup.options;
  const bool is_gated =
      setup.device.gpu && prepared.timed && is_timed(options) && !by_kernelbench(options);
  if (!is_gated || !judge.signature()) return processes;
  // If all times are stored, one process still measures what an empty block takes.
  auto names = measured_baselines(setup, prepared);
  if (names.empty()) names.emplace_back("eager");
  for (const std::string& baseline : names) {
    const Baseline* row = find_baseline(baseline);
    if (row == nullptr) continue;
    const Candidate candidate = reference_of(*prepared.problem, *row);
    Prepared reference;
    reference.candidate = &candidate;
    reference.problem = prepared.problem;
    reference.sizes = prepared.sizes;
    prepare_module(reference, *judge.signature(), "", options.call_limit_s);
    ModuleJob& module = reference.module->module;
    module.eval_mode = options.eval_mode;
    const ReadyCode code{reference.module->plan, "", CandidateKind::kModule, module, ""};
    processes.push_back(start_candidate(setup, code, RunAim::kVerdict, ahead.take_warm_process()));
    StartedCandidate& process = *processes.back();
    process.freeze(false);
    judge.add_baseline({{"name", baseline},
                        {"plan", to_json(code.plan)},
                        {"pid", process.pid()},
                        {"nonce", process.nonce()},
                        {"builds_late", row->is_compiled()},
                        {"load_limit_s", options.load_limit_s}},
                       process.judge_fd());
  }
  return processes;
}

}  // namespace kbench::run
