// SPDX-License-Identifier: MIT
// Kernels whose counts follow from their text.
#include "ptx/observe/counters.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kbench/profile.hpp"
#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

constexpr std::size_t kFloats = 4096;

/// A kernel k(x, y) written in PTX: %i is the thread in the block, %x and %y the buffers' shared
/// addresses are the author's own.
std::string kernel_text(const std::string& body) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 px, .param .u64 py) {\n"
         ".reg .b64 %x, %y, %a, %b; .reg .b32 %i, %j, %n, %s; .reg .f32 %f, %g, %h, %l;\n"
         ".reg .f64 %d, %e; .reg .b16 %c; .reg .pred %p, %q; .shared .align 128 .b8 sh[16384];\n"
         "ld.param.u64 %x, [px]; ld.param.u64 %y, [py]; mov.u32 %i, %tid.x;\n"
         "mov.u32 %s, sh;\n" +
         body + "\nret; }\n";
}

Counters count(const std::string& text, const char* kernel = "k", std::uint32_t threads = 32,
               std::uint32_t blocks = 1) {
  auto loaded = load(text);
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    ADD_FAILURE() << unsupported->instruction << ": " << unsupported->message;
    return {};
  }
  // Aligned like the buffers of a device.
  std::vector<std::byte> storage(2 * kFloats * sizeof(float) + 256);
  auto* x = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(storage.data()) + 255) /
                                         256 * 256);
  auto* y = x + kFloats * sizeof(float);
  const std::vector<Region> regions = {{"x", x, kFloats * sizeof(float)},
                                       {"y", y, kFloats * sizeof(float)}};
  const Launch launch = launch_of(kernel, blocks, threads, arguments(x, y));
  Options options;
  options.count = true;
  const auto statistics = run(std::get<Module>(loaded), launch, regions, options);
  if (!statistics.counters) {
    ADD_FAILURE() << "nothing was counted";
    return {};
  }
  // Every instruction is in exactly one class; what only waited is not counted here.
  EXPECT_LE(executed(*statistics.counters).warps, statistics.warp_instructions);
  EXPECT_GE(executed(*statistics.counters).warps + 1, statistics.warp_instructions);
  return *statistics.counters;
}

Counters count_body(const std::string& body, std::uint32_t threads = 32, std::uint32_t blocks = 1) {
  return count(kernel_text(body), "k", threads, blocks);
}

Counters::Executed of(const Counters& counters, InstructionClass instruction_class) {
  return counters.executed[static_cast<std::size_t>(instruction_class)];
}

TEST(Counters, NothingIsCountedUnlessAsked) {
  auto loaded = load(kernel_text(""));
  const Launch launch = launch_of("k", 1, 1, arguments(std::uint64_t{0}, std::uint64_t{0}));
  EXPECT_FALSE(run(std::get<Module>(loaded), launch, {}).counters);
}

struct AccessCase {
  const char* name;
  const char* offset;  ///< of each thread, in bytes, into %j
  const char* access;  ///< at [%a] (x) or [%s]
  std::uint64_t sectors, read, written;
};

class GlobalAccess : public ::testing::TestWithParam<AccessCase> {};

