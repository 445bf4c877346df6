// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/launch/async.hpp"
#include "ptx/ops/async.hpp"

// cp.async.bulk: one thread copies many bytes. A copy that completes transactions of an mbarrier is
// performed when a thread would have to wait there. A copy of a bulk group is performed when a
// thread waits for that group.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 kUnit = 16;  // bytes; addresses and sizes must be multiples of it

/// Source and target space; stored in in.aux. The low bits of in.flags are those of addresses.
enum class Route : std::uint8_t { kGlobalToShared, kSharedToShared, kSharedToGlobal };

/// Checks all `bytes` and returns the host address of the first; null after a fault. Also null for
/// 0 bytes, because then nothing is checked.
std::byte* resolve_all(Context& c, const Instr& in, unsigned lane, Space space, u64 address,
                       u64 bytes, Access access) {
  std::byte* first = nullptr;
  for (u64 k = 0; k < bytes; k += kUnit) {
    const bool late = access == Access::kWrite && space == Space::kShared;
    std::byte* at = late ? resolve_late_write(c, in, lane, space, address + k, kUnit)
                         : resolve(c, in, lane, space, address + k, kUnit, access);
    if (at == nullptr) return nullptr;
    if (k == 0) first = at;
  }
  return first;
}

bool check_size(Context& c, const Instr& in, unsigned lane, u64 bytes) {
  if (bytes % kUnit == 0) return true;
  raise(c, in, lane, FaultKind::kMisaligned,
        fmt::format("copies {} bytes in bulk, which is not a multiple of {}", bytes, kUnit));
  return false;
}

/// The same offset in the shared memory of another block of the cluster.
u64 in_block(u64 address, unsigned rank) {
  return (u64{rank} + 1) << kRankShift | (address & ((u64{1} << kRankShift) - 1));
}

struct Operands {
  FurtherAddress source, barrier;
};

Operands operands_of(const Instr& in) {
  return {FurtherAddress::in(in.list), FurtherAddress::in(in.list + 4)};
}

Reduce reduce_of(const Instr& in) {
  return in.object == nullptr ? nullptr : static_cast<const Reduction*>(in.object)->reduce;
}

Access access_of(const Instr& in) {
  return in.object == nullptr ? Access::kWrite : Access::kAtomic;
}

/// Copies to the shared memory of one block, and completes transactions of an mbarrier there.
bool issue_to_shared(Context& c, const Instr& in, unsigned lane, u64 to, u64 from, u64 barrier) {
  const u64 bytes = c.source<u32>(in.s[1])[lane];
  const Space source =
      static_cast<Route>(in.aux) == Route::kGlobalToShared ? Space::kGlobal : Space::kShared;
  LateArrival arrival;
  if (!find_mbarrier(c, in, lane, Space::kShared, barrier, arrival.barrier)) return false;
  arrival.copy.bytes = bytes;
  arrival.copy.reduce = reduce_of(in);
  if (bytes != 0) {
    arrival.copy.to = resolve_all(c, in, lane, Space::kShared, to, bytes, access_of(in));
    if (arrival.copy.to == nullptr) return false;
    const u64 rank = to >> kRankShift;
    arrival.copy.block = rank == 0 ? c.block : c.block->cluster->blocks[rank - 1].get();
    arrival.copy.from = resolve_all(c, in, lane, source, from, bytes, Access::kRead);
    if (arrival.copy.from == nullptr) return false;
  }
  c.block->cluster->arrivals.push_back(arrival);
  return true;
}

/// in.s[2]: mask of the blocks that receive a copy, or kNone.
void copy_to_shared(Context& c, const Instr& in) {
  Addresses to;
  addresses(c, in, to);
  const Operands operands = operands_of(in);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const u64 from = operands.source.of(c, i), barrier = operands.barrier.of(c, i);
    if (!check_size(c, in, i, c.source<u32>(in.s[1])[i])) return;
    if (in.s[2] == kNone) {
      if (!issue_to_shared(c, in, i, to[i], from, barrier)) return;
      continue;
    }
    for (u32 blocks = c.source<std::uint16_t>(in.s[2])[i]; blocks != 0; blocks &= blocks - 1) {
      const auto rank = static_cast<unsigned>(std::countr_zero(blocks));
      const u64 there = in_block(to[i], rank);
      if (!issue_to_shared(c, in, i, there, from, in_block(barrier, rank))) return;
    }
  }
}

