// SPDX-License-Identifier: MIT
// The kernels that run before timed calls, on the CPU executor.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <span>
#include <vector>

#include "ptx/nvrtc_helper.hpp"
#include "worker/device/device.hpp"
#include "worker/kernels/texts.hpp"

namespace kbench::worker {
namespace {

/// Runs a kernel on some memory with these numbers as further arguments. Returns its report, with
/// counters if `count`.
std::vector<LaunchReport> run(const char* kernel, std::uint32_t blocks, std::uint32_t threads,
                              std::span<std::byte> memory,
                              std::initializer_list<std::uint64_t> numbers, bool count = false) {
  LaunchPlan plan;
  LaunchPlan::Launch& launch = plan.launches.emplace_back();
  launch.kernel = launch.symbol = kernel;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  LaunchArgument pointer;
  pointer.size = sizeof(void*);
  pointer.tensor = 0;
  launch.arguments.push_back(pointer);
  for (const std::uint64_t number : numbers) {
    LaunchArgument argument;
    argument.size = sizeof number;
    std::memcpy(argument.bytes.data(), &number, sizeof number);
    launch.arguments.push_back(argument);
  }
  KernelTensor tensor;
  tensor.name = "memory";
  tensor.data = memory.data();
  tensor.size_bytes = memory.size();
  const auto device = open_cpu_device();
  device->load(ptx::testing::compile(std::string(kbench::run::kTimingKernelsText)), plan);
  device->use_tensors(std::span(&tensor, 1));
  if (count) device->watch({.count = true});
  device->launch(launch);
  return device->take_reports();
}

TEST(FlushKernel, ReadsAllOfItsBufferAndWritesNothing) {
  KBENCH_NEEDS_NVRTC();
  // Aligned, because an unaligned buffer would touch one more sector of 32 bytes.
  alignas(32) std::array<std::uint64_t, 2000> buffer{};
  const auto bytes = std::as_writable_bytes(std::span(buffer));
  const auto reports = run("kbench_flush_l2", 3, 64, bytes, {buffer.size() / 2}, true);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_TRUE(reports[0].counters);
  EXPECT_EQ(reports[0].counters->global_bytes, bytes.size());
  EXPECT_EQ(reports[0].counters->unique_read_bytes, bytes.size());
  EXPECT_EQ(reports[0].counters->unique_written_bytes, 0u);
}

/// Runs kbench_encrypt over all words with this key.
void encrypt(std::vector<std::uint32_t>& words, std::uint64_t key, std::uint64_t nonce) {
  run("kbench_encrypt", 3, 32, std::as_writable_bytes(std::span(words)),
      {words.size() / 4, key, nonce});
}

TEST(EncryptKernel, MakesInputsUnreadableAndReadableAgain) {
  KBENCH_NEEDS_NVRTC();
  std::vector<std::uint32_t> words(2000);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i % 7);
  const auto plain = words;
  encrypt(words, 0x1234567890abcdef, 42);
  // Equal words become different, with as many exceptions as chance allows.
  EXPECT_GT(std::set<std::uint32_t>(words.begin(), words.end()).size(), words.size() - 3);
  std::size_t bits = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    bits += static_cast<std::size_t>(std::popcount(words[i] ^ plain[i]));
  EXPECT_NEAR(static_cast<double>(bits), 16.0 * static_cast<double>(words.size()),
              500);  // of 32,000 bits, with a standard deviation of 126
  auto other = words;
  encrypt(other, 0x1234567890abcdef, 43);
  EXPECT_NE(other, plain) << "another nonce is another key stream";
  encrypt(words, 0x1234567890abcdef, 42);
  EXPECT_EQ(words, plain);
}

TEST(EncryptKernel, IsPhilox) {
  KBENCH_NEEDS_NVRTC();
  // Random123's known answer of philox4x32-10 for counter and key of zeros.
  std::vector<std::uint32_t> words(4, 0);
  encrypt(words, 0, 0);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

/// The signals after kbench_watch: its microseconds, the missed part of them, and if it began.
/// `end`: the host's signal to end.
std::array<unsigned, 4> watched(std::uint64_t span_ns, std::uint64_t least_ns, unsigned end = 0) {
  alignas(32) std::array<unsigned, 4> seen{1, 1, 0, end};
  run("kbench_watch", 1, 1, std::as_writable_bytes(std::span(seen)), {span_ns, least_ns});
  return seen;
}

TEST(WatchKernel, SaysWhatItMissedOfTheTimeItLooked) {
  KBENCH_NEEDS_NVRTC();
  const auto [looked, missed, began, end] = watched(2'000'000, 60'000'000'000);
  EXPECT_EQ(began, 1u);
  EXPECT_GE(looked, 2000u);
  EXPECT_EQ(missed, 0u);
  // If each step of the clock counts as work of others, all of the time is missed.
  const auto [all, taken, again, same_end] = watched(2'000'000, 1);
  EXPECT_EQ(again, 1u);
  EXPECT_NEAR(taken, all, 1);
}

TEST(WatchKernel, EndsIfTheHostSaysSo) {
  KBENCH_NEEDS_NVRTC();
  constexpr std::uint64_t kMinute_ns = 60'000'000'000;
  const auto [looked, missed, began, end] = watched(kMinute_ns, kMinute_ns, 1);
  EXPECT_EQ(began, 1u);
  EXPECT_LT(looked, 10'000'000u);
}

}  // namespace
}  // namespace kbench::worker