TEST_P(GlobalAccess, TouchesSectors) {
  const AccessCase& c = GetParam();
  const auto counters =
      count_body(std::string(c.offset) + "cvt.u64.u32 %b, %j; add.u64 %a, %x, %b;" + c.access);
  EXPECT_EQ(counters.global_requests, 1u);
  EXPECT_EQ(counters.global_sectors, c.sectors);
  EXPECT_EQ(counters.unique_read_bytes, c.read);
  EXPECT_EQ(counters.unique_written_bytes, c.written);
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, GlobalAccess,
    ::testing::Values(
        AccessCase{"Coalesced", "mul.lo.u32 %j, %i, 4;", "ld.global.f32 %f, [%a];", 4, 128, 0},
        AccessCase{"Written", "mul.lo.u32 %j, %i, 4;", "st.global.f32 [%a], %f;", 4, 0, 128},
        AccessCase{"Bytes", "mov.u32 %j, %i;", "ld.global.u8 %c, [%a];", 1, 32, 0},
        AccessCase{"ByTwo", "mul.lo.u32 %j, %i, 8;", "ld.global.f32 %f, [%a];", 8, 256, 0},
        AccessCase{"ByASector", "mul.lo.u32 %j, %i, 32;", "ld.global.f32 %f, [%a];", 32, 1024, 0},
        AccessCase{"Broadcast", "mov.u32 %j, 64;", "ld.global.f32 %f, [%a];", 1, 32, 0},
        AccessCase{"Unaligned", "mad.lo.u32 %j, %i, 4, 4;", "ld.global.f32 %f, [%a];", 5, 160, 0},
        AccessCase{"Reversed", "sub.u32 %j, 31, %i; mul.lo.u32 %j, %j, 4;",
                   "ld.global.f32 %f, [%a];", 4, 128, 0},
        AccessCase{"Doubles", "mul.lo.u32 %j, %i, 8;", "ld.global.f64 %d, [%a];", 8, 256, 0},
        AccessCase{"Vectors", "mul.lo.u32 %j, %i, 16;", "ld.global.v4.f32 {%f, %g, %h, %l}, [%a];",
                   16, 512, 0},
        AccessCase{"Atomic", "mul.lo.u32 %j, %i, 4;", "red.global.add.f32 [%a], %f;", 4, 128, 128}),
    [](const auto& test) { return test.param.name; });

TEST(Counters, UniqueBytesAreCountedOnceOverAllBlocksAndThreads) {
  // Each of 4 blocks of 64 threads reads the same 256 bytes, twice.
  const auto counters = count_body(
      "mul.wide.u32 %b, %i, 4; add.u64 %a, %x, %b; ld.global.f32 %f, [%a]; "
      "ld.global.f32 %g, [%a];",
      64, 4);
  EXPECT_EQ(counters.global_requests, 4u * 2 * 2);
  EXPECT_EQ(counters.global_sectors, 4u * 2 * 2 * 4);
  EXPECT_EQ(counters.global_bytes, 4u * 64 * 2 * 4);
  EXPECT_EQ(counters.unique_read_bytes, 256u);
  EXPECT_EQ(counters.unique_written_bytes, 0u);
}

TEST(Counters, AtomicsAreCountedByThread) {
  const auto counters = count_body(
      "red.global.add.f32 [%x], %f; atom.shared.add.u32 %j, [sh], 1; setp.lt.u32 %p, %i, 5; "
      "@%p atom.global.exch.b32 %j, [%x], %i;");
  EXPECT_EQ(counters.global_atomics, 32u + 5u);
  EXPECT_EQ(counters.shared_atomics, 32u);
  EXPECT_EQ(of(counters, InstructionClass::kAtomic).warps, 3u);
  EXPECT_EQ(of(counters, InstructionClass::kAtomic).threads, 69u);
  EXPECT_EQ(counters.global_sectors, 2u);
}

struct BankCase {
  const char* name;
  const char* offset;
  const char* access;
  std::uint64_t conflicts;
};

class SharedAccess : public ::testing::TestWithParam<BankCase> {};

