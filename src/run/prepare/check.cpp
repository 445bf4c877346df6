// SPDX-License-Identifier: MIT
#include "run/prepare/check.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>

#include "kbench/error.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {
namespace {

using protocol::MessageType;

double seconds(std::chrono::milliseconds limit) {
  return std::chrono::duration<double>(limit).count();
}

bool fail(Prepared& prepared, Outcome outcome, std::string_view cause, std::string message) {
  const bool compiling = outcome == Outcome::kCompileFailure;
  decide(prepared, outcome, compiling ? Stage::kCompile : Stage::kLoad, cause, std::move(message));
  return false;
}

bool took_too_long(Prepared& prepared, const CheckSetup& setup) {
  return fail(prepared, Outcome::kTimeout, "loading_limit",
              fmt::format("loading took longer than {:.3g} s", seconds(setup.load_limit)));
}

bool died(Prepared& prepared, StartedCandidate& process) {
  const ExitStatus status = process.finish();
  if (process.over_memory())
    return fail(prepared, Outcome::kOutOfMemory, "resident_limit", process.over_memory_message());
  return fail(
      prepared, Outcome::kCrash, status.signaled ? "signal" : "process_died",
      fmt::format("the candidate's process died while loading{}{}", status.signaled ? ": " : "",
                  status.signaled ? strsignal(status.code) : ""));
}

/// Loads the candidate as for a judge, with its builds.
bool load(Prepared& prepared, const ReadyCode& code, const CheckSetup& setup) {
  CandidateJob job;
  job.kind = code.kind;
  job.module = code.module;
  job.device = "cpu";
  job.plan = code.plan;
  StartedCandidate process(*setup.host, std::move(job), setup.memory_limit_bytes, setup.builder);
  protocol::Channel channel(Fd(fcntl(process.judge_fd(), F_DUPFD_CLOEXEC, 0)), process.nonce(),
                            protocol::kMaxCandidateBody);
  protocol::Message message;
  switch (channel.receive(message, protocol::Clock::now() + setup.load_limit, setup.cancel_fd)) {
    case protocol::ReceiveStatus::kOk:
      break;
    case protocol::ReceiveStatus::kTimeout:
      return took_too_long(prepared, setup);
    case protocol::ReceiveStatus::kCancelled:
      throw Cancelled{};
    case protocol::ReceiveStatus::kMalformed:
      return fail(prepared, Outcome::kCrash, "protocol",
                  "the candidate's process sent a message that is not kbench's");
    default:
      return died(prepared, process);
  }
  if (message.type == MessageType::kLoaded) return true;
  const auto claim = protocol::claimed_failure(message.body);
  prepared.log += process.log();
  return fail(prepared, claim.outcome, claim.cause, claim.message);
}

/// True if the candidate passes all possible steps; otherwise its record is final.
bool is_sound(Prepared& prepared, const CheckSetup& setup) {
  const auto code = finish_compile(prepared, setup.cancel_fd);
  if (!code) return false;
  if (!prepared.module) return true;
  const DryImported& dry_imported = prepared.dry_imported.get();
  if (dry_imported.timed_out) return took_too_long(prepared, setup);
  const bool on_its_own = dry_imported.builds.builds == 0 && dry_imported.end;
  // If an extension was missing, the dry import may have failed without the candidate's fault.
  if (!on_its_own) return load(prepared, *code, setup);
  return dry_imported.end->cause.empty() ||
         fail(prepared, dry_imported.end->outcome, dry_imported.end->cause,
              dry_imported.end->message);
}

}  // namespace

const Problem& no_problem() {
  static const Problem kNone = [] {
    Problem problem;
    problem.path = "no problem";
    problem.source =
        "class Model:\n    pass\n\n\ndef get_inputs():\n    return []\n\n\n"
        "def get_init_inputs():\n    raise NotImplementedError\n";
    return problem;
  }();
  return kNone;
}

void prepare_unplaced(Prepared& prepared, const std::string& arch, CompilePool& pool) {
  const Candidate& candidate = *prepared.candidate;
  if (decide_rejected(prepared)) return;
  const auto parsed = parse_plan(candidate.source);
  if (const auto* error = std::get_if<PlanError>(&parsed)) return decide(prepared, *error);
  if (const auto error = missing_part(std::get<Plan>(parsed))) return decide(prepared, *error);
  CompileRequest request;
  request.source = candidate.source;
  request.file_name = candidate.id;
  request.flags = std::get<Plan>(parsed).flags();
  request.arch = arch;
  prepared.bound.emplace();
  prepared.compiled = pool.compile(std::move(request));
}

CheckedCandidate checked_candidate(Prepared& prepared, const CheckSetup& setup) {
  CheckedCandidate checked;
  checked.fine = is_sound(prepared, setup);
  if (prepared.bound) {
    checked.tensors = prepared.bound->tensors.size();
    checked.launches = prepared.bound->launches.size();
  }
  if (prepared.dry_imported.valid()) {
    const BuildSummary& builds = prepared.dry_imported.get().builds;
    checked.builds = builds.builds;
    checked.ignored_flags = builds.ignored_flags;
  }
  checked.record = prepared.record;
  checked.log = prepared.log;
  return checked;
}

}  // namespace kbench::run
