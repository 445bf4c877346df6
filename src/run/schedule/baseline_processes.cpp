// SPDX-License-Identifier: MIT
#include "run/schedule/baseline_processes.hpp"

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "record/baseline.hpp"
#include "run/eval_options.hpp"

namespace kbench::run {
namespace {

constexpr std::string_view kTf32 =
    "\n\nimport torch\n\ntorch.backends.cuda.matmul.allow_tf32 = True\n"
    "torch.backends.cudnn.allow_tf32 = True\n";

/// The reference as an answer to its own problem.
Candidate reference_of(const Problem& problem, bool is_tf32) {
  Candidate candidate;
  candidate.kind = CandidateKind::kModule;
  candidate.id = problem.path.string();
  candidate.path = problem.path;
  candidate.source = problem.source + "\n\nModelNew = Model\n";
  if (is_tf32) candidate.source += kTf32;
  return candidate;
}

}  // namespace

std::vector<std::unique_ptr<StartedCandidate>> start_baselines(const QueueSetup& setup,
                                                               const Prepared& prepared,
                                                               JudgeClient& judge, Ahead& ahead) {
  std::vector<std::unique_ptr<StartedCandidate>> processes;
  const EvalOptions& options = *setup.options;
  const bool is_gated = clock_of(options) == protocol::TimeClock::kGate && setup.device.gpu &&
                        prepared.timed && method_of(options).timed && !by_kernelbench(options);
  if (!is_gated || !judge.signature()) return processes;
  for (const std::string& baseline : options.baselines) {
    const Baseline* row = find_baseline(baseline);
    if (row == nullptr || row->prepared) continue;
    const Candidate candidate = reference_of(*prepared.problem, row->tf32);
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
                        {"load_limit_s", options.load_limit_s}},
                       process.judge_fd());
  }
  return processes;
}

}  // namespace kbench::run
