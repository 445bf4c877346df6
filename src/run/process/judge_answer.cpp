// SPDX-License-Identifier: MIT
#include "run/process/judge_answer.hpp"

#include <fmt/format.h>

#include "kbench/error.hpp"
#include "kbench/profile.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// The most operators that the details list.
constexpr std::size_t kListedOperators = 200;

std::vector<OperatorCost> operators_from(const json& array) {
  std::vector<OperatorCost> operators;
  for (const json& item : array) operators.push_back(operator_cost_from_json(item));
  return operators;
}

/// Estimates for candidate and reference; nothing if some of the candidate's work was not counted.
std::optional<TimeEstimate> estimate_of(const JudgeAnswer& answer, const std::string& gpu_name) {
  const GpuModel* gpu = find_gpu_model(gpu_name);
  const auto& kernels = answer.record.profile;
  const auto operators = operators_from(answer.candidate_operators);
  if (gpu == nullptr || !answer.counted || (kernels.empty() && operators.empty()))
    return std::nullopt;
  return TimeEstimate{.gpu = gpu_name,
                      .candidate_ms = estimated_ms(kernels, operators, *gpu),
                      .reference_ms = estimated_ms(operators_from(answer.operators), *gpu)};
}

/// `operators`, cut to the length that the details list.
json listed(json operators) {
  if (operators.size() > kListedOperators)
    operators.erase(operators.begin() + kListedOperators, operators.end());
  return operators;
}

}  // namespace

JudgeAnswer read_answer(const protocol::Message& message) {
  if (message.type != protocol::MessageType::kVerdict)
    throw Error("the judge sent an unexpected message");
  try {
    const json body = json::parse(message.body);
    return {record_from_json(body.at("record")),
            body.at("raw_ms"),
            body.at("findings"),
            body.at("operators"),
            body.at("candidate_operators"),
            body.at("distributions_left_out"),
            body.at("failed_baselines"),
            body.at("device_states"),
            body.at("counted").get<bool>(),
            body.at("phases_s").get<Phases>(),
            body.at("free_bytes").get<std::uint64_t>()};
  } catch (const json::exception& error) {
    throw Error(fmt::format("the judge sent an invalid verdict: {}", error.what()));
  }
}

void take_answer(JudgeAnswer answer, const std::string& estimate_for, Record& record,
                 json& details) {
  Record& verdict = answer.record;
  record.estimate = estimate_of(answer, estimate_for);
  record.outcome = verdict.outcome;
  record.stage = verdict.stage;
  record.cause = verdict.cause;
  record.message = std::move(verdict.message);
  record.correct_at = verdict.correct_at;
  record.correctness = std::move(verdict.correctness);
  record.timing = std::move(verdict.timing);
  record.speedup = std::move(verdict.speedup);
  record.launches = verdict.launches;
  record.flags.insert(record.flags.end(), verdict.flags.begin(), verdict.flags.end());
  record.kernel_class = verdict.kernel_class;
  record.weights = verdict.weights;
  record.unplaced = std::move(verdict.unplaced);
  record.findings = std::move(verdict.findings);
  record.findings_count = verdict.findings_count;
  record.profile = std::move(verdict.profile);
  if (!answer.findings.empty()) details["findings"] = std::move(answer.findings);
  if (!answer.operators.empty())
    details["reference_operators"] = listed(std::move(answer.operators));
  if (!answer.candidate_operators.empty())
    details["candidate_operators"] = listed(std::move(answer.candidate_operators));
  if (!answer.distributions_left_out.empty())
    details["distributions_left_out"] = std::move(answer.distributions_left_out);
  if (!answer.device_states.empty()) details["device_states"] = std::move(answer.device_states);
  if (!answer.failed_baselines.empty())
    details["failed_baselines"] = std::move(answer.failed_baselines);
  details["raw_ms"] = std::move(answer.raw_ms);
}

}  // namespace kbench::run
