// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/values.hpp"

namespace kbench {

struct GpuInfo;

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

// How near a candidate came to what its device can do at most.

/// What one call of the reference has to move and to compute at least, whoever does it: inputs,
/// parameters and buffers read once (of what is only looked up, no more than is found), outputs
/// written once.
struct LeastWork {
  std::uint64_t read_bytes = 0, written_bytes = 0;
  /// Of products and convolutions, by FlopType, an FMA being two. All 0 where there are none, and
  /// where the same result may be had with fewer: a product with a diagonal, a product of products,
  /// one of which only a sum or a part is kept.
  std::array<std::uint64_t, kFlopTypes> flops{};
};

/// What a GPU can do at most: its memory's clock by the width of its bus, its multiprocessors at
/// their highest clock. No kernel attains all of it.
struct Peaks {
  double memory_bytes_s = 0;
  double l2_bytes = 0;  ///< not in JSON
  /// Operations a second by FlopType, on whichever pipe is the fastest for that accuracy: fp32 also
  /// as three products in tf32 (the split into high and low halves). 0: unknown.
  std::array<double, kFlopTypes> flops_s{};
};

/// None where the driver does not tell the memory's clock. Operations of architectures that are not
/// in the table are unknown.
std::optional<Peaks> peaks_of(const GpuInfo& gpu);

/// Least work, and the share of the device's limit that a candidate reached.
struct SpeedOfLight {
  LeastWork work;
  MaybeNumber limit_ms;  ///< no call is faster; none where the device's peaks are unknown
  Interned limited_by;   ///< "memory" or "compute"; empty where there is no limit
  MaybeNumber share;     ///< limit_ms over the candidate's time, 0 to 1
  /// The same of the limit that a copy and products reach on this GPU; none where nobody measured.
  MaybeNumber share_measured = {};
  /// What a call takes at least that reads its inputs and does its operations; only of candidates
  /// that took less, which have the flag `implausible`.
  MaybeNumber plausible_ms = {};
};
/// `time_ms` is a candidate's.
SpeedOfLight speed_of_light(const LeastWork& work, const std::optional<Peaks>& peaks,
                            std::optional<double> time_ms);

/// Milliseconds that writing what the L2 does not hold of the outputs takes at least: who claims
/// less has not written them.
double least_write_ms(const LeastWork& work, const Peaks& peaks);
/// Milliseconds that reading the inputs, but for what a warm L2 may hold of them, or computing
/// takes at least, by the count of the reference's own operations.
double least_call_ms(const LeastWork& work, const Peaks& peaks, bool cold_cache);

/// The same with what a copy and products were measured to reach, where they were.
Peaks measured_over(const Peaks& peaks, const Peaks& measured);

/// JSON forms. The other direction throws kbench::Error naming the faulty field.
nlohmann::json to_json(const Peaks& peaks);
Peaks peaks_from_json(const nlohmann::json& json);
nlohmann::json to_json(const LeastWork& work);
LeastWork least_work_from_json(const nlohmann::json& json);
nlohmann::json to_json(const SpeedOfLight& sol);
SpeedOfLight speed_of_light_from_json(const nlohmann::json& json);

// What a candidate's kernels did in the executor, and what a GPU would need for it at least; or
// what they did on a GPU.

/// "integer", "fp32", "global", …
std::string_view to_string(InstructionClass instruction_class);
/// "fp64", "fp32", "tf32", …
std::string_view to_string(FlopType type);
std::optional<FlopType> flop_type_from_name(std::string_view name);

/// What a GPU tells of the launches of one shape.
struct GpuLaunches {
  double ms = 0;                ///< from start to end, summed over the launches
  std::uint32_t registers = 0;  ///< of a thread
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< of a block
  /// Warps that a multiprocessor can hold of the kernel over those that it can hold at all; none
  /// where its limits are unknown.
  std::optional<double> occupancy = {};
};

/// What a multiprocessor holds at most.
struct SmLimits {
  std::uint32_t warps = 0, blocks = 0, registers = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t reserved_shared_bytes = 0;  ///< of each block, beside what it asks for
};
/// Theoretical occupancy of blocks of so many threads: by warps, blocks, registers (given to a warp
/// in units of 256, to four warps at once) and shared memory, whichever is used up first.
double occupancy(const SmLimits& limits, std::uint32_t block_threads, const GpuLaunches& launch);

/// All launches of one call that share kernel, grid and block.
struct KernelProfile {
  std::string kernel;  ///< name expression of the plan
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t launches = 1;
  Counters counters;  ///< summed over the launches; the executor's
  std::optional<GpuLaunches> gpu = {};
};

/// Adds field by field; unique bytes add up too, for launches share no cache.
Counters& operator+=(Counters& sum, const Counters& more);
/// Executed instructions of all classes.
Counters::Executed executed(const Counters& counters);
/// Share of the lanes of issued instructions that executed them; none where nothing was executed.
std::optional<double> lane_efficiency(const Counters& counters);
/// Sectors of 32 bytes per global request: 4 where 32 lanes read consecutive floats.
std::optional<double> sectors_per_request(const Counters& counters);
/// The least DRAM traffic: sectors read and sectors written, each once.
std::uint64_t unique_bytes(const Counters& counters);
/// Floating-point operations of all types, those of tensor cores included.
std::uint64_t total_flops(const Counters& counters);

/// JSON in a record; counters that are 0 in a group by class or type are left out.
/// kernel_profile_from_json throws kbench::Error naming the faulty field.
nlohmann::json to_json(const KernelProfile& profile);
KernelProfile kernel_profile_from_json(const nlohmann::json& json);

/// Peaks of a GPU by its vendor's data sheet.
struct GpuModel {
  std::string_view name;
  double dram_gb_s = 0;
  /// 10¹² operations a second by FlopType, without sparsity; 0: the GPU has no such pipe.
  std::array<double, kFlopTypes> tflops{}, tensor_tflops{};
};
/// The table of GPUs: `--estimate-for` takes their names.
std::span<const GpuModel> gpu_models();
const GpuModel* find_gpu_model(std::string_view name);

/// One operator of the reference: what it has to move and to compute.
struct OperatorCost {
  std::string name;         ///< "aten.mm"
  std::uint64_t bytes = 0;  ///< of the tensors it reads and writes; 0 and no flops: a view
  std::uint64_t flops = 0;
  FlopType type = FlopType::kFp32;
  bool tensor_cores = false;
};

nlohmann::json to_json(const OperatorCost& cost);
/// Throws kbench::Error naming the faulty field.
OperatorCost operator_cost_from_json(const nlohmann::json& json);

/// Milliseconds that launches with these counters need at least on the GPU: each the longer of its
/// least traffic at peak bandwidth and its operations at the peak of their pipes, and the cost of
/// launching. None where the GPU lacks a pipe. An estimate, never a measurement.
std::optional<double> estimated_ms(std::span<const KernelProfile> kernels, const GpuModel& gpu);
/// The same of one row of a profile, launch cost included.
std::optional<double> estimated_ms(const KernelProfile& kernel, const GpuModel& gpu);
/// The same of a call that launches kernels and calls operators of torch, a launch each.
std::optional<double> estimated_ms(std::span<const KernelProfile> kernels,
                                   std::span<const OperatorCost> operators, const GpuModel& gpu);
/// The same of operators alone, as the reference's.
std::optional<double> estimated_ms(std::span<const OperatorCost> operators, const GpuModel& gpu);

/// Both sides estimated for one GPU.
struct TimeEstimate {
  Interned gpu;
  MaybeNumber candidate_ms, reference_ms;
  /// reference over candidate, where both are there.
  std::optional<double> ratio() const;
};

}  // namespace kbench
