// SPDX-License-Identifier: MIT
#include "ptx/memory/atomic.hpp"

#include <algorithm>

#include "ptx/ops/async.hpp"

// atom and red.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

bool in_shared(Space space, u64 address) {
  return space == Space::kShared ||
         (space == Space::kGeneric && address >> kWindowShift == kSharedWindow >> kWindowShift);
}

/// Applies all lanes to one address, in lane order, as a single change of memory.
template <Update update, class T, class As>
void same_address(Context& c, const Instr& in, std::byte* to, bool contended) {
  const T* a = c.source<T>(in.s[1]);
  const T* b = in.s[2] == kNone ? a : c.source<T>(in.s[2]);
  alignas(64) std::array<T, kLanes> old;
  change<T>(to, contended, [&](T& value) {
    for_lanes(c.mask, [&](unsigned i) {
      old[i] = value;
      value = std::bit_cast<T>(updated<update>(std::bit_cast<As>(value), std::bit_cast<As>(a[i]),
                                               std::bit_cast<As>(b[i])));
    });
  });
  if (in.d == kNone) return;
  T* d = c.target<T>(in.d);
  for_lanes(c.mask, [&](unsigned i) { d[i] = old[i]; });
}

/// `As`: the type for the arithmetic; f32 addition in global memory uses one that flushes.
template <Update update, class T, class As>
void each_address(Context& c, const Instr& in, const Addresses& at, bool shared) {
  const Space space = space_of(in);
  const T* a = c.source<T>(in.s[1]);
  const T* b = in.s[2] == kNone ? a : c.source<T>(in.s[2]);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (in_shared(space, at[i]) != shared) continue;
    std::byte* to = resolve(c, in, i, space, at[i], sizeof(T), Access::kAtomic);
    if (to == nullptr) return;
    const As old = exchange<update>(to, std::bit_cast<As>(a[i]), std::bit_cast<As>(b[i]), !shared);
    if (in.d != kNone) c.target<T>(in.d)[i] = std::bit_cast<T>(old);
  }
}

bool uniform(const Context& c, const Addresses& at) {
  const u64 first = at[static_cast<unsigned>(std::countr_zero(c.mask))];
  u64 other = 0;
  for (unsigned i = 0; i < kLanes; ++i) other |= ((c.mask >> i) & 1U) != 0 ? at[i] ^ first : 0;
  return other == 0;
}

/// One host thread at a time changes shared memory, so only global memory is contended.
template <Update update, class T>
void atomic(Context& c, const Instr& in) {
  using Global = std::conditional_t<std::is_same_v<T, float>, FlushedFloat, T>;
  if (c.mask == 0) return;
  Addresses at;
  addresses(c, in, at);
  if ((in.flags & kPolls) != 0) c.polled = true;
  const Space space = space_of(in);
  if (c.observer == nullptr && uniform(c, at)) {
    const auto i = static_cast<unsigned>(std::countr_zero(c.mask));
    std::byte* to = resolve(c, in, i, space, at[i], sizeof(T), Access::kAtomic);
    if (to == nullptr) return;
    if (in_shared(space, at[i])) return same_address<update, T, T>(c, in, to, false);
    return same_address<update, T, Global>(c, in, to, true);
  }
  if (space != Space::kGlobal) each_address<update, T, T>(c, in, at, true);
  if (space != Space::kShared) each_address<update, T, Global>(c, in, at, false);
}

/// in.list: in.aux source registers, then in.aux result registers (kNone for red). Each element is
/// a separate atomic operation.
template <Update update, class T>
void vector_atomic(Context& c, const Instr& in) {
  using As = std::conditional_t<std::is_same_v<T, float>, FlushedFloat, T>;
  Addresses at;
  addresses(c, in, at);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::byte* to = resolve(c, in, i, space_of(in), at[i], in.aux * sizeof(T), Access::kAtomic);
    if (to == nullptr) return;
    for (unsigned k = 0; k < in.aux; ++k) {
      const As a = std::bit_cast<As>(c.source<T>(in.list[k])[i]);
      const As old = exchange<update>(to + k * sizeof(T), a, a, true);
      const u32 d = in.list[in.aux + k];
      if (d != kNone) c.target<T>(d)[i] = std::bit_cast<T>(old);
    }
  }
}

