// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/block_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using u32 = std::uint32_t;

/// Lane that a shuffle reads, and whether it is in range, as PTX defines it.
std::pair<u32, bool> shuffled(const std::string& mode, u32 lane, u32 b, u32 c) {
  const u32 segment = (c >> 8) & 31, clamp = c & 31;
  const u32 high = (lane & segment) | (clamp & ~segment & 31), low = lane & segment;
  int source = 0;
  bool inside = false;
  b &= 31;
  if (mode == "up") {
    source = static_cast<int>(lane) - static_cast<int>(b);
    inside = source >= static_cast<int>(high);
  } else {
    if (mode == "down") source = static_cast<int>(lane + b);
    if (mode == "bfly") source = static_cast<int>(lane ^ b);
    if (mode == "idx") source = static_cast<int>(low | (b & ~segment & 31));
    inside = source <= static_cast<int>(high);
  }
  return {inside ? static_cast<u32>(source) : lane, inside};
}

TEST(Shuffle, all_modes_segments_and_distances) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const u32 width : {32U, 16U, 8U, 2U}) {
      const u32 c = ((32 - width) << 8) | (mode == "up" ? 0 : 31);
      for (const u32 b : {0U, 1U, 5U, 16U, 31U, 35U}) {
        const auto words =
            words_of(fmt::format("mul.lo.u32 %r1, %t, 3; shfl.sync.{}.b32 %r0|%p1, %r1, {}, {}, "
                                 "0xffffffff; @%p1 add.u32 "
                                 "%r0, %r0, 1000;",
                                 mode, b, c));
        for (u32 t = 0; t < 32; ++t) {
          const auto [source, inside] = shuffled(mode, t, b, c);
          ASSERT_EQ(words[t], 3 * source + (inside ? 1000 : 0))
              << mode << " " << width << " " << b << " lane " << t;
        }
      }
    }
  }
}

struct WarpRow {
  const char* code;
  u32 (*expected)(u32 lane);
};

void expect_rows(const std::vector<WarpRow>& rows, const BlockRun& how = {}) {
  for (const WarpRow& row : rows) {
    const auto words = words_of(row.code, how);
    for (u32 t = 0; t < how.threads; ++t) ASSERT_EQ(words[t], row.expected(t)) << row.code << t;
  }
}

