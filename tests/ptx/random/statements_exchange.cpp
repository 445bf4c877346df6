// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/random/statements.hpp"

// Every thread writes its slot of shared memory, waits for the others, and reads anyone's.
namespace kbench::ptx::random {
namespace {

constexpr std::size_t kSlot = 16;

constexpr Kind kStored[] = {Kind::kB16,   Kind::kB32,    Kind::kB64, Kind::kF16, Kind::kBf16,
                            Kind::kF16x2, Kind::kBf16x2, Kind::kF32, Kind::kF64};

struct Update {
  std::string_view operation;
  Kind kind;
};
constexpr Update kUpdates[] = {
    {"add.u32", Kind::kB32}, {"min.s32", Kind::kB32},       {"max.u32", Kind::kB32},
    {"and.b32", Kind::kB32}, {"xor.b32", Kind::kB32},       {"exch.b32", Kind::kB32},
    {"inc.u32", Kind::kB32}, {"dec.u32", Kind::kB32},       {"add.u64", Kind::kB64},
    {"max.s64", Kind::kB64}, {"exch.b64", Kind::kB64},      {"add.f32", Kind::kF32},
    {"add.f64", Kind::kF64}, {"add.noftz.f16", Kind::kF16}, {"add.noftz.f16x2", Kind::kF16x2},
};

std::string bits_type(Kind kind) { return fmt::format("b{}", 8 * bytes_of(kind)); }

}  // namespace

Slots Statements::slots() {
  const std::string from = w_.source(Kind::kB32);
  Slots slots{w_.fresh(Kind::kB32), w_.fresh(Kind::kB64), w_.fresh(Kind::kB64), ""};
  const std::string base = w_.fresh(Kind::kB64), index = w_.fresh(Kind::kB32);
  const bool generic = rng_.chance(30);
  if (!generic) slots.space = rng_.chance(50) ? ".shared" : ".shared::cta";
  w_.line(fmt::format("mov.u64 {}, {}", base, plan_.exchange));
  if (generic) w_.line(fmt::format("cvta.shared.u64 {0}, {0}", base));
  w_.line(fmt::format("rem.u32 {}, %linear, {}", slots.thread, plan_.block_threads));
  w_.line(fmt::format("mad.wide.u32 {}, {}, {}, {}", slots.own, slots.thread, kSlot, base));
  w_.line(fmt::format("rem.u32 {}, {}, {}", index, from, plan_.block_threads));
  w_.line(fmt::format("mad.wide.u32 {}, {}, {}, {}", slots.other, index, kSlot, base));
  return slots;
}

void Statements::exchange() {
  const Slots s = slots();
  w_.line(barrier());
  const std::uint32_t roll = rng_.below(100);
  if (roll < 35) return exchange_values(s, false);
  if (roll < 55) return exchange_values(s, true);
  if (roll < 68) return exchange_vectors(s);
  if (roll < 80 && !s.space.empty()) return exchange_copies(s);
  if (roll < 90) return exchange_behind_gate(s);
  const bool warps = plan_.block_threads % 32 == 0 && plan_.block_threads > 32;
  if (warps) return exchange_with_first_warp(s);
  exchange_values(s, false);
}

void Statements::exchange_values(const Slots& s, bool update) {
  const Update& row = rng_.one_of(kUpdates);
  const Kind kind = update ? row.kind : rng_.one_of(kStored);
  const std::string value = w_.source(kind), type = bits_type(kind);
  w_.line(fmt::format("st{}.{} [{}], {}", s.space, type, s.own, value));
  if (update) {  // an atomic in a thread's own slot gives back what the thread expects
    const std::string with = w_.source(kind);
    w_.line(fmt::format("atom{}.{} {}, [{}], {}", s.space, row.operation, w_.target(kind), s.own,
                        with));
  }
  w_.line(barrier());
  w_.line(fmt::format("ld{}.{} {}, [{}]", s.space, type, w_.target(kind), s.other));
}

void Statements::exchange_vectors(const Slots& s) {
  const std::string a = w_.source(Kind::kB32), b = w_.source(Kind::kB32);
  const std::string c = w_.source(Kind::kB32), d = w_.source(Kind::kB32);
  w_.line(fmt::format("st{}.v4.b32 [{}], {{{}, {}, {}, {}}}", s.space, s.own, a, b, c, d));
  w_.line(barrier());
  if (rng_.chance(50)) {
    const std::string low = w_.fresh(Kind::kB64), high = w_.target(Kind::kB64);
    w_.line(fmt::format("ld{}.v2.b64 {{{}, {}}}, [{}]", s.space, low, high, s.other));
    w_.line(fmt::format("xor.b64 {0}, {0}, {1}", high, low));
  } else {
    const std::string unused = w_.fresh(Kind::kB32), read = w_.target(Kind::kB32);
    w_.line(fmt::format("ld{}.v2.b32 {{{}, {}}}, [{}+{}]", s.space, unused, read, s.other,
                        rng_.chance(50) ? 8 : 0));
  }
}

/// Slots that are filled from global memory while the thread goes on.
void Statements::exchange_copies(const Slots& s) {
  static constexpr std::size_t kBytes[] = {4, 8, 16};
  const std::size_t bytes = rng_.one_of(kBytes);
  const std::string from = w_.address(fmt::format("i{}", bytes), false);
  const std::string_view cache = bytes == 16 && rng_.chance(50) ? "cg" : "ca";
  std::string size;
  if (rng_.chance(30)) {  // the rest of the slot becomes zero
    const std::string any = w_.source(Kind::kB32);
    size = w_.fresh(Kind::kB32);
    w_.line(fmt::format("and.b32 {}, {}, {}", size, any, bytes - 1));
    size = ", " + size;
  }
  w_.line(
      fmt::format("cp.async.{}.shared.global [{}], [{}], {}{}", cache, s.own, from, bytes, size));
  if (rng_.chance(50)) {
    w_.line("cp.async.commit_group");
    w_.line("cp.async.wait_group 0");
  } else {
    w_.line("cp.async.wait_all");
  }
  w_.line(barrier());
  const Kind kind = bytes == 4 ? Kind::kB32 : Kind::kB64;
  w_.line(fmt::format("ld{}.{} {}, [{}]", s.space, bits_type(kind), w_.target(kind), s.other));
}

/// The threads wait at an mbarrier.
void Statements::exchange_behind_gate(const Slots& s) {
  const std::string first = w_.fresh(Kind::kPred), open = w_.fresh(Kind::kPred),
                    state = w_.fresh(Kind::kB64), again = w_.label();
  const std::string value = w_.source(Kind::kB64);
  w_.line(fmt::format("setp.eq.u32 {}, {}, 0", first, s.thread));
  w_.line(fmt::format("@{} mbarrier.init.shared.b64 [gate], {}", first, plan_.block_threads));
  w_.line(barrier());
  w_.line(fmt::format("st{}.b64 [{}], {}", s.space, s.own, value));
  w_.line(fmt::format("mbarrier.arrive.shared.b64 {}, [gate]", state));
  w_.line(again + ":");
  w_.line(fmt::format("mbarrier.{}_wait.shared.b64 {}, [gate], {}",
                      rng_.chance(50) ? "test" : "try", open, state));
  w_.line(fmt::format("@!{} bra {}", open, again));
  w_.line(fmt::format("ld{}.b64 {}, [{}]", s.space, w_.target(Kind::kB64), s.other));
  w_.line("barrier.sync 0");
  w_.line(fmt::format("@{} mbarrier.inval.shared.b64 [gate]", first));
}

/// The first warp waits for the others, who do not wait.
void Statements::exchange_with_first_warp(const Slots& s) {
  const std::string others = w_.fresh(Kind::kPred), value = w_.source(Kind::kB32);
  w_.line(fmt::format("st{}.b32 [{}], {}", s.space, s.own, value));
  const std::string read = w_.target(Kind::kB32);
  w_.line(fmt::format("mov.b32 {}, {}", read, value));
  w_.line(fmt::format("setp.ge.u32 {}, {}, 32", others, s.thread));
  w_.line("bar.warp.sync %mask");
  w_.line(fmt::format("@{} bar.arrive 4, {}", others, plan_.block_threads));
  w_.line(fmt::format("@!{} bar.sync 4, {}", others, plan_.block_threads));
  w_.line(fmt::format("@!{} ld{}.b32 {}, [{}]", others, s.space, read, s.other));
}

}  // namespace kbench::ptx::random
