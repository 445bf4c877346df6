// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/launch/async.hpp"
#include "ptx/ops/async.hpp"

// Cluster instructions, and hints without effect in the executor.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 kOffsetMask = (u64{1} << kRankShift) - 1;

void cluster_arrive(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  if (const u32 twice = c.mask & c.warp->cluster_owing; twice != 0) {
    return raise(c, in, static_cast<unsigned>(std::countr_zero(twice)), FaultKind::kTrap,
                 "arrives at the cluster's barrier again without having waited there");
  }
  arrive_at_cluster(c);
}

void cluster_wait(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  if (const u32 never = c.mask & ~c.warp->cluster_owing; never != 0) {
    return raise(c, in, static_cast<unsigned>(std::countr_zero(never)), FaultKind::kTrap,
                 "waits at the cluster's barrier without having arrived there");
  }
  wait_for_cluster(c);
}

/// True if an address is in shared memory; `generic`: it is a generic address.
bool in_shared(bool generic, u64 address) {
  return !generic || address >> kWindowShift == kSharedWindow >> kWindowShift;
}

/// in.aux: the address is generic.
template <class T>
void map_address(Context& c, const Instr& in) {
  const T* a = c.source<T>(in.s[0]);
  const u32* rank = c.source<u32>(in.s[1]);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::size_t blocks = c.block->cluster->blocks.size();
    if (rank[i] >= blocks || !in_shared(in.aux != 0, a[i])) {
      return raise(c, in, i, FaultKind::kIllegalAddress,
                   fmt::format("maps the address {:#x} to block {} of a cluster of {} blocks: the "
                               "address or the block is out of range",
                               a[i], rank[i], blocks));
    }
    const u64 offset = (u64{rank[i]} + 1) << kRankShift | (a[i] & kOffsetMask);
    c.target<T>(in.d)[i] = static_cast<T>(in.aux != 0 ? kSharedWindow | offset : offset);
  }
}

template <class T>
void rank_of_address(Context& c, const Instr& in) {
  const T* a = c.source<T>(in.s[0]);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (!in_shared(in.aux != 0, a[i])) {
      return raise(
          c, in, i, FaultKind::kIllegalAddress,
          fmt::format("asks for the block of the address {:#x}, which is not in shared memory",
                      a[i]));
    }
    const u64 rank = (a[i] & ~kSharedWindow) >> kRankShift;
    c.target<u32>(in.d)[i] = rank == 0 ? c.block->rank : static_cast<u32>(rank - 1);
  }
}

void in_own_shared(Context& c, const Instr& in) {
  const u64* a = c.source<u64>(in.s[0]);
  u32 own = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const u64 rank = (a[i] & ~kSharedWindow) >> kRankShift;
    own |= u32{in_shared(true, a[i]) && (rank == 0 || rank == u64{c.block->rank} + 1)} << i;
  }
  c.set_predicate(in.d, own);
}

Type take_address_type(Decode& d) {
  d.out.aux = d.flag("shared::cluster") ? 0 : 1;
  const Type type = d.type();
  if (type != Type::kU32 && type != Type::kU64) d.reject("the type is not supported");
  return type;
}

void decode_mapa(Decode& d) {
  const Type type = take_address_type(d);
  d.plain_operands(type, {type, Type::kU32});
  d.each(type == Type::kU64 ? &map_address<u64> : &map_address<u32>);
}

void decode_getctarank(Decode& d) {
  const Type type = take_address_type(d);
  d.plain_operands(Type::kU32, {type});
  d.each(type == Type::kU64 ? &rank_of_address<u64> : &rank_of_address<u32>);
}

void nothing(Context&, const Instr&) {}

void decode_dependency(Decode& d) {
  if (!d.one_of({"launch_dependents", "wait"})) d.reject("the operation is not supported");
  d.expect_operands(0, 0);
  d.each(&nothing);
}

/// A cache policy is opaque and has no effect here, so its value is 0.
void decode_policy(Decode& d) {
  d.one_of({"fractional", "range", "cvt"});
  d.flag("global");
  for (const std::string_view name :
       {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged", "L2"}) {
    d.flag(name);
  }
  if (d.type() != Type::kB64) d.reject("the type is not supported");
  d.expect_operands(1, 4);
  d.out.d = d.destination(d.operand(0), Type::kB64);
  d.out.s[0] = d.constant(0, 8);
  d.lanes<u64, u64>([](u64 a) { return a; });
}

/// Hints for a cache line have no effect here.
void decode_line_hint(Decode& d) {
  d.flag("global");
  d.one_of({"L2", "L2::evict_normal"});
  d.expect_operands(2, 2);
  d.each(&nothing);
}

constexpr OpcodeRow kRows[] = {
    {"mapa", decode_mapa},
    {"getctarank", decode_getctarank},
    {"griddepcontrol", decode_dependency},
    {"createpolicy", decode_policy},
    {"applypriority", decode_line_hint},
    {"discard", decode_line_hint},
};

}  // namespace

void decode_in_own_shared(Decode& d) {
  d.plain_operands(Type::kPred, {Type::kU64});
  d.each(&in_own_shared);
}

void decode_cluster_barrier(Decode& d) {
  const bool waits = d.flag("wait");
  if (!waits && !d.flag("arrive")) d.reject("one of .arrive, .wait is missing");
  d.one_of({"acquire", "release", "relaxed"});
  d.flag("aligned");
  d.expect_operands(0, 0);
  d.control(waits ? &cluster_wait : &cluster_arrive);
}

std::span<const OpcodeRow> cluster_opcodes() { return kRows; }

}  // namespace kbench::ptx
