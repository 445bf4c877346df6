// SPDX-License-Identifier: MIT
#include "run/schedule/baseline_processes.hpp"

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "record/stored_baselines.hpp"
#include "run/eval_options.hpp"
#include "run/schedule/ahead.hpp"

namespace kbench::run {
namespace {

/// Baselines that a process of their own can run.
bool has_process(const std::string& baseline) { return baseline == "eager"; }

/// The reference as an answer to its own problem.
Candidate reference_of(const Problem& problem) {
  Candidate candidate;
  candidate.kind = CandidateKind::kModule;
  candidate.id = problem.path.string();
  candidate.path = problem.path;
  candidate.source = problem.source + "\n\nModelNew = Model\n";
  return candidate;
}

}  // namespace

std::vector<std::unique_ptr<StartedCandidate>> start_baselines(const QueueSetup& setup,
                                                               const Prepared& prepared,
                                                               JudgeClient& judge) {
  std::vector<std::unique_ptr<StartedCandidate>> processes;
  const EvalOptions& options = *setup.options;
  const bool is_gated = clock_of(options) == protocol::TimeClock::kGate && setup.device.gpu &&
                        prepared.timed && method_of(options).timed && !options.stored;
  if (!is_gated || !judge.signature()) return processes;
  const Candidate candidate = reference_of(*prepared.problem);
  for (const std::string& baseline : options.baselines) {
    if (!has_process(baseline)) continue;
    Prepared reference;
    reference.candidate = &candidate;
    reference.problem = prepared.problem;
    reference.sizes = prepared.sizes;
    prepare_module(reference, *judge.signature(), "", options.call_limit_s);
    ModuleJob& module = reference.module->module;
    module.eval_mode = options.eval_mode;
    const ReadyCode code{reference.module->plan, "", CandidateKind::kModule, module, ""};
    processes.push_back(start_candidate(setup, code, false, nullptr));
    StartedCandidate& process = *processes.back();
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
