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

/// Frames between driver (the program kbench), fork server, judge and candidate, over Unix stream
/// sockets.
///
/// A frame is a fixed header (below, little endian) and a body of at most the receiver's limit.
/// File descriptors travel with the header by SCM_RIGHTS. Bodies between kbench's own processes are
/// JSON. To the judge, a candidate sends only the fixed structs of this header, so the judge
/// parses, unpickles or evaluates nothing that a candidate wrote.
namespace kbench::protocol {

/// The number of the fork server's descriptor of a file with the folders hidden from candidates.
/// Each name ends with a zero byte.
inline constexpr int kHiddenFoldersFd = 4;

enum class MessageType : std::uint16_t {
  // driver → fork server
  kFork = 1,  ///< JSON {id, role, nonce, device}; descriptors: channel, log[, job]
  // fork server → driver
  kReady = 16,  ///< JSON {torch, python, …}: the interpreter has imported torch
  kForked,      ///< JSON {id, pid}
  kExited,      ///< JSON {pid, signaled, code}
  // driver → judge
  kDescribe = 32,  ///< JSON problem; answered with kDescribed or kProblemFailure
  kOpenProblem,    ///< JSON problem, device, secret, trials, …
  kEvaluate,       ///< JSON {launch_plan, pid, …}; descriptor: channel to the candidate
  kBaseline,       ///< JSON {name, plan, pid, …}: a process that runs the reference of the open
                   ///< problem; descriptor: channel to it; not answered
  kGo,             ///< the device is idle: timing may start
  kProbe,          ///< asks if the device is still usable; answered with kHealthy
  kWarm,           ///< JSON {device}: opens it before the problem comes; answered with kHealthy
  kClose,          ///< closes its problem and frees its memory; not answered
  kReduceSizes,    ///< JSON problem, max_bytes, max_flops; answered with kReducedSizes or
                   ///< kProblemFailure
  kAudit,          ///< audits the open problem; answered with kAudited or kProblemFailure
  kMeasure,        ///< JSON {device}: its throughput; answered with kMeasured or kProblemFailure
  // judge → driver
  kDescribed = 48,  ///< JSON signature
  kProblemReady,    ///< JSON {signature, reference_ms, reusable, …}
  kProblemFailure,  ///< JSON {cause, message, log}
  kPhase,           ///< JSON {phase}: "timing" waits for kGo
  kVerdict,         ///< JSON: outcome, correctness, timing
  kHealthy,         ///< answer to kProbe and kWarm
  kReducedSizes,    ///< JSON {sizes, reduced_sizes}
  kAudited,         ///< JSON {answers, distributions_left_out}
  kMeasured,        ///< JSON: Peaks
  // judge → candidate
  kBuffers = 64,  ///< BufferEntry[]; a descriptor for each shared object that has the buffers
  kCall,          ///< CallBody, then the state of random generators, if there is one
  kTime,          ///< TimeBody and then its set indices (std::uint32_t each): calls whose time
                  ///< the judge takes, or whose records it wants
  kModel,         ///< ModelBody: builds a module's model for an input set; answered with kMapped
  kGate,   ///< GateBody; descriptors: a page with GateWords, memory for outputs; answered with
           ///< kMapped
  kQueue,  ///< QueueBody and then its set indices: queues a call of each behind the gate
  kTrace,  ///< asks for the trace of a queued block; answered with kCalled
  // candidate → judge
  kLoaded = 80,  ///< empty: code is loaded, ready for buffers
  kMapped,       ///< empty; as the answer to kModel a BuiltBody
  kCalled,       ///< CalledBody and then its FindingBody[]: the call ended, the device is idle
  kTimes,        ///< double[]: span and busy milliseconds of each call by the GPU's records, or by
                 ///< KernelBench's rules the time of each; then a CalledBody if traced
  kFailed,       ///< FailedBody, FindingBody[]: the candidate's own failure
  kProfiled,     ///< ProfiledBody, LaunchCounts[], OperatorCounts[]: answer to a counted kCall
  kQueued,       ///< QueuedBody, OutputPlace[]: answer to kQueue
  // candidate → driver, on a separate channel
  kCompile = 96,  ///< JSON: an extension to build; no pickles, nothing is evaluated
  kDryImported,   ///< JSON: how a dry import ended
  kStandsBy,      ///< from a warm process: its device is open
  // driver → candidate
  kCompiled = 112,  ///< JSON; descriptors: the sealed shared object and image, if built
  kJob,             ///< to a warm process: descriptors of a job[, of a channel for builds]
};

/// One shared buffer as the judge sends it to a candidate.
struct BufferEntry {
  std::uint32_t set;     ///< input set it belongs to
  std::uint32_t tensor;  ///< index into LaunchPlan::tensors
  std::uint32_t role;    ///< BufferRole
  std::uint32_t writable;
  std::uint64_t mapped_bytes;  ///< size of the descriptor's object
  std::uint64_t data_offset;   ///< where the tensor's elements start
  std::uint64_t data_bytes;
  std::uint64_t red_before, red_after;  ///< bytes of canary around the data
  std::uint32_t descriptor = 0;         ///< index in the message; small tensors may share one
  std::uint32_t reserved = 0;
};

/// The use of a buffer. Launches use kWork if there is one, else kSource.
enum class BufferRole : std::uint32_t {
  kSource = 0,  ///< an input, parameter or buffer as drawn; mapped read-only
  kWork = 1,    ///< an output (poisoned before each call), or the copy of an `inout` source
};

enum class CallMode : std::uint32_t {
  kPlain,
  kCounted,    ///< the kernels' work is counted; answered with kProfiled
  kUndefined,  ///< uses Artifact::undefined_ptx, if a plan's kernels have it
  kAblation,   ///< ablation run: kbench skips the candidate's own kernels if it launches them
  kNext,       ///< the model keeps the state of its last call; other inputs
  kEvalMode,   ///< puts a module in eval mode permanently, for a last call after a wrong answer
};

/// One call. By KernelBench's rules, the state of torch's generators follows it.
struct CallBody {
  std::uint32_t set;
  CallMode mode = CallMode::kPlain;
  double limit_s = 0;  ///< limit of the call, after which the judge gives up; 0: none given
  std::uint32_t poison = 0xff;  ///< content of output memory before the call (worker/poison.hpp)
  std::uint32_t reserved = 0;
};

/// The model of one input set: built under its init seed, then given the set's weights unless
/// `as_built`. The set may also use the model of another set and its state.
struct ModelBody {
  std::uint32_t set;
  std::uint32_t owner;  ///< the set that owns the model, or `set` itself
  std::uint64_t init_seed;
  std::uint32_t as_built = 0;     ///< 1: keeps the weights that its constructor made
  std::uint32_t keeps_state = 0;  ///< 1: attributes are reset before each call
};

/// How a module's model got the reference's weights: as its constructor made them, or by the
/// weakest rule that placed one of its tensors.
inline constexpr std::string_view kWeightRules[] = {"as_built", "by_name", "by_value",
                                                    "by_transposed", "by_order"};

/// The body of kMapped as the answer to kModel. Indices into the plan's tensors (std::uint32_t
/// each) follow: the tensors that could not be copied into the model or, for `as_built`, whose
/// values it does not hold.
struct BuiltBody {
  std::uint32_t math_modes;           ///< torch's matrix product settings in that process, as bits
  std::uint32_t weights = 0;          ///< 1 + index into kWeightRules; 0: no weights were given
  std::uint32_t weights_by_seed = 0;  ///< 1: parts kept the weights that their constructor drew
  std::uint32_t is_given = 0;         ///< 1: has all of the reference's weights in the right places
};
/// The most such indices that a message lists.
inline constexpr std::size_t kMaxUnplaced = 20;

/// Flags of a record that a candidate's process sets. A "kbench:…" flag names an outcome of
/// kbench's own rules that is not a failure by KernelBench's rules.
inline constexpr std::string_view kNotedFlags[] = {
    "kbench:illegal_write", "kbench:wrong_shape", "kbench:wrong_dtype", "replaces_constants",
    "undefined_unchecked",  "inputs_read_back",   "host_tensors_moved"};
/// Index of the flag for checks of undefined registers that were left out, because their build
/// could not be loaded.
inline constexpr unsigned kUndefinedUnchecked = 4;
/// Index of the flag for GPU calls that copy inputs to the host, where code may compute with them.
inline constexpr unsigned kInputsReadBack = 5;
/// Index of the flag for tensors that a constructor left on the host and that kbench moved to the
/// device.
inline constexpr unsigned kHostTensorsMoved = 6;

/// Observations of a call, besides its results.
struct CalledBody {
  std::uint32_t read_clock;  ///< 1: a kernel read a clock
  std::uint32_t launches;    ///< launches of its own kernels in this call
  std::uint32_t noted = 0;   ///< bit i: kNotedFlags[i]
  std::uint32_t computed;    ///< 1: a torch operator, a foreign kernel or the host computed
  std::uint32_t unseen = 0;  ///< 1: incomplete trace: `launches` and `computed` may miss work
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

/// The work of a counted call. `rows` LaunchCounts follow, then `operators` OperatorCounts.
struct ProfiledBody {
  std::uint32_t rows, operators;
  std::uint32_t incomplete;  ///< 1: some work was not counted or not reported
  std::uint32_t reserved = 0;
};

/// The work of a call's launches of one shape.
struct LaunchCounts {
  std::uint32_t launch;    ///< for a plan: index of the first one in LaunchPlan::launches
  std::uint32_t launches;  ///< number of launches
  std::uint32_t grid[3], block[3];
  char kernel[128];   ///< for host code: its name, cut to fit and zero-terminated
  Counters counters;  ///< summed
  // Measured on a GPU; else 0.
  double gpu_ms = 0;  ///< summed
  std::uint32_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0, reserved = 0;
};
/// The most rows of a call's profile. Later launches are added to the last row.
inline constexpr std::size_t kMaxProfileRows = 64;

/// The work of one torch operator in a call, as in OperatorCost.
struct OperatorCounts {
  std::uint64_t bytes, flops;
  std::uint32_t type, tensor_cores;
  char name[48];  ///< cut to fit and zero-terminated
};
/// The most operators that are reported for a call.
inline constexpr std::size_t kMaxProfileOperators = 2048;

struct TimeBody {
  std::uint32_t calls;          ///< number of set indices that follow
  std::uint32_t cold_cache;     ///< 1: flush the L2 before each call
  double limit_s = 0;           ///< limit of all calls together, as in CallBody
  std::uint32_t looks = 0;      ///< 1: traces and reports the work as in a kCall
  std::uint32_t records = 0;    ///< 1: answers with the GPU's records of each call
  std::uint32_t poison = 0xff;  ///< as in CallBody, before each call
  std::uint32_t reserved = 0;
};

/// The encryption key of an input set. The judge decrypts the inputs when the process that queued
/// their calls has stopped, so no work can compute from them earlier.
struct EncryptionKey {
  std::uint64_t key = 0, nonce = 0;
  /// The key of input `n` of the plan (BoundTensor::index).
  EncryptionKey of_input(std::size_t n) const { return {key, nonce ^ (std::uint64_t{n} << 32)}; }
};

/// The words of a page that the judge, a candidate's process and the GPU share. Each holds the
/// number of the last block for which it was written.
struct GateWords {
  std::uint32_t open;   ///< by the judge: the GPU may turn to the queue of this process
  std::uint32_t ready;  ///< by the GPU: it has
  std::uint32_t start;  ///< by the judge: the queued calls may run
  std::uint32_t done;   ///< by the GPU: all work of the process's context is done
};

/// The size of that page.
inline constexpr std::size_t kGatePageBytes = 4096;

/// A block of calls to be queued behind the gate.
struct QueueBody {
  std::uint32_t calls;          ///< number of set indices that follow
  std::uint32_t block;          ///< number of the block
  double limit_s = 0;           ///< limit of all calls together, as in CallBody
  std::uint32_t poison = 0xff;  ///< as in CallBody, before all calls
  std::uint32_t traced = 0;     ///< 1: its work is traced, for a kTrace
  std::uint32_t copies = 0;     ///< 1: outputs are copied to their buffers, inside of the time
  std::uint32_t alone = 0;      ///< 1: one call, the gate is open; it may write to its inputs
  std::uint32_t spin_ms = 0;    ///< behind the gate, a kernel of kbench runs for this long
};

/// Why a process cannot queue calls. The row is a flag of the record.
inline constexpr std::string_view kGateRefusals[] = {"gate_unsupported", "gate_inputs_written",
                                                     "gate_outputs_elsewhere", "gate_failed"};

/// The memory for outputs of queued calls.
struct GateBody {
  std::uint64_t memory_bytes;  ///< size of the object behind the second descriptor
};

/// The answer to kQueue. An OutputPlace for each output of each call follows, if kbench did not
/// allocate them.
struct QueuedBody {
  std::uint32_t refused = 0;  ///< 1 + index into kGateRefusals: nothing was queued; else 0
  std::uint32_t outputs = 0;  ///< OutputPlaces
};
/// Where an output of a queued call will lie in the memory for outputs.
struct OutputPlace {
  static constexpr std::size_t kMaxDims = 8;
  std::uint32_t dims, reserved = 0;
  std::uint64_t offset_bytes;
  std::int64_t strides[kMaxDims];  ///< in elements
};

/// A candidate's process reports its failure; text fields are cut to fit and zero-terminated.
struct FailedBody {
  std::uint32_t outcome;  ///< Outcome; a crash if a candidate's process may not claim it
  char cause[60];
  char message[960];
};

/// A candidate's process's own report of its failure, after checks. An outcome that the process may
/// not claim, or a body of another size, becomes a crash.
struct ClaimedFailure {
  Outcome outcome = Outcome::kCrash;
  std::string cause, message;
};
ClaimedFailure claimed_failure(std::string_view body);

/// `outcome` if a candidate's process may claim it, else a crash.
Outcome claimable(Outcome outcome);

/// The largest body that a candidate may send to the judge.
inline constexpr std::uint32_t kMaxCandidateBody = 1u << 18;
/// The largest build request of a candidate.
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
  kClosed,     ///< the other end is closed
  kTimeout,    ///< no whole frame within the limit
  kMalformed,  ///< wrong magic, nonce or length: the sender is not the expected process
  kCancelled,  ///< the cancel descriptor became readable
};

using Clock = std::chrono::steady_clock;

/// One end of a socket pair. Each message has the sum of nonce and sequence number, so another
/// process with the descriptor cannot insert or repeat a message.
class Channel {
 public:
  Channel() = default;
  Channel(Fd socket, std::uint64_t nonce, std::uint32_t max_body);
  int fd() const { return socket_.value(); }
  explicit operator bool() const { return static_cast<bool>(socket_); }
  /// Sends a frame; false if the other end is closed.
  bool send(MessageType type, std::string_view body, const std::vector<int>& fds = {});
  /// Waits for one whole frame until `deadline`; a readable `cancel_fd` (−1: none) ends the wait.
  ReceiveStatus receive(Message& message, Clock::time_point deadline, int cancel_fd = -1);

 private:
  ReceiveStatus fill(std::size_t size, std::vector<Fd>* fds, Clock::time_point deadline,
                     int cancel_fd);
  Fd socket_;
  std::uint64_t nonce_ = 0;
  std::uint64_t sent_ = 0, received_ = 0;
  std::string partial_;  ///< the frame so far; its first `filled_` bytes are read
  std::size_t filled_ = 0;
  std::vector<Fd> partial_fds_;
  std::uint32_t max_body_ = kMaxBody;
};

/// A nonce from the kernel's random source. Throws kbench::Error if it fails.
std::uint64_t random_nonce();
/// `bytes` random bytes as hexadecimal digits.
std::string random_hex(std::size_t bytes);

}  // namespace kbench::protocol
