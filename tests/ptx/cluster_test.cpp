// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/block_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::HasSubstr;
using u32 = std::uint32_t;

TEST(Cluster, blocks_know_their_place) {
  const auto words = words_of(
      "mov.u32 %r1, %cluster_ctaid.x; mov.u32 %r2, %cluster_nctaid.x; mov.u32 %r3, "
      "%cluster_ctarank; mov.u32 %r4, %cluster_nctarank; mov.u32 %r5, %clusterid.x; mov.u32 %r6, "
      "%nclusterid.x; mov.pred %p1, %is_explicit_cluster; selp.u32 %r0, 1, 0, %p1;\n"
      "mad.lo.u32 %r0, %r0, 10, %r1; mad.lo.u32 %r0, %r0, 10, %r2; mad.lo.u32 %r0, %r0, 10, %r3; "
      "mad.lo.u32 %r0, %r0, 10, %r4; mad.lo.u32 %r0, %r0, 10, %r5; mad.lo.u32 %r0, %r0, 10, %r6;",
      {32, 8, {4, 1, 1}});
  for (u32 b = 0; b < 8; ++b) {
    EXPECT_EQ(words[std::size_t{b} * 32],
              1000000 + (b % 4) * 100000 + 40000 + (b % 4) * 1000 + 400 + (b / 4) * 10 + 2);
  }
}

/// Each thread's word in the shared memory of all blocks, then all wait.
constexpr const char* kFill =
    "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; st.shared.b32 [%r1], %g; mov.u32 "
    "%r9, %cluster_ctarank; barrier.cluster.arrive.release.aligned; "
    "barrier.cluster.wait.acquire.aligned; xor.b32 %r8, %r9, 1;\n";

TEST(Cluster, shared_memory_of_the_neighbour) {
  struct Row {
    const char* code;
    u32 (*expected)(u32 block, u32 thread);
  };
  const auto neighbour = [](u32 b, u32 t) { return (b ^ 1) * 64 + t; };
  const Row rows[] = {
      {"mapa.shared::cluster.u32 %r3, %r1, %r8; ld.shared::cluster.b32 %r0, [%r3];", neighbour},
      {"cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, %r8; ld.b32 %r0, "
       "[%rd2];",
       neighbour},
      {"mapa.shared::cluster.u32 %r3, %r1, %r9; ld.shared.b32 %r0, [%r3];",
       [](u32 b, u32 t) { return b * 64 + t; }},
      {"mapa.shared::cluster.u32 %r3, %r1, %r8; getctarank.shared::cluster.u32 %r0, %r3;",
       [](u32 b, u32) { return (b & 1) ^ 1; }},
      {"cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1; getctarank.u64 %r0, %rd1;",
       [](u32 b, u32) { return b & 1; }},
      {"cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1; mapa.u64 %rd2, %rd1, %r8; "
       "isspacep.shared::cta %p1, %rd2; isspacep.shared::cluster %p2, %rd2; isspacep.shared %p3, "
       "%rd1; selp.u32 %r0, 1, 0, %p1; @%p2 add.u32 %r0, %r0, 2; @%p3 add.u32 %r0, %r0, 4;",
       [](u32, u32) { return 6U; }},
      {"mapa.shared::cluster.u32 %r3, %r1, %r8; st.shared::cluster.b32 [%r3], %r9; "
       "atom.relaxed.cluster.shared::cluster.add.u32 %r4, [%r3], 100; barrier.cluster.arrive; "
       "barrier.cluster.wait; ld.shared.b32 %r0, [%r1];",
       [](u32 b, u32) { return 100 + ((b & 1) ^ 1); }},
      {"mapa.shared::cluster.u32 %r3, s, 0; red.shared::cluster.add.u32 [%r3+256], 1; "
       "barrier.cluster.arrive.relaxed; barrier.cluster.wait; ld.shared::cluster.b32 %r0, "
       "[%r3+256]; add.u32 %r0, %r0, 1; barrier.cluster.arrive; barrier.cluster.wait;",
       [](u32, u32) { return 128U; }},
  };
  for (const Row& row : rows) {
    const auto words =
        words_of(std::string(kFill) + row.code + "\nbarrier.cluster.arrive; barrier.cluster.wait;",
                 {64, 4, {2, 1, 1}});
    for (u32 i = 0; i < 256; ++i) ASSERT_EQ(words[i], row.expected(i / 64, i % 64)) << row.code;
  }
}

