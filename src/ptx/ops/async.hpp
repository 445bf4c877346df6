// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/launch/mbarrier.hpp"
#include "ptx/memory/access.hpp"
#include "ptx/memory/atomic.hpp"

/// Declarations for the instructions of asynchronous copies.
namespace kbench::ptx {

/// A second address operand next to that of decode_address(). Instr::list holds it in four words:
/// register or constant, 1 if it has 32 bits, displacement (2 words).
struct FurtherAddress {
  std::uint32_t operand = kNone;
  bool narrow = false;
  std::int64_t displacement = 0;

  static FurtherAddress decode(Decode& d, const Operand& operand);
  void append_to(std::vector<std::uint32_t>& list) const;
  static FurtherAddress in(const std::uint32_t* list) {
    return {list[0], list[1] != 0,
            static_cast<std::int64_t>(std::uint64_t{list[2]} | std::uint64_t{list[3]} << 32)};
  }
  std::uint64_t of(const Context& c, unsigned lane) const {
    const auto by = static_cast<std::uint64_t>(displacement);
    if (!narrow) return c.source<std::uint64_t>(operand)[lane] + by;
    return static_cast<std::uint32_t>(c.source<std::uint32_t>(operand)[lane] + by);
  }
};

/// Takes `.L2::cache_hint`; true if it is present. Then the last operand must be a cache policy.
bool take_cache_hint(Decode& d);

/// Decodes the operand of a wait_group: how many groups may stay pending; goes to Instr::imm.
void decode_pending(Decode& d);

/// Decodes cp.async.bulk and cp.reduce.async.bulk; their `.bulk` has been taken.
void decode_bulk(Decode& d, bool reduces);

/// Decodes st.async and red.async; their `.async` has been taken.
void decode_store_async(Decode& d);
void decode_reduce_async(Decode& d);

/// Combines values in memory into a target by atomic operations. take_reduction() returns null if
/// the modifiers name no operation that exists.
using Reduce = void (*)(std::byte* to, const std::byte* from, std::uint64_t bytes);
struct Reduction {
  Update update;
  Type type;
  Reduce reduce;
};
const Reduction* take_reduction(Decode& d);

/// Decodes cp.async.mbarrier.arrive; its `.mbarrier` has been taken.
void decode_arrive_after_copies(Decode& d);

/// Decodes isspacep.shared; its space has been taken.
void decode_in_own_shared(Decode& d);

/// Decodes barrier.cluster; its `.cluster` has been taken.
void decode_cluster_barrier(Decode& d);

/// Checks the address of an mbarrier in shared memory, which may belong to another block of the
/// cluster. Returns its host address; null after a fault.
std::byte* resolve_mbarrier(Context& c, const Instr& in, unsigned lane, Space space,
                            std::uint64_t address, Access access);

/// Like resolve_mbarrier(), and reads the mbarrier's state; none after a fault.
std::optional<Mbarrier> find_mbarrier(Context& c, const Instr& in, unsigned lane, Space space,
                                      std::uint64_t address, std::byte*& at);

}  // namespace kbench::ptx