TEST(Warp, votes_matches_and_reductions) {
  expect_rows({
      {"setp.gt.u32 %p1, %t, 3; vote.sync.ballot.b32 %r0, %p1, -1;",
       [](u32) { return 0xfffffff0; }},
      {"setp.gt.u32 %p1, %t, 3; vote.sync.ballot.b32 %r0, !%p1, 0xffffffff;",
       [](u32) { return 0xfU; }},
      {"setp.gt.u32 %p1, %t, 3; vote.sync.all.pred %p2, %p1, 0xffffffff; selp.u32 %r0, 1, 0, %p2;",
       [](u32) { return 0U; }},
      {"setp.gt.u32 %p1, %t, 30; vote.sync.any.pred %p2, %p1, 0xffffffff; selp.u32 %r0, 1, 0, %p2;",
       [](u32) { return 1U; }},
      {"setp.gt.u32 %p1, %t, 40; vote.sync.uni.pred %p2, %p1, 0xffffffff; selp.u32 %r0, 1, 0, %p2;",
       [](u32) { return 1U; }},
      {"and.b32 %r1, %t, 3; match.any.sync.b32 %r0, %r1, 0xffffffff;",
       [](u32 t) { return 0x11111111U << (t & 3); }},
      {"mul.wide.u32 %rd1, %t, 0; match.all.sync.b64 %r0|%p1, %rd1, 0xffffffff; @!%p1 mov.u32 %r0, "
       "5;",
       [](u32) { return 0xffffffffU; }},
      {"match.all.sync.b32 %r0|%p1, %t, 0xffffffff; @%p1 mov.u32 %r0, 5;", [](u32) { return 0U; }},
      {"cvt.u64.u32 %rd1, %t; shl.b64 %rd1, %rd1, 40; match.any.sync.b64 %r0, %rd1, 0xffffffff;",
       [](u32 t) { return 1U << t; }},
      {"redux.sync.add.s32 %r0, %t, 0xffffffff;", [](u32) { return 496U; }},
      {"sub.s32 %r1, %t, 5; redux.sync.min.s32 %r0, %r1, 0xffffffff;",
       [](u32) { return static_cast<u32>(-5); }},
      {"sub.s32 %r1, %t, 5; redux.sync.max.u32 %r0, %r1, 0xffffffff;", [](u32) { return ~0U; }},
      {"redux.sync.xor.b32 %r0, %t, 0xffffffff;", [](u32) { return 0U; }},
      {"redux.sync.or.b32 %r0, %t, 0xffffffff;", [](u32) { return 31U; }},
      {"redux.sync.and.b32 %r0, %t, 0xffffffff;", [](u32) { return 0U; }},
      {"cvt.rn.f32.u32 %f1, %t; neg.f32 %f1, %f1; redux.sync.max.abs.f32 %f2, %f1, 0xffffffff; "
       "cvt.rzi.u32.f32 %r0, %f2;",
       [](u32) { return 31U; }},
      {"elect.sync %r0|%p1, 0xffffffff; @%p1 add.u32 %r0, %r0, 7;",
       [](u32 t) { return t == 0 ? 7U : 0U; }},
      {"elect.sync _|%p1, 0xffffffff; selp.u32 %r0, 1, 0, %p1;",
       [](u32 t) { return t == 0 ? 1U : 0U; }},
      {"activemask.b32 %r0;", [](u32) { return ~0U; }},
      // Parts of a warp, each for itself.
      {"setp.lt.u32 %p1, %t, 8; selp.b32 %r1, 0xff, 0xffffff00, %p1; redux.sync.add.u32 %r0, %t, "
       "%r1;",
       [](u32 t) { return t < 8 ? 28U : 468U; }},
      {"and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; activemask.b32 %r0; elect.sync "
       "%r1|%p2, 0xaaaaaaaa; add.u32 %r0, %r0, %r1;",
       [](u32 t) { return t % 2 == 0 ? 0U : 0xaaaaaaabU; }},
      // Lanes that have left are no members.
      {"setp.ge.u32 %p1, %t, 20; @%p1 bra END; setp.gt.u32 %p2, %t, 100; mov.u32 %r0, 0;"
       "vote.sync.ballot.b32 %r0, !%p2, 0x000fffff;",
       [](u32 t) { return t >= 20 ? 0U : 0xfffffU; }},
  });
}

