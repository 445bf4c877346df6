// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ptx/block_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr unsigned kThreads = 96, kBlocks = 3, kAll = kThreads * kBlocks, kSlots = 4;

enum class Values : std::uint8_t { kEdges, kReal32, kReal64, kHalf, kBfloat, kHalfPair, kFew };

struct Row {
  const char* form;  ///< operation and type
  unsigned bits;
  Values values;
  u64 (*apply)(u64 old, u64 a, u64 b);
};

template <class T, class F>
u64 with(u64 x, u64 y, F f) {
  const T r = f(static_cast<T>(x), static_cast<T>(y));
  return static_cast<u64>(static_cast<std::make_unsigned_t<T>>(r));
}
template <class T>
u64 least(u64 x, u64 y) {
  return with<T>(x, y, [](T p, T q) { return std::min(p, q); });
}
template <class T>
u64 most(u64 x, u64 y) {
  return with<T>(x, y, [](T p, T q) { return std::max(p, q); });
}
u64 add_float(u64 x, u64 y) {
  return std::bit_cast<u32>(std::bit_cast<float>(static_cast<u32>(x)) +
                            std::bit_cast<float>(static_cast<u32>(y)));
}
/// Small integers as halves: exact, so rounding is of no concern here.
u64 add_half(u64 x, u64 y) {
  const auto value = [](u64 h) {
    const int exponent = static_cast<int>((h >> 10) & 31);
    const double m = exponent == 0 ? static_cast<double>(h & 1023) / 1024
                                   : 1 + static_cast<double>(h & 1023) / 1024;
    return std::ldexp(m, std::max(exponent, 1) - 15);
  };
  const double sum = value(x & 0xffff) + value(y & 0xffff);
  if (sum == 0) return 0;
  const int e = std::ilogb(sum);
  return static_cast<u64>((e + 15) << 10) | static_cast<u64>((std::ldexp(sum, -e) - 1) * 1024);
}
u64 add_bfloat(u64 x, u64 y) { return add_float(x << 16, y << 16) >> 16; }