TEST_P(SharedAccess, ConflictsInBanks) {
  const BankCase& c = GetParam();
  const auto counters = count_body(std::string(c.offset) + "add.u32 %s, %s, %j;" + c.access);
  EXPECT_EQ(counters.shared_requests, 1u);
  EXPECT_EQ(counters.shared_conflicts, c.conflicts);
  EXPECT_EQ(counters.global_requests, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, SharedAccess,
    ::testing::Values(BankCase{"None", "mul.lo.u32 %j, %i, 4;", "ld.shared.f32 %f, [%s];", 0},
                      BankCase{"Broadcast", "mov.u32 %j, 12;", "ld.shared.f32 %f, [%s];", 0},
                      BankCase{"TwoWay", "mul.lo.u32 %j, %i, 8;", "ld.shared.f32 %f, [%s];", 1},
                      BankCase{"TwoWords", "and.b32 %j, %i, 1; mul.lo.u32 %j, %j, 128;",
                               "ld.shared.f32 %f, [%s];", 1},
                      BankCase{"Full", "mul.lo.u32 %j, %i, 128;", "st.shared.f32 [%s], %f;", 31},
                      BankCase{"Padded", "mul.lo.u32 %j, %i, 132;", "ld.shared.f32 %f, [%s];", 0},
                      BankCase{"Bytes", "mov.u32 %j, %i;", "ld.shared.u8 %c, [%s];", 0},
                      BankCase{"Doubles", "mul.lo.u32 %j, %i, 8;", "ld.shared.f64 %d, [%s];", 0},
                      BankCase{"DoublesByTwo", "mul.lo.u32 %j, %i, 16;", "ld.shared.f64 %d, [%s];",
                               2},
                      BankCase{"Vectors", "mul.lo.u32 %j, %i, 16;",
                               "ld.shared.v4.f32 {%f, %g, %h, %l}, [%s];", 0},
                      BankCase{"VectorsByTwo", "mul.lo.u32 %j, %i, 32;",
                               "ld.shared.v4.f32 {%f, %g, %h, %l}, [%s];", 4}),
    [](const auto& test) { return test.param.name; });

TEST(Counters, GuardsAndBranchesTakeLanesAway) {
  const auto counters = count_body(
      "setp.lt.u32 %p, %i, 8; @%p add.f32 %f, %f, %g; @!%p mul.f32 %f, %f, %g;"
      "@%p bra SKIP; fma.rn.f32 %f, %f, %g, %f; SKIP: sub.f32 %f, %f, %g;");
  const auto fp32 = of(counters, InstructionClass::kFp32);
  EXPECT_EQ(fp32.warps, 4u);
  EXPECT_EQ(fp32.threads, 8u + 24 + 24 + 32);
  EXPECT_EQ(counters.flops[static_cast<std::size_t>(FlopType::kFp32)], 8u + 24 + 2 * 24 + 32);
  EXPECT_LT(lane_efficiency(counters).value(), 1);
}

TEST(Counters, WholeWarpsAreFullyEfficient) {
  EXPECT_EQ(lane_efficiency(count_body("add.f32 %f, %f, %g;", 64)), 1.0);
  EXPECT_EQ(lane_efficiency(count_body("add.f32 %f, %f, %g;", 16)), 0.5);
}

TEST(Counters, AnInstructionThatWaitsForLanesIsCountedOnce) {
  // Half of the warp arrives at the shuffle first and waits there.
  const auto counters = count_body(
      "setp.lt.u32 %p, %i, 16; mov.u32 %j, 0; @%p bra FIRST; mov.u32 %j, 1; mov.u32 %j, 2;"
      "FIRST: shfl.sync.bfly.b32 %n, %i, 1, 31, -1;");
  EXPECT_EQ(of(counters, InstructionClass::kWarp).warps, 1u);
  EXPECT_EQ(of(counters, InstructionClass::kWarp).threads, 32u);
}

struct KindCase {
  const char* text;
  InstructionClass instruction_class;
  std::uint32_t flops = 0;
  FlopType type = FlopType::kFp32;
  std::uint32_t tensor_flops = 0;
};

TEST(InstructionKinds, FollowFromTheText) {
  using Class = InstructionClass;
  const KindCase cases[] = {
      {"add.s32", Class::kInteger},
      {"mad.lo.s32", Class::kInteger},
      {"setp.lt.s64", Class::kInteger},
      {"setp.lt.f32", Class::kFp32},
      {"selp.b32", Class::kInteger},
      {"dp4a.s32.s32", Class::kInteger},
      {"add.f32", Class::kFp32, 1},
      {"fma.rn.ftz.f32", Class::kFp32, 2},
      {"fma.rn.f64", Class::kFp64, 2, FlopType::kFp64},
      {"fma.rn.f16x2", Class::kFp16, 4, FlopType::kFp16},
      {"mul.rn.bf16", Class::kFp16, 1, FlopType::kBf16},
      {"max.f32", Class::kFp32},
      {"div.rn.f32", Class::kSpecial, 1},
      {"div.s32", Class::kInteger},
      {"ex2.approx.ftz.f32", Class::kSpecial, 1},
      {"cvt.rn.f16.f32", Class::kConvert},
      {"mov.f32", Class::kMove},
      {"ld.param.u64", Class::kMove},
      {"ld.global.nc.v4.f32", Class::kGlobal},
      {"ld.u32", Class::kGlobal},
      {"st.shared.f32", Class::kShared},
      {"ld.local.u32", Class::kLocal},
      {"atom.global.add.f32", Class::kAtomic},
      {"cp.async.cg.shared.global", Class::kGlobal},
      {"cp.async.wait_group", Class::kBarrier},
      {"bar.sync", Class::kBarrier},
      {"bra.uni", Class::kControl},
      {"shfl.sync.bfly.b32", Class::kWarp},
      {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", Class::kShared},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", Class::kShared},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", Class::kTensor, 0, FlopType::kFp16,
       2 * 16 * 16 * 16},
      {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", Class::kTensor, 0,
       FlopType::kTf32, 2 * 16 * 16 * 8},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Class::kTensor, 0, FlopType::kBf16,
       2 * 16 * 8 * 16},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", Class::kTensor, 0, FlopType::kInt8,
       2 * 16 * 8 * 32},
      {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", Class::kTensor, 0, FlopType::kFp64,
       2 * 8 * 8 * 4},
      {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", Class::kTensor, 0, FlopType::kFp16,
       2 * 64 * 128 * 16 / 4},
      {"wgmma.wait_group.sync.aligned", Class::kBarrier},
  };
  for (const KindCase& c : cases) {
    const InstructionKind kind = classify(c.text);
    EXPECT_EQ(to_string(kind.instruction_class), to_string(c.instruction_class)) << c.text;
    EXPECT_EQ(kind.flops, c.flops) << c.text;
    EXPECT_EQ(kind.tensor_flops, c.tensor_flops) << c.text;
    if (c.flops + c.tensor_flops > 0) {
      EXPECT_EQ(to_string(kind.flop_type), to_string(c.type)) << c.text;
    }
  }
}

