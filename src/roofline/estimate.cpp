// SPDX-License-Identifier: MIT
#include <algorithm>

#include "kbench/profile.hpp"

namespace kbench {
namespace {

/// Launch cost in addition to the work: of a call's first launch, and of each later one.
constexpr double kFirstLaunch_ms = 3e-3;
constexpr double kNextLaunch_ms = 1.5e-3;

/// Columns: fp64, fp32, tf32, bf16, fp16, fp8, int8, int4. Dense rates at boost clock.
constexpr GpuModel kGpuModels[] = {
    // NVIDIA H100 Tensor Core GPU data sheet, column SXM; plain half types as in the architecture
    // white paper.
    {"H100", 3350, {33.5, 66.9, 0, 133.8, 133.8}, {66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    // NVIDIA H200 Tensor Core GPU data sheet, column SXM: the chip of the H100, faster memory.
    {"H200", 4800, {33.5, 66.9, 0, 133.8, 133.8}, {66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9}},
    // NVIDIA A100 Tensor Core GPU data sheet, column 80 GB SXM.
    {"A100", 2039, {9.7, 19.5, 0, 39, 78}, {19.5, 0, 156, 312, 312, 0, 624, 1248}},
    // NVIDIA L40S data sheet; fp64 is 1/64 of fp32.
    {"L40S", 864, {1.43, 91.6, 0, 91.6, 91.6}, {0, 0, 183, 362, 362, 733, 733, 733}},
    // NVIDIA Ada GPU architecture white paper, GeForce RTX 4090; tensor cores accumulate in fp32.
    {"RTX4090",
     1008,
     {1.29, 82.6, 0, 82.6, 82.6},
     {0, 0, 82.6, 165.2, 165.2, 330.3, 660.6, 1321.2}},
};

double transfer_ms(std::uint64_t bytes, const GpuModel& gpu) {
  return static_cast<double>(bytes) / (gpu.dram_gb_s * 1e6);
}

/// None if there is work for a pipe that the GPU lacks.
std::optional<double> pipe_ms(std::uint64_t flops, double tflops) {
  if (flops == 0) return 0;
  if (tflops == 0) return std::nullopt;
  return static_cast<double>(flops) / (tflops * 1e9);
}

std::optional<double> work_ms(const Counters& counters, const GpuModel& gpu) {
  double longest = transfer_ms(unique_bytes(counters), gpu);
  for (std::size_t type = 0; type < kFlopTypes; ++type) {
    const auto plain = pipe_ms(counters.flops[type], gpu.tflops[type]);
    const auto tensor = pipe_ms(counters.tensor_flops[type], gpu.tensor_tflops[type]);
    if (!plain || !tensor) return std::nullopt;
    longest = std::max({longest, *plain, *tensor});
  }
  return longest;
}

std::optional<double> work_ms(const OperatorCost& op, const GpuModel& gpu) {
  const auto type = static_cast<std::size_t>(op.type);
  const bool tensor = op.tensor_cores && gpu.tensor_tflops[type] > 0;
  const auto work = pipe_ms(op.flops, tensor ? gpu.tensor_tflops[type] : gpu.tflops[type]);
  if (!work) return std::nullopt;
  return std::max(transfer_ms(op.bytes, gpu), *work);
}

double launches_ms(std::uint64_t launches) {
  if (launches == 0) return 0;
  return kFirstLaunch_ms + kNextLaunch_ms * static_cast<double>(launches - 1);
}

}  // namespace

std::span<const GpuModel> gpu_models() { return kGpuModels; }

const GpuModel* find_gpu_model(std::string_view name) {
  const auto found = std::ranges::find(kGpuModels, name, &GpuModel::name);
  return found == std::end(kGpuModels) ? nullptr : found;
}

std::optional<double> estimated_ms(std::span<const KernelProfile> kernels,
                                   std::span<const OperatorCost> operators, const GpuModel& gpu) {
  double total = 0;
  std::uint64_t launches = 0;
  const auto add = [&](std::optional<double> work, std::uint64_t times) {
    if (!work) return false;
    total += *work;
    launches += times;
    return true;
  };
  for (const KernelProfile& kernel : kernels)
    if (!add(work_ms(kernel.counters, gpu), kernel.launches)) return std::nullopt;
  for (const OperatorCost& op : operators) {
    if (op.bytes == 0 && op.flops == 0) continue;
    if (!add(work_ms(op, gpu), 1)) return std::nullopt;
  }
  return total + launches_ms(launches);
}

std::optional<double> estimated_ms(std::span<const KernelProfile> kernels, const GpuModel& gpu) {
  return estimated_ms(kernels, {}, gpu);
}

std::optional<double> estimated_ms(const KernelProfile& kernel, const GpuModel& gpu) {
  return estimated_ms({&kernel, 1}, gpu);
}

std::optional<double> estimated_ms(std::span<const OperatorCost> operators, const GpuModel& gpu) {
  return estimated_ms({}, operators, gpu);
}

std::optional<double> TimeEstimate::ratio() const {
  if (!candidate_ms || !reference_ms || !(*candidate_ms > 0)) return std::nullopt;
  return *reference_ms / *candidate_ms;
}

}  // namespace kbench
