// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "plan/plan_fixture.hpp"

/// Plans that nobody wrote in good faith: none may crash the driver, hold it up or fill its memory.
namespace kbench {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> kSeeds{
      "//@ problem level1/x\n//@ flags --use_fast_math -std=c++17\n//@ limit 2s\n"
      "//@ dims x[N, C]\n//@ let rows = cdiv(N, 4) * 2 - 1\n"
      "//@ tmp t: dtype(h)[N, rows] = -inf\n//@ out y like x\n//@ inout bn.running_mean\n"
      "//@ k<128, float, Vec<T, 4>><<<(C, N), min(256, C), 4 * C>>>(x, t, y, bn.eps, N,\n"
      "//@    `odd name`, conv.stride[0] % 2)  # comment\n",
      "//@ if (steps > 2 && !(causal == false)) {\n//@   for i in 0..steps {\n"
      "//@     cooperative cluster(2, 1, 1) k<i><<<dim3(4, 2), 32>>>(i ? x : h, pow(2, i))\n"
      "//@   }\n//@ } else if (numel(h) != 4) { let z = sqrt(2.5e-1) }\n"
      "//@ else { m<<<device.sms, 1>>>(size(x, -1)) }\n",
  };
  return kSeeds;
}

/// A place inside of the source (or just behind it), a message and a cause.
void expect_sound(const PlanError& error, const std::string& source) {
  EXPECT_FALSE(error.message.empty());
  EXPECT_FALSE(error.cause.empty());
  EXPECT_GE(error.line, 1);
  EXPECT_GE(error.column, 1);
  EXPECT_LE(error.line, 1 + std::count(source.begin(), source.end(), '\n'));
}

std::string mutated(std::string text, std::mt19937& random) {
  static const std::string kSigns = "()[]{}<>,:;?=+-*/%!&|`\"#.@_ \n\t0123456789abcxyzN\xFF\x01";
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t edits = 1 + below(6); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = kSigns[below(kSigns.size())];
        break;
      case 1:
        text.insert(at, 1, kSigns[below(kSigns.size())]);
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, below(40)));
        break;
      default:
        text[at] = static_cast<char>(below(256));
    }
  }
  return text;
}

TEST(PlanMutation, NoByteMakesItCrash) {
  const Signature signature = plan_signature();
  for (std::uint32_t seed = 0; seed < 30'000; ++seed) {
    std::mt19937 random(seed);
    const std::string source = mutated(seeds()[seed % seeds().size()], random);
    const auto result = bind_source(source, signature);
    if (const auto* error = std::get_if<PlanError>(&result)) expect_sound(*error, source);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << source;
  }
}

TEST(PlanMutation, EveryPrefixIsAPlanOrAnError) {
  for (const std::string& seed : seeds()) {
    for (std::size_t length = 0; length <= seed.size(); ++length) {
      const std::string source = seed.substr(0, length);
      const auto result = bind_source(source, plan_signature());
      if (const auto* error = std::get_if<PlanError>(&result)) expect_sound(*error, source);
    }
  }
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

struct HostileCase {
  const char* what;
  std::string source;
  const char* says;
};

TEST(PlanMutation, WhatWouldTakeTooMuchIsAnErrorAndQuick) {
  constexpr int kMany = 15'000;
  const HostileCase cases[] = {
      {"parentheses", "//@ let a = " + repeated("(", kMany), "nested more than"},
      {"signs", "//@ let a = " + repeated("-", kMany) + "1", "nested more than"},
      {"a sum", "//@ let a = 1" + repeated(" + 1", kMany), "nested more than"},
      {"choices", "//@ let a = " + repeated("1 ? 2 : ", kMany) + "3", "nested more than"},
      {"indexes", "//@ let a = x" + repeated("[0]", kMany), "nested more than"},
      {"calls", "//@ let a = " + repeated("min(", kMany), "nested more than"},
      {"blocks", repeated("//@ if (1) {\n", kMany), "nested more than"},
      {"else if", "//@ if (0) { }" + repeated(" else if (0) { }", kMany / 10), "nested more than"},
      {"types", "//@ k<" + repeated("A<", kMany), "never closed"},
      {"a long line", "//@ let a = " + std::string(4u << 20, 'x'), "there is no `xxx"},
      {"many words", "//@ " + repeated("a ", 200'000), "more than 100000 words"},
      {"launches", "//@ for i in 0..100000 { k<<<1, 1>>>() }", "more than 10000 launches"},
      {"an empty loop", "//@ for i in 0..9000000000000000000 { }", "more than 200000 statements"},
      {"nested loops",
       "//@ for i in 0..1000000 { for j in 0..1000000 { for k in 0..1000000 { } } }",
       "more than 200000 statements"},
      {"scratch", "//@ for i in 0..100000 { tmp t: int8[4] }", "more than 4096 tensors"},
      {"costly loops", "//@ for i in 0..100000 { let a = min(" + repeated("1, ", 900) + "1) }",
       "steps to evaluate"},
      {"arguments", "//@ k<<<1, 1>>>(" + repeated("1, ", 2000) + "1)", "at most 1024 arguments"},
      {"a name of a kernel", "//@ k<" + repeated("1, ", 5000) + "1><<<1, 1>>>()", "longer than"},
      {"sizes", "//@ tmp t: int8[" + repeated("1, ", 100) + "1]", "at most 64 sizes"},
  };
  for (const HostileCase& row : cases) {
    SCOPED_TRACE(row.what);
    const auto start = std::chrono::steady_clock::now();
    const auto result = bind_source(row.source, plan_signature());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const auto* error = std::get_if<PlanError>(&result);
    ASSERT_NE(error, nullptr);
    EXPECT_THAT(error->message, testing::HasSubstr(row.says));
    EXPECT_LT(error->message.size(), 1000u);
    EXPECT_LT(seconds.count(), 5.0);
  }
}

TEST(PlanMutation, WhatIsJustWithinTheBoundsBinds) {
  EXPECT_EQ(bound("//@ for i in 0..10000 { k<<<1, 1>>>(i) }").launches.size(), 10'000u);
  EXPECT_EQ(
      bound("//@ let a = 1" + repeated(" + 1", 98) + "\n//@ k<<<a, 1>>>()").launches[0].grid[0],
      99u);
  EXPECT_EQ(
      bound("//@ let a = " + repeated("(", 98) + "1" + repeated(")", 98) + "\n//@ k<<<a, 1>>>()")
          .launches.size(),
      1u);
}

}  // namespace
}  // namespace kbench
