// SPDX-License-Identifier: MIT
#include "worker/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "kbench/error.hpp"
#include "kbench/kernel_job.hpp"
#include "kbench/protocol.hpp"
#include "worker/device.hpp"
#include "worker/findings.hpp"

namespace kbench::worker {
namespace {

using protocol::BufferRole;
using protocol::MessageType;

/// A kernel candidate ready to be called: code, scratch, and the buffers of each input set.
class KernelCandidate {
 public:
  explicit KernelCandidate(const KernelJob& job)
      : job_(job), sanitize_(sanitize_from_name(job.sanitize)), device_(open_device(job.device)) {
    device_->load(job_.image, job_.plan);
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const auto& tensor = job_.plan.tensors[i];
      if (tensor.role != BoundTensor::Role::kScratch) continue;
      auto buffer =
          device_->allocate(buffer_layout(tensor.info.bytes(), device_->granularity(), true));
      // Scratch is undefined by contract; a NaN pattern makes reading it early show.
      device_->fill(buffer.data(), kPoison, buffer.size_bytes());
      fill_red_zones(*device_, buffer);
      scratch_.emplace(i, std::move(buffer));
    }
    device_->synchronize();
  }

  void map(const protocol::BufferEntry& entry, Fd fd) {
    const BufferLayout layout{entry.mapped_bytes, entry.data_offset, entry.data_bytes,
                              entry.red_before, entry.red_after};
    const bool writable = entry.writable != 0 || job_.sources_writable;
    buffers_[{entry.set, entry.tensor, entry.role}] = device_->map(std::move(fd), layout, writable);
  }

  void call(const protocol::CallBody& body) {
    const bool count = body.count != 0;
    device_->watch({count ? ptx::Sanitize::kNone : sanitize_, count, job_.max_instructions,
                    deadline(body.limit_s)});
    refill_scratch();
    prepare(body.set);
    run();
    device_->synchronize();
    for (const auto& [tensor, buffer] : scratch_) {
      const auto where = broken_red_zone(*device_, buffer);
      if (!where.empty())
        throw CandidateFailure{Outcome::kIllegalWrite, "out_of_bounds_write",
                               fmt::format("a kernel wrote {} the buffer of {}", where,
                                           job_.plan.tensors[tensor].info.name)};
    }
  }

  std::vector<double> time(std::span<const std::uint32_t> sets, const protocol::TimeBody& body) {
    std::vector<double> times;
    // What is looked at has been looked at; a time is the kernel's own.
    device_->watch({ptx::Sanitize::kNone, false, job_.max_instructions, deadline(body.limit_s)});
    for (const std::uint32_t set : sets) {
      prepare(set);
      if (body.cold_cache != 0) device_->flush_cache();
      times.push_back(device_->time_ms([this] { run(); }));
    }
    device_->synchronize();
    device_->take_reports();
    return times;
  }

  std::vector<LaunchReport> take_reports() { return device_->take_reports(); }

 private:
  static protocol::Clock::time_point deadline(double limit_s) {
    if (limit_s <= 0) return protocol::Clock::time_point::max();
    return protocol::Clock::now() + std::chrono::duration_cast<protocol::Clock::duration>(
                                        std::chrono::duration<double>(limit_s));
  }

  /// Scratch is undefined at the start of each call that is looked at, not only of the first.
  void refill_scratch() {
    if (sanitize_ == ptx::Sanitize::kNone) return;
    for (const auto& [tensor, buffer] : scratch_)
      device_->fill(buffer.data(), kPoison, buffer.size_bytes());
  }

  const SharedBuffer* find(std::uint32_t set, std::size_t tensor, BufferRole role) const {
    const auto found =
        buffers_.find({set, static_cast<std::uint32_t>(tensor), static_cast<std::uint32_t>(role)});
    return found == buffers_.end() ? nullptr : &found->second;
  }