TEST(Warp, lanes_meet_at_copies_of_an_instruction) {
  expect_rows({
      {"setp.lt.u32 %p1, %t, 16; mul.lo.u32 %r1, %t, 2; mul.lo.u32 %r2, %t, 100;\n@%p1 bra LOW;\n"
       "shfl.sync.bfly.b32 %r3, %r2, 16, 31, 0xffffffff; add.u32 %r0, %r3, 1; bra END;\n"
       "LOW: shfl.sync.bfly.b32 %r4, %r1, 16, 31, 0xffffffff; mov.u32 %r0, %r4;",
       [](u32 t) { return t < 16 ? 100 * (t + 16) : 2 * (t - 16) + 1; }},
      {"setp.lt.u32 %p1, %t, 5; setp.lt.u32 %p2, %t, 9;\n@%p1 bra LOW;\nvote.sync.ballot.b32 %r0, "
       "%p2, -1; bra END;\nLOW: vote.sync.ballot.b32 %r1, !%p2, -1; add.u32 %r0, %r1, 1;",
       [](u32 t) { return t < 5 ? 0x1e1U : 0x1e0U; }},
      {"setp.lt.u32 %p1, %t, 5;\n@%p1 bra LOW;\nvote.sync.any.pred %p3, %p1, -1; selp.u32 %r0, 3, "
       "0, %p3; bra END;\nLOW: vote.sync.any.pred %p2, %p1, -1; selp.u32 %r0, 4, 0, %p2;",
       [](u32 t) { return t < 5 ? 4U : 3U; }},
      {"setp.lt.u32 %p1, %t, 16;\n@%p1 bra LOW;\nredux.sync.add.u32 %r0, %t, -1; bra END;\nLOW: "
       "redux.sync.add.u32 %r0, 1, -1;",
       [](u32) { return 376U + 16U; }},
      {"cvt.u64.u32 %rd1, %t; setp.lt.u32 %p1, %t, 16; and.b64 %rd2, %rd1, 15;\n@%p1 bra LOW;\n"
       "match.any.sync.b64 %r0, %rd2, -1; bra END;\nLOW: match.any.sync.b64 %r0, %rd1, -1;",
       [](u32 t) { return 0x10001U << (t & 15); }},
      {"setp.lt.u32 %p1, %t, 16;\n@%p1 bra LOW;\nelect.sync %r0|%p2, -1; @%p2 add.u32 %r0, %r0, 9; "
       "bra END;\nLOW: elect.sync %r0|%p3, -1; @%p3 add.u32 %r0, %r0, 5;",
       [](u32 t) { return t == 0 ? 5U : 0U; }},
      // Three places, and two masks at them.
      {"and.b32 %r1, %t, 3; setp.lt.u32 %p1, %t, 16; selp.b32 %r9, 0xffff, 0xffff0000, %p1;\n"
       "setp.eq.u32 %p2, %r1, 0; @%p2 bra A; setp.eq.u32 %p2, %r1, 1; @%p2 bra B;\n"
       "redux.sync.max.u32 %r0, %t, %r9; bra END;\nA: redux.sync.max.u32 %r0, %t, %r9; bra END;\n"
       "B: redux.sync.max.u32 %r0, %t, %r9;",
       [](u32 t) { return t < 16 ? 15U : 31U; }},
      // The barrier of a warp has always been one of all its copies.
      {"setp.lt.u32 %p1, %t, 16; mov.u32 %r2, s; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r2; "
       "xor.b32 "
       "%r3, %r1, 64;\n@%p1 bra LOW;\nst.shared.b32 [%r1], %t; bar.warp.sync -1; ld.shared.b32 "
       "%r0, "
       "[%r3]; bra END;\nLOW: st.shared.b32 [%r1], %t; bar.warp.sync 0xffffffff; ld.shared.b32 "
       "%r0, [%r3];",
       [](u32 t) { return t ^ 16; }},
  });
}

TEST(Warp, functions_called_from_branches_meet) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    __device__ __noinline__ int sum(int x) {
      for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
      return x;
    }
    extern "C" __global__ void k(int* y) {
      int t = threadIdx.x;
      if (t % 3 == 0) y[t] = sum(t); else y[t] = 1 + sum(2 * t);
    })");
  Buffer<int> y("y", 32);
  const Launch launch = launch_of("k", 1, 32, arguments(y.data()));
  run(module, launch, {y.region()});
  int total = 0;
  for (int t = 0; t < 32; ++t) total += t % 3 == 0 ? t : 2 * t;
  for (int t = 0; t < 32; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], total + (t % 3 != 0));
}

TEST(Warp, partners_that_never_come_are_a_deadlock) {
  for (const char* code :
       {"setp.lt.u32 %p1, %t, 16; @%p1 bra LOW; bar.sync 1, 64; bra END; LOW: redux.sync.add.u32 "
        "%r0, %t, -1;",
        "setp.lt.u32 %p1, %t, 16; @%p1 bra LOW; shfl.sync.up.b32 %r0, %t, 1, 0, -1; bra END; LOW: "
        "shfl.sync.down.b32 %r0, %t, 1, 31, -1;"}) {
    const auto outcome = run_block(code);
    ASSERT_TRUE(outcome.fault) << code;
    EXPECT_EQ(outcome.fault->kind, FaultKind::kDeadlock) << code;
  }
}

TEST(Warp, a_lane_outside_its_own_mask_traps) {
  const auto outcome = run_block("redux.sync.add.u32 %r0, %t, 0xffff;");
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kind, FaultKind::kTrap);
  EXPECT_EQ(outcome.fault->thread[0], 16U);
}

}  // namespace
}  // namespace kbench::ptx::testing
