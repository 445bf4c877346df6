// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/block_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// Shared memory gets 77 at the thread's place %r1 (of 16 bytes); %rd1 is the source in `in`.
constexpr const char* kPlaces =
    "shl.b32 %r1, %t, 4; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mad.wide.u32 %rd1, %t, 16, %in;\n"
    "mov.u32 %r3, 77; st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};\n";

struct CopyRow {
  const char* code;
  std::array<std::uint32_t, 4> words;  ///< that thread 1 finds afterwards
};

TEST(CpAsync, copies_when_it_is_waited_for_and_not_before) {
  const std::array<std::uint32_t, 4> old{77, 77, 77, 77}, fresh{4, 5, 6, 7};
  const CopyRow rows[] = {
      {"cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.wait_all;", fresh},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16;", old},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group;", old},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.wait_group 0;", old},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 1;",
       old},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group; bar.sync 0;", old},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;",
       fresh},
      {"cp.async.ca.shared.global [%r1], [%rd1], 8; cp.async.commit_group; cp.async.commit_group; "
       "cp.async.wait_group 1;",
       {4, 5, 77, 77}},
      {"cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group; "
       "cp.async.ca.shared.global "
       "[%r1+4], [%rd1+4], 4; cp.async.commit_group; cp.async.wait_group 1;",
       {4, 77, 77, 77}},
      {"cp.async.ca.shared::cta.global.L2::128B [%r1], [%rd1], 16, 6; cp.async.wait_all;",
       {4, 5, 0, 0}},
      {"cp.async.cg.shared.global [%r1], [%rd1], 16, 0; cp.async.wait_all;", {0, 0, 0, 0}},
      {"setp.eq.u32 %p1, %t, 1; cp.async.ca.shared.global [%r1], [%rd1], 8, %p1; "
       "cp.async.wait_all;",
       {0, 0, 77, 77}},
      {"setp.eq.u32 %p1, %t, 1; cp.async.ca.shared.global [%r1], [%rd1], 8, !%p1; "
       "cp.async.wait_all;",
       {4, 5, 77, 77}},
      {"createpolicy.fractional.L2::evict_last.b64 %rd2, 0f3F800000; cp.async.ca.shared.global.L2::"
       "cache_hint.L2::256B [%r1], [%rd1], 4, %rd2; cp.async.wait_all;",
       {4, 77, 77, 77}},
      // Only lane 1 commits: its group is waited for, whatever the others do.
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; setp.eq.u32 %p1, %t, 1; @%p1 "
       "cp.async.commit_group; cp.async.wait_group 0;",
       fresh},
      {"cp.async.ca.shared.global [%r1], [%rd1], 16; setp.ne.u32 %p1, %t, 1; @%p1 "
       "cp.async.commit_group; cp.async.wait_group 0;",
       old},
      // The source is read when the copy is performed.
      {"cp.async.ca.shared.global [%r1], [%rd1], 4; mov.u32 %r4, 99; st.global.b32 [%rd1], %r4; "
       "cp.async.wait_all;",
       {99, 77, 77, 77}},
  };
  for (const CopyRow& row : rows) {
    for (unsigned word = 0; word < 4; ++word) {
      const auto words = words_of(std::string(kPlaces) + row.code +
                                  fmt::format("\nld.shared.b32 %r0, [%r1+{}];", 4 * word));
      ASSERT_EQ(words.size(), 32U);
      EXPECT_EQ(words[1], row.words[word]) << row.code << " word " << word;
    }
  }
}

TEST(CpAsync, threads_that_end_leave_nothing_undone) {
  const auto words =
      words_of(std::string(kPlaces) +
                   "setp.lt.u32 %p1, %t, 32; cp.async.ca.shared.global [%r1], [%rd1], "
                   "4; @%p1 exit; bar.sync 0; ld.shared.b32 %r0, [s+16];",
               {64});
  EXPECT_EQ(words[40], 4U);
}

TEST(CpAsync, rings_of_many_groups_keep_their_order) {
  // Ten copies in flight, of 60; each word of the ring is read when its group has arrived.
  const auto words = words_of(
      "mov.u32 %r1, 0; mov.u32 %r10, s; shl.b32 %r2, %t, 2; add.u32 %r10, %r10, %r2;\n"
      "mad.wide.u32 %rd1, %t, 4, %in;\n"
      "LOOP: rem.u32 %r3, %r1, 11; shl.b32 %r3, %r3, 7; add.u32 %r4, %r10, %r3;\n"
      "cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group; add.u64 %rd1, %rd1, "
      "128;\n"
      "setp.lt.u32 %p1, %r1, 10; @%p1 bra NEXT; cp.async.wait_group 10;\n"
      "sub.u32 %r5, %r1, 10; rem.u32 %r6, %r5, 11; shl.b32 %r6, %r6, 7; add.u32 %r6, %r6, %r10;\n"
      "ld.shared.b32 %r7, [%r6]; mad.lo.u32 %r0, %r5, %r7, %r0;\n"
      "NEXT: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 60; @%p2 bra LOOP;");
  for (unsigned t = 0; t < 32; ++t) {
    unsigned expected = 0;
    for (unsigned i = 0; i < 50; ++i) expected += i * (32 * i + t);
    EXPECT_EQ(words[t], expected) << t;
  }
}

