// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "ptx/random/data.hpp"
#include "ptx/random/generator.hpp"

// Approximate instructions, each applied to inputs directly: what they feed would amplify an error
// that is allowed.
namespace kbench::ptx::random {
namespace {

constexpr std::uint32_t kThreads = 256;

/// The bounds of the PTX manual, with the rounding of the other side added. Results below the
/// normal numbers may be flushed by the .ftz forms on one side of a boundary only.
constexpr double kTiny = 0x1p-148, kFlushed = 0x1p-126;
constexpr Kind kF = Kind::kF32, kD = Kind::kF64, kH = Kind::kF16, kB = Kind::kBf16;

constexpr Approximation kApproximations[] = {
    {"ex2.approx.f32", kF, kF, 1, {0x1.8p-22, kTiny}, 0},
    {"ex2.approx.ftz.f32", kF, kF, 1, {0x1.8p-22, kFlushed}, 0},
    {"lg2.approx.f32", kF, kF, 1, {0x1.8p-22, 0x1.8p-22}, 0},
    {"lg2.approx.ftz.f32", kF, kF, 1, {0x1.8p-22, 0x1.8p-22}, 0},
    {"sin.approx.f32", kF, kF, 1, {0, 0x1.8p-20}, 3.14F},
    {"cos.approx.f32", kF, kF, 1, {0, 0x1.8p-20}, 3.14F},
    {"sin.approx.ftz.f32", kF, kF, 1, {0, 0x1.8p-20}, 3.14F},
    {"cos.approx.ftz.f32", kF, kF, 1, {0, 0x1.8p-20}, 3.14F},
    {"sin.approx.f32", kF, kF, 1, {0, 0x1.4p-14}, 314.0F},
    {"cos.approx.f32", kF, kF, 1, {0, 0x1.4p-14}, 314.0F},
    {"rcp.approx.f32", kF, kF, 1, {0x1p-23, kTiny}, 0},
    {"rcp.approx.ftz.f32", kF, kF, 1, {0x1p-23, kFlushed}, 0},
    {"sqrt.approx.f32", kF, kF, 1, {0x1.8p-23, kTiny}, 0},
    {"sqrt.approx.ftz.f32", kF, kF, 1, {0x1.8p-23, kFlushed}, 0},
    {"rsqrt.approx.f32", kF, kF, 1, {0x1.8p-22, kTiny}, 0},
    {"rsqrt.approx.ftz.f32", kF, kF, 1, {0x1.8p-22, kFlushed}, 0},
    {"tanh.approx.f32", kF, kF, 1, {0x1.01p-11, kTiny}, 0},
    {"div.approx.f32", kF, kF, 2, {0x1.4p-22, kTiny}, 0},
    {"div.approx.ftz.f32", kF, kF, 2, {0x1.4p-22, kFlushed}, 0},
    {"div.full.f32", kF, kF, 2, {0x1.4p-22, kTiny}, 0},
    {"div.full.ftz.f32", kF, kF, 2, {0x1.4p-22, kFlushed}, 0},
    {"rcp.approx.ftz.f64", kD, kD, 1, {0x1p-19, 0x1p-1022}, 0},
    {"rsqrt.approx.f64", kD, kD, 1, {0x1.4p-20, 0}, 0},
    {"rsqrt.approx.ftz.f64", kD, kD, 1, {0x1p-19, 0}, 0},
    {"tanh.approx.f16", kH, kH, 1, {0x1p-11, 0x1.04p-11}, 0},
    {"tanh.approx.bf16", kB, kB, 1, {0x1p-8, 0x1p-8}, 0},
    {"ex2.approx.f16", kH, kH, 1, {0x1.6p-10, 0x1p-24}, 0},
    {"ex2.approx.ftz.bf16", kB, kB, 1, {0x1p-7, kFlushed}, 0},
};

/// An operand in the range where the instruction promises anything.
std::uint64_t operand(Rng& rng, const Approximation& approximation, std::uint32_t index) {
  std::uint64_t bits = sample(rng, approximation.operand);
  if (approximation.operand != kF) return bits;
  float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (approximation.range > 0 && !(std::fabs(value) <= approximation.range)) {
    const auto step = static_cast<std::int32_t>(rng.below(2000001)) - 1000000;
    value = approximation.range * 1e-6F * static_cast<float>(step);
  }
  // div.approx says nothing about subnormal divisors.
  const bool near_zero = std::fabs(value) < kFlushed && value != 0;
  if (index == 1 && near_zero) value = std::copysign(1.5F, value);
  return std::bit_cast<std::uint32_t>(value);
}

}  // namespace

std::span<const Approximation> approximations() { return kApproximations; }

Kernel approximate_kernel(std::uint64_t seed, const Approximation& approximation) {
  Kernel kernel;
  kernel.seed = seed;
  kernel.block = kThreads;
  kernel.results = {approximation.result};
  kernel.bound = approximation.bound;
  kernel.own.resize(kOwnBytes);
  kernel.counters.resize(kCounters * 8);
  kernel.input.resize(kThreads * approximation.operands * 8);
  Rng rng(seed * 2 + hash_bytes(approximation.instruction));
  for (std::uint32_t i = 0; i < kThreads * approximation.operands; ++i) {
    const std::uint64_t bits = operand(rng, approximation, i % approximation.operands);
    std::memcpy(kernel.input.data() + 8 * i, &bits, sizeof bits);
  }
  const std::size_t width = 8 * bytes_of(approximation.operand);
  std::string code = fmt::format(
      "  .reg .b{0} %x, %y, %z; .reg .b64 %in, %out; .reg .b32 %t;\n"
      "  ld.param.b64 %in, [k_in]; ld.param.b64 %out, [k_out]; mov.u32 %t, %tid.x;\n"
      "  mad.wide.u32 %in, %t, {1}, %in; mad.wide.u32 %out, %t, 8, %out;\n"
      "  ld.global.b{0} %x, [%in];\n",
      width, 8 * approximation.operands);
  if (approximation.operands == 2) code += fmt::format("  ld.global.b{} %y, [%in+8];\n", width);
  code += fmt::format("  {} %z, %x{};\n", approximation.instruction,
                      approximation.operands == 2 ? ", %y" : "");
  kernel.statements = {code};
  kernel.ptx = std::string(kHeader) +
               fmt::format(
                   ".visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_own,\n"
                   "  .param .u64 k_counters, .param .b32 k_b32, .param .f32 k_f32,\n"
                   "  .param .b64 k_b64)\n{{\n{}  st.global.b{} [%out], %z;\n  ret;\n}}\n",
                   code, width);
  return kernel;
}

}  // namespace kbench::ptx::random