TEST(Counters, ATiledMatmulHasItsFlopsAndItsLeastTraffic) {
  KBENCH_NEEDS_NVRTC();
  const auto ptx = compile(R"(
    extern "C" __global__ void k(const float* a, float* c) {
      __shared__ float x[16][16], y[16][17];
      int i = threadIdx.x / 16, j = threadIdx.x % 16;
      float sum = 0;
      for (int t = 0; t < 64; t += 16) {
        x[i][j] = a[(blockIdx.x * 16 + i) * 64 + t + j];
        y[i][j] = a[(t + i) * 64 + j];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum = __fmaf_rn(x[i][k], y[k][j], sum);
        __syncthreads();
      }
      c[(blockIdx.x * 16 + i) * 64 + j] = sum;
    })");
  const auto counters = count(ptx, "k", 256, 4);
  EXPECT_EQ(counters.flops[static_cast<std::size_t>(FlopType::kFp32)], 2u * 64 * 16 * 64);
  EXPECT_EQ(counters.unique_read_bytes, 64u * 64 * 4);
  EXPECT_EQ(counters.unique_written_bytes, 64u * 16 * 4);
  EXPECT_EQ(of(counters, InstructionClass::kBarrier).warps, 4u * 8 * 8);
}

}  // namespace
}  // namespace kbench::ptx::testing