TEST(CpAsync, faults_are_those_of_the_issue) {
  const auto outcome =
      run_block(std::string(kPlaces) + "cp.async.ca.shared.global [%r1], [%rd1+16384], 4;");
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->instruction, "cp.async.ca.shared.global");
  EXPECT_EQ(outcome.fault->region, "input");
  const auto odd =
      run_block(std::string(kPlaces) + "cp.async.cg.shared.global [%r1+4], [%rd1], 16;");
  ASSERT_TRUE(odd.fault);
  EXPECT_EQ(odd.fault->kind, FaultKind::kMisaligned);
}

TEST(CpAsync, what_is_read_before_its_copy_came_is_undefined) {
  const std::string issue =
      "mov.u32 %r1, s; shl.b32 %r2, %t, 4; add.u32 %r1, %r1, %r2; mad.wide.u32 %rd1, %t, 16, %in;\n"
      "cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.commit_group; {}"
      "ld.shared.b32 %r0, [%r1];";
  for (const bool waits : {false, true}) {
    BlockRun how;
    how.sanitize = Sanitize::kMemory;
    const auto outcome =
        run_block(fmt::format(fmt::runtime(issue), waits ? "cp.async.wait_group 0; " : ""), how);
    EXPECT_EQ(outcome.findings.empty(), waits);
    for (const Finding& finding : outcome.findings) {
      EXPECT_EQ(finding.kind, FindingKind::kUninitialized);
      EXPECT_EQ(finding.count, 32U);
      EXPECT_THAT(finding.message, HasSubstr("shared memory"));
    }
  }
}

/// Thread 0 makes m[0] for the number of threads; %r20 is its address.
std::string with_barrier(unsigned count) {
  return fmt::format(
      "mov.u32 %r20, m; setp.eq.u32 %p7, %t, 0; @%p7 mbarrier.init.shared::cta.b64 [%r20], {}; "
      "fence.mbarrier_init.release.cluster; bar.sync 0;\n",
      count);
}

/// Waits for the parity %r21 at %r20.
constexpr const char* kWait =
    "\n$WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r20], %r21; @!%p6 bra $WAIT;\n";

TEST(Mbarrier, phases_complete_by_arrivals_drops_and_transactions) {
  struct Row {
    const char* code;
    std::uint32_t expected;  ///< %r0 of thread 0, which is alone
  };
  const Row rows[] = {
      {"mbarrier.test_wait.parity.shared.b64 %p1, [%r20], 1; selp.u32 %r0, 1, 0, %p1;", 1},
      {"mbarrier.test_wait.parity.shared.b64 %p1, [%r20], 0; selp.u32 %r0, 1, 0, %p1;", 0},
      {"mbarrier.arrive.shared.b64 %rd1, [%r20]; mbarrier.pending_count.b64 %r0, %rd1;", 3},
      {"mbarrier.arrive.shared.b64 _, [%r20], 2; mbarrier.arrive.noComplete.release.cta.shared.b64 "
       "%rd1, [m], 0;",
       9},
      {"mbarrier.arrive.shared.b64 _, [%r20], 2; mbarrier.arrive.shared.b64 %rd1, [m]; "
       "mbarrier.test_wait.shared.b64 %p1, [%r20], %rd1; selp.u32 %r0, 1, 0, %p1;",
       1},
      {"mbarrier.arrive.release.cta.shared::cta.b64 %rd1, [%r20], 2; "
       "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p1, [%r20], %rd1, 100; selp.u32 %r0, 1, 0, "
       "%p1;",
       0},
      {"mbarrier.arrive.noComplete.shared.b64 %rd1, [%r20], 2; mbarrier.arrive_drop.shared.b64 "
       "%rd1, [%r20]; mbarrier.arrive.shared.b64 %rd2, [%r20]; mbarrier.pending_count.b64 %r0, "
       "%rd2;",
       2},
      {"mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r20], 64; mbarrier.arrive.shared.b64 "
       "%rd1, [%r20], 2; mbarrier.test_wait.shared.b64 %p1, [%r20], %rd1; selp.u32 %r0, 1, 0, %p1; "
       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r20], 64; "
       "mbarrier.test_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [%r20], 0; selp.u32 %r1, 2, "
       "0, %p1; add.u32 %r0, %r0, %r1;",
       2},
      {"mbarrier.complete_tx.shared.b64 [%r20], 8; mbarrier.arrive.shared.b64 %rd1, [%r20], 3; "
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r20], 8; mbarrier.test_wait.shared.b64 "
       "%p1, [%r20], %rd1; selp.u32 %r0, 1, 0, %p1;",
       1},
      {"mov.u32 %r1, m; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1; mbarrier.arrive.b64 "
       "%rd2, [%rd1], 3; mbarrier.test_wait.b64 %p1, [%rd1], %rd2; selp.u32 %r0, 1, 0, %p1; "
       "mbarrier.inval.shared.b64 [%r20];",
       1},
  };
  for (const Row& row : rows) {
    const auto outcome = run_block(with_barrier(3) + row.code, {1});
    if (row.expected == 9) {
      ASSERT_TRUE(outcome.fault) << row.code;
      continue;
    }
    ASSERT_FALSE(outcome.fault) << row.code << outcome.fault->message;
    EXPECT_EQ(outcome.words[0], row.expected) << row.code;
  }
}

