// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Instructions on fragments in registers, run with inputs that golden_matrix.py generates as well.
namespace kbench::ptx::testing {

/// A row of golden_matrix/instructions.txt: the registers that each operand has in a lane.
struct MatrixInstruction {
  std::string text;
  unsigned d = 0, a = 0, b = 0, c = 0;
  bool wide() const { return text.find("f64") != std::string::npos; }
  /// The types of d, a, b, c, and the numbers of the shape.
  std::vector<std::string> types() const;
  unsigned m() const, n() const, k() const;
};

std::vector<MatrixInstruction> matrix_instructions();

/// How inputs are chosen: near 1, over the whole range of the type, nearly cancelling, with
/// infinities, NaNs, subnormals and zeros strewn in, zeros of both signs alone.
enum class MatrixInputs : std::uint8_t { kNear, kWide, kCancelling, kSpecial, kZeros };
constexpr MatrixInputs kMatrixInputs[] = {MatrixInputs::kNear, MatrixInputs::kWide,
                                          MatrixInputs::kCancelling, MatrixInputs::kSpecial,
                                          MatrixInputs::kZeros};

/// Words of the operands: register r of lane l is at r · 32 + l; of f64 the low half comes first.
struct MatrixOperands {
  std::vector<std::uint32_t> a, b, c;
};

MatrixOperands matrix_operands(const MatrixInstruction& instruction, MatrixInputs inputs,
                               std::uint64_t seed);

/// PTX of a kernel k(d, a, b, c) whose one warp executes the instruction once.
std::string matrix_ptx(const MatrixInstruction& instruction);

/// Runs it in the executor; the words of d.
std::vector<std::uint32_t> run_matrix(const MatrixInstruction& instruction,
                                      const MatrixOperands& operands);

/// Words of the fragment that a wmma.load gives of a matrix of random words.
std::vector<std::uint32_t> run_matrix_layout(const std::string& text, std::size_t words);

/// A wgmma on shared memory full of elements: distances in bytes, mode of swizzling, transposition.
struct WgmmaLayout {
  unsigned leading = 0, stride = 0, mode = 0, trans_a = 0, trans_b = 0;
};

/// The words of d, of 128 threads; there are `words`.
std::vector<std::uint32_t> run_wgmma(const std::string& text, const WgmmaLayout& layout,
                                     MatrixInputs inputs, std::size_t words);

/// Bits of an element of a type, "e4m3" → 8.
unsigned matrix_bits(const std::string& type);

}  // namespace kbench::ptx::testing
