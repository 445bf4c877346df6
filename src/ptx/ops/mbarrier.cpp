// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/launch/async.hpp"
#include "ptx/ops/async.hpp"

// mbarrier: barriers that are objects in shared memory. A lane whose wait is unfulfilled yields
// until a phase completes or no other thread can run. Then it retries, as after a time-out.
namespace kbench::ptx {

std::byte* resolve_mbarrier(Context& c, const Instr& in, unsigned lane, Space space,
                            std::uint64_t address, Access access) {
  const bool shared =
      space == Space::kShared || address >> kWindowShift == kSharedWindow >> kWindowShift;
  if (shared) return resolve(c, in, lane, space, address, 8, access);
  raise(c, in, lane, FaultKind::kIllegalAddress,
        fmt::format("uses an mbarrier at {:#x}, which is not in shared memory", address));
  return nullptr;
}

std::optional<Mbarrier> find_mbarrier(Context& c, const Instr& in, unsigned lane, Space space,
                                      std::uint64_t address, std::byte*& at) {
  at = resolve_mbarrier(c, in, lane, space, address, Access::kAtomic);
  if (at == nullptr) return std::nullopt;
  auto barrier = load_mbarrier(at);
  if (!barrier) {
    raise(c, in, lane, FaultKind::kTrap,
          fmt::format("uses the mbarrier at {:#x}, which is not initialised", address));
  }
  return barrier;
}

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Calls `act(lane, barrier, host address)` for each lane, until one returns an error text.
template <class Act>
void for_barriers(Context& c, const Instr& in, Act&& act) {
  Addresses address;
  addresses(c, in, address);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::byte* at = nullptr;
    auto barrier = find_mbarrier(c, in, i, space_of(in), address[i], at);
    if (!barrier) return;
    if (const char* wrong = act(i, *barrier, at)) {
      return raise(c, in, i, FaultKind::kTrap, wrong);
    }
  }
}

void initialise(Context& c, const Instr& in) {
  Addresses address;
  addresses(c, in, address);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::byte* at = resolve_mbarrier(c, in, i, space_of(in), address[i], Access::kWrite);
    if (at == nullptr) return;
    const u32 count = c.source<u32>(in.s[1])[i];
    if (count == 0 || count > kMostArrivals) {
      return raise(c, in, i, FaultKind::kTrap,
                   fmt::format("initialises an mbarrier for {} arrivals; the range is 1 to {}",
                               count, kMostArrivals));
    }
    drop_arrivals(c, at);
    Mbarrier barrier;
    barrier.pending = barrier.expected = count;
    const u64 word = barrier.encode();
    std::memcpy(at, &word, sizeof word);
  }
}

void invalidate(Context& c, const Instr& in) {
  for_barriers(c, in, [&](unsigned, const Mbarrier&, std::byte* at) -> const char* {
    drop_arrivals(c, at);
    std::memset(at, 0, 8);
    return nullptr;
  });
}

/// Bits of in.aux for arrivals.
constexpr std::uint8_t kDrops = 1, kKeepsOpen = 2, kExpects = 4;

/// in.s[1]: number of arrivals; in.s[2]: expected transactions.
void arrive_at(Context& c, const Instr& in) {
  for_barriers(c, in, [&](unsigned i, Mbarrier barrier, std::byte* at) -> const char* {
    const u64 before = barrier.encode();
    const u32 count = c.source<u32>(in.s[1])[i];
    if ((in.aux & kExpects) != 0) {
      if (const char* wrong = add_transactions(barrier, c.source<u32>(in.s[2])[i])) return wrong;
    }
    if (count == 0 || count > barrier.pending) {
      return "arrives more often than the phase of the mbarrier expects";
    }
    barrier.pending -= count;
    if ((in.aux & kDrops) != 0) {
      if (count > barrier.expected) return "drops more arrivals than the mbarrier expects";
      barrier.expected -= count;
    }
    if ((in.aux & kKeepsOpen) != 0 && barrier.pending == 0 && barrier.transactions == 0) {
      return "completes the phase of an mbarrier by an arrival with .noComplete";
    }
    store_mbarrier(c, at, barrier);
    if (in.d != kNone) c.target<u64>(in.d)[i] = before;
    return nullptr;
  });
}

/// in.aux: 1 completes transactions, 0 expects them.
void change_transactions(Context& c, const Instr& in) {
  for_barriers(c, in, [&](unsigned i, Mbarrier barrier, std::byte* at) -> const char* {
    const std::int64_t bytes = c.source<u32>(in.s[1])[i];
    if (const char* wrong = add_transactions(barrier, in.aux != 0 ? -bytes : bytes)) return wrong;
    store_mbarrier(c, at, barrier);
    return nullptr;
  });
}

/// Parity of the phase that the lane waits for.
std::optional<u32> awaited_phase(Context& c, const Instr& in, unsigned lane, bool parity) {
  if (parity) return c.source<u32>(in.s[1])[lane] & 1U;
  const auto state = Mbarrier::decode(c.source<u64>(in.s[1])[lane]);
  if (state) return state->phase;
  return std::nullopt;
}

template <bool parity>
void wait(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  u32 complete = 0;
  for_barriers(c, in, [&](unsigned i, const Mbarrier& barrier, std::byte* at) -> const char* {
    const auto phase = awaited_phase(c, in, i, parity);
    if (!phase) return "waits with a state that is not the result of an mbarrier arrival";
    if (barrier.phase == *phase && !settle_arrivals(c, at)) {
      return "tests an mbarrier that has more arrivals than it expects";
    }
    complete |= u32{load_mbarrier(at)->phase != *phase} << i;
    return nullptr;
  });
  u32& p = c.predicate(in.d);
  p = (p & ~c.mask) | complete;
  if (complete != 0) return;
  c.wait = Wait::kMbarrier;
  c.merge_ip = nullptr;
}

