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

/// PTX on the CPU: parse what NVRTC emits and run it, warps as vectors, blocks over the cores.
namespace kbench::ptx {

/// What this executor cannot run: the instruction or directive, and where it comes from.
struct Unsupported {
  std::string instruction;  ///< "wgmma.mma_async.sync.aligned"
  std::string message;      ///< one sentence
  int ptx_line = 0;
  std::string file;  ///< source by .loc, if the PTX has line information
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
  /// Bytes of each parameter of a kernel; none for a name that is no kernel's.
  std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view kernel) const;
  /// Storage of a global or constant variable; empty for a name that is none's.
  std::span<std::byte> variable(std::string_view name);
  struct Impl;
  std::unique_ptr<Impl> impl;

 private:
  friend std::variant<Module, Unsupported> load(std::string_view ptx);
  Module();
};

/// Parses and decodes a module. Throws kbench::Error where the text is no PTX.
std::variant<Module, Unsupported> load(std::string_view ptx);

/// Which 2-byte words of a region have been written since its caller filled it with 0xFF bytes.
///
/// A word that reads as anything but 0xFFFF has been written: a bit is needed only where 0xFFFF
/// itself was stored. So a store costs nothing beyond a look at its value, and the memory is 1/16.
class Written {
 public:
  explicit Written(std::size_t size_bytes)
      : words_((size_bytes + 127) / 128), bits_(new std::atomic<std::uint64_t>[words_]) {
    clear();
  }
  /// Forgets all writes: to be called when the region has been filled anew.
  void clear() {
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(0, std::memory_order_relaxed);
  }
  /// Offsets are bytes from the region's begin.
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
  /// Bytes of red zone directly before and after the data, mapped and filled by the caller: a write
  /// that lands there is FaultKind::kIllegalWrite, not a wild address.
  std::size_t red_zone_before = 0, red_zone_after = 0;
  bool writable = true;
  /// Of a region that the caller has filled with 0xFF bytes, aligned to 2; null: all of it counts
  /// as written. Outlives the launches of one call, since one kernel reads what another wrote.
  Written* written = nullptr;
};

enum class FaultKind : std::uint8_t {
  kIllegalWrite,    ///< a write into a red zone, past a buffer's end, or to a read-only region
  kIllegalRead,     ///< a read past a buffer's end, within its red zone
  kIllegalAddress,  ///< an address in no region
  kMisaligned,      ///< an address not aligned to its access
  kTrap,            ///< trap instruction or a failed assert
  kDeadlock,        ///< all threads wait, none can go on
  kBadLaunch,       ///< too many threads, too much shared memory, cooperative grid too large
  kUnsupported,     ///< an instruction met at run time that cannot be executed
  kDeadline,        ///< Options::deadline has passed
  kBudget,          ///< Options::max_instructions are used up
};

/// Which thread did something, where in the code, and to which buffer.
struct Site {
  std::string kernel;
  std::array<std::uint32_t, 3> block{}, thread{};
  std::string region;             ///< nearest buffer, where an address is at fault
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

/// What the sanitizers look for, beyond the faults that end a launch.
enum class Sanitize : std::uint8_t {
  kNone,    ///< bounds and alignment alone
  kMemory,  ///< also reads of undefined memory, and barriers that a warp meets divided
  kAll,     ///< also races on shared memory, and on global memory between blocks
};

enum class FindingKind : std::uint8_t {
  kFault,              ///< the access or the barrier that ended the launch
  kUninitialized,      ///< a read of memory that nobody has written
  kBarrierDivergence,  ///< lanes of one warp arrived at a barrier by different instructions
  kSharedRace,         ///< two threads of a block, at least one writes, no barrier in between
  kGlobalRace,         ///< two blocks, at least one writes, nothing that orders them
};

/// One thing that a sanitizer saw at one instruction. A launch goes on after all but a fault.
struct Finding : Site {
  FindingKind kind = FindingKind::kFault;
  std::string message;      ///< one sentence; what is allowed is in it
  std::uint64_t count = 1;  ///< threads that did the same at this instruction
};

/// Limits of the device that the executor stands for.
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
  /// Permutes the order of the blocks, and turns that of warps round; where reads are looked at
  /// (`sanitize`), lets blocks give way to others behind loads: races show as differences.
  std::uint64_t schedule_seed = 0;
  /// Looked at every few milliseconds; the fault names an instruction that was running then.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::function<void(std::string_view)> print;  ///< text of the kernels' printf
  DeviceModel device;
  Sanitize sanitize = Sanitize::kNone;
  std::size_t max_findings = 20;
  bool count = false;                  ///< fills Statistics::counters; several times slower
  std::uint64_t max_instructions = 0;  ///< warp instructions of the launch; 0: no bound
};

/// What a launch did.
struct Statistics {
  std::uint64_t warp_instructions = 0;
  bool read_clock = false;           ///< a kernel looked at clock or globaltimer
  std::optional<Counters> counters;  ///< with Options::count
};

struct Result {
  Statistics statistics;
  std::optional<Fault> fault;     ///< why the launch ended early
  std::vector<Finding> findings;  ///< at most Options::max_findings, by first occurrence
  std::uint64_t findings_left_out = 0;
};

/// Runs one kernel to its end. Global variables of the module keep their values between launches.
Result launch(Module& module, std::span<const Region> regions, const Launch& launch,
              const Options& options);

/// As load(), but an instruction that this executor cannot run is no refusal of the module: a
/// launch that reaches it has a fault of the kind kUnsupported. So code that never runs, as that of
/// another architecture, does no harm. What is not an instruction (textures, `.extern` variables)
/// is refused as by load().
std::variant<Module, Unsupported> load_lazily(std::string_view ptx);

}  // namespace kbench::ptx
