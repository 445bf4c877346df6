// SPDX-License-Identifier: MIT
#include "worker/candidate/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kbench/error.hpp"
#include "protocol/candidate_job.hpp"
#include "protocol/protocol.hpp"
#include "worker/candidate/judged_candidate.hpp"
#include "worker/device/findings.hpp"

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
  // Faults come first, so that the limit of findings does not remove them.
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

template <typename Body>
std::string_view bytes_of(const Body& body) {
  return {reinterpret_cast<const char*>(&body), sizeof body};
}

std::string called_body(const CallNotes& notes, std::uint32_t noted,
                        const std::vector<LaunchReport>& reports) {
  protocol::CalledBody body{};
  body.read_clock = std::ranges::any_of(reports, &LaunchReport::read_clock) ? 1 : 0;
  body.launches = notes.launches.value_or(
      static_cast<std::uint32_t>(std::ranges::count(reports, false, &LaunchReport::is_early)) +
      notes.uncounted_launches);
  body.noted = noted;
  body.computed = notes.computed ? 1 : 0;
  body.unseen = notes.unseen ? 1 : 0;
  return std::string(bytes_of(body)) + findings_body(reports);
}

std::string built_body(std::uint32_t math_modes, const ModelWeights& weights) {
  protocol::BuiltBody body{math_modes};
  body.weights = weights.rule;
  body.weights_by_seed = weights.by_seed ? 1 : 0;
  body.is_given = weights.is_given ? 1 : 0;
  std::string text(bytes_of(body));
  for (std::size_t i = 0; i < std::min(weights.unplaced.size(), protocol::kMaxUnplaced); ++i) {
    const auto tensor = static_cast<std::uint32_t>(weights.unplaced[i]);
    text += bytes_of(tensor);
  }
  return text;
}

bool same_shape(const LaunchReport& a, const LaunchReport& b) {
  return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block;
}

/// Kernel and shape of the i-th launch of a call: from the plan if it has this launch, else from
/// the report.
LaunchReport shape_of(const LaunchPlan& plan, const std::vector<LaunchReport>& reports,
                      std::size_t i) {
  LaunchReport shape;
  if (i < plan.launches.size()) {
    shape.kernel = plan.launches[i].symbol;
    shape.grid = plan.launches[i].grid;
    shape.block = plan.launches[i].block;
  } else {
    shape.kernel = reports[i].kernel;
    shape.grid = reports[i].grid;
    shape.block = reports[i].block;
  }
  return shape;
}

protocol::LaunchCounts row_of(const LaunchReport& shape, std::size_t launch) {
  protocol::LaunchCounts row{};
  row.launch = static_cast<std::uint32_t>(launch);
  std::ranges::copy(shape.grid, row.grid);
  std::ranges::copy(shape.block, row.block);
  put(row.kernel, shape.kernel);
  return row;
}

/// Counters of one call. Launches of the same kernel and shape are one row.
std::vector<protocol::LaunchCounts> launch_rows(const LaunchPlan& plan,
                                                const std::vector<LaunchReport>& reports) {
  std::vector<protocol::LaunchCounts> rows;
  std::vector<LaunchReport> shapes;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i].counters && !reports[i].gpu) continue;
    const LaunchReport shape = shape_of(plan, reports, i);
    auto at = static_cast<std::size_t>(
        std::ranges::find_if(shapes,
                             [&](const LaunchReport& known) { return same_shape(known, shape); }) -
        shapes.begin());
    if (at == rows.size() && rows.size() < protocol::kMaxProfileRows) {
      rows.push_back(row_of(shape, i));
      shapes.push_back(shape);
    }
    at = std::min(at, rows.size() - 1);
    ++rows[at].launches;
    if (const auto& counters = reports[i].counters) rows[at].counters += *counters;
    if (const auto& gpu = reports[i].gpu) {
      rows[at].gpu_ms += gpu->ms;
      rows[at].registers = gpu->registers;
      rows[at].static_shared_bytes = gpu->static_shared_bytes;
      rows[at].dynamic_shared_bytes = gpu->dynamic_shared_bytes;
    }
  }
  return rows;
}

std::string profiled_body(const LaunchPlan& plan, const CallNotes& notes,
                          const std::vector<LaunchReport>& reports) {
  const auto rows = launch_rows(plan, reports);
  const std::size_t operators = std::min(notes.operators.size(), protocol::kMaxProfileOperators);
  protocol::ProfiledBody head{};
  head.rows = static_cast<std::uint32_t>(rows.size());
  head.operators = static_cast<std::uint32_t>(operators);
  head.incomplete = notes.uncounted_launches > 0 || operators < notes.operators.size() ? 1 : 0;
  std::string text(bytes_of(head));
  for (const auto& row : rows) text += bytes_of(row);
  for (std::size_t i = 0; i < operators; ++i) {
    const OperatorCost& cost = notes.operators[i];
    protocol::OperatorCounts counts{cost.bytes,
                                    cost.flops,
                                    static_cast<std::uint32_t>(cost.type),
                                    cost.tensor_cores ? 1U : 0U,
                                    {}};
    put(counts.name, cost.name);
    text += bytes_of(counts);
  }
  return text;
}

