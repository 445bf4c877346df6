// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kbench/error.hpp"
#include "record/flags.hpp"
#include "worker/device/findings.hpp"
#include "worker/judge/evaluation.hpp"

// Observations of calls besides their results: findings of sanitizers, and counters.
namespace kbench::worker {
namespace {

using protocol::MessageType;

/// Factor of the time limit, because counting makes a call several times slower.
constexpr double kCountingFactor = 20;

template <typename Body>
std::vector<Body> bodies_of(std::string_view bytes) {
  std::vector<Body> bodies(bytes.size() / sizeof(Body));
  std::memcpy(static_cast<void*>(bodies.data()), bytes.data(), bodies.size() * sizeof(Body));
  return bodies;
}

template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, strnlen(field, size)};
}

}  // namespace

void Evaluation::flag(std::string_view name) {
  if (find_flag(name) == nullptr)
    throw Error(fmt::format("the flag {} has no row in src/record/flags.cpp", name));
  auto& flags = verdict_.record.flags;
  if (std::ranges::find(flags, name) == flags.end()) flags.emplace_back(name);
}

void Evaluation::take_findings(std::string_view bytes) {
  std::vector<Finding> findings;
  for (const auto& body : bodies_of<protocol::FindingBody>(bytes))
    findings.push_back(from_body(body));
  for (const Finding& finding : findings) {
    const FlagRow* const row = find_flag(finding.kind.str());
    if (row != nullptr && row->is_unclean) flag(row->name);
  }
  merge(verdict_.findings, findings);
}

void Evaluation::check_clean() const {
  if (!request_.require_clean) return;
  const auto& raised = verdict_.record.flags;
  for (const FlagRow& row : flags()) {
    if (!row.is_unclean || std::ranges::find(raised, row.name) == raised.end()) continue;
    const auto finding = std::ranges::find(verdict_.findings, row.name,
                                           [](const Finding& f) { return f.kind.str(); });
    throw CandidateFailure{Outcome::kRejected, "not_clean",
                           finding != verdict_.findings.end()
                               ? fmt::format("{}: {}", row.name, finding->message)
                               : fmt::format("{}: {}", row.name, row.meaning)};
  }
}

void Evaluation::run_profile() {
  if (!request_.profile) return;
  share(0);
  const protocol::CallBody body{0, protocol::CallMode::kCounted, call_limit_s() * kCountingFactor};
  client_.send(MessageType::kCall, {reinterpret_cast<const char*>(&body), sizeof body});
  const auto message =
      client_.receive(MessageType::kProfiled, patience_s(body.limit_s), "being counted");
  take_profile(message.body);
}

/// The counts are a claim of the candidate's process, so estimates from them are in no metric.
void Evaluation::take_profile(std::string_view body) {
  protocol::ProfiledBody head{};
  if (body.size() < sizeof head) return;
  std::memcpy(&head, body.data(), sizeof head);
  body.remove_prefix(sizeof head);
  const bool on_gpu = problem_.options().device != "cpu";
  const auto sm = problem_.device().sm_limits();
  const std::size_t rows = std::min<std::size_t>(head.rows, protocol::kMaxProfileRows);
  for (const auto& row :
       bodies_of<protocol::LaunchCounts>(body.substr(0, rows * sizeof(protocol::LaunchCounts)))) {
    KernelProfile profile{text_of(row.kernel), {}, {}, row.launches, row.counters};
    if (on_gpu)
      profile.gpu = {.ms = row.gpu_ms,
                     .registers = row.registers,
                     .static_shared_bytes = row.static_shared_bytes,
                     .dynamic_shared_bytes = row.dynamic_shared_bytes};
    std::ranges::copy(row.grid, profile.grid.begin());
    std::ranges::copy(row.block, profile.block.begin());
    if (request_.kind == CandidateKind::kKernel) {
      if (row.launch >= request_.plan.launches.size()) continue;
      const auto& launch = request_.plan.launches[row.launch];
      profile.kernel = launch.kernel;
      profile.grid = launch.grid;
      profile.block = launch.block;
    }
    if (sm && profile.gpu) {
      const auto& block = profile.block;
      profile.gpu->occupancy = occupancy(*sm, block[0] * block[1] * block[2], *profile.gpu);
    }
    verdict_.record.profile.push_back(std::move(profile));
  }
  body.remove_prefix(std::min(body.size(), rows * sizeof(protocol::LaunchCounts)));
  for (const auto& counts : bodies_of<protocol::OperatorCounts>(body)) {
    if (counts.type >= kFlopTypes) continue;
    verdict_.operators.push_back({text_of(counts.name), counts.bytes, counts.flops,
                                  static_cast<FlopType>(counts.type), counts.tensor_cores != 0});
  }
  // On a GPU, kernels have times but no counters.
  verdict_.counted = head.incomplete == 0 && !on_gpu;
  if (on_gpu && head.rows == 0) flag("no_cupti");
}

}  // namespace kbench::worker