struct ScalarAtomic {
  template <Update update, class T>
  Execute operator()() const {
    return &atomic<update, T>;
  }
};

struct VectorAtomic {
  template <Update update, class T>
  Execute operator()() const {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
      return nullptr;
    } else {
      return &vector_atomic<update, T>;
    }
  }
};

Update take_update(Decode& d) {
  for (const UpdateRow& row : kUpdates) {
    if (d.flag(row.name)) return row.update;
  }
  d.reject("the operation is not supported");
}

unsigned take_vector(Decode& d) {
  if (d.flag("v2")) return 2;
  if (d.flag("v4")) return 4;
  return d.flag("v8") ? 8 : 1;
}

void append_registers(Decode& d, const Operand& operand, Type type, std::vector<u32>& list) {
  for (const Operand& item : operand.items) {
    list.push_back(item.kind == Operand::Kind::kSink ? kNone : d.destination(item, type));
  }
}

void decode_vector(Decode& d, Update update, Type type, Space space, unsigned count,
                   std::size_t first) {
  const Operand& values = d.operand(first + 1);
  const bool returns = first == 1 && d.operand(0).kind != Operand::Kind::kSink;
  if (space == Space::kShared || size_bytes(type) * count > 16 || values.items.size() != count ||
      (returns && d.operand(0).items.size() != count)) {
    d.reject("this vector form is not supported");
  }
  decode_address(d, d.operand(first), space);
  std::vector<u32> list;
  append_registers(d, values, type, list);
  if (std::find(list.begin(), list.end(), kNone) != list.end()) d.reject("'_' cannot be a source");
  if (returns) append_registers(d, d.operand(0), type, list);
  list.resize(2 * std::size_t{count}, kNone);
  d.out.list = d.keep(list);
  d.out.aux = static_cast<std::uint8_t>(count);
  const Execute execute = visit_atomic(type, update, VectorAtomic{});
  if (execute == nullptr) d.reject("the operation is not supported for vectors of this type");
  d.each(execute);
}

/// True for operations that poll a lock or a flag, in contrast to a counter.
bool polls(Update update, const Operand& value) {
  if (update == Update::kCas || update == Update::kExch || update == Update::kOr) return true;
  return update == Update::kAdd && value.kind == Operand::Kind::kInteger && value.bits == 0;
}

template <bool returns>
void decode_atomic(Decode& d) {
  if (!returns && d.flag("async")) return decode_reduce_async(d);
  d.one_of({"relaxed", "acquire", "release", "acq_rel"});
  d.one_of({"cta", "cluster", "gpu", "sys"});
  d.flag("noftz");
  const Space space = take_space(d);
  const Update update = take_update(d);
  const unsigned vector = take_vector(d);
  const std::size_t hints = take_cache_hint(d) ? 1 : 0;
  const Type type = d.type();
  const std::size_t first = returns ? 1 : 0;
  const std::size_t count = update == Update::kCas ? 3 : 2;
  d.expect_operands(first + count + hints, first + count + hints);
  if (vector > 1) return decode_vector(d, update, type, space, vector, first);
  if (returns && d.operand(0).kind != Operand::Kind::kSink) {
    d.out.d = d.destination(d.operand(0), type);
  }
  decode_address(d, d.operand(first), space);
  d.out.s[1] = d.source(d.operand(first + 1), type);
  if (update == Update::kCas) d.out.s[2] = d.source(d.operand(first + 2), type);
  if (polls(update, d.operand(first + 1))) d.out.flags |= kPolls;
  const Execute execute = visit_atomic(type, update, ScalarAtomic{});
  if (execute == nullptr) d.reject("the operation is not supported for this type");
  d.each(execute);
}

constexpr OpcodeRow kRows[] = {
    {"atom", decode_atomic<true>},
    {"red", decode_atomic<false>},
};

}  // namespace

std::span<const OpcodeRow> atomic_opcodes() { return kRows; }

}  // namespace kbench::ptx