void pending_count(Context& c, const Instr& in) {
  for_lanes(c.mask, [&](unsigned i) {
    const auto state = Mbarrier::decode(c.source<u64>(in.s[0])[i]);
    if (!state) {
      return raise(c, in, i, FaultKind::kTrap,
                   "reads a state that is not the result of an mbarrier arrival");
    }
    c.target<u32>(in.d)[i] = state->pending;
  });
}

/// Takes `.sem.scope` and the space. Every access is executed with the strongest order.
Space take_order_and_space(Decode& d) {
  d.one_of({"acquire", "release", "relaxed"});
  d.one_of({"cta", "cluster"});
  return take_space(d);
}

void decode_arrive(Decode& d, bool drops) {
  if (drops) d.out.aux |= kDrops;
  if (d.flag("noComplete")) d.out.aux |= kKeepsOpen;
  if (d.flag("expect_tx")) d.out.aux |= kExpects;
  const Space space = take_order_and_space(d);
  const std::size_t least = d.out.aux > kDrops ? 3 : 2;
  d.expect_operands(least, 3);
  if (d.operand(0).kind != Operand::Kind::kSink) d.out.d = d.destination(d.operand(0), Type::kB64);
  decode_address(d, d.operand(1), space);
  const bool expects = (d.out.aux & kExpects) != 0;
  const bool counts = d.operands() == 3 && !expects;
  d.out.s[1] = counts ? d.source(d.operand(2), Type::kB32) : d.constant(1, 4);
  if (expects) d.out.s[2] = d.source(d.operand(2), Type::kB32);
  d.each(&arrive_at);
}

void decode_wait(Decode& d, bool may_suspend) {
  const bool parity = d.flag("parity");
  const Space space = take_order_and_space(d);
  d.expect_operands(3, may_suspend ? 4 : 3);
  d.out.d = d.predicate(d.operand(0));
  decode_address(d, d.operand(1), space);
  d.out.s[1] = d.source(d.operand(2), parity ? Type::kB32 : Type::kB64);
  if (d.operands() == 4) d.source(d.operand(3), Type::kB32);
  d.control(parity ? &wait<true> : &wait<false>);
}

/// Decodes the forms "[address], number" and "[address]".
void decode_change(Decode& d, Execute execute, bool has_number) {
  const Space space = take_order_and_space(d);
  d.expect_operands(has_number ? 2 : 1, has_number ? 2 : 1);
  decode_address(d, d.operand(0), space);
  if (has_number) d.out.s[1] = d.source(d.operand(1), Type::kB32);
  d.each(execute);
}

void decode_mbarrier(Decode& d) {
  if (!d.flag("b64")) d.reject("the type .b64 is missing");
  if (d.flag("init")) return decode_change(d, &initialise, true);
  if (d.flag("inval")) return decode_change(d, &invalidate, false);
  if (d.flag("arrive")) return decode_arrive(d, false);
  if (d.flag("arrive_drop")) return decode_arrive(d, true);
  if (d.flag("test_wait")) return decode_wait(d, false);
  if (d.flag("try_wait")) return decode_wait(d, true);
  if (d.flag("expect_tx")) return decode_change(d, &change_transactions, true);
  if (d.flag("complete_tx")) {
    d.out.aux = 1;
    return decode_change(d, &change_transactions, true);
  }
  if (!d.flag("pending_count")) d.reject("the operation is not supported");
  d.expect_operands(2, 2);
  d.out.d = d.destination(d.operand(0), Type::kB32);
  d.out.s[0] = d.source(d.operand(1), Type::kB64);
  d.each(&pending_count);
}

/// in.aux: also raises the arrivals that the phase expects.
void arrive_after_copies(Context& c, const Instr& in) {
  for_barriers(c, in, [&](unsigned i, Mbarrier barrier, std::byte* at) -> const char* {
    if (in.aux != 0) {
      if (barrier.pending == kMostArrivals) return "expects too many arrivals at an mbarrier";
      ++barrier.pending;
      store_mbarrier(c, at, barrier);
    }
    auto& arrivals = c.block->cluster->arrivals;
    const u64 before = c.warp->late.end;
    if (!arrivals.empty()) {
      LateArrival& last = arrivals.back();
      if (last.barrier == at && last.warp == c.warp && last.before == before && last.mask != 0 &&
          ((last.mask >> i) & 1U) == 0) {
        last.mask |= 1U << i;
        return nullptr;
      }
    }
    arrivals.push_back({at, c.warp, 1U << i, before, {}});
    return nullptr;
  });
}

constexpr OpcodeRow kRows[] = {{"mbarrier", decode_mbarrier}};

}  // namespace

void decode_arrive_after_copies(Decode& d) {
  if (!d.flag("arrive") || !d.flag("b64")) d.reject("only .arrive.b64 is supported");
  d.out.aux = d.flag("noinc") ? 0 : 1;
  const Space space = take_space(d);
  d.expect_operands(1, 1);
  decode_address(d, d.operand(0), space);
  d.each(&arrive_after_copies);
}

std::span<const OpcodeRow> mbarrier_opcodes() { return kRows; }

}  // namespace kbench::ptx
