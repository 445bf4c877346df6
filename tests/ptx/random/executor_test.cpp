// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <regex>

#include "ptx/random/generator.hpp"
#include "ptx/random/outputs.hpp"

namespace kbench::ptx::random {
namespace {

std::ptrdiff_t count(const std::string& text, const std::regex& pattern) {
  return std::distance(std::sregex_iterator(text.begin(), text.end(), pattern),
                       std::sregex_iterator());
}

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

// On a GPU these hang or are an illegal instruction, by no fault of theirs: see barrier_reduction()
// and relaxed().
TEST(PtxRandom, KeepsClearOfBarriersAndLoadsThatPtxasRuins) {
  const std::regex reduction(R"(bar\.red\.(and|or)\.pred)");
  const std::regex agreed(
      R"(bar\.red\.(and|or)\.pred (%p\d+), [^;]+;\s+vote\.sync\.ballot\.b32 (%r\d+), \2, %mask;)"
      R"(\s+setp\.ne\.u32 \2, \3, 0;)");
  const std::regex acquire(R"(ld\.\S*acquire)");
  std::ptrdiff_t reductions = 0, acquires = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string ptx = exact_kernel(seed).ptx;
    const auto entry = ptx.find(".visible .entry");
    ASSERT_NE(entry, ptx.npos);
    EXPECT_EQ(count(ptx, reduction), count(ptx, agreed)) << "seed " << seed;
    EXPECT_EQ(count(ptx.substr(0, entry), acquire), 0) << "seed " << seed;
    reductions += count(ptx, reduction);
    acquires += count(ptx, acquire);
  }
  EXPECT_GT(reductions, 20);
  EXPECT_GT(acquires, 20);
}

}  // namespace
}  // namespace kbench::ptx::random
