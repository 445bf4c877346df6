// SPDX-License-Identifier: MIT
#include "run/prepare.hpp"

#include <fmt/format.h>
#include <poll.h>

#include "run/judge_client.hpp"

namespace kbench::run {
namespace {

void decide(Prepared& prepared, const PlanError& error) {
  decide(prepared, Outcome::kCompileFailure, Stage::kCompile, error.cause,
         fmt::format("line {}, column {}: {}", error.line, error.column, error.message));
}

void wait_for(const std::shared_future<CompileResult>& future, int cancel_fd) {
  while (future.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    pollfd cancel{cancel_fd, POLLIN, 0};
    if (poll(&cancel, 1, 0) > 0) throw Cancelled{};
  }
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

void prepare(Prepared& prepared, const Signature& signature, const DeviceLimits& limits,
             const std::string& arch, double call_limit_s, CompilePool& pool) {
  const Candidate& candidate = *prepared.candidate;
  if (!candidate.reject_cause.empty()) {
    const bool missing = candidate.reject_cause == "no_code";
    return decide(prepared, missing ? Outcome::kMissing : Outcome::kRejected, Stage::kRoster,
                  candidate.reject_cause, candidate.reject_message);
  }
  if (candidate.kind != CandidateKind::kKernel)
    return decide(prepared, Outcome::kUnsupported, Stage::kRoster, "candidate_kind",
                  fmt::format("candidates of kind {} cannot be run by this version: write a kernel "
                              "with a plan",
                              to_string(candidate.kind)));
  auto parsed = parse_plan(candidate.source);
  if (const auto* error = std::get_if<PlanError>(&parsed)) return decide(prepared, *error);
  const Plan& plan = std::get<Plan>(parsed);
  auto bound = bind_plan(plan, signature, limits);
  if (const auto* error = std::get_if<PlanError>(&bound)) return decide(prepared, *error);
  prepared.bound = std::get<BoundPlan>(std::move(bound));
  prepared.call_limit_s = call_limit_s;
  if (plan.limit_s())
    prepared.call_limit_s =
        call_limit_s > 0 ? std::min(call_limit_s, *plan.limit_s()) : *plan.limit_s();
  CompileRequest request;
  request.source = candidate.source;
  request.file_name = candidate.id;  // what a person can open, in logs and findings
  request.flags = plan.flags();
  request.name_expressions = prepared.bound->name_expressions;
  request.arch = arch;
  prepared.compiled = pool.compile(std::move(request));
}

std::optional<ReadyCode> finish_compile(Prepared& prepared, int cancel_fd) {
  if (prepared.decided) return std::nullopt;
  wait_for(prepared.compiled, cancel_fd);
  const CompileResult& result = prepared.compiled.get();
  if (const auto* error = std::get_if<CompileError>(&result)) {
    prepared.record.compile = CompileInfo{error->seconds, error->cached, "nvrtc"};
    prepared.log = error->log;
    decide(prepared, Outcome::kCompileFailure, Stage::kCompile, error->cause, error->message);
    return std::nullopt;
  }
  const auto& artifact = std::get<Artifact>(result);
  prepared.record.compile = CompileInfo{artifact.seconds, artifact.cached, artifact.way};
  prepared.log = artifact.log;
  auto resolved = resolve_plan(*prepared.bound, artifact.kernels);
  if (const auto* error = std::get_if<PlanError>(&resolved)) {
    decide(prepared, *error);
    return std::nullopt;
  }
  return ReadyCode{std::get<LaunchPlan>(std::move(resolved)), artifact.image};
}

}  // namespace kbench::run
