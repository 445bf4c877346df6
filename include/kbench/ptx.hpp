// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
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
  struct Impl;
  std::unique_ptr<Impl> impl;

 private:
  friend std::variant<Module, Unsupported> load(std::string_view ptx);
  Module();
};

/// Parses and decodes a module. Throws kbench::Error where the text is no PTX.
std::variant<Module, Unsupported> load(std::string_view ptx);

/// Memory that kernels may touch: global-space addresses are host addresses inside these regions.
struct Region {
  std::string name;  ///< "input x", "output y", for messages
  std::byte* base = nullptr;
  std::size_t size_bytes = 0;
  /// Bytes of red zone directly before and after the data, mapped and filled by the caller: a write
  /// that lands there is FaultKind::kIllegalWrite, not a wild address.
  std::size_t red_zone_before = 0, red_zone_after = 0;
  bool writable = true;
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
  kCancelled,       ///< the caller's cancel flag was set
};

/// Why a launch ended early: this thread, this line, this buffer.
struct Fault {
  FaultKind kind = FaultKind::kTrap;
  std::string message;  ///< one sentence: kernel, thread, buffer, offset, source line
  std::string kernel;
  std::array<std::uint32_t, 3> block{}, thread{};
  std::string region;             ///< nearest buffer, where an address is at fault
  std::int64_t offset_bytes = 0;  ///< from the start of `region`
  std::string instruction;
  std::string file;
  int line = 0;
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
  unsigned threads = 0;             ///< host threads; 0: all cores
  std::uint64_t schedule_seed = 0;  ///< permutes the order of the blocks: races show as differences
  const std::atomic<bool>* cancel = nullptr;    ///< polled at least every few milliseconds
  std::function<void(std::string_view)> print;  ///< text of the kernels' printf
  DeviceModel device;
};

/// What a launch did.
struct Statistics {
  std::uint64_t warp_instructions = 0;
};

/// Runs one kernel to its end. Global variables of the module keep their values between launches.
std::variant<Statistics, Fault> launch(Module& module, std::span<const Region> regions,
                                       const Launch& launch, const Options& options);

}  // namespace kbench::ptx