TEST(Mbarrier, misuse_is_named) {
  struct Row {
    std::string code;
    const char* message;
  };
  const Row rows[] = {
      {"mbarrier.arrive.shared.b64 %rd1, [m+8];", "not initialised"},
      {"mbarrier.init.shared.b64 [m], 0;", "for 0 arrivals"},
      {with_barrier(1) + "mbarrier.arrive.shared.b64 %rd1, [m], 2;", "more often"},
      {with_barrier(2) + "mbarrier.arrive.noComplete.shared.b64 %rd1, [m], 2;", ".noComplete"},
      {with_barrier(2) + "mbarrier.test_wait.shared.b64 %p1, [m], %rd9;",
       "not the result of an mbarrier arrival"},
      {with_barrier(2) + "mov.u64 %rd9, 1234; mbarrier.test_wait.shared.b64 %p1, [m], %rd9;",
       "not the result of an mbarrier arrival"},
      {"mbarrier.init.b64 [%in], 1;", "not in shared memory"},
  };
  for (const Row& row : rows) {
    const auto outcome = run_block("mov.u64 %rd9, 0;" + row.code, {1});
    ASSERT_TRUE(outcome.fault) << row.code;
    EXPECT_THAT(outcome.fault->message, HasSubstr(row.message)) << row.code;
  }
}

// The schedule decides how fresh shared memory is filled.
TEST(Mbarrier, fresh_shared_memory_holds_none) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto outcome =
        run_block("mbarrier.arrive.shared.b64 %rd1, [m];", {.threads = 1, .schedule_seed = seed});
    ASSERT_TRUE(outcome.fault) << seed;
    EXPECT_THAT(outcome.fault->message, HasSubstr("not initialised")) << seed;
  }
}

TEST(Mbarrier, a_phase_that_never_completes_is_a_deadlock) {
  const std::string endless[] = {
      with_barrier(64) + "mov.u32 %r21, 0; mbarrier.arrive.shared.b64 _, [%r20];" + kWait,
      with_barrier(64) +
          "mbarrier.arrive.shared.b64 %rd1, [%r20]; W: mbarrier.test_wait.shared.b64 "
          "%p1, [%r20], %rd1; @!%p1 bra W;",
      // Some of them at another barrier.
      with_barrier(64) + "mov.u32 %r21, 0; @%p7 bra $WAIT; bar.sync 1, 64;" + kWait,
  };
  for (const std::string& code : endless) {
    const auto outcome = run_block(code, {32});
    ASSERT_TRUE(outcome.fault) << code;
    EXPECT_EQ(outcome.fault->kind, FaultKind::kDeadlock) << code;
  }
}

TEST(Mbarrier, producers_and_consumers_take_turns) {
  // Warp 0 fills a word per lane, warp 1 reads it: "full" at m[0], "empty" at m[1].
  const auto words = words_of(
      "setp.eq.u32 %p7, %t, 0; @%p7 mbarrier.init.shared.b64 [m], 32; @%p7 "
      "mbarrier.init.shared.b64 [m+8], 32; bar.sync 0; and.b32 %r1, %t, 31; shl.b32 %r1, %r1, 2; "
      "mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mov.u32 %r3, 0;\n"
      "setp.ge.u32 %p1, %t, 32; @%p1 bra CONSUME;\n"
      "PRODUCE: and.b32 %r4, %r3, 1; xor.b32 %r4, %r4, 1;\n"
      "PW: mbarrier.try_wait.parity.shared.b64 %p2, [m+8], %r4; @!%p2 bra PW;\n"
      "mad.lo.u32 %r5, %r3, 100, %t; st.shared.b32 [%r1], %r5; mbarrier.arrive.shared.b64 _, [m];\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 50; @%p3 bra PRODUCE; bra END;\n"
      "CONSUME: and.b32 %r4, %r3, 1;\n"
      "CW: mbarrier.try_wait.parity.shared.b64 %p2, [m], %r4, 1000; @!%p2 bra CW;\n"
      "ld.shared.b32 %r5, [%r1]; add.u32 %r0, %r0, %r5; mbarrier.arrive.shared.b64 _, [m+8];\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 50; @%p3 bra CONSUME;",
      {64});
  for (unsigned t = 32; t < 64; ++t) EXPECT_EQ(words[t], 122500 + 50 * (t - 32)) << t;
}

