// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "ptx/machine/machine.hpp"

/// Turns an operation on one lane into an instruction: loops over 32 lanes that the compiler
/// vectorizes. There is one copy per instruction set, chosen when the module is decoded.
namespace kbench::ptx {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KBENCH_PTX_AVX2 [[gnu::flatten, gnu::target("avx2,fma,bmi,bmi2,f16c,lzcnt,popcnt")]]
#define KBENCH_PTX_AVX512                                                                  \
  [[gnu::flatten, gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi,bmi2,f16c," \
                              "lzcnt,popcnt,prefer-vector-width=512")]]
#else
#define KBENCH_PTX_AVX2
#define KBENCH_PTX_AVX512
#endif

enum class Isa : std::uint8_t { kBase, kAvx2, kAvx512 };

/// The widest instruction set of this host; KBENCH_PTX_ISA=base|avx2 lowers it.
Isa host_isa();

template <class Body>
struct Variants {
  [[gnu::flatten]] static void base(Context& c, const Instr& in) { Body::run(c, in); }
  KBENCH_PTX_AVX2 static void avx2(Context& c, const Instr& in) { Body::run(c, in); }
  KBENCH_PTX_AVX512 static void avx512(Context& c, const Instr& in) { Body::run(c, in); }
};

template <class Body>
Execute pick() {
  switch (host_isa()) {
    case Isa::kAvx512:
      return &Variants<Body>::avx512;
    case Isa::kAvx2:
      return &Variants<Body>::avx2;
    default:
      return &Variants<Body>::base;
  }
}

/// Like pick(), with a separate body for AVX-512.
template <class Body, class Wide>
Execute pick() {
  return host_isa() == Isa::kAvx512 ? &Variants<Wide>::avx512 : pick<Body>();
}

/// d[i] = F(s[i]…) for all lanes. Values written for exited lanes are never read.
template <class F, class D, class... S>
struct Full {
  static void run(Context& c, const Instr& in) { go(c, in, std::index_sequence_for<S...>{}); }

 private:
  template <std::size_t... I>
  static void go(Context& c, const Instr& in, std::index_sequence<I...>) {
    loop(c.target<D>(in.d), c.source<S>(in.s[I])...);
  }
  static void loop(D* d, const S*... s) {
    // Safe even if a source register is also the destination: lanes do not read each other.
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i) d[i] = F{}(s[i]...);
  }
};

/// d[i] = F(s[i]…) for the lanes of the mask only.
template <class F, class D, class... S>
struct Masked {
  static void run(Context& c, const Instr& in) { go(c, in, std::index_sequence_for<S...>{}); }

 private:
  template <std::size_t... I>
  static void go(Context& c, const Instr& in, std::index_sequence<I...>) {
    loop(c.mask, c.target<D>(in.d), c.source<S>(in.s[I])...);
  }
  static void loop(std::uint32_t mask, D* d, const S*... s) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i) {
      const D value = F{}(s[i]...);
      d[i] = ((mask >> i) & 1U) != 0 ? value : d[i];
    }
  }
};

/// Writes one value to the lanes of a mask.
template <class R>
void put_same(R* d, std::uint32_t mask, R value) {
  if (mask == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) d[i] = value;
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i) d[i] = ((mask >> i) & 1U) != 0 ? value : d[i];
  }
}

/// Combination of a comparison's result with the predicate s[3]; stored in Instr::flags.
enum class Combine : std::uint16_t { kPlain, kAnd, kOr, kXor };

template <class F, class A, class B>
struct Test {
  static void run(Context& c, const Instr& in) {
    const A* a = c.source<A>(in.s[0]);
    const B* b = c.source<B>(in.s[1]);
    std::uint32_t holds = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      holds |= static_cast<std::uint32_t>(F{}(a[i], b[i])) << i;
    }
    write(c, in, holds);
  }

 private:
  static std::uint32_t combine(Combine how, std::uint32_t value, std::uint32_t other) {
    switch (how) {
      case Combine::kAnd:
        return value & other;
      case Combine::kOr:
        return value | other;
      case Combine::kXor:
        return value ^ other;
      default:
        return value;
    }
  }
  static void write(Context& c, const Instr& in, std::uint32_t holds) {
    const auto how = static_cast<Combine>(in.flags);
    std::uint32_t other = 0;
    if (how != Combine::kPlain) {
      other = c.predicate_source(in.s[3]) ^ (in.aux != 0 ? kAllLanes : 0U);
    }
    if (in.d != kNone) c.set_predicate(in.d, combine(how, holds, other));
    if (in.extra != kNone) c.set_predicate(in.extra, combine(how, ~holds, other));
  }
};

/// Allocates the registers of a new frame.
Bytes make_registers(const Function& function);

/// Calls f for each lane of a mask, lowest first.
template <class F>
void for_lanes(std::uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Records a fault of one lane, which ends the launch (with sanitizers: the lane). `what` completes
/// the sentence "thread (…) of block (…) …".
[[gnu::noinline, gnu::cold]] void raise(Context& c, const Instr& in, unsigned lane, FaultKind kind,
                                        const std::string& what, const Extent* extent = nullptr,
                                        std::uint64_t address = 0);

/// Splits off the lanes whose guard is false; false if no lane executes the instruction.
bool enter_guard(Context& c, const Instr& in);

/// Continues with the lanes of `kept`. The others become a fragment that repeats this instruction.
void keep_only(Context& c, const Instr& in, std::uint32_t kept);

/// Ends the running lanes of `mask`.
void exit_lanes(Context& c, std::uint32_t mask);

/// Runs a warp until its lanes end, wait or yield, or the budget is used up.
enum class SliceEnd : std::uint8_t { kDone, kWaiting, kSpinning, kParted, kBudget, kStopped };
SliceEnd run_warp(Context& c, Warp& warp, std::uint64_t budget);

/// Result of barrier.red; stored in Instr::aux.
enum class BarrierResult : std::uint8_t { kNothing, kCount, kAll, kAny };

/// Arrives at a barrier of the block; true if that completes it. `expected` = 0: all live threads.
bool arrive(Context& c, const Instr& in, unsigned id, std::uint32_t expected,
            std::uint32_t predicate);

/// Wakes the lanes at bar.warp.sync instructions that all members of their masks have reached.
void release_warp_barriers(Warp& warp);

/// Runs an instruction for lanes that wait for each other at different copies of it, such as in
/// both branches of an `if`. False if there are none. Changes the context.
bool meet(Context& c, Warp& warp);

/// Iterations of a polling loop before a warp yields.
constexpr unsigned kSpinsPerTurn = 2;

}  // namespace kbench::ptx
