// SPDX-License-Identifier: MIT
#include "compile/source_place.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kbench {
namespace {

const std::string kHead = "import torch\n\nsource = \"\"\"";
const std::string kKernel =
    "\n__global__ void twice(float* x, int n) {\n"
    "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
    "  if (i < n) x[i] = 2 * x[i];\n"
    "}\n";
const std::string kTail = "\"\"\"\nbuilt = load_inline(cuda_sources=source)\n";

std::string with(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

TEST(LinesBefore, OfWhatStandsThereAsItIs) {
  EXPECT_EQ(lines_before(kHead + kKernel + kTail, kKernel), 2u);
  EXPECT_EQ(lines_before(kKernel, kKernel), 0u);
  EXPECT_EQ(lines_before(kHead + kKernel + kTail, ""), std::nullopt);
}

TEST(LinesBefore, OfWhatHadAPartReplaced) {
  EXPECT_EQ(lines_before(kHead + kKernel + kTail, with(kKernel, "BLOCK", "256")), 2u);
}

TEST(LinesBefore, OfALiteralWithEscapes) {
  const std::string text = with(kKernel, "2 * x[i];", "2 * x[i]; printf(\"%f\\n\", x[i]);");
  const std::string literal = with(text, "\\", "\\\\");
  ASSERT_EQ((kHead + literal + kTail).find(text), std::string::npos);
  EXPECT_EQ(lines_before(kHead + literal + kTail, text), 2u);
}

TEST(LinesBefore, OfAnFString) {
  const std::string literal = with(with(with(kKernel, "{", "{{"), "}", "}}"), "BLOCK", "{block}");
  EXPECT_EQ(lines_before(kHead + literal + kTail, with(kKernel, "BLOCK", "128")), 2u);
}

TEST(LinesBefore, OfADedentedText) {
  const std::string literal = with(kKernel, "\n", "\n        ");
  EXPECT_EQ(lines_before(kHead + literal + kTail, kKernel), 2u);
}

TEST(LinesBefore, AreNoneOfPartsFromSeveralPlaces) {
  const std::string declaration = "\n#include <cuda.h>\n#include <cmath>\n";
  EXPECT_EQ(lines_before(kHead + kKernel + kTail + declaration, declaration + kKernel),
            std::nullopt);
  EXPECT_EQ(lines_before(kHead + declaration + kTail + kKernel, declaration + kKernel),
            std::nullopt);
}

TEST(LinesBefore, AreNoneOfWhatIsMadeElsewhere) {
  EXPECT_EQ(lines_before(kHead + kTail, kKernel), std::nullopt);
  EXPECT_EQ(lines_before("if (i < n) x[i] = 2 * x[i];\n", kKernel), std::nullopt)
      << "one line may be the same by chance";
  const std::string line = "x += 1;\n";
  EXPECT_EQ(lines_before(line + line + line + "y", line + line + "z"), std::nullopt)
      << "of equal lines none tells its place";
}

}  // namespace
}  // namespace kbench
