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

#include "kbench/counters.hpp"
#include "kbench/interned.hpp"
#include "kbench/maybe_number.hpp"

/// What a candidate's kernels did in the executor, and what a GPU would need for it at least; or
/// what they did on a GPU.
namespace kbench {

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
