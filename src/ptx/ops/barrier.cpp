// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/ops/async.hpp"

// Barriers of a warp and of a block.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

u32 first_lane(u32 mask) { return static_cast<u32>(std::countr_zero(mask)); }

/// After the barrier the fragment continues at its next instruction.
void warp_barrier(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const u32* masks = c.source<u32>(in.s[0]);
  const u32 members = masks[first_lane(c.mask)];
  u32 same = 0;
  for_lanes(c.mask, [&](unsigned i) { same |= u32{masks[i] == members} << i; });
  if (same != c.mask) {
    keep_only(c, in, same);
    c.merge_ip = nullptr;
  }
  if ((members & c.warp->live & ~c.mask) == 0) return;
  c.wait = Wait::kWarpBarrier;
  c.warp_barrier_mask = members;
  c.merge_ip = nullptr;
}

enum class BarrierUse : std::uint8_t { kSync, kArrive };

template <BarrierUse use>
void block_barrier(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const u32 lane = first_lane(c.mask);
  const u32 id = c.source<u32>(in.s[0])[lane];
  const u32 count = in.s[1] == kNone ? 0 : c.source<u32>(in.s[1])[lane];
  if (id >= 16 || count % kLanes != 0 || (in.s[1] != kNone && count == 0)) {
    return raise(c, in, lane, FaultKind::kTrap,
                 fmt::format("uses barrier {} for {} threads; barriers are 0 to 15, and the number "
                             "of threads has to be a positive multiple of 32",
                             id, count));
  }
  u32 predicate = 0;
  if (in.s[2] != kNone) {
    predicate = c.predicate_source(in.s[2]) ^ (in.flags != 0 ? kAllLanes : 0U);
  }
  if (arrive(c, in, id, count, predicate) || use == BarrierUse::kArrive) return;
  c.wait = Wait::kBarrier;
  c.barrier = static_cast<std::uint8_t>(id);
  c.merge_ip = nullptr;
}

void decode_barrier_reduction(Decode& d) {
  BarrierResult result = BarrierResult::kNothing;
  if (d.flag("popc")) result = BarrierResult::kCount;
  if (d.flag("and")) result = BarrierResult::kAll;
  if (d.flag("or")) result = BarrierResult::kAny;
  if (result == BarrierResult::kNothing) d.reject("one of .popc, .and, .or is missing");
  const Type type = d.type();
  d.expect_operands(3, 4);
  const std::size_t last = d.operands() - 1;
  d.out.d = d.destination(d.operand(0), type);
  d.out.s[0] = d.source(d.operand(1), Type::kU32);
  if (last == 3) d.out.s[1] = d.source(d.operand(2), Type::kU32);
  bool negated = false;
  d.out.s[2] = d.predicate_source(d.operand(last), negated);
  d.out.flags = negated ? 1 : 0;
  d.out.aux = static_cast<std::uint8_t>(result);
  d.control(&block_barrier<BarrierUse::kSync>);
}

void decode_bar(Decode& d) {
  d.flag("cta");
  if (d.flag("cluster")) return decode_cluster_barrier(d);
  if (d.flag("warp")) {
    if (!d.flag("sync")) d.reject("the modifier .sync is missing");
    d.expect_operands(1, 1);
    d.out.s[0] = d.source(d.operand(0), Type::kB32);
    return d.control(&warp_barrier);
  }
  d.flag("aligned");
  if (d.flag("red")) return decode_barrier_reduction(d);
  const bool waits = d.flag("sync");
  if (!waits && !d.flag("arrive")) d.reject("one of .sync, .arrive, .red is missing");
  d.expect_operands(waits ? 1 : 2, 2);
  d.out.s[0] = d.source(d.operand(0), Type::kU32);
  if (d.operands() == 2) d.out.s[1] = d.source(d.operand(1), Type::kU32);
  d.control(waits ? &block_barrier<BarrierUse::kSync> : &block_barrier<BarrierUse::kArrive>);
}

/// Sleeping yields to other fragments and warps.
void sleep(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  c.spins = kSpinsPerTurn;
  c.merge_ip = nullptr;
}

void decode_nanosleep(Decode& d) {
  d.type();
  d.expect_operands(1, 1);
  d.control(&sleep);
}

constexpr OpcodeRow kRows[] = {
    {"bar", decode_bar},
    {"barrier", decode_bar},
    {"nanosleep", decode_nanosleep},
};

}  // namespace

std::span<const OpcodeRow> barrier_opcodes() { return kRows; }

}  // namespace kbench::ptx
