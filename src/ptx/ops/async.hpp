// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/launch/mbarrier.hpp"
#include "ptx/memory/access.hpp"
#include "ptx/memory/atomic.hpp"

/// What the instructions of asynchronous copies share.
namespace kbench::ptx {

/// An address operand beside that of decode_address(), kept in four numbers: register or constant,
/// whether it has 32 bits, displacement.
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

/// Takes `.L2::cache_hint`; true where the last operand is therefore a policy, which is checked.
bool take_cache_hint(Decode& d);

/// cp.async.bulk and cp.reduce.async.bulk, whose `.bulk` has been taken.
void decode_bulk(Decode& d, bool reduces);

/// st.async and red.async, whose `.async` has been taken.
void decode_store_async(Decode& d);
void decode_reduce_async(Decode& d);

/// What of values in memory is combined into a target, by atomic operations; null where the
/// operation is not among the modifiers or does not exist.
using Reduce = void (*)(std::byte* to, const std::byte* from, std::uint64_t bytes);
struct Reduction {
  Update update;
  Type type;
  Reduce reduce;
};
const Reduction* take_reduction(Decode& d);

/// cp.async.mbarrier.arrive, whose `.mbarrier` has been taken.
void decode_arrive_after_copies(Decode& d);

/// isspacep.shared, whose space has been taken.
void decode_in_own_shared(Decode& d);

/// barrier.cluster, whose `.cluster` has been taken.
void decode_cluster_barrier(Decode& d);

/// The address is one of an mbarrier in shared memory, which may be another block's of the cluster.
/// Its host address; null after a fault has been raised.
std::byte* resolve_mbarrier(Context& c, const Instr& in, unsigned lane, Space space,
                            std::uint64_t address, Access access);

/// The same, and what is there. Nothing after a fault has been raised.
std::optional<Mbarrier> find_mbarrier(Context& c, const Instr& in, unsigned lane, Space space,
                                      std::uint64_t address, std::byte*& at);

}  // namespace kbench::ptx
