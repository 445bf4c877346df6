// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "ptx/matrix_cases.hpp"
#include "ptx/nvrtc_helper.hpp"

// What a GPU gave for the same inputs, as golden_matrix.py wrote it.
namespace kbench::ptx::testing {
namespace {

using u32 = std::uint32_t;

std::vector<u32> parse_words(const std::string& hex) {
  std::vector<u32> words;
  for (std::size_t i = 0; i + 8 <= hex.size(); i += 8) {
    words.push_back(static_cast<u32>(std::stoul(hex.substr(i, 8), nullptr, 16)));
  }
  return words;
}

bool nan_in(const std::string& type, std::uint64_t bits) {
  if (type == "f16") return (bits & 0x7fffU) > 0x7c00U;
  if (type == "f32") return (bits & 0x7fffffffU) > 0x7f800000U;
  return type == "f64" && std::isnan(std::bit_cast<double>(bits));
}

/// Elements of d that differ, NaN being NaN; the first of them in words.
std::string differences(const std::string& type, const std::vector<u32>& got,
                        const std::vector<u32>& want) {
  const unsigned bits = matrix_bits(type), step = bits == 64 ? 2 : 1;
  unsigned count = 0, total = 0;
  std::string first;
  for (std::size_t i = 0; i < got.size(); i += step) {
    for (unsigned at = 0; at < 32; at += std::min(bits, 32U)) {
      const auto element = [&](const std::vector<u32>& words) -> std::uint64_t {
        if (bits == 64) return words[i] | std::uint64_t{words[i + 1]} << 32;
        return words[i] >> at & (bits == 32 ? ~u32{0} : (u32{1} << bits) - 1);
      };
      ++total;
      const std::uint64_t x = element(got), y = element(want);
      if (x == y || (nan_in(type, x) && nan_in(type, y))) continue;
      if (count++ == 0) first = fmt::format("word {}: {:#x}, on the GPU {:#x}", i, x, y);
    }
  }
  return count == 0 ? "" : fmt::format("{} of {} elements differ, first {}", count, total, first);
}

/// What the executor gives for a line: the seed, or the layout of a wgmma, in `how`.
std::vector<u32> run_line(const std::string& text, MatrixInputs inputs, const std::string& how,
                          std::size_t words) {
  if (text.starts_with("wgmma")) {
    WgmmaLayout l;
    const int read = std::sscanf(how.c_str(), "%u.%u.%u.%u.%u", &l.leading, &l.stride, &l.mode,
                                 &l.trans_a, &l.trans_b);
    EXPECT_EQ(read, 5) << how;
    return run_wgmma(text, l, inputs, words);
  }
  for (const auto& row : matrix_instructions()) {
    if (row.text == text) return run_matrix(row, matrix_operands(row, inputs, std::stoull(how)));
  }
  ADD_FAILURE() << text << " is not in instructions.txt";
  return {};
}

TEST(MatrixGolden, ResultsAreTheGpus) {
  std::ifstream file(KBENCH_GOLDEN_MATRIX "/results.txt");
  if (!file) GTEST_SKIP() << "no results of a GPU: run tests/ptx/golden_matrix.py on one";
  const std::vector<std::string> kinds{"near", "wide", "cancelling", "special", "zeros"};
  unsigned seen = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::string text, kind, how, hex;
    std::istringstream(line) >> text >> kind >> how >> hex;
    const auto inputs = std::find(kinds.begin(), kinds.end(), kind);
    ASSERT_TRUE(inputs != kinds.end()) << line;
    const auto want = parse_words(hex);
    const auto got = run_line(text, kMatrixInputs[inputs - kinds.begin()], how, want.size());
    ASSERT_EQ(got.size(), want.size()) << text;
    const auto type = MatrixInstruction{text}.types()[0];
    EXPECT_EQ(differences(type, got, want), "") << text << " " << kind << " " << how;
    ++seen;
  }
  EXPECT_GT(seen, 100U);
}

TEST(MatrixGolden, FragmentsLieAsOnTheGpu) {
  std::ifstream file(KBENCH_GOLDEN_MATRIX "/layouts_results.txt");
  if (!file) GTEST_SKIP() << "no results of a GPU: run tests/ptx/golden_matrix.py on one";
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::string text, hex;
    std::istringstream(line) >> text >> hex;
    const auto want = parse_words(hex);
    EXPECT_EQ(run_matrix_layout(text, want.size()), want) << text;
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
