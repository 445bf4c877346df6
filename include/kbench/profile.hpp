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

/// Classes of instructions, counted separately.
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

/// Types by which floating-point operations are counted.
enum class FlopType : std::uint8_t { kFp64, kFp32, kTf32, kBf16, kFp16, kFp8, kInt8, kInt4 };
constexpr std::size_t kFlopTypes = 8;

/// What a launch executed and transferred, as counted by the PTX executor.
struct Counters {
  struct Executed {
    std::uint64_t warps = 0, threads = 0;
  };
  std::array<Executed, kInstructionClasses> executed{};
  /// By FlopType; an FMA counts as two. `flops`: plain instructions; `tensor_flops`: tensor cores.
  std::array<std::uint64_t, kFlopTypes> flops{}, tensor_flops{};
  std::uint64_t global_requests = 0;  ///< warp instructions that access global memory
  std::uint64_t global_sectors = 0;   ///< sectors of 32 bytes that those requests touched
  std::uint64_t global_bytes = 0;     ///< bytes that the threads asked for
  std::uint64_t unique_read_bytes = 0, unique_written_bytes = 0;  ///< whole sectors: least traffic
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_conflicts = 0;  ///< passes beyond the necessary ones; 32 banks of 4 bytes
  std::uint64_t global_atomics = 0, shared_atomics = 0;  ///< counted per thread
};

// How close a candidate came to its device's limit.

/// The minimum that one call of the reference must transfer and compute, in any implementation.
/// Inputs, parameters and buffers are read once, outputs written once. If a call only looks up
/// elements of a tensor, at most those elements count.
struct LeastWork {
  std::uint64_t read_bytes = 0, written_bytes = 0;
  /// Operations of products and convolutions by FlopType; an FMA counts as two. All are 0 if there
  /// are none. They are also 0 if fewer could give the same result: a product with a diagonal
  /// matrix, a product of products, or a product of which only a sum or a part is kept.
  std::array<std::uint64_t, kFlopTypes> flops{};
};

/// A GPU's limits: memory clock times bus width, and multiprocessors at their highest clock. No
/// kernel reaches them fully.
struct Peaks {
  double memory_bytes_s = 0;
  double l2_bytes = 0;  ///< not in JSON
  /// Operations a second by FlopType, on the fastest pipe with at least that accuracy; 0: unknown.
  /// For fp32 that may be three tf32 products of operands split into high and low parts.
  std::array<double, kFlopTypes> flops_s{};
};

/// None if the driver does not report the memory clock. If the table lacks the architecture, the
/// operation rates are unknown.
std::optional<Peaks> peaks_of(const GpuInfo& gpu);

/// Least work, and the fraction of the device's limit that a candidate reached.
struct SpeedOfLight {
  LeastWork work;
  MaybeNumber limit_ms;  ///< no call is faster; none if the device's peaks are unknown
  Interned limited_by;   ///< "memory" or "compute"; empty if there is no limit
  MaybeNumber share;     ///< fraction: limit_ms over the candidate's time, 0 to 1
  /// The same fraction with measured rates: those that copies and products reached on this GPU.
  /// None if they were not measured.
  MaybeNumber share_measured = {};
  /// Least time of a call that reads its inputs and does its operations. Set only for candidates
  /// that took less; they have the flag `implausible`.
  MaybeNumber plausible_ms = {};
};
/// `time_ms`: the candidate's time.
SpeedOfLight speed_of_light(const LeastWork& work, const std::optional<Peaks>& peaks,
                            std::optional<double> time_ms);

/// Least milliseconds to write the part of the outputs that does not fit in the L2. A shorter time
/// means that the outputs were not written.
double least_write_ms(const LeastWork& work, const Peaks& peaks);
/// Least milliseconds to read the inputs (minus what a warm L2 may hold), or to do the reference's
/// own operations; the longer of the two.
double least_call_ms(const LeastWork& work, const Peaks& peaks, bool cold_cache);

/// `peaks` with the rates of copies and products in `measured`. A rate that is 0 in `measured`
/// stays as it is.
Peaks measured_over(const Peaks& peaks, const Peaks& measured);

/// JSON forms. Each `*_from_json` throws kbench::Error that names the faulty field.
nlohmann::json to_json(const Peaks& peaks);
Peaks peaks_from_json(const nlohmann::json& json);
nlohmann::json to_json(const LeastWork& work);
LeastWork least_work_from_json(const nlohmann::json& json);
nlohmann::json to_json(const SpeedOfLight& sol);
SpeedOfLight speed_of_light_from_json(const nlohmann::json& json);

// What a candidate's kernels did: counted by the executor, with an estimate of their least time on
// a GPU, or traced on a GPU.