TEST(Cluster, mbarriers_and_bulk_copies_reach_other_blocks) {
  const std::string begin =
      "mov.u32 %r20, m; setp.eq.u32 %p7, %t, 0; @%p7 mbarrier.init.shared.b64 [%r20], 2; "
      "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 "
      "%r9, %cluster_ctarank; xor.b32 %r8, %r9, 1; mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 "
      "%r1, "
      "%r1, %r2; mov.u16 %h1, 3; setp.eq.u32 %p5, %r9, 0; and.pred %p5, %p5, %p7;\n";
  const std::string end =
      "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0; @!%p1 bra W;\n"
      "ld.shared.b32 %r0, [%r1]; barrier.cluster.arrive; barrier.cluster.wait;";
  // Block 0 fetches for both; each block arrives at both barriers.
  const std::string multicast =
      "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256; mapa.shared::cluster.u32 %r3, "
      "%r20, "
      "%r8; @%p7 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3]; @%p5 "
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], "
      "[%in+32], 256, [m], %h1;\n";
  const auto both = words_of(begin + multicast + end, {64, 4, {2, 1, 1}});
  for (u32 i = 0; i < 256; ++i) EXPECT_EQ(both[i], 8 + i % 64);
  // Each block sends its words to the other.
  const std::string exchange =
      "add.u32 %r4, %r1, 1024; st.shared.b32 [%r4], %g; bar.sync 0; mapa.shared::cluster.u32 %r3, "
      "%r20, %r8; mapa.shared::cluster.u32 %r5, %r1, %r8; @%p7 "
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256; @%p7 "
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3]; @%p7 "
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%r4], 256, "
      "[%r3];\n";
  const auto swapped = words_of(begin + exchange + end, {64, 4, {2, 1, 1}});
  for (u32 i = 0; i < 256; ++i) EXPECT_EQ(swapped[i], i ^ 64);
}

TEST(Cluster, stores_and_reductions_arrive_at_mbarriers) {
  struct Row {
    const char* code;  ///< sends from %r1 and %g to the other block's address %r5
    u32 bytes;         ///< that a block gets
    u32 (*expected)(u32 block, u32 thread);
  };
  const Row rows[] = {
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %g, [%r3];", 128,
       [](u32 b, u32 t) { return (b ^ 1) * 32 + t; }},
      {"and.b32 %r6, %t, 1; setp.eq.u32 %p4, %r6, 0; @%p4 "
       "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r5], {%g, 5}, [%r3];",
       128, [](u32 b, u32 t) { return t % 2 == 0 ? (b ^ 1) * 32 + t : 5; }},
      {"and.b32 %r6, %t, 1; setp.eq.u32 %p4, %r6, 0; cvt.u64.u32 %rd1, %g; @%p4 "
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r5], %rd1, [%r3];",
       128, [](u32 b, u32 t) { return t % 2 == 0 ? (b ^ 1) * 32 + t : 0; }},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], %g, "
       "[%r3];",
       128, [](u32 b, u32 t) { return (b ^ 1) * 32 + t + 7; }},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%r5], -3, "
       "[%r3];",
       128, [](u32, u32) { return 7U; }},
  };
  for (const Row& row : rows) {
    const auto words = words_of(
        fmt::format(
            "mov.u32 %r20, m; setp.eq.u32 %p7, %t, 0; @%p7 mbarrier.init.shared.b64 [%r20], "
            "1; @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], {}; mov.u32 %r1, s; "
            "shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; mov.u32 %r2, 7; st.shared.b32 [%r1], "
            "%r2; mov.u32 %r9, %cluster_ctarank; xor.b32 %r8, %r9, 1; barrier.cluster.arrive; "
            "barrier.cluster.wait; mapa.shared::cluster.u32 %r5, %r1, %r8; "
            "mapa.shared::cluster.u32 %r3, %r20, %r8;\n{}\nW: "
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0; @!%p1 "
            "bra W;\nld.shared.b32 %r0, [%r1]; barrier.cluster.arrive; "
            "barrier.cluster.wait;",
            row.bytes, row.code),
        {32, 2, {2, 1, 1}});
    for (u32 i = 0; i < 64; ++i) ASSERT_EQ(words[i], row.expected(i / 32, i % 32)) << row.code << i;
  }
}

