// SPDX-License-Identifier: MIT
#include "ptx/random/golden.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "ptx/random/rng.hpp"

namespace kbench::ptx::random {
namespace {

// What a GPU made of random kernels, again, by the executor.
TEST(PtxGolden, TheExecutorGivesWhatTheGpuGave) {
  std::ifstream file(KBENCH_SOURCE_DIR "/tests/ptx/golden/random.txt");
  ASSERT_TRUE(file) << "tests/ptx/golden/random.txt is missing";
  int compared = 0, failed = 0;
  for (std::string line; std::getline(file, line) && failed < 10;) {
    if (line.empty() || line[0] == '#') continue;
    const Golden expected = parse_golden(line);
    const Kernel kernel = make(expected.c);
    ASSERT_EQ(hash_bytes(kernel.ptx), expected.ptx_hash)
        << name(expected.c) << ": the generator has changed. On a machine with a GPU run "
        << "ptx_random_gpu_test --dump tests/ptx/golden/random.txt again";
    const auto ran = execute(kernel, {});
    ++compared;
    if (const auto* failure = std::get_if<Failure>(&ran)) {
      ++failed;
      ADD_FAILURE() << name(expected.c) << ": " << failure->message;
    } else if (const auto why = disagreement(expected, kernel, std::get<Outputs>(ran))) {
      ++failed;
      ADD_FAILURE() << name(expected.c) << " " << instruction(expected.c) << ": " << *why;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace kbench::ptx::random
