// SPDX-License-Identifier: MIT
#include "worker/device/judge_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kbench::worker {
namespace {

constexpr std::uint32_t kThreads = 256;  // as in judge_kernels.cu
/// Several blocks for each multiprocessor of the largest GPU.
constexpr std::uint64_t kMaxBlocks = 2048;
constexpr std::uint64_t kBytesPerBlock = std::uint64_t{kThreads} * 16;
constexpr std::size_t kPartialBytes = 48;

template <typename T>
LaunchArgument scalar(T value) {
  LaunchArgument argument;
  argument.size = sizeof value;
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

JudgeKernels* the_active = nullptr;

/// A plan with all kernels of judge_kernels.cu.
LaunchPlan all_kernels() {
  LaunchPlan plan;
  const auto add = [&](std::string symbol) {
    LaunchPlan::Launch launch;
    launch.kernel = symbol;
    launch.symbol = std::move(symbol);
    plan.launches.push_back(std::move(launch));
  };
  for (const char* type :
       {"f32", "f64", "f16", "bf16", "f32_f16", "f32_bf16", "i64", "i32", "i16", "i8", "u8"})
    add(fmt::format("compare_{}", type));
  for (const char* type : {"f32", "f64", "f16", "bf16"})
    for (const char* what : {"squares", "odd_alone", "whole"})
      add(fmt::format("{}_{}", what, type));
  add("digest");
  add("copy");
  add("different_words");
  return plan;
}

}  // namespace

JudgeKernels::JudgeKernels(Device& device, std::string_view image) : device_(device) {
  device_.load(image, all_kernels());
  device_.use_timing_kernels(image);
  partials_ =
      device_.allocate(buffer_layout(kMaxBlocks * kPartialBytes, device_.granularity(), false));
  the_active = this;
}

JudgeKernels::~JudgeKernels() {
  if (the_active == this) the_active = nullptr;
}

JudgeKernels* JudgeKernels::active() { return the_active; }

template <typename Partial, typename... Scalars>
std::vector<Partial> JudgeKernels::run(std::string symbol, std::initializer_list<Data> data,
                                       std::uint64_t work_bytes, Scalars... scalars) {
  static_assert(sizeof(Partial) <= kPartialBytes);
  LaunchPlan::Launch launch;
  launch.kernel = symbol;
  launch.symbol = std::move(symbol);
  const auto blocks =
      std::clamp<std::uint64_t>((work_bytes + kBytesPerBlock - 1) / kBytesPerBlock, 1, kMaxBlocks);
  launch.grid[0] = static_cast<std::uint32_t>(blocks);
  launch.block[0] = kThreads;
  std::vector<KernelTensor> tensors;
  const auto pointer = [&](const void* address, std::size_t bytes, bool writable) {
    KernelTensor tensor;
    tensor.name = address == partials_.data() ? "partial results" : "tensor";
    tensor.data = static_cast<std::byte*>(const_cast<void*>(address));
    tensor.size_bytes = bytes;
    tensor.writable = writable;
    LaunchArgument argument;
    argument.size = sizeof(void*);
    argument.tensor = tensors.size();
    tensors.push_back(std::move(tensor));
    launch.arguments.push_back(argument);
  };
  for (const Data& one : data) pointer(one.pointer, one.bytes, one.writable);
  (launch.arguments.push_back(scalar(scalars)), ...);
  pointer(partials_.data(), partials_.size_bytes(), true);
  device_.use_tensors(tensors);
  device_.launch(launch);
  std::vector<Partial> partials(blocks);
  device_.synchronize();
  device_.read(reinterpret_cast<std::byte*>(partials.data()), partials_.data(),
               blocks * sizeof(Partial));
  device_.take_reports();
  return partials;
}

JudgeKernels::Errors JudgeKernels::compare(std::string_view type, Data expected, Data got,
                                           std::uint64_t count, double scale, double tolerance,
                                           double least_bound) {
  Errors errors{0, ~std::uint64_t{0}, 0, 0, 0, 0};
  for (const auto& part : run<Errors>("compare_" + std::string(type), {expected, got},
                                      expected.bytes, count, scale, tolerance, least_bound)) {
    errors.wrong += part.wrong;
    errors.first = std::min(errors.first, part.first);
    errors.max_abs = std::max(errors.max_abs, part.max_abs);
    errors.max_rel = std::max(errors.max_rel, part.max_rel);
    errors.allclose_at = std::max(errors.allclose_at, part.allclose_at);
    errors.deviations |= part.deviations;
  }
  return errors;
}

std::uint64_t JudgeKernels::odd_alone(std::string_view type, Data x, Data y, std::uint64_t count) {
  std::uint64_t found = 0;
  for (const auto part :
       run<std::uint64_t>("odd_alone_" + std::string(type), {x, y}, x.bytes, count))
    found += part;
  return found;
}

std::uint64_t JudgeKernels::whole(std::string_view type, Data x, std::uint64_t count, double most) {
  std::uint64_t found = 0;
  for (const auto part :
       run<std::uint64_t>("whole_" + std::string(type), {x}, x.bytes, count, most))
    found += part;
  return found;
}

JudgeKernels::Squares JudgeKernels::squares(std::string_view type, Data x, std::uint64_t count,
                                            double unit) {
  Squares squares{0, 0};
  for (const auto& part :
       run<Squares>("squares_" + std::string(type), {x}, x.bytes, count, 1 / unit)) {
    squares.sum += part.sum;
    squares.count += part.count;
  }
  return squares;
}

std::uint64_t JudgeKernels::digest(Data x, const DigestKey& key) {
  std::uint64_t sum = 0;
  for (const auto part :
       run<std::uint64_t>("digest", {x}, x.bytes, std::uint64_t{x.bytes}, key.flip, key.step))
    sum += part;
  return sum;
}

bool JudgeKernels::can_copy(Data from, Data to) {
  const auto in_words = [](const Data& data) {
    return (reinterpret_cast<std::uintptr_t>(data.pointer) | data.bytes) % 8 == 0;
  };
  return from.bytes > 0 && from.bytes == to.bytes && in_words(from) && in_words(to);
}

std::uint64_t JudgeKernels::copy(Data from, Data to, const DigestKey& key) {
  to.writable = true;
  std::uint64_t sum = 0;
  for (const auto part : run<std::uint64_t>("copy", {from, to}, from.bytes,
                                            std::uint64_t{from.bytes / 8}, key.flip, key.step))
    sum += part;
  return sum;
}

bool JudgeKernels::equal(Data x, Data y) {
  const auto parts = run<std::uint64_t>("different_words", {x, y}, x.bytes, std::uint64_t{x.bytes});
  return std::ranges::all_of(parts, [](std::uint64_t part) { return part == 0; });
}

}  // namespace kbench::worker