/// "integer", "fp32", "global", …
std::string_view to_string(InstructionClass instruction_class);
/// "fp64", "fp32", "tf32", …
std::string_view to_string(FlopType type);
std::optional<FlopType> flop_type_from_name(std::string_view name);

/// What a GPU reports of all launches of one shape.
struct GpuLaunches {
  double ms = 0;                ///< from start to end, summed over the launches
  std::uint32_t registers = 0;  ///< per thread
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< per block
  /// Fraction of a multiprocessor's maximum of warps that the kernel can occupy; none if the
  /// multiprocessor's limits are unknown.
  std::optional<double> occupancy = {};
};

/// The most that a multiprocessor can hold.
struct SmLimits {
  std::uint32_t warps = 0, blocks = 0, registers = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t reserved_shared_bytes = 0;  ///< per block, on top of its own shared memory
};
/// Theoretical occupancy for blocks of `block_threads` threads. The limit that is reached first
/// decides: warps, blocks, shared memory or registers. Registers are allocated for four warps at a
/// time, in units of 256 per warp.
double occupancy(const SmLimits& limits, std::uint32_t block_threads, const GpuLaunches& launch);

/// All launches of one call that share kernel, grid and block.
struct KernelProfile {
  std::string kernel;  ///< name expression in the plan
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t launches = 1;
  Counters counters;  ///< counted by the executor, summed over the launches
  std::optional<GpuLaunches> gpu = {};
};

/// Adds field by field. Unique bytes are added too, because launches share no cache.
Counters& operator+=(Counters& sum, const Counters& more);
/// Executed instructions, summed over all classes.
Counters::Executed executed(const Counters& counters);
/// Fraction of lanes that were active, over all executed instructions; none if nothing was
/// executed.
std::optional<double> lane_efficiency(const Counters& counters);
/// Sectors of 32 bytes per global request: 4 if 32 lanes read consecutive floats.
std::optional<double> sectors_per_request(const Counters& counters);
/// The least DRAM traffic: sectors read and sectors written, each once.
std::uint64_t unique_bytes(const Counters& counters);
/// Floating-point operations of all types, including those of tensor cores.
std::uint64_t total_flops(const Counters& counters);

/// JSON form in a record; zero counters by class or type are left out. kernel_profile_from_json
/// throws kbench::Error that names the faulty field.
nlohmann::json to_json(const KernelProfile& profile);
KernelProfile kernel_profile_from_json(const nlohmann::json& json);

/// Peaks of a GPU from its vendor's data sheet.
struct GpuModel {
  std::string_view name;
  double dram_gb_s = 0;
  /// 10¹² operations a second by FlopType, without sparsity; 0: the GPU has no such pipe.
  std::array<double, kFlopTypes> tflops{}, tensor_tflops{};
};
/// All GPUs that `--estimate-for` takes by name.
std::span<const GpuModel> gpu_models();
const GpuModel* find_gpu_model(std::string_view name);

/// The transfers and operations of one operator of the reference.
struct OperatorCost {
  std::string name;         ///< "aten.mm"
  std::uint64_t bytes = 0;  ///< of the tensors it reads and writes; 0 bytes and 0 flops: a view
  std::uint64_t flops = 0;
  FlopType type = FlopType::kFp32;
  bool tensor_cores = false;
};

nlohmann::json to_json(const OperatorCost& cost);
/// Throws kbench::Error that names the faulty field.
OperatorCost operator_cost_from_json(const nlohmann::json& json);

/// Estimated least milliseconds on the GPU; none if the GPU lacks a pipe. Each launch takes its
/// launch cost plus the longer of two times: its least traffic at peak bandwidth, and its
/// operations at peak rate. It is an estimate, never a measurement.
std::optional<double> estimated_ms(std::span<const KernelProfile> kernels, const GpuModel& gpu);
/// Estimate for one row of a profile, including launch cost.
std::optional<double> estimated_ms(const KernelProfile& kernel, const GpuModel& gpu);
/// Estimate for a call that launches kernels and calls torch operators, each counted as a launch.
std::optional<double> estimated_ms(std::span<const KernelProfile> kernels,
                                   std::span<const OperatorCost> operators, const GpuModel& gpu);
/// Estimate for operators alone, such as the reference's.
std::optional<double> estimated_ms(std::span<const OperatorCost> operators, const GpuModel& gpu);

/// Estimates of candidate and reference for one GPU.
struct TimeEstimate {
  Interned gpu;
  MaybeNumber candidate_ms, reference_ms;
  /// Reference over candidate; none if either is missing.
  std::optional<double> ratio() const;
};

}  // namespace kbench