std::string queued_body(const QueuedCalls& queued) {
  const protocol::QueuedBody head{queued.refused,
                                  static_cast<std::uint32_t>(queued.outputs.size())};
  std::string body(bytes_of(head));
  for (const protocol::OutputPlace& place : queued.outputs) body += bytes_of(place);
  return body;
}

/// Serves the judge until the judge closes the channel.
void serve(protocol::Channel& channel, const CandidateJob& job, JudgedCandidate& candidate) {
  bool has_gate = false;
  protocol::Message message;
  while (channel.receive(message, protocol::Clock::time_point::max() - std::chrono::hours(1)) ==
         protocol::ReceiveStatus::kOk) {
    if (message.type == MessageType::kBuffers) {
      const auto entries = array_of<protocol::BufferEntry>(message.body);
      std::vector<ReceivedMemory> memory;
      for (Fd& fd : message.fds) memory.emplace_back(std::move(fd));
      for (const auto& entry : entries) {
        if (entry.descriptor >= memory.size()) throw Error("buffers without descriptors");
        candidate.map(entry, memory[entry.descriptor]);
      }
      channel.send(MessageType::kMapped, {});
    } else if (message.type == MessageType::kModel) {
      if (!message.fds.empty()) candidate.take_init_arguments(std::move(message.fds.front()));
      candidate.build(array_of<protocol::ModelBody>(message.body).at(0));
      channel.send(MessageType::kMapped, built_body(candidate.math_modes(), candidate.weights()));
    } else if (message.type == MessageType::kCall) {
      const auto body = first_of<protocol::CallBody>(message.body);
      candidate.prepare_random(std::string_view(message.body).substr(sizeof body));
      candidate.call(body);
      const auto reports = candidate.take_reports();
      const auto notes = candidate.take_notes();
      if (body.mode == protocol::CallMode::kCounted)
        channel.send(MessageType::kProfiled, profiled_body(job.plan, notes, reports));
      else
        channel.send(MessageType::kCalled, called_body(notes, candidate.noted(), reports));
    } else if (message.type == MessageType::kTime) {
      const auto body = array_of<protocol::TimeBody>(message.body).at(0);
      const std::string_view rest = std::string_view(message.body).substr(sizeof body);
      const auto times = candidate.time(array_of<std::uint32_t>(rest), body);
      std::string told(reinterpret_cast<const char*>(times.data()), times.size() * sizeof(double));
      const auto reports = candidate.take_reports();
      if (body.looks != 0)
        told += called_body(candidate.take_notes(), candidate.noted(), reports)
                    .substr(0, sizeof(protocol::CalledBody));
      channel.send(MessageType::kTimes, told);
    } else if (message.type == MessageType::kGate) {
      const auto body = first_of<protocol::GateBody>(message.body);
      if (message.fds.size() != 2) throw Error("a gate without its descriptors");
      has_gate = candidate.use_gate(std::move(message.fds[0]), std::move(message.fds[1]),
                                    body.memory_bytes);
      channel.send(MessageType::kMapped, {});
    } else if (message.type == MessageType::kTrace) {
      candidate.end_trace();
      const auto reports = candidate.take_reports();
      channel.send(MessageType::kCalled,
                   called_body(candidate.take_notes(), candidate.noted(), reports));
    } else if (message.type == MessageType::kQueue) {
      const auto body = first_of<protocol::QueueBody>(message.body);
      const auto sets = array_of<std::uint32_t>(std::string_view(message.body).substr(sizeof body));
      channel.send(MessageType::kQueued,
                   queued_body(has_gate || body.alone != 0 ? candidate.queue(sets, body)
                                                           : refused(GateRefusal::kUnsupported)));
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
  // Closed before any of the candidate's code runs, so that it cannot read the job through the
  // descriptor.
  job_fd.reset();
  protocol::Channel channel(std::move(channel_fd), job.nonce, protocol::kMaxBody);
  std::unique_ptr<JudgedCandidate> candidate;
  const auto reports = [&] {
    return candidate ? candidate->take_reports() : std::vector<LaunchReport>{};
  };
  try {
    candidate = job.kind == CandidateKind::kKernel ? make_kernel_candidate(job)
                                                   : make_module(job, std::move(compile_fd));
    if (!candidate) return 0;  // a dry import, which has already reported its end
    channel.send(MessageType::kLoaded, {});
    serve(channel, job, *candidate);
    return 0;
  } catch (const CandidateFailure& failure) {
    send_failure(channel, failure, reports());
  } catch (const std::exception& error) {
    // No error in a candidate's process is a fault of kbench.
    send_failure(channel, {Outcome::kCrash, "candidate_process", error.what()}, reports());
  }
  return 1;
}

}  // namespace kbench::worker
