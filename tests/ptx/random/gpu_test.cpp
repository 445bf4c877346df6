// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

#include "ptx/random/campaign.hpp"

// Random kernels on a GPU and in the executor. By itself:
//   ptx_random_gpu_test [--seed N] [--count N] [--jobs N] [--folder F] [--dump FILE]
namespace kbench::ptx::random {
namespace {

struct Arguments {
  std::uint64_t seed = 1000;
  std::size_t count = 400;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 32U);
  std::string folder = "ptx_random_differences";
  std::string dump;  ///< file for the golden data
};
Arguments arguments;

void parse(int count, char** values) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = values[i];
    const char* value = values[i + 1];
    if (option == "--seed") arguments.seed = std::strtoull(value, nullptr, 0);
    if (option == "--count") arguments.count = std::strtoull(value, nullptr, 0);
    if (option == "--jobs") arguments.jobs = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
    if (option == "--folder") arguments.folder = value;
    if (option == "--dump") arguments.dump = value;
  }
}

void print(const Summary& summary) {
  fmt::print("{}: {} kernels compared, {} words, {} kernels differ or fail\n", summary.device,
             summary.compared, summary.words, summary.problems.size());
  for (const std::string& c : summary.driver_died) fmt::print("the driver died of {}\n", c);
  for (const std::string& c : summary.optimized_away) {
    fmt::print("unlike its own result without optimisation, which is the executor's: {}\n", c);
  }
  for (const auto& [about, count] : summary.by_instruction) fmt::print("{:5}  {}\n", count, about);
}

TEST(PtxRandomGpu, TheExecutorAgreesWithTheGpu) {
  const bool dump = !arguments.dump.empty();
  const auto list = dump ? golden_cases() : cases(arguments.seed, arguments.count);
  const Summary summary = compare(list, arguments.jobs, dump, arguments.folder);
  if (!summary.no_gpu.empty()) GTEST_SKIP() << summary.no_gpu;
  print(summary);
  for (std::size_t i = 0; i < summary.problems.size() && i < 30; ++i) {
    ADD_FAILURE() << summary.problems[i];
  }
  EXPECT_TRUE(summary.problems.empty()) << "PTX and values are in " << arguments.folder;
  EXPECT_EQ(summary.compared + summary.driver_died.size(), list.size());
  EXPECT_LE(summary.driver_died.size(), list.size() / 100);
  EXPECT_LE(summary.optimized_away.size(), list.size() / 100);
  if (!dump) return;
  std::ofstream file(arguments.dump);
  file << "# What a GPU (" << summary.device
       << ") made of random kernels: see tests/ptx/README.md\n";
  for (const std::string& line : summary.golden) file << line << '\n';
  EXPECT_TRUE(file.good()) << arguments.dump;
}

}  // namespace
}  // namespace kbench::ptx::random

int main(int count, char** values) {
  testing::InitGoogleTest(&count, values);
  kbench::ptx::random::parse(count, values);
  return RUN_ALL_TESTS();
}
