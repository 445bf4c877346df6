// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/launch/async.hpp"
#include "ptx/ops/async.hpp"

// st.async and red.async: send a lane's value to shared memory of the cluster and complete
// transactions of an mbarrier there. The write is performed when a thread would have to wait there.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <Update update, class T>
void reduce_bytes(std::byte* to, const std::byte* from, u64 bytes) {
  using As = std::conditional_t<std::is_same_v<T, float>, FlushedFloat, T>;
  for (u64 k = 0; k < bytes; k += sizeof(T)) {
    As value;
    std::memcpy(&value, from + k, sizeof value);
    exchange<update>(to + k, value, value, true);
  }
}

struct BulkReduction {
  template <Update update, class T>
  Reduce operator()() const {
    return &reduce_bytes<update, T>;
  }
};

const Reduction* find_reduction(Type type, Update update) {
  static constexpr Type kTypes[] = {Type::kB32, Type::kB64, Type::kU32,  Type::kU64, Type::kS32,
                                    Type::kS64, Type::kF16, Type::kBf16, Type::kF32, Type::kF64};
  static const auto kTable = [] {
    std::vector<Reduction> table;
    for (const Type t : kTypes) {
      for (const UpdateRow& row : kUpdates) {
        if (row.update == Update::kCas || row.update == Update::kExch) continue;
        const Reduce reduce = visit_atomic(t, row.update, BulkReduction{});
        if (reduce != nullptr) table.push_back({row.update, t, reduce});
      }
    }
    return table;
  }();
  for (const Reduction& row : kTable) {
    if (row.type == type && row.update == update) return &row;
  }
  return nullptr;
}

/// The block whose shared memory contains the host address.
Block* owner(const Context& c, const std::byte* at) {
  for (const auto& block : c.block->cluster->blocks) {
    const auto offset = static_cast<u64>(at - block->shared.data());
    if (offset < block->shared.size()) return block.get();
  }
  return nullptr;
}

/// Address: see decode_address(). in.list: the mbarrier's address, then in.aux registers of in.s[1]
/// bytes each.
void send(Context& c, const Instr& in) {
  Addresses to;
  addresses(c, in, to);
  const FurtherAddress barrier = FurtherAddress::in(in.list);
  const auto* reduction = static_cast<const Reduction*>(in.object);
  const u32 bytes = in.s[1];
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    LateArrival arrival;
    BulkCopy& copy = arrival.copy;
    if (!find_mbarrier(c, in, i, space_of(in), barrier.of(c, i), arrival.barrier)) return;
    copy.bytes = u64{bytes} * in.aux;
    copy.to = reduction != nullptr
                  ? resolve(c, in, i, space_of(in), to[i], copy.bytes, Access::kAtomic)
                  : resolve_late_write(c, in, i, space_of(in), to[i], copy.bytes);
    if (copy.to == nullptr) return;
    if (reduction != nullptr) copy.reduce = reduction->reduce;
    copy.block = owner(c, copy.to);
    for (unsigned k = 0; k < in.aux; ++k) {
      std::memcpy(copy.value.data() + std::size_t{k} * bytes,
                  c.source<std::byte>(in.list[4 + k]) + std::size_t{i} * bytes, bytes);
    }
    c.block->cluster->arrivals.push_back(arrival);
  }
}

void decode_send(Decode& d, Type type, unsigned count) {
  if (!d.flag("mbarrier::complete_tx::bytes")) {
    d.reject("the modifier .mbarrier::complete_tx::bytes is missing");
  }
  const Space space = take_space(d);
  d.expect_operands(3, 3);
  const Operand& value = d.operand(1);
  if (size_bytes(type) < 4 || size_bytes(type) * count > 16 ||
      (count > 1 && value.items.size() != count)) {
    d.reject("the type is not supported");
  }
  decode_address(d, d.operand(0), space);
  std::vector<u32> list;
  FurtherAddress::decode(d, d.operand(2)).append_to(list);
  for (unsigned k = 0; k < count; ++k) {
    list.push_back(d.source(count > 1 ? value.items[k] : value, type));
  }
  d.out.list = d.keep(list);
  d.out.s[1] = size_bytes(type);
  d.out.aux = static_cast<std::uint8_t>(count);
  d.each(&send);
}

}  // namespace

const Reduction* take_reduction(Decode& d) {
  d.flag("noftz");
  for (const UpdateRow& row : kUpdates) {
    if (d.flag(row.name)) return find_reduction(d.type(), row.update);
  }
  return nullptr;
}

void decode_store_async(Decode& d) {
  d.flag("weak");
  const unsigned count = d.flag("v2") ? 2 : d.flag("v4") ? 4 : 1;
  decode_send(d, d.type(), count);
}

void decode_reduce_async(Decode& d) {
  if (!d.flag("relaxed") || !d.flag("cluster")) {
    d.reject("only .relaxed.cluster is supported");
  }
  const Reduction* reduction = take_reduction(d);
  if (reduction == nullptr || is_float(reduction->type)) {
    d.reject("the operation is not supported for this type");
  }
  d.out.object = reduction;
  decode_send(d, reduction->type, 1);
}

}  // namespace kbench::ptx