void copy_to_global(Context& c, const Instr& in) {
  Addresses to;
  addresses(c, in, to);
  const FurtherAddress source = FurtherAddress::in(in.list);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    GroupedCopy held{i, c.warp->bulk.group[i], {}};
    held.copy.bytes = c.source<u32>(in.s[1])[i];
    held.copy.reduce = reduce_of(in);
    if (!check_size(c, in, i, held.copy.bytes)) return;
    if (held.copy.bytes == 0) continue;
    held.copy.from =
        resolve_all(c, in, i, Space::kShared, source.of(c, i), held.copy.bytes, Access::kRead);
    if (held.copy.from == nullptr) return;
    held.copy.to = resolve_all(c, in, i, Space::kGlobal, to[i], held.copy.bytes, access_of(in));
    if (held.copy.to == nullptr) return;
    c.warp->bulk.copies.push_back(held);
  }
}

void commit_group(Context& c, const Instr&) {
  for_lanes(c.mask, [&](unsigned i) { ++c.warp->bulk.group[i]; });
}

void wait_group(Context& c, const Instr& in) {
  perform_bulk_groups(*c.warp, c.mask, static_cast<u32>(in.imm));
}

void nothing(Context&, const Instr&) {}

void decode_wait_group(Decode& d) {
  d.flag("read");
  decode_pending(d);
  d.each(&wait_group);
}

void decode_prefetch(Decode& d) {
  if (!d.flag("L2") || !d.flag("global")) {
    d.reject("only prefetches of global memory to L2 are supported");
  }
  const std::size_t hints = take_cache_hint(d) ? 1 : 0;
  d.expect_operands(2 + hints, 2 + hints);
  decode_address(d, d.operand(0), Space::kGlobal);
  d.each(&nothing);
}

void decode_to_global(Decode& d) {
  if (!d.flag("global") || !d.flag("shared::cta")) d.reject("the spaces are not supported");
  const std::size_t hints = take_cache_hint(d) ? 1 : 0;
  d.expect_operands(3 + hints, 3 + hints);
  decode_address(d, d.operand(0), Space::kGlobal);
  std::vector<u32> list;
  FurtherAddress::decode(d, d.operand(1)).append_to(list);
  d.out.list = d.keep(list);
  d.out.s[1] = d.source(d.operand(2), Type::kU32);
  d.out.aux = static_cast<std::uint8_t>(Route::kSharedToGlobal);
  d.each(&copy_to_global);
}

void decode_to_shared(Decode& d) {
  const bool cluster = d.flag("shared::cluster"), block = d.flag("shared::cta");
  const bool global = d.flag("global");
  if (global ? cluster == block : !(cluster && block)) d.reject("the spaces are not supported");
  d.out.aux = static_cast<std::uint8_t>(global ? Route::kGlobalToShared : Route::kSharedToShared);
  const std::size_t hints = take_cache_hint(d) ? 1 : 0;
  const std::size_t masks = d.flag("multicast::cluster") ? 1 : 0;
  d.expect_operands(4 + masks + hints, 4 + masks + hints);
  decode_address(d, d.operand(0), Space::kShared);
  std::vector<u32> list;
  FurtherAddress::decode(d, d.operand(1)).append_to(list);
  FurtherAddress::decode(d, d.operand(3)).append_to(list);
  d.out.list = d.keep(list);
  d.out.s[1] = d.source(d.operand(2), Type::kU32);
  if (masks != 0) d.out.s[2] = d.source(d.operand(4), Type::kB16);
  d.each(&copy_to_shared);
}

}  // namespace

void decode_bulk(Decode& d, bool reduces) {
  if (d.flag("tensor")) d.reject("copies of tensors (TMA) are not supported");
  if (reduces && (d.out.object = take_reduction(d)) == nullptr) {
    d.reject("the operation is not supported for this type");
  }
  if (d.flag("commit_group")) {
    d.expect_operands(0, 0);
    return d.each(&commit_group);
  }
  if (d.flag("wait_group")) return decode_wait_group(d);
  if (d.flag("prefetch")) return decode_prefetch(d);
  if (d.flag("bulk_group")) return decode_to_global(d);
  if (d.flag("mbarrier::complete_tx::bytes")) return decode_to_shared(d);
  d.reject("the form is not supported");
}

}  // namespace kbench::ptx
