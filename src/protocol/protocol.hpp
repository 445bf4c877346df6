// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/profile.hpp"
#include "kbench/record.hpp"
#include "os/subprocess.hpp"

/// Frames between driver, zygote, judge and candidate, over Unix stream sockets.
///
/// A frame is a fixed header (below, little endian) and a body of at most the receiver's cap; file
/// descriptors travel with the header by SCM_RIGHTS. Bodies between kbench's own processes are
/// JSON; what a candidate sends is one of the fixed structs of this header and nothing else, so
/// there is nothing to parse, unpickle or evaluate.
namespace kbench::protocol {

/// Where the zygote finds a file with the folders, each with a zero behind it, that no candidate is
/// shown.
inline constexpr int kHiddenFoldersFd = 4;

enum class MessageType : std::uint16_t {
  // driver → zygote
  kFork = 1,  ///< JSON {id, role, nonce, device}; descriptors: channel, log[, job]
  // zygote → driver
  kReady = 16,  ///< JSON {torch, python, …}: the interpreter has imported torch
  kForked,      ///< JSON {id, pid}
  kExited,      ///< JSON {pid, signaled, code}
  // driver → judge
  kDescribe = 32,  ///< JSON problem; answered with kDescribed or kProblemFailure
  kOpenProblem,    ///< JSON problem, device, secret, trials, …
  kEvaluate,       ///< JSON {launch_plan, pid, …}; descriptor: channel to the candidate
  kGo,             ///< the device is quiet: timing may start
  kProbe,          ///< is the device still usable?
  kWarm,           ///< JSON {device}: open it, so that the problem to come need not; then kHealthy
  kClose,          ///< forgets its problem and gives its memory back; not answered
  kShrink,         ///< JSON problem, max_bytes, max_flops; answered with kShrunk or kProblemFailure
  kAudit,          ///< of the open problem; answered with kAudited or kProblemFailure
  kMeasure,        ///< JSON {device}: what it reaches; answered with kMeasured or kProblemFailure
  // judge → driver
  kDescribed = 48,  ///< JSON signature
  kProblemReady,    ///< JSON {signature, reference_ms, reusable, …}
  kProblemFailure,  ///< JSON {cause, message, log}
  kPhase,           ///< JSON {phase}: "timing" waits for kGo
  kVerdict,         ///< JSON: outcome, correctness, timing
  kHealthy,         ///< answer to kProbe
  kShrunk,          ///< JSON {sizes, shrunk}
  kAudited,         ///< JSON {answers, families_left_out}
  kMeasured,        ///< JSON: Peaks
  // judge → candidate
  kBuffers = 64,  ///< BufferEntry[]; a descriptor for each shared object that they lie in
  kCall,          ///< CallBody, and then a state of random generators, where there is one
  kTime,          ///< TimeBody and then its set indices (std::uint32_t each)
  kModel,         ///< ModelBody: builds a module's model for a set, answered with kMapped
  // candidate → judge
  kLoaded = 80,  ///< empty: code is loaded, buffers may come
  kMapped,       ///< empty, after kModel a BuiltBody
  kCalled,       ///< CalledBody and then its FindingBody[]: the call ended, the device is idle
  kTimes,        ///< double[]: milliseconds of each call, in order; a CalledBody where it looked
  kFailed,       ///< FailedBody, FindingBody[]: the candidate's own failure
  kProfiled,     ///< ProfiledBody, LaunchCounts[], OperatorCounts[]: answer to a kCall that counts
  // candidate → driver, on a channel of their own
  kCompile = 96,  ///< JSON: an extension to build; no pickles, nothing is evaluated
  kScouted,       ///< JSON: how a scout's import ended
  kStandsBy,      ///< of a spare: its device is open
  // driver → candidate
  kCompiled = 112,  ///< JSON; descriptor: the sealed shared object and image, where there is one
  kJob,             ///< to a spare: descriptors of a job[, and of a channel for compile requests]
};

/// One shared buffer as the judge hands it to a candidate.
struct BufferEntry {
  std::uint32_t set;     ///< input set it belongs to
  std::uint32_t tensor;  ///< index into LaunchPlan::tensors
  std::uint32_t role;    ///< BufferRole
  std::uint32_t writable;
  std::uint64_t mapped_bytes;  ///< size of the object behind the descriptor
  std::uint64_t data_offset;   ///< where the tensor's elements start
  std::uint64_t data_bytes;
  std::uint64_t red_before, red_after;  ///< bytes of canary around the data
  std::uint32_t descriptor = 0;         ///< which of the message's: small tensors may share one
  std::uint32_t reserved = 0;
};

/// What a buffer is for: launches use kWork where there is one, else kSource.
enum class BufferRole : std::uint32_t {
  kSource = 0,  ///< an input, parameter or buffer as drawn; mapped read-only
  kWork = 1,  ///< an output (poisoned before each call), or the copy of a source that `inout` names
};

enum class CallMode : std::uint32_t {
  kPlain,
  kCounted,    ///< what the kernels do is counted, and the answer is kProfiled
  kUndefined,  ///< by Artifact::undefined_ptx, where a plan's kernels have it
  kGhost,      ///< launches of the candidate's own kernels do nothing, where kbench makes them
  kNext,       ///< the model goes on from where its last call left it, with other inputs
  kEvalMode,   ///< of a module in eval mode, for good: a last call, after a wrong answer
};

/// After it, by KernelBench's rules, the state of torch's generators for the call.
struct CallBody {
  std::uint32_t set;
  CallMode mode = CallMode::kPlain;
  double limit_s = 0;  ///< after which the judge gives up, soon; 0: not said
  std::uint32_t poison =
      0xff;  ///< what memory that it is to write holds before it (worker/poison.hpp)
  std::uint32_t reserved = 0;
};

/// The model of one set: built under its init seed, then given the set's weights, unless they are
/// to stay as built; or that of another set, whose state it shares.
struct ModelBody {
  std::uint32_t set;
  std::uint32_t lender;  ///< that set, or `set` itself
  std::uint64_t init_seed;
  std::uint32_t as_built = 0;     ///< 1: nothing is written over what its constructor made
  std::uint32_t keeps_state = 0;  ///< 1: attributes are as they were built before each call
};

/// How a module's model came by the reference's weights: as its constructor made them, or by the
/// rule that says least of a tensor's place among those that were needed.
inline constexpr std::string_view kWeightRules[] = {"as_built", "by_name", "by_value",
                                                    "by_transposed", "by_order"};

/// Answer to kModel, with kMapped; after it come the indices into the plan's tensors (std::uint32_t
/// each) of what found no place in the model, or, as built, is not found in it.
struct BuiltBody {
  std::uint32_t math_modes;   ///< how torch multiplies in that process: bits of its global state
  std::uint32_t weights = 0;  ///< 1 + index into kWeightRules; 0: its weights are not given
  std::uint32_t weights_by_seed = 0;  ///< 1: parts of it kept what their constructor drew
  std::uint32_t is_given = 0;  ///< 1: it holds all of the reference's weights, each in its place
};
/// The most such indices that a message lists.
inline constexpr std::size_t kMaxUnplaced = 20;

/// Flags of a record that a candidate's process raises; by KernelBench's rules some are no
/// failures, and "kbench:…" names the outcome that kbench's own rules would have given.
inline constexpr std::string_view kNotedFlags[] = {
    "kbench:illegal_write", "kbench:wrong_shape", "kbench:wrong_dtype", "replaces_constants",
    "undefined_unchecked",  "inputs_read_back",   "host_tensors_moved"};
/// Of these the one for a build that shows reads of undefined registers and could not be loaded.
inline constexpr unsigned kUndefinedUnchecked = 4;
/// Of these the one for calls on a GPU that copy inputs to the host, which may compute with them.
inline constexpr unsigned kInputsReadBack = 5;
/// Of these the one for tensors that a constructor left on the host, which calls need on the
/// device.
inline constexpr unsigned kHostTensorsMoved = 6;

/// What a call showed beside its results.
struct CalledBody {
  std::uint32_t read_clock;  ///< 1: a kernel looked at a clock
  std::uint32_t launches;    ///< of kernels of its own, in this call
  std::uint32_t noted = 0;   ///< bit i: kNotedFlags[i]
  std::uint32_t computed;    ///< 1: an operator of torch, another's kernel or the host computed
  std::uint32_t unseen = 0;  ///< 1: not all that ran has been seen: the two before tell little
};

/// A finding of the sanitizers; text fields are cut to fit and zero-terminated.
struct FindingBody {
  std::uint32_t kind;  ///< ptx::FindingKind
  std::int32_t line;
  std::uint32_t block[3], thread[3];
  std::int64_t offset_bytes;
  std::uint64_t count;
  char kernel[128], file[256], region[96], message[736];
};

/// What a counted call did: so many LaunchCounts follow, then OperatorCounts.
struct ProfiledBody {
  std::uint32_t rows, operators;
  std::uint32_t incomplete;  ///< 1: it did more than can be counted, or told
  std::uint32_t reserved = 0;
};

/// What the launches of one shape did in a call.
struct LaunchCounts {
  std::uint32_t launch;    ///< of a plan: index of the first of them in LaunchPlan::launches
  std::uint32_t launches;  ///< how many there were
  std::uint32_t grid[3], block[3];
  char kernel[128];   ///< of host code: its name, cut to fit and zero-terminated
  Counters counters;  ///< summed
  // What a GPU tells of them; 0 where there is none.
  double gpu_ms = 0;  ///< summed
  std::uint32_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0, reserved = 0;
};
/// Rows that a call's profile has at most; what comes after is added to the last one.
inline constexpr std::size_t kMaxProfileRows = 64;

/// What one operator of torch did in a call, as OperatorCost says.
struct OperatorCounts {
  std::uint64_t bytes, flops;
  std::uint32_t type, tensor_cores;
  char name[48];  ///< cut to fit and zero-terminated
};
/// Operators that are told of a call at most.
inline constexpr std::size_t kMaxProfileOperators = 2048;

/// By what a call is timed.
enum class TimeClock : std::uint32_t {
  kEvents,  ///< the device's own method
  kHost,    ///< the host's clock, each call on an idle device
  kDevice,  ///< a GPU's records of its work: two times a call, span and busy; none where it has
            ///< none
  kGraph,   ///< one call of each set as a CUDA graph, replayed once: one time for all, the mean of
            ///< a call; none where it cannot be captured
};

struct TimeBody {
  std::uint32_t calls;       ///< as many set indices follow
  std::uint32_t cold_cache;  ///< 1: flush the L2 before each call
  double limit_s = 0;        ///< of all calls together, as in CallBody
  std::uint32_t looks = 0;   ///< 1: what runs is looked at as in a kCall, and told as there
  std::uint32_t held = 0;    ///< 1: work starts when a call is queued; HeldBody ends the answer
  TimeClock clock = TimeClock::kEvents;
  std::uint32_t veiled = 0;  ///< 1: as many VeilKeys follow the set indices
  double lead_ms = 0;        ///< so long the device is busy before each call, while that is queued
  std::uint32_t poison = 0xff;  ///< as in CallBody, before each call
  std::uint32_t reserved = 0;
};

/// Under what a set's inputs were made unreadable, to be made readable just before its call:
/// nothing on the device can then be computed from them in the calls before.
struct VeilKey {
  std::uint64_t key = 0, nonce = 0;  ///< both 0: the set is not veiled
  bool is_none() const { return key == 0 && nonce == 0; }
  /// Of the input with that number in the plan (BoundTensor::index).
  VeilKey of_input(std::size_t n) const { return {key, nonce ^ (std::uint64_t{n} << 32)}; }
};

/// Ends the answer to a kTime that held.
struct HeldBody {
  std::uint32_t failed;  ///< 1: a call could not be held
  std::uint32_t reserved = 0;
};

/// Why a candidate's process gave up; text fields are cut to fit and zero-terminated.
struct FailedBody {
  std::uint32_t outcome;  ///< Outcome; one that a candidate's process may claim, else a crash
  char cause[60];
  char message[960];
};

/// What a candidate's process says of its own end, checked: an outcome that it may not claim, and a
/// body of another size, are a crash.
struct ClaimedFailure {
  Outcome outcome = Outcome::kCrash;
  std::string cause, message;
};
ClaimedFailure claimed_failure(std::string_view body);

/// The outcome itself where a candidate's process may say it of its own end, else a crash.
Outcome claimable(Outcome outcome);

/// The largest body that a candidate may send to the judge.
inline constexpr std::uint32_t kMaxCandidateBody = 1u << 18;
/// The largest request of a candidate to build something.
inline constexpr std::uint32_t kMaxCompileBody = 16u << 20;
/// The largest body between kbench's own processes.
inline constexpr std::uint32_t kMaxBody = 256u << 20;
/// Descriptors in one frame; the kernel's limit is 253.
inline constexpr std::size_t kMaxFds = 200;

struct Message {
  MessageType type{};
  std::string body;
  std::vector<Fd> fds;
};

enum class ReceiveStatus : std::uint8_t {
  kOk,
  kClosed,     ///< the other side is gone
  kTimeout,    ///< nothing whole within the limit
  kMalformed,  ///< wrong magic, nonce or length: the other side is not who it should be
  kCancelled,  ///< the cancel descriptor became readable
};

using Clock = std::chrono::steady_clock;

/// One end of a socket pair. Each message carries nonce + sequence number, so that a stray writer
/// who found the descriptor cannot insert or repeat a message.
class Channel {
 public:
  Channel() = default;
  Channel(Fd socket, std::uint64_t nonce, std::uint32_t max_body);
  int fd() const { return socket_.value(); }
  explicit operator bool() const { return static_cast<bool>(socket_); }
  /// Sends a frame; false where the other side is gone.
  bool send(MessageType type, std::string_view body, const std::vector<int>& fds = {});
  /// Waits for one whole frame until `deadline`; a readable `cancel_fd` (−1: none) ends the wait.
  ReceiveStatus receive(Message& message, Clock::time_point deadline, int cancel_fd = -1);

 private:
  ReceiveStatus fill(std::size_t size, std::vector<Fd>* fds, Clock::time_point deadline,
                     int cancel_fd);
  Fd socket_;
  std::uint64_t nonce_ = 0;
  std::uint64_t sent_ = 0, received_ = 0;
  std::string partial_;  ///< of the frame that is arriving; its first `filled_` bytes are there
  std::size_t filled_ = 0;
  std::vector<Fd> partial_fds_;
  std::uint32_t max_body_ = kMaxBody;
};

/// A nonce from the kernel's random source. Throws kbench::Error where there is none.
std::uint64_t random_nonce();
/// `bytes` random bytes as hexadecimal digits.
std::string random_hex(std::size_t bytes);

}  // namespace kbench::protocol