TEST(Cluster, bulk_copies_reduce) {
  const auto outcome = run_block(
      "shl.b32 %r2, %t, 2; mov.u32 %r1, s; add.u32 %r1, %r1, %r2; add.u32 %r3, %t, 100; "
      "st.shared.b32 [%r1], %r3; bar.sync 0; setp.eq.u32 %p1, %t, 0; @%p1 "
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [s], 64; @%p1 "
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%in+64], [s], 64; @%p1 "
      "cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;");
  ASSERT_FALSE(outcome.fault) << outcome.fault->message;
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(outcome.input[i], i < 16 ? 2 * i + 100 : i + 84) << i;
}

TEST(Cluster, misuse_is_named) {
  struct Row {
    const char* code;
    BlockRun how;
    const char* message;
  };
  const Row rows[] = {
      {"", {32, 3, {2, 1, 1}}, "not a multiple"},
      {"", {32, 16, {16, 1, 1}}, "the cluster has 16 blocks"},
      {"",
       {32, 2, {2, 1, 1}, ".reqnctapercluster 1, 1, 1"},
       "differs from the one that the kernel requires"},
      {"", {32, 2, {0, 0, 0}, ".explicitcluster"}, "has to be launched with clusters"},
      {"", {32, 4, {4, 1, 1}, ".maxclusterrank 2"}, "the limit is 2"},
      {"barrier.cluster.wait;", {32, 2, {2, 1, 1}}, "without having arrived"},
      {"barrier.cluster.arrive; barrier.cluster.arrive;", {32, 1}, "without having waited"},
      {"mapa.shared::cluster.u32 %r1, s, 2;", {32, 2, {2, 1, 1}}, "to block 2 of a cluster of 2"},
      {"mapa.shared::cluster.u32 %r1, s, 1; add.u32 %r1, %r1, 8192; ld.shared::cluster.b32 %r0, "
       "[%r1];",
       {32, 2, {2, 1, 1}},
       "shared memory"},
      // Block 1 never arrives, and waits for block 0's mbarrier.
      {"mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p1, %r9, 1; @%p1 bra W; "
       "barrier.cluster.arrive; "
       "barrier.cluster.wait; bra END; W: mbarrier.init.shared.b64 [m], 64; V: "
       "mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra V;",
       {1, 2, {2, 1, 1}},
       "can continue"},
  };
  for (const Row& row : rows) {
    const auto outcome = run_block(row.code, row.how);
    ASSERT_TRUE(outcome.fault) << row.code << row.message;
    EXPECT_THAT(outcome.fault->message, HasSubstr(row.message)) << row.code;
  }
  EXPECT_EQ(
      words_of("mov.u32 %r0, %cluster_nctarank;", {32, 4, {0, 0, 0}, ".reqnctapercluster 2"})[0],
      2U);
}

TEST(Cluster, blocks_that_end_early_have_arrived) {
  const auto words = words_of(
      "mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p1, %r9, 1; @%p1 bra END; "
      "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r0, 7;",
      {64, 2, {2, 1, 1}});
  EXPECT_EQ(words[0], 7U);
}

TEST(Cluster, cooperative_groups) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const int* x, int* y, int n) {
      __shared__ int bins[16];
      auto cluster = cg::this_cluster();
      if (threadIdx.x < 16) bins[threadIdx.x] = 0;
      cluster.sync();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = x[i];
        atomicAdd(cluster.map_shared_rank(bins, bin / 16) + bin % 16, 1);
      }
      cluster.sync();
      if (threadIdx.x < 16) {
        atomicAdd(&y[cluster.block_rank() * 16 + threadIdx.x], bins[threadIdx.x]);
      }
    })");
  const int n = 5000;
  Buffer<int> x("x", n), y("y", 64);
  std::vector<int> expected(64, 0);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<int>(i * i % 64);
    ++expected[static_cast<std::size_t>(x[i])];
  }
  const Launch launch = launch_of("histogram", 12, 64, arguments(x.data(), y.data(), n));
  run(module, launch, {x.region(false), y.region()});
  EXPECT_EQ(std::vector<int>(y.data(), y.data() + 64), expected);
}

}  // namespace
}  // namespace kbench::ptx::testing