constexpr Row kRows[] = {
    {"add.u32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return u64{static_cast<u32>(o + a)}; }},
    {"add.s32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return u64{static_cast<u32>(o + a)}; }},
    {"add.u64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return o + a; }},
    {"add.f32", 32, Values::kReal32, [](u64 o, u64 a, u64) { return add_float(o, a); }},
    {"add.f64", 64, Values::kReal64,
     [](u64 o, u64 a, u64) {
       return std::bit_cast<u64>(std::bit_cast<double>(o) + std::bit_cast<double>(a));
     }},
    {"add.noftz.f16", 16, Values::kHalf, [](u64 o, u64 a, u64) { return add_half(o, a); }},
    {"add.noftz.bf16", 16, Values::kBfloat, [](u64 o, u64 a, u64) { return add_bfloat(o, a); }},
    {"add.noftz.f16x2", 32, Values::kHalfPair,
     [](u64 o, u64 a, u64) { return add_half(o, a) | add_half(o >> 16, a >> 16) << 16; }},
    {"min.u32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return least<u32>(o, a); }},
    {"max.u32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return most<u32>(o, a); }},
    {"min.s32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return least<std::int32_t>(o, a); }},
    {"max.s32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return most<std::int32_t>(o, a); }},
    {"min.u64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return least<u64>(o, a); }},
    {"max.u64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return most<u64>(o, a); }},
    {"min.s64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return least<std::int64_t>(o, a); }},
    {"max.s64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return most<std::int64_t>(o, a); }},
    {"and.b32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return o & a; }},
    {"or.b32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return o | a; }},
    {"xor.b32", 32, Values::kEdges, [](u64 o, u64 a, u64) { return o ^ a; }},
    {"and.b64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return o & a; }},
    {"or.b64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return o | a; }},
    {"xor.b64", 64, Values::kEdges, [](u64 o, u64 a, u64) { return o ^ a; }},
    {"inc.u32", 32, Values::kFew, [](u64 o, u64 a, u64) { return o >= a ? 0 : o + 1; }},
    {"dec.u32", 32, Values::kFew, [](u64 o, u64 a, u64) { return o == 0 || o > a ? a : o - 1; }},
    {"exch.b32", 32, Values::kEdges, [](u64, u64 a, u64) { return a; }},
    {"exch.b64", 64, Values::kEdges, [](u64, u64 a, u64) { return a; }},
    {"cas.b16", 16, Values::kFew, [](u64 o, u64 a, u64 b) { return o == a ? b : o; }},
    {"cas.b32", 32, Values::kFew, [](u64 o, u64 a, u64 b) { return o == a ? b : o; }},
    {"cas.b64", 64, Values::kFew, [](u64 o, u64 a, u64 b) { return o == a ? b : o; }},
};

u64 value_of(const Row& row, u64 i) {
  const u64 few = i * 7 % 5;
  const u64 edges[] = {0,
                       1,
                       ~u64{0},
                       u64{1} << (row.bits - 1),
                       (u64{1} << (row.bits - 1)) - 1,
                       i * 0x9e3779b97f4a7c15ULL,
                       i,
                       0x5555555555555555ULL};
  switch (row.values) {
    case Values::kEdges:
      return row.bits == 64 ? edges[i * 5 % 8] : edges[i * 5 % 8] & ((u64{1} << row.bits) - 1);
    case Values::kReal32:
      return std::bit_cast<u32>(static_cast<float>(i % 9) - 4);
    case Values::kReal64:
      return std::bit_cast<u64>(static_cast<double>(i % 9) - 4);
    case Values::kHalf:
      return i % 2 == 0 ? 0x3c00 : 0;  // 1 or 0
    case Values::kBfloat:
      return i % 2 == 0 ? 0x3f80 : 0;
    case Values::kHalfPair:
      return i % 2 == 0 ? 0x3c004000 : 0x3c00;
    case Values::kFew:
      return few;
  }
  return 0;
}

struct Place {
  const char* name;
  const char* space;  ///< among the modifiers
  bool shared;        ///< one block runs
  bool generic;
  bool spread;  ///< lanes at several addresses
};
constexpr Place kPlaces[] = {
    {"global", ".global", false, false, false},
    {"global, spread", ".global", false, false, true},
    {"generic", "", false, true, true},
    {"shared", ".shared", true, false, false},
    {"shared, spread", ".shared::cta", true, false, true},
    {"generic, shared", "", true, true, false},
};

/// Threads change the slot [%rd4] of mem, or its copy in shared memory; `returns` keeps old values.
std::string text(const Row& row, const Place& place, bool returns, const std::string& order) {
  const bool half = row.bits == 16;
  const auto names = [&](int k) {
    return row.bits == 64 ? fmt::format("%rd{}", 10 + k)
                          : fmt::format("{}{}", half ? "%h" : "%r", 10 + k);
  };
  const std::string form(row.form);
  const std::string b = form.starts_with("cas") ? ", " + names(2) : "";
  const std::string target = place.shared && !place.generic ? "%r4" : "%rd4";
  return fmt::format(
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 m, .param "
      ".u64 "
      "a, .param .u64 b, .param .u64 o) {{\n.reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .b16 "
      "%h<20>;\n.shared .align 16 .b8 s[64];\n.reg .pred %p<4>;\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, {0}, %r0;\n"
      "ld.param.u64 %rd0, [m]; and.b32 %r3, %r0, {1}; mad.wide.u32 %rd4, %r3, 8, %rd0;\n"
      "ld.param.u64 %rd1, [a]; mad.wide.u32 %rd1, %r1, 8, %rd1; ld.global.b{2} {3}, [%rd1];\n"
      "ld.param.u64 %rd1, [b]; mad.wide.u32 %rd1, %r1, 8, %rd1; ld.global.b{2} {4}, [%rd1];\n"
      "mov.u32 %r4, s; shl.b32 %r5, %r3, 3; add.u32 %r4, %r4, %r5;\n"
      "setp.lt.u32 %p1, %r0, {5}; mad.wide.u32 %rd5, %r0, 8, %rd0; shl.b32 %r6, %r0, 3; mov.u32 "
      "%r7, s; add.u32 %r6, %r6, %r7;\n{6}{7}\nbar.sync 0;\n"
      "{8}{9}{10}.{11} {12}[{13}], {3}{14};\nbar.sync 0;\n{15}"
      "ld.param.u64 %rd1, [o]; mad.wide.u32 %rd1, %r1, 8, %rd1; {16} ret; }}\n",
      kThreads, place.spread ? kSlots - 1 : 0, row.bits, names(0), names(2), kSlots,
      place.shared ? "@%p1 ld.global.b64 %rd6, [%rd5]; @%p1 st.shared.b64 [%r6], %rd6;\n" : "",
      place.shared && place.generic ? "cvt.u64.u32 %rd4, %r4; cvta.shared.u64 %rd4, %rd4;\n" : "",
      returns ? "atom" : "red", order, place.space, form, returns ? names(4) + ", " : "", target, b,
      place.shared ? "@%p1 ld.shared.b64 %rd6, [%r6]; @%p1 st.global.b64 [%rd5], %rd6;\n" : "",
      returns ? fmt::format("st.global.b{} [%rd1], {};", row.bits, names(4)) : "");
}

struct Memory {
  std::vector<u64> slots, a, b, old;
};

Memory start(const Row& row) {
  Memory m{std::vector<u64>(kSlots), std::vector<u64>(kAll), std::vector<u64>(kAll),
           std::vector<u64>(kAll)};
  for (u64 i = 0; i < kAll; ++i) {
    m.a[i] = value_of(row, i + 3);
    m.b[i] = value_of(row, i + 1);
  }
  for (u64 i = 0; i < kSlots; ++i) m.slots[i] = value_of(row, 2 * i + 1);
  return m;
}

void run_memory(Memory& m, const std::string& ptx, unsigned blocks) {
  auto loaded = load(ptx);
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    ADD_FAILURE() << unsupported->instruction << " " << unsupported->message;
    return;
  }
  const auto region = [](std::vector<u64>& v, const char* name) {
    return Region{name, reinterpret_cast<std::byte*>(v.data()), 8 * v.size(), 0, 0, true};
  };
  const Launch launch = launch_of("k", blocks, kThreads,
                                  arguments(m.slots.data(), m.a.data(), m.b.data(), m.old.data()));
  Options options;
  options.threads = 2;
  run(std::get<Module>(loaded), launch,
      {region(m.slots, "m"), region(m.a, "a"), region(m.b, "b"), region(m.old, "o")}, options);
}

/// Some order of the threads explains what they saw: what was there, with what was there last, is
/// what was there first, with what they made.
void expect_a_sequence(const Row& row, const Place& place, const Memory& before,
                       const Memory& after, unsigned threads) {
  const u64 mask = row.bits == 64 ? ~u64{0} : (u64{1} << row.bits) - 1;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    std::vector<u64> seen{after.slots[slot] & mask}, made{before.slots[slot] & mask};
    for (unsigned t = 0; t < threads; ++t) {
      const unsigned thread = t % kThreads;
      if ((place.spread ? thread % kSlots : 0) != slot) continue;
      seen.push_back(after.old[t] & mask);
      made.push_back(row.apply(after.old[t] & mask, before.a[t], before.b[t]) & mask);
    }
    std::sort(seen.begin(), seen.end());
    std::sort(made.begin(), made.end());
    EXPECT_EQ(seen, made) << row.form << " in " << place.name << ", slot " << slot;
  }
}

TEST(Atomics, all_operations_types_and_spaces) {
  for (const Row& row : kRows) {
    for (const Place& place : kPlaces) {
      SCOPED_TRACE(fmt::format("{} in {}", row.form, place.name));
      const unsigned blocks = place.shared ? 1 : kBlocks;
      const Memory before = start(row);
      Memory after = before;
      run_memory(after, text(row, place, true, ""), blocks);
      expect_a_sequence(row, place, before, after, blocks * kThreads);
    }
  }
}

TEST(Atomics, reductions_leave_what_any_order_leaves) {
  const char* orders[] = {"", ".relaxed.gpu", ".release.cta", ".relaxed.sys", ".release.cluster"};
  std::size_t order = 0;
  for (const Row& row : kRows) {
    const std::string_view form = row.form;
    if (form.starts_with("cas") || form.starts_with("exch")) continue;
    Row same = row;
    for (const Place& place : kPlaces) {
      const unsigned blocks = place.shared ? 1 : kBlocks;
      Memory before = start(same);
      // inc and dec depend on the order, where bounds differ.
      if (row.values == Values::kFew) std::fill(before.a.begin(), before.a.end(), u64{5});
      Memory after = before;
      run_memory(after, text(row, place, false, orders[order++ % 5]), blocks);
      std::vector<u64> expected = before.slots;
      for (unsigned t = 0; t < blocks * kThreads; ++t) {
        u64& slot = expected[place.spread ? t % kThreads % kSlots : 0];
        const u64 mask = row.bits == 64 ? ~u64{0} : (u64{1} << row.bits) - 1;
        slot = (slot & ~mask) | (row.apply(slot & mask, before.a[t], 0) & mask);
      }
      EXPECT_EQ(after.slots, expected) << row.form << " in " << place.name;
    }
  }
}

TEST(Atomics, f32_flushes_subnormals_in_global_memory_only) {
  const char* text =
      "mov.u32 %r1, 1; st.global.b32 [%in], %r1; mov.u32 %r2, s; st.shared.b32 [%r2], %r1; mov.b32 "
      "%f1, 5; {} mov.b32 %r0, %f2;";
  const BlockRun one{1};
  EXPECT_EQ(words_of(fmt::format(fmt::runtime(text),
                                 "atom.shared.add.f32 %f2, [%r2], %f1; "
                                 "ld.shared.f32 %f2, [%r2];"),
                     one)[0],
            6U);
  EXPECT_EQ(words_of(fmt::format(fmt::runtime(text),
                                 "atom.global.add.f32 %f2, [%in], %f1; "
                                 "ld.global.f32 %f2, [%in];"),
                     one)[0],
            0U);
}

TEST(Atomics, vectors_in_global_memory) {
  struct Vector {
    const char* code;  ///< on the words at %in, whose first four are 0x00010000 … 0x3c003c00
    std::array<u32, 4> words;
  };
  const u32 one = std::bit_cast<u32>(1.0F), two = std::bit_cast<u32>(2.0F);
  const Vector rows[] = {
      {"mov.b32 %f1, 0f3F800000; red.global.add.v4.f32 [%in], {%f1, %f1, %f1, %f1};",
       {one, one, one, one}},
      {"mov.b32 %f1, 0f3F800000; red.relaxed.gpu.global.add.L2::cache_hint.v2.f32 [%in+8], {%f1, "
       "%f1}, %rd1;",
       {0, 0, one, one}},
      {"mov.b32 %f1, 0f3F800000; atom.global.add.v2.f32 {%f2, %f3}, [%in], {%f1, %f1}; "
       "atom.global.add.v2.f32 {%f2, _}, [%in], {%f1, %f1}; st.global.f32 [%in+8], %f2;",
       {two, two, one, 0}},
      {"mov.u32 %r1, 0x3c004000; red.global.v2.f16x2.add.noftz [%in], {%r1, %r1};",
       {0x3c004000, 0x3c004000, 0, 0}},
      {"mov.u32 %r1, 0x3c004000; red.global.add.noftz.v4.f16x2 [%in], {%r1, %r1, %r1, %r1};",
       {0x3c004000, 0x3c004000, 0x3c004000, 0x3c004000}},
      {"mov.u16 %h1, 0x3f80; mov.u16 %h2, 0xbf80; red.global.max.noftz.v2.bf16 [%in], {%h1, %h2};",
       {0x3f80, 0, 0, 0}},
      {"mov.u16 %h1, 0x3f80; mov.u16 %h2, 0xbf80; red.global.min.noftz.v8.bf16 [%in], {%h1, %h2, "
       "%h1, %h2, %h2, %h1, %h2, %h1};",
       {0xbf800000, 0xbf800000, 0x0000bf80, 0x0000bf80}},
  };
  for (const Vector& row : rows) {
    const auto outcome = run_block(fmt::format("mov.u64 %rd1, 0; mov.u32 %r9, 0; st.global.v4.b32 "
                                               "[%in], {{%r9, %r9, %r9, %r9}};\n{}",
                                               row.code),
                                   {1});
    ASSERT_FALSE(outcome.fault) << row.code << outcome.fault->message;
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(outcome.input[k], row.words[k]) << row.code << " " << k;
    }
  }
}

TEST(Atomics, what_a_gpu_does_not_have_is_refused) {
  for (const char* code :
       {"red.shared.add.v2.f32 [s], {%f1, %f2};", "atom.global.inc.u64 %rd1, [%in], %rd2;",
        "atom.global.add.v8.f32 %f1, [%in], {%f1};", "red.global.exch.f32 [%in], %f1;",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [s], %r1, "
        "[m];"}) {
    EXPECT_TRUE(std::holds_alternative<Unsupported>(load(block_text(code)))) << code;
  }
}

TEST(Atomics, faults_name_the_lane) {
  const auto outcome = run_block("mad.wide.u32 %rd1, %t, 1024, %in; red.global.add.u32 [%rd1], 1;");
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->thread[0], 16U);
}

}  // namespace
}  // namespace kbench::ptx::testing
