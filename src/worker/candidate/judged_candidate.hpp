// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kbench/profile.hpp"
#include "protocol/candidate_job.hpp"
#include "protocol/protocol.hpp"
#include "worker/device/device.hpp"

namespace kbench::worker {

/// Observations of a call, besides the reports of its launches.
struct CallNotes {
  bool computed = false;  ///< an operator of torch, a library or the host computed something
  bool unseen = false;    ///< the trace is incomplete
  std::optional<std::uint32_t> launches;  ///< of its own kernels; if unset, reports are counted
  std::uint32_t uncounted_launches = 0;   ///< of its own kernels, without a report
  std::vector<OperatorCost> operators;    ///< of a counted call
};

/// How the model that was built last got its weights. The fields are those of BuiltBody.
struct ModelWeights {
  std::uint32_t rule = 0;  ///< 1 + index into kWeightRules; 0: no weights were given
  bool by_seed = false;
  bool is_given = false;
  std::vector<std::size_t> unplaced;  ///< indices into the plan's tensors
};

/// Calls that were queued behind the gate, or why none were.
struct QueuedCalls {
  std::uint32_t refused = 0;                   ///< 1 + index into protocol::kGateRefusals
  std::vector<protocol::OutputPlace> outputs;  ///< of all calls, if kbench did not allocate them
};
/// The rows of protocol::kGateRefusals.
enum class GateRefusal : std::uint32_t {
  kUnsupported = 1,
  kInputsWritten,
  kOutputsElsewhere,
  kFailed,
};
inline QueuedCalls refused(GateRefusal why) { return {static_cast<std::uint32_t>(why), {}}; }
/// Queues `body.calls` calls on a stream behind the gate, and then the completion word, even if
/// `call` throws.
void queue_behind_gate(Device& device, void* stream, const protocol::QueueBody& body,
                       const std::function<void(std::size_t)>& call);

/// The candidate in its own process, which serves the judge's requests. Failures of the candidate
/// are thrown as CandidateFailure.
class JudgedCandidate {
 public:
  virtual ~JudgedCandidate() = default;
  /// Maps one of the judge's buffers, which lies in `memory`.
  virtual void map(const protocol::BufferEntry& entry, ReceivedMemory& memory) = 0;
  /// Takes a file with the arguments for the constructor of the next model, which
  /// problem_values.py has packed.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): ModuleCandidate keeps it
  virtual void take_init_arguments(Fd) {}
  /// Builds the model of a set whose buffers are all mapped, if the candidate has models.
  virtual void build(const protocol::ModelBody&) {}
  virtual ModelWeights weights() const { return {}; }
  /// Takes the state of the judge's torch generators, for the start of the next call.
  virtual void prepare_random(std::string_view) {}
  /// Makes one call on a set. On return, its outputs are in the set's work buffers.
  virtual void call(const protocol::CallBody& body) = 0;
  /// Makes one call on each set. If TimeBody::records, returns the span and the busy time of each
  /// call by the GPU's records, in milliseconds, as far as there are records. Else returns nothing,
  /// or by KernelBench's rules the time of each call.
  virtual std::vector<double> time(std::span<const std::uint32_t> sets,
                                   const protocol::TimeBody& body) = 0;
  /// Takes the page of the gate and, with its size in bytes, the memory for outputs that kbench
  /// does not allocate. False if calls cannot be queued, but only be made alone.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): a device with a gate keeps them
  virtual bool use_gate(Fd, Fd, std::uint64_t) { return false; }
  /// Queues a call on each set behind the gate, and returns before the judge opens it. Outputs stay
  /// in memory until the next call.
  virtual QueuedCalls queue(std::span<const std::uint32_t>, const protocol::QueueBody&) {
    return refused(GateRefusal::kUnsupported);
  }
  /// Ends the trace of a queued block (QueueBody::traced), for take_notes().
  virtual void end_trace() {}
  /// Takes the reports of the launches since the previous call.
  virtual std::vector<LaunchReport> take_reports() = 0;
  /// Torch's matrix product settings in this process, as bits.
  virtual std::uint32_t math_modes() { return 0; }
  /// The flags noted so far. Bit i: protocol::kNotedFlags[i].
  virtual std::uint32_t noted() const { return 0; }
  /// Takes the other observations of the last call.
  virtual CallNotes take_notes() { return {}; }
};

/// A kernel candidate: kbench's own host code around the candidate's kernels.
std::unique_ptr<JudgedCandidate> make_kernel_candidate(const CandidateJob& job);

/// The deadline of a call that starts now. A limit of 0 means no deadline.
inline protocol::Clock::time_point deadline_after(double limit_s) {
  if (limit_s <= 0) return protocol::Clock::time_point::max();
  return protocol::Clock::now() + std::chrono::duration_cast<protocol::Clock::duration>(
                                      std::chrono::duration<double>(limit_s));
}

}  // namespace kbench::worker
