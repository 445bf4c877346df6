// SPDX-License-Identifier: MIT
#include "worker/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kbench/candidate_job.hpp"
#include "kbench/error.hpp"
#include "kbench/protocol.hpp"
#include "worker/findings.hpp"
#include "worker/judged_candidate.hpp"

namespace kbench::worker {
namespace {

using protocol::MessageType;

template <typename T>
std::vector<T> array_of(std::string_view body) {
  std::vector<T> values(body.size() / sizeof(T));
  std::memcpy(values.data(), body.data(), values.size() * sizeof(T));
  return values;
}

/// The struct that a body begins with.
template <typename T>
T first_of(std::string_view body) {
  return array_of<T>(body.substr(0, sizeof(T))).at(0);
}

std::string findings_body(const std::vector<LaunchReport>& reports) {
  std::vector<ptx::Finding> findings;
  for (const auto& report : reports)
    findings.insert(findings.end(), report.findings.begin(), report.findings.end());
  // A fault comes first: whatever is left out, it is not.
  std::stable_partition(findings.begin(), findings.end(), [](const ptx::Finding& finding) {
    return finding.kind == ptx::FindingKind::kFault;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(findings.size(), kMaxFindings); ++i) {
    const auto body = to_body(findings[i]);
    text.append(reinterpret_cast<const char*>(&body), sizeof body);
  }
  return text;
}

std::string called_body(const JudgedCandidate& candidate,
                        const std::vector<LaunchReport>& reports) {
  protocol::CalledBody body{};
  body.read_clock = std::ranges::any_of(reports, &LaunchReport::read_clock) ? 1 : 0;
  body.weights_by_seed = candidate.weights_by_seed() ? 1 : 0;
  body.noted = candidate.noted();
  body.launches = static_cast<std::uint32_t>(reports.size());
  return std::string(reinterpret_cast<const char*>(&body), sizeof body) + findings_body(reports);
}

bool same_shape(const LaunchPlan::Launch& a, const LaunchPlan::Launch& b) {
  return a.symbol == b.symbol && a.grid == b.grid && a.block == b.block;
}

/// Counters of one call, launches of equal shape added up.
std::string profile_body(const LaunchPlan& plan, const std::vector<LaunchReport>& reports) {
  std::vector<protocol::LaunchCounts> rows;
  for (std::size_t i = 0; i < std::min(reports.size(), plan.launches.size()); ++i) {
    if (!reports[i].counters) continue;
    auto row = std::ranges::find_if(rows, [&](const protocol::LaunchCounts& known) {
      return same_shape(plan.launches[known.launch], plan.launches[i]);
    });
    if (row == rows.end() && rows.size() < protocol::kMaxProfileRows) {
      rows.push_back({static_cast<std::uint32_t>(i), 0, {}});
      row = rows.end() - 1;
    } else if (row == rows.end()) {
      --row;
    }
    ++row->launches;
    row->counters += *reports[i].counters;
  }
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof rows[0]};
}

/// Serves the judge until it hangs up.
void serve(protocol::Channel& channel, const CandidateJob& job, JudgedCandidate& candidate) {
  protocol::Message message;
  while (channel.receive(message, protocol::Clock::time_point::max() - std::chrono::hours(1)) ==
         protocol::ReceiveStatus::kOk) {
    if (message.type == MessageType::kBuffers) {
      const auto entries = array_of<protocol::BufferEntry>(message.body);
      if (entries.size() != message.fds.size()) throw Error("buffers without descriptors");
      for (std::size_t i = 0; i < entries.size(); ++i)
        candidate.map(entries[i], std::move(message.fds[i]));
      channel.send(MessageType::kMapped, {});
    } else if (message.type == MessageType::kModel) {
      candidate.build(array_of<protocol::ModelBody>(message.body).at(0));
      const protocol::BuiltBody built{candidate.math_modes()};
      channel.send(MessageType::kMapped, {reinterpret_cast<const char*>(&built), sizeof built});
    } else if (message.type == MessageType::kCall) {
      const auto body = first_of<protocol::CallBody>(message.body);
      candidate.prepare_random(std::string_view(message.body).substr(sizeof body));
      candidate.call(body);
      const auto reports = candidate.take_reports();
      if (body.count != 0)
        channel.send(MessageType::kProfiled, profile_body(job.plan, reports));
      else
        channel.send(MessageType::kCalled, called_body(candidate, reports));
    } else if (message.type == MessageType::kTime) {
      const auto body = array_of<protocol::TimeBody>(message.body).at(0);
      const auto sets = array_of<std::uint32_t>(std::string_view(message.body).substr(sizeof body));
      const auto times = candidate.time(sets, body);
      channel.send(MessageType::kTimes,
                   {reinterpret_cast<const char*>(times.data()), times.size() * sizeof(double)});
    }
  }
}

void send_failure(protocol::Channel& channel, const CandidateFailure& failure,
                  const std::vector<LaunchReport>& reports) {
  protocol::FailedBody body{};
  body.outcome = static_cast<std::uint32_t>(failure.outcome);
  failure.cause.copy(body.cause, sizeof body.cause - 1);
  failure.message.copy(body.message, sizeof body.message - 1);
  channel.send(
      MessageType::kFailed,
      std::string(reinterpret_cast<const char*>(&body), sizeof body) + findings_body(reports));
}

}  // namespace

int candidate_main(Fd channel_fd, Fd job_fd, Fd compile_fd, const ModuleFactory& make_module) {
  const CandidateJob job = unpack_job(job_fd.value());
  protocol::Channel channel(std::move(channel_fd), job.nonce, protocol::kMaxBody);
  std::unique_ptr<JudgedCandidate> candidate;
  const auto reports = [&] {
    return candidate ? candidate->take_reports() : std::vector<LaunchReport>{};
  };
  try {
    candidate = job.kind == CandidateKind::kKernel ? make_kernel_candidate(job)
                                                   : make_module(job, std::move(compile_fd));
    if (!candidate) return 0;  // a scout, which has said what it had to
    channel.send(MessageType::kLoaded, {});
    serve(channel, job, *candidate);
    return 0;
  } catch (const CandidateFailure& failure) {
    send_failure(channel, failure, reports());
  } catch (const std::exception& error) {
    // Nothing that happens in a candidate's process is a fault of the harness.
    send_failure(channel, {Outcome::kCrash, "candidate_process", error.what()}, reports());
  }
  return 1;
}

}  // namespace kbench::worker
