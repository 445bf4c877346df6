// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kbench/profile.hpp"

/// Runs PTX on the CPU: parses NVRTC's output, executes warps as vectors and spreads blocks over
/// cores.
namespace kbench::ptx {

/// An instruction or directive that this executor cannot run, and its position in the source.
struct Unsupported {
  std::string instruction;  ///< "wgmma.mma_async.sync.aligned"
  std::string message;      ///< one sentence
  int ptx_line = 0;
  std::string file;  ///< source file from .loc; empty without line information
  int line = 0;
};

/// A parsed and decoded PTX module: its kernels, functions and global variables.
class Module {
 public:
  ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  /// Names of the entry functions.
  std::vector<std::string> kernels() const;
  /// Bytes of each parameter of a kernel; none if there is no kernel of that name.
  std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view kernel) const;
  /// Storage of a global or constant variable; empty if there is none of that name.
  std::span<std::byte> variable(std::string_view name);
  struct Impl;
  std::unique_ptr<Impl> impl;

 private:
  friend std::variant<Module, Unsupported> load(std::string_view ptx);
  Module();
};

/// Parses and decodes a module. Throws kbench::Error if the text is not PTX.
std::variant<Module, Unsupported> load(std::string_view ptx);

/// The 2-byte words of a region that have been written since its caller filled it with 0xFF bytes.
///
/// A word that is not 0xFFFF must have been written, so a bit is needed only for stores of 0xFFFF.
/// Other stores cost only a test of the value. The bits take 1/16 of the memory.
class Written {
 public:
  explicit Written(std::size_t size_bytes)
      : words_((size_bytes + 127) / 128), bits_(new std::atomic<std::uint64_t>[words_]) {
    clear();
  }
  /// Forgets all writes. Call it after the region has been filled again.
  void clear() {
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(0, std::memory_order_relaxed);
  }
  /// `offset`: bytes from the region's start.
  void mark(std::size_t offset) {
    bits_[offset / 128].fetch_or(bit(offset), std::memory_order_relaxed);
  }
  bool marked(std::size_t offset) const {
    return (bits_[offset / 128].load(std::memory_order_relaxed) & bit(offset)) != 0;
  }

 private:
  static std::uint64_t bit(std::size_t offset) { return std::uint64_t{1} << (offset / 2 % 64); }

  std::size_t words_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> bits_;
};

/// Memory that kernels may touch: global-space addresses are host addresses inside these regions.
struct Region {
  std::string name;  ///< "input x", "output y", for messages
  std::byte* base = nullptr;
  std::size_t size_bytes = 0;
  /// Bytes of red zone directly before and after the data, mapped and filled by the caller. A write
  /// there is FaultKind::kIllegalWrite, not kIllegalAddress.
  std::size_t red_zone_before = 0, red_zone_after = 0;
  bool writable = true;
  /// Records what has been written. Needs a region that is aligned to 2 and that the caller has
  /// filled with 0xFF bytes. Null: all of the region counts as written. The object must outlive all
  /// launches of one call, because one kernel reads what another wrote.
  Written* written = nullptr;
};

enum class FaultKind : std::uint8_t {
  kIllegalWrite,    ///< a write to a read-only region, a red zone, or past a buffer's end
  kIllegalRead,     ///< a read past a buffer's end, within its red zone
  kIllegalAddress,  ///< an address outside all regions
  kMisaligned,      ///< an address not aligned to its access
  kTrap,            ///< trap instruction or a failed assert
  kDeadlock,        ///< all threads wait and none can continue
  kBadLaunch,       ///< too many threads, too much shared memory, cooperative grid too large
  kUnsupported,     ///< an instruction reached at run time that cannot be executed
  kDeadline,        ///< Options::deadline has passed
  kBudget,          ///< the launch used up Options::max_instructions
};

/// The thread, the code position and the buffer of an event.
struct Site {
  std::string kernel;
  std::array<std::uint32_t, 3> block{}, thread{};
  std::string region;             ///< nearest buffer, if the event is about an address
  std::int64_t offset_bytes = 0;  ///< from the start of `region`
  std::string instruction;
  std::string file;
  int line = 0;
};

/// Why a launch ended early.
struct Fault : Site {
  FaultKind kind = FaultKind::kTrap;
  std::string message;  ///< one sentence: kernel, thread, buffer, offset, source line
};

/// What the sanitizers check, in addition to the faults that end a launch.
enum class Sanitize : std::uint8_t {
  kNone,    ///< bounds and alignment only
  kMemory,  ///< also reads of undefined memory, and barriers that not all threads execute together
  kAll,     ///< also races of threads and of blocks on shared and global memory
};

enum class FindingKind : std::uint8_t {
  kFault,              ///< the access or the barrier that ended the launch
  kUninitialized,      ///< a read of memory that was never written
  kBarrierDivergence,  ///< lanes of a warp arrived at a barrier apart, or threads went around it
  kSharedRace,  ///< two threads of a block without a barrier between them, and at least one writes
  kGlobalRace,  ///< two threads or blocks in no defined order, and at least one writes
};

/// One observation of a sanitizer at one instruction. A launch continues after all but a fault.
struct Finding : Site {
  FindingKind kind = FindingKind::kFault;
  std::string message;      ///< one sentence, including what is allowed
  std::uint64_t count = 1;  ///< number of threads that did the same at this instruction
};

/// Limits of the emulated device.
struct DeviceModel {
  std::uint32_t sms = 16;
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t max_threads_per_sm = 2048;
  std::uint32_t max_blocks_per_sm = 32;
  std::uint32_t shared_bytes_per_block = 227 * 1024;
  std::uint32_t shared_bytes_per_sm = 228 * 1024;
};

struct Launch {
  std::string kernel;  ///< entry name in the module
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{0, 0, 0};
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  std::vector<std::vector<std::byte>> arguments;  ///< raw bytes of each parameter, in order
};

struct Options {
  unsigned threads = 0;  ///< host threads; 0: all cores
  /// Permutes the order of blocks and may reverse that of warps. With `sanitize`, blocks also yield
  /// to others after loads, which exposes races.
  std::uint64_t schedule_seed = 0;
  /// Checked every few milliseconds; the fault names an instruction that was running then.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::function<void(std::string_view)> print;  ///< text of the kernels' printf
  DeviceModel device;
  Sanitize sanitize = Sanitize::kNone;
  std::size_t max_findings = 20;
  bool count = false;                  ///< fills Statistics::counters; several times slower
  std::uint64_t max_instructions = 0;  ///< warp instructions of the launch; 0: no bound
};

/// What happened during a launch.
struct Statistics {
  std::uint64_t warp_instructions = 0;
  bool read_clock = false;           ///< a kernel read clock or globaltimer
  std::optional<Counters> counters;  ///< with Options::count
};

struct Result {
  Statistics statistics;
  std::optional<Fault> fault;     ///< the reason if the launch ended early
  std::vector<Finding> findings;  ///< at most Options::max_findings, by first occurrence
  std::uint64_t findings_left_out = 0;
};

/// Runs one kernel to its end. Global variables of the module keep their values between launches.
Result launch(Module& module, std::span<const Region> regions, const Launch& launch,
              const Options& options);

/// Like load(), but accepts instructions that this executor cannot run. A launch that reaches one
/// has a kUnsupported fault, so code that never runs is harmless, such as code for another
/// architecture. Constructs that are not instructions (textures, `.extern` variables) are refused
/// as by load().
std::variant<Module, Unsupported> load_lazily(std::string_view ptx);

}  // namespace kbench::ptx
