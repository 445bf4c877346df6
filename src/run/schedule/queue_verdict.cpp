// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "kbench/error.hpp"
#include "kbench/profile.hpp"
#include "record/stored_baselines.hpp"
#include "run/build/machine_reads.hpp"
#include "run/build/own_name.hpp"
#include "run/eval_options.hpp"
#include "run/process/host_waits.hpp"
#include "run/process/judge_answer.hpp"
#include "run/schedule/device_limits.hpp"
#include "run/schedule/device_queue.hpp"
#include "run/schedule/failure_findings.hpp"
#include "score/kernelbench.hpp"

// The part of a device queue that runs an evaluation and makes a record of the judge's answer.
namespace kbench::run {
namespace {

using nlohmann::json;
using protocol::MessageType;

/// True if a module's first call may build something and take long: a compiler may have to make its
/// precompiled header first, and autotuning compiles dozens of kernels.
bool builds_late(const Prepared& prepared, const ReadyCode& code) {
  if (code.kind != CandidateKind::kModule) return false;
  const bool ordered =
      prepared.dry_imported.valid() && prepared.dry_imported.get().builds.builds > 0;
  const auto mentions = [&](std::string_view word) {
    return code.module.source.find(word) != std::string::npos;
  };
  return (!ordered && mentions("cpp_extension")) || mentions("torch.compile") ||
         mentions("autotune");
}

/// Causes of crashes that are driver errors and make the context unusable. Such an error may only
/// appear in a later call.
constexpr std::string_view kDeviceErrors[] = {"illegal_address", "misaligned_address", "trap",
                                              "cuda_error"};
/// Parts of messages for the same errors, from torch, Triton, and host code that raises them.
constexpr std::string_view kDeviceErrorWords[] = {"CUDA error",
                                                  "CUDA_ERROR_",
                                                  "[CUDA]",
                                                  "cudaError",
                                                  "illegal memory access",
                                                  "misaligned address",
                                                  "unspecified launch failure"};

/// True if a write to an input, which is mapped read-only, may have caused the crash.
bool may_have_written(const Record& record, CandidateKind kind, bool on_gpu) {
  // While a candidate loads, there are no inputs that it could write to.
  if (record.outcome != Outcome::kCrash || record.stage == Stage::kLoad) return false;
  const std::string_view cause = record.cause;
  // Host code that writes to an input is killed by a signal.
  if (cause == "signal" && kind != CandidateKind::kKernel) return true;
  if (!on_gpu) return false;
  if (std::ranges::find(kDeviceErrors, cause) != std::end(kDeviceErrors)) return true;
  if (kind == CandidateKind::kKernel) return false;
  // Host code that checks its calls may exit.
  return cause == "process_died" ||
         std::ranges::any_of(kDeviceErrorWords, [&](std::string_view words) {
           return record.message.find(words) != std::string::npos;
         });
}

/// Adds a hint about CUDA graphs if the outputs belong to earlier inputs, because an honest author
/// may have overlooked that.
void name_graph(Record& record, const Candidate& candidate) {
  constexpr std::string_view kWords[] = {"CUDAGraph", "cuda.graph", "make_graphed_callables",
                                         "cudaGraph", "cuGraph",    "BeginCapture"};
  if (record.outcome != Outcome::kCheat || record.cause != "old_output") return;
  const auto names = [&](std::string_view text) {
    return std::ranges::any_of(
        kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
  };
  const bool has_graph =
      names(candidate.source) ||
      std::ranges::any_of(candidate.files, [&](const auto& file) { return names(file.second); });
  if (!has_graph) return;
  record.message +=
      "; the source mentions a CUDA graph, which replays captured addresses: copy each call's "
      "inputs into the captured tensors before the replay";
}

/// Flags a correct answer if the code can detect the executor, because it may behave differently on
/// a GPU.
void note_machine_reads(const Prepared& prepared, const StartedCandidate& candidate,
                        Record& record) {
  if (record.outcome != Outcome::kCorrect) return;
  bool reads = false;
  if (prepared.compiled.valid()) {
    const auto* artifact = std::get_if<Artifact>(&prepared.compiled.get());
    reads = artifact != nullptr && reads_machine(artifact->image);
  } else if (candidate.service() != nullptr) {
    try {
      // Builds that a module starts late are requested by the judged process.
      reads = candidate.service()->summary().reads_machine;
    } catch (const Error&) {
      // A correct answer does not depend on a build that failed.
    }
  }
  if (reads) record.flags.emplace_back(kReadsMachine);
}

/// Removes times that include host code, which waited too long for CPUs of a busy host. Calls
/// behind the gate are queued before their time begins, so their times stay.
void take_times_back(Record& record) {
  if (!record.timing || record.timing->method == kGatedMethod) return;
  record.timing.reset();
  record.speedup.clear();
  record.flags.emplace_back(kHostBusy);
}

/// Takes the findings of a call with all checks.
void take_checked_call(Prepared& prepared, JudgeAnswer answer, json& details) {
  json found{{"findings", std::move(answer.findings)}};
  give_name(prepared.candidate->id, answer.record, found);
  answer.findings = std::move(found["findings"]);
  take_findings(std::move(answer), prepared.record, details);
}

/// Exceeding the output limit is a failure, regardless of other results. KernelBench allows it.
void reject_flood(Record& record) {
  const bool of_candidate = outcomes()[static_cast<std::size_t>(record.outcome)].of_candidate;
  if (!of_candidate || record.judge == kCompatJudge) return;
  record.outcome = Outcome::kRejected;
  record.cause = "too_much_output";
  record.message = "the candidate's process wrote more than 1 MB to stdout and stderr";
  record.timing.reset();
  record.speedup.clear();
}

}  // namespace

/// Examines a failure further; errors here do not change the verdict. Returns true if the judge can
/// continue.
bool DeviceQueue::look_closer(Prepared& prepared, const ReadyCode& code, bool has_kernels,
                              JudgeClient& judge, json& details) {
  const bool wild = kernelbench_row(setup_.options->precision) == nullptr &&
                    may_have_written(prepared.record, code.kind, setup_.device.gpu.has_value());
  const bool may_race =
      has_kernels && !setup_.device.gpu && may_have_findings(prepared.record, *setup_.options);
  turn_.work();
  try {
    // The fault may be a write to an input, which has its own outcome. A second run with writable
    // inputs tells.
    const auto run_again = [&](RunAim aim) {
      auto again = start_candidate(setup_, code, aim, ahead_.take_warm_process());
      run_evaluation(prepared, code, judge, *again, aim, details);
    };
    if (wild) run_again(RunAim::kWrittenSource);
    if (may_race) run_again(RunAim::kFindings);
    return judge.healthy();
  } catch (const Error&) {
    return false;
  }
}

void DeviceQueue::run_evaluation(Prepared& prepared, const ReadyCode& code, JudgeClient& judge,
                                 StartedCandidate& candidate, RunAim aim, json& details) {
  double call_limit_s = prepared.call_limit_s;
  if (aim == RunAim::kFindings)
    call_limit_s =
        call_limit_s > 0 ? std::min(call_limit_s, kCheckedCallLimit_s) : kCheckedCallLimit_s;
  const json request{{"kind", to_string(code.kind)},
                     {"plan", to_json(code.plan)},
                     {"pid", candidate.pid()},
                     {"nonce", candidate.nonce()},
                     {"load_limit_s", setup_.options->load_limit_s},
                     {"builds_late", aim != RunAim::kFindings && builds_late(prepared, code)},
                     {"asked_limit_s", setup_.options->call_limit_s},
                     {"call_limit_s", call_limit_s},
                     {"checks_races", !setup_.device.gpu && setup_.options->sanitize == kAllChecks},
                     {"require_clean", setup_.options->require_clean},
                     {"require_own", setup_.options->require_own},
                     {"all_trials", setup_.options->all_trials},
                     {"profile", setup_.options->profile && prepared.timed},
                     {"has_undefined", !code.undefined_ptx.empty()},
                     {"timed", prepared.timed && is_timed(*setup_.options)},
                     {"one_call", aim != RunAim::kVerdict},
                     {"sources_writable", aim == RunAim::kWrittenSource}};
  judge.start_evaluation(request, candidate.judge_fd());
  const WorkerLimits& limits = setup_.host->limits();
  auto deadline = protocol::Clock::now() + limits.verdict;
  bool killed = false;
  double turn_s = 0;
  std::optional<AheadOfTurn::Pause> pause;
  std::optional<HostWaits> waits;
  while (true) {
    protocol::Message message;
    if (!judge.next_event(message, deadline)) {
      if (killed) throw Error("the judge does not answer");
      // Without its candidate, the judge answers at once.
      candidate.finish(std::chrono::milliseconds(0));
      killed = true;
      deadline = protocol::Clock::now() + limits.answer;
      continue;
    }
    if (message.type == MessageType::kPhase) {
      ahead_.wait_until_quiet();
      const auto before = std::chrono::steady_clock::now();
      turn_.time();
      turn_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      if (!pause) pause.emplace(setup_.host->ahead_of_turn());
      if (!waits) waits.emplace(std::vector<pid_t>{judge.pid(), candidate.pid()});
      // Time spent waiting for other queues does not count against the candidate.
      deadline = protocol::Clock::now() + limits.verdict;
      judge.go();
      continue;
    }
    if (aim == RunAim::kFindings) return take_checked_call(prepared, read_answer(message), details);
    if (aim == RunAim::kWrittenSource && prepared.record.outcome == Outcome::kCrash) {
      if (read_answer(message).record.outcome != Outcome::kIllegalWrite) return;
    }
    const double waited = waits ? waits->share() : 0;
    take_verdict(prepared, message, candidate, details);
    if (setup_.device.gpu && waited > kMostHostWaits) take_times_back(prepared.record);
    // The judge's measurement includes the wait for other queues, which this subtracts.
    if (auto quiet = verdict_phases_.find("quiet"); quiet != verdict_phases_.end()) {
      quiet->second -= turn_s;
      verdict_phases_["quiet_turn"] = turn_s;
    }
    if (killed && prepared.record.outcome == Outcome::kCrash) {
      // The crash is the effect of the kill above.
      prepared.record.outcome = Outcome::kTimeout;
      prepared.record.cause = "verdict_limit";
      prepared.record.message =
          "judging exceeded its time limit, so kbench killed the candidate's process";
    }
    return;
  }
}

void DeviceQueue::take_verdict(Prepared& prepared, const protocol::Message& message,
                               StartedCandidate& candidate, json& details) {
  JudgeAnswer answer = read_answer(message);
  verdict_phases_ = std::move(answer.phases_s);
  free_bytes_ = answer.free_bytes;
  Record& record = prepared.record;
  take_answer(std::move(answer), setup_.options->estimate_for, record, details);
  name_graph(record, *prepared.candidate);
  const bool died = record.outcome == Outcome::kCrash && record.cause == "process_died";
  if (died) {
    const ExitStatus status = candidate.finish();
    if (candidate.over_memory()) {
      record.outcome = Outcome::kOutOfMemory;
      record.cause = "resident_limit";
      record.message = candidate.over_memory_message();
    } else if (status.signaled) {
      record.cause = "signal";
      record.message = fmt::format("{}: {}", record.message, strsignal(status.code));
    }
  }
  candidate.end();
  if (candidate.floods()) reject_flood(record);
  if (const EvalOptions& options = *setup_.options; options.stored) {
    options.stored->put_into(record, options.baselines);
    for (const auto& [name, why] : options.stored->failures(record, options.baselines))
      if (record.outcome == Outcome::kCorrect) details["failed_baselines"][name] = why;
  }
  hold_against_limits(record, {prepared.work, prepared.output_bytes},
                      setup_.device.gpu ? peaks_of(*setup_.device.gpu) : std::nullopt,
                      setup_.device.measured, setup_.options->cold_cache);
  const std::string log = candidate.log();
  if (!log.empty()) details["log"] = log;
  if (!setup_.device.gpu) note_machine_reads(prepared, candidate, record);
  give_name(prepared.candidate->id, record, details);
}

}  // namespace kbench::run
