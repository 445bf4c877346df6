// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "ptx/random/generator.hpp"
#include "ptx/random/outputs.hpp"

namespace kbench::ptx::random {
namespace {

Outputs run(const Kernel& kernel, unsigned threads, std::uint64_t schedule_seed) {
  Options options;
  options.threads = threads;
  options.schedule_seed = schedule_seed;
  auto ran = execute(kernel, options);
  if (const auto* failure = std::get_if<Failure>(&ran)) {
    ADD_FAILURE() << "seed " << kernel.seed << ": " << failure->message;
    return first_outputs(kernel);
  }
  return std::get<Outputs>(std::move(ran));
}

// What a kernel without races computes depends on no order of its blocks.
TEST(PtxRandom, OrderOfBlocksChangesNothing) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Kernel kernel = exact_kernel(seed);
    const Outputs first = run(kernel, 1, 0);
    const Outputs second = run(kernel, 2, seed + 1);
    std::uint64_t words = 0;
    for (const Difference& d : differences(kernel, first, second, words)) {
      ADD_FAILURE() << "seed " << seed << ", " << d.where << " of thread " << d.thread << ": "
                    << d.expected << " and " << d.found;
      break;
    }
    EXPECT_GT(words, 0U);
  }
}

TEST(PtxRandom, FewerStatementsAreTheBeginningOfTheSameKernel) {
  const Kernel whole = exact_kernel(7), part = exact_kernel(7, 5);
  ASSERT_GT(whole.statements.size(), 5U);
  EXPECT_EQ(part.statements, std::vector(whole.statements.begin(), whole.statements.begin() + 5));
  EXPECT_EQ(whole.input, part.input);
}

}  // namespace
}  // namespace kbench::ptx::random
