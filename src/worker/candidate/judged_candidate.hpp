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

/// What a call showed beside the launches that kbench made or saw.
struct CallNotes {
  bool computed = false;  ///< an operator of torch, a library or the host computed something
  bool unseen = false;    ///< not all that ran has been seen
  std::optional<std::uint32_t> launches;  ///< of its own kernels, where a GPU's were counted
  std::uint32_t uncounted_launches = 0;   ///< of its own kernels, by other ways
  std::vector<OperatorCost> operators;    ///< of a counted call
};

/// How the model that was built last came by its weights, as BuiltBody says it.
struct ModelWeights {
  std::uint32_t rule = 0;  ///< 1 + index into kWeightRules; 0: none are given
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
/// Queues `body.calls` calls on a stream behind the gate. If `call` throws, the completion word is
/// queued all the same.
void queue_behind_gate(Device& device, void* stream, const protocol::QueueBody& body,
                       const std::function<void(std::size_t)>& call);

/// A candidate as its judge calls it, in the candidate's own process. What is the candidate's fault
/// is thrown as CandidateFailure.
class JudgedCandidate {
 public:
  virtual ~JudgedCandidate() = default;
  /// Maps one buffer of the judge's, which lies in that memory.
  virtual void map(const protocol::BufferEntry& entry, ReceivedMemory& memory) = 0;
  /// What the constructor of the next model gets, as problem_values.py packs it, in a file.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the one that builds a model keeps it
  virtual void take_init_arguments(Fd) {}
  /// All buffers of a set are mapped: builds its model, where the candidate has one.
  virtual void build(const protocol::ModelBody&) {}
  virtual ModelWeights weights() const { return {}; }
  /// The state of torch's generators that the next call is to find, as the judge's torch has it.
  virtual void prepare_random(std::string_view) {}
  /// One call on a set, its outputs in the set's work buffers when it returns.
  virtual void call(const protocol::CallBody& body) = 0;
  /// Milliseconds of one call on each set, in order.
  virtual std::vector<double> time(std::span<const std::uint32_t> sets,
                                   const protocol::TimeBody& body) = 0;
  /// Under what the inputs of those sets are veiled when they are timed next: as many, or none.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who lifts them keeps them
  virtual void take_veils(std::vector<protocol::VeilKey>) {}
  /// Whether a timed call could not be held (TimeBody::held).
  virtual bool take_hold_failed() { return true; }
  /// Takes the page of the gate, and memory of so many bytes for outputs that kbench does not
  /// allocate. False if this device has no gate.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): a device with a gate keeps them
  virtual bool use_gate(Fd, Fd, std::uint64_t) { return false; }
  /// Queues a call on each set behind the gate, and returns before the judge opens it. Outputs stay
  /// in memory until the next call.
  virtual QueuedCalls queue(std::span<const std::uint32_t>, const protocol::QueueBody&) {
    return refused(GateRefusal::kUnsupported);
  }
  /// Ends the trace of a queued block (QueueBody::traced), for take_notes().
  virtual void end_trace() {}
  /// What was seen of each launch since the last time.
  virtual std::vector<LaunchReport> take_reports() = 0;
  /// How its process multiplies, in bits of torch's global state.
  virtual std::uint32_t math_modes() { return 0; }
  /// What was noted so far: bits for protocol::kNotedFlags.
  virtual std::uint32_t noted() const { return 0; }
  /// What the last call showed besides.
  virtual CallNotes take_notes() { return {}; }
};

/// A kernel candidate: kbench's own host code around the candidate's kernels.
std::unique_ptr<JudgedCandidate> make_kernel_candidate(const CandidateJob& job);

/// When a call that starts now has used up its limit; never for 0.
inline protocol::Clock::time_point deadline_after(double limit_s) {
  if (limit_s <= 0) return protocol::Clock::time_point::max();
  return protocol::Clock::now() + std::chrono::duration_cast<protocol::Clock::duration>(
                                      std::chrono::duration<double>(limit_s));
}

}  // namespace kbench::worker