  /// State restored, outputs poisoned: every call starts alike. Not part of the time.
  void prepare(std::uint32_t set) {
    std::vector<KernelTensor> tensors;
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const auto& tensor = job_.plan.tensors[i];
      const SharedBuffer* source = find(set, i, BufferRole::kSource);
      const SharedBuffer* work = find(set, i, BufferRole::kWork);
      const auto scratch = scratch_.find(i);
      const SharedBuffer* used = scratch != scratch_.end() ? &scratch->second
                                 : work != nullptr         ? work
                                                           : source;
      if (used == nullptr)
        throw Error(fmt::format("no buffer for {} in set {}", tensor.info.name, set));
      if (work != nullptr && source != nullptr)
        device_->copy(work->data(), source->data(), source->size_bytes());
      else if (work != nullptr)
        device_->fill(work->data(), kPoison, work->size_bytes());
      const auto& layout = used->layout();
      const bool writable = used != source || job_.sources_writable;
      const bool undefined = source == nullptr && !tensor.filled;
      tensors.push_back({describe(tensor), used->data(), used->size_bytes(), layout.red_before,
                         layout.red_after, writable, undefined});
    }
    device_->use_tensors(tensors);
    tensors_ = std::move(tensors);
  }

  static std::string describe(const BoundTensor& tensor) {
    static constexpr std::string_view kRoles[] = {"input", "state", "output", "scratch"};
    return fmt::format("{} {}", kRoles[static_cast<std::size_t>(tensor.role)], tensor.info.name);
  }

  void run() {
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const auto& tensor = job_.plan.tensors[i];
      if (tensor.filled)
        device_->fill_pattern(tensors_[i].data, tensor.fill_bits,
                              dtype_row(tensor.info.dtype).size_bytes,
                              static_cast<std::size_t>(numel(tensor.info.shape)));
    }
    for (const auto& launch : job_.plan.launches) device_->launch(launch);
  }

  const KernelJob& job_;
  ptx::Sanitize sanitize_;
  std::unique_ptr<Device> device_;
  std::map<std::size_t, SharedBuffer> scratch_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, SharedBuffer> buffers_;
  std::vector<KernelTensor> tensors_;
};

template <typename T>
std::vector<T> array_of(std::string_view body) {
  std::vector<T> values(body.size() / sizeof(T));
  std::memcpy(values.data(), body.data(), values.size() * sizeof(T));
  return values;
}

std::string findings_body(const std::vector<LaunchReport>& reports) {
  std::vector<ptx::Finding> findings;
  for (const auto& report : reports)
    findings.insert(findings.end(), report.findings.begin(), report.findings.end());
  // The fault ends the list, and is not to be left out.
  std::ranges::stable_partition(findings, [](const ptx::Finding& finding) {
    return finding.kind == ptx::FindingKind::kFault;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(findings.size(), kMaxFindings); ++i) {
    const auto body = to_body(findings[i]);
    text.append(reinterpret_cast<const char*>(&body), sizeof body);
  }
  return text;
}

std::string called_body(const std::vector<LaunchReport>& reports) {
  protocol::CalledBody body{};
  body.read_clock = std::ranges::any_of(reports, &LaunchReport::read_clock) ? 1 : 0;
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
void serve(protocol::Channel& channel, const KernelJob& job, KernelCandidate& candidate) {
  protocol::Message message;
  while (channel.receive(message, protocol::Clock::time_point::max() - std::chrono::hours(1)) ==
         protocol::ReceiveStatus::kOk) {
    if (message.type == MessageType::kBuffers) {
      const auto entries = array_of<protocol::BufferEntry>(message.body);
      if (entries.size() != message.fds.size()) throw Error("buffers without descriptors");
      for (std::size_t i = 0; i < entries.size(); ++i)
        candidate.map(entries[i], std::move(message.fds[i]));
      channel.send(MessageType::kMapped, {});
    } else if (message.type == MessageType::kCall) {
      const auto body = array_of<protocol::CallBody>(message.body).at(0);
      candidate.call(body);
      const auto reports = candidate.take_reports();
      if (body.count != 0)
        channel.send(MessageType::kProfiled, profile_body(job.plan, reports));
      else
        channel.send(MessageType::kCalled, called_body(reports));
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

int candidate_main(Fd channel_fd, Fd job_fd) {
  const KernelJob job = unpack_job(job_fd.value());
  protocol::Channel channel(std::move(channel_fd), job.nonce, protocol::kMaxBody);
  std::optional<KernelCandidate> candidate;
  const auto reports = [&] {
    return candidate ? candidate->take_reports() : std::vector<LaunchReport>{};
  };
  try {
    candidate.emplace(job);
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
