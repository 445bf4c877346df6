// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kbench {

/// Classes of instructions that counters tell apart.
enum class InstructionClass : std::uint8_t {
  kInteger,
  kFp16,
  kFp32,
  kFp64,
  kSpecial,  ///< ex2, lg2, sin, cos, rcp, rsqrt, sqrt, tanh
  kTensor,
  kConvert,
  kMove,
  kGlobal,
  kShared,
  kLocal,
  kAtomic,
  kControl,
  kBarrier,
  kWarp,  ///< shuffles, votes
};
constexpr std::size_t kInstructionClasses = 15;

/// Types in which floating-point operations are counted.
enum class FlopType : std::uint8_t { kFp64, kFp32, kTf32, kBf16, kFp16, kFp8, kInt8, kInt4 };
constexpr std::size_t kFlopTypes = 8;

/// What a launch executed and moved, as the PTX executor counts it.
struct Counters {
  struct Executed {
    std::uint64_t warps = 0, threads = 0;
  };
  std::array<Executed, kInstructionClasses> executed{};
  /// By FlopType; an FMA is two. Plain instructions, and those of tensor cores.
  std::array<std::uint64_t, kFlopTypes> flops{}, tensor_flops{};
  std::uint64_t global_requests = 0;  ///< warp instructions on global memory
  std::uint64_t global_sectors = 0;   ///< of 32 bytes, that they touched
  std::uint64_t global_bytes = 0;     ///< asked for by the threads
  std::uint64_t unique_read_bytes = 0, unique_written_bytes = 0;  ///< whole sectors: least traffic
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_conflicts = 0;  ///< passes beyond the first, 32 banks of 4 bytes
  std::uint64_t global_atomics = 0, shared_atomics = 0;  ///< of threads
};

}  // namespace kbench