TEST(Mbarrier, tracks_asynchronous_copies) {
  for (const bool counted : {false, true}) {
    const std::string code = with_barrier(counted ? 1 : 33) + kPlaces +
                             fmt::format(
                                 "cp.async.ca.shared.global [%r1], [%rd1], 16; "
                                 "cp.async.mbarrier.arrive{}.shared::cta.b64 [%r20];",
                                 counted ? "" : ".noinc") +
                             " bar.sync 0; @%p7 mbarrier.arrive.shared.b64 _, [%r20];";
    // Nobody has looked at the barrier: the old value.
    EXPECT_EQ(words_of(code + "ld.shared.b32 %r0, [%r1];")[3], 77U);
    const auto words = words_of(code + "mov.u32 %r21, 0;" + kWait + "ld.shared.b32 %r0, [%r1];");
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(words[t], 4 * t);
  }
}

TEST(BulkCopy, completes_transactions_and_groups) {
  const std::string in = with_barrier(1) +
                         "mov.u32 %r3, 77; shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, "
                         "%r2; st.shared.b32 [%r1], %r3; fence.proxy.async.shared::cta; bar.sync 0;"
                         "mov.u32 %r21, 0;";
  const char* forms[] = {
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%in+64], 128, "
      "[%r20];",
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [s], [%in+64], "
      "128, [m], %rd3;",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], "
      "[%in+64], 128, [%r20], %h1;",
  };
  for (const char* form : forms) {
    const std::string issue =
        in +
        "mov.u64 %rd3, 0; mov.u16 %h1, 1; @%p7 mbarrier.arrive.expect_tx.shared.b64 _, "
        "[%r20], 128; @%p7 " +
        form + " bar.sync 0;";
    EXPECT_THAT(words_of(issue + "ld.shared.b32 %r0, [%r1];"), Each(77U)) << form;
    const auto words = words_of(issue + kWait + "ld.shared.b32 %r0, [%r1];");
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(words[t], 16 + t) << form;
  }
  const std::string out =
      in +
      "cp.async.bulk.prefetch.L2.global [%in], 256; @%p7 cp.async.bulk.global.shared::cta."
      "bulk_group [%in], [s], 64; @%p7 cp.async.bulk.commit_group; {} mad.wide.u32 %rd1, %t, "
      "4, %in; ld.global.b32 %r0, [%rd1];";
  const auto late = words_of(fmt::format(fmt::runtime(out), "bar.sync 0;"));
  const auto done =
      words_of(fmt::format(fmt::runtime(out), "@%p7 cp.async.bulk.wait_group.read 0; bar.sync 0;"));
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(late[t], t);
    EXPECT_EQ(done[t], t < 16 ? 77 : t);
  }
  const auto ended = run_block(in +
                               "@%p7 cp.async.bulk.global.shared::cta.bulk_group [%in], [s], "
                               "64; @%p7 cp.async.bulk.commit_group;");
  EXPECT_EQ(ended.input[15], 77U);
  const auto odd =
      run_block(in + "@%p7 cp.async.bulk.global.shared::cta.bulk_group [%in], [s], 8;");
  ASSERT_TRUE(odd.fault);
  EXPECT_EQ(odd.fault->kind, FaultKind::kMisaligned);
}

TEST(BulkCopy, tensors_are_named_as_unsupported) {
  const auto loaded = load(block_text(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in, "
      "{%r1, %r2}], [%r20];"));
  const auto* unsupported = std::get_if<Unsupported>(&loaded);
  ASSERT_NE(unsupported, nullptr);
  EXPECT_THAT(unsupported->instruction, HasSubstr("cp.async.bulk.tensor.2d"));
}

TEST(Async, hints_change_nothing) {
  const auto words = words_of(
      "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd1, 0f3F000000; "
      "mad.wide.u32 "
      "%rd2, %t, 4, %in; ld.global.L2::cache_hint.b32 %r0, [%rd2], %rd1; "
      "griddepcontrol.launch_dependents; griddepcontrol.wait; fence.proxy.async; "
      "fence.proxy.async.global; fence.proxy.alias; fence.acq_rel.cluster; "
      "fence.acquire.sync_restrict::shared::cluster.cluster;"
      "applypriority.global.L2::evict_normal [%in], 128;");
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(words[t], t);
}

}  // namespace
}  // namespace kbench::ptx::testing
