// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/machine/decode.hpp"
#include "ptx/memory/access.hpp"
#include "ptx/memory/lane_memory.hpp"
#include "ptx/memory/written.hpp"
#include "ptx/ops/async.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A warp yields after its first loads from writable memory; this is their number.
constexpr unsigned kPartings = 4;

struct Stretch {
  u64 begin = 0, size = 0;
  std::byte* host = nullptr;  ///< host address of `begin`
};

Stretch shared_stretch(const Context& c, u64 begin) {
  return {begin, c.grid->shared_bytes, c.block->shared.data()};
}

Stretch global_stretch(const Context& c, const Instr& in, bool write) {
  const Extent& extent = *c.extents[in.slot];
  return {extent.begin, write && !extent.writable ? 0 : extent.bytes, at_address(extent.begin)};
}

/// The memory range that may contain an address. Empty for generic addresses outside shared and
/// global.
template <Space space>
Stretch stretch(const Context& c, const Instr& in, u64 address, bool write) {
  if constexpr (space == Space::kShared) return shared_stretch(c, 0);
  if constexpr (space == Space::kGeneric) {
    if (address >> kWindowShift == kSharedWindow >> kWindowShift) {
      return shared_stretch(c, kSharedWindow);
    }
  }
  return global_stretch(c, in, write);
}

/// One element as a lane accesses it. `ordered`: other host threads may access it meanwhile, so the
/// access is atomic in C++'s memory model, too.
template <class M>
M load_element(const std::byte* from, bool ordered) {
  M value;
  if (ordered) {
    __atomic_load(reinterpret_cast<const M*>(from), &value, __ATOMIC_ACQUIRE);
  } else {
    std::memcpy(&value, from, sizeof(M));
  }
  return value;
}
template <class M>
void store_element(std::byte* to, M value, bool ordered) {
  if (ordered) {
    __atomic_store(reinterpret_cast<M*>(to), &value, __ATOMIC_RELEASE);
  } else {
    std::memcpy(to, &value, sizeof(M));
  }
}

/// Loads lane by lane, for any count and address pattern.
template <class M, class R>
[[gnu::noinline]] void load_slow(Context& c, const Instr& in) {
  alignas(64) Addresses at;
  addresses(c, in, at);
  const u64 bytes = sizeof(M) * in.aux;
  const Space space = space_of(in);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::byte* from = resolve(c, in, i, space, at[i], bytes, Access::kRead);
    if (from == nullptr) return;
    for (unsigned k = 0; k < in.aux; ++k) {
      const M value = load_element<M>(from + k * sizeof(M), (in.flags & kOrdered) != 0);
      if (in.list[k] != kNone) c.target<R>(in.list[k])[i] = as_register<R>(value);
    }
  }
}

/// Checks the warp's access by its shape; if allowed, sets shape.host.
template <Space space, class W>
bool check(const Context& c, const Instr& in, Shape& shape, u64 bytes, bool write) {
  const W lowest = static_cast<W>(shape.lowest) + static_cast<W>(in.imm);
  const Stretch s = stretch<space>(c, in, lowest, write);
  const u64 offset = lowest - s.begin;
  const u64 length = shape.span + bytes;
  if (s.size < length || offset > s.size - length) return false;
  if (((lowest | shape.mixed) & (bytes - 1)) != 0) return false;
  shape.host = s.host + offset;
  return shape.kind != Shape::Kind::kFar;
}

template <class W>
struct FindShape {
  static void run(Context& c, const Instr& in) {
    find_shape(c.source<W>(in.s[0]), c.mask, *c.target<Shape>(in.extra));
  }
};
const Execute kFindShape32 = pick<FindShape<u32>>();
const Execute kFindShape64 = pick<FindShape<u64>>();

/// Finds the shape of an instruction's addresses, if it is not known, and checks them. Null if each
/// lane must be checked on its own.
template <Space space>
Shape* approach(Context& c, const Instr& in, u64 bytes, bool write) {
  if ((in.flags & kFrameRelative) != 0 || c.observer != nullptr) return nullptr;
  const bool narrow = (in.flags & kAddress32) != 0;
  Shape& shape = *c.target<Shape>(in.extra);
  if (shape.mask != c.mask || (in.flags & kNoRecord) != 0) {
    (narrow ? kFindShape32 : kFindShape64)(c, in);
  }
  const bool allowed = narrow ? check<space, u32>(c, in, shape, bytes, write)
                              : check<space, u64>(c, in, shape, bytes, write);
  return allowed ? &shape : nullptr;
}

/// The space of an allowed access.
template <Space space>
Space place(const Instr& in, const Shape& shape) {
  if constexpr (space != Space::kGeneric) return space;
  const u64 lowest = shape.lowest + static_cast<u64>(in.imm);
  return lowest >> kWindowShift == kSharedWindow >> kWindowShift ? Space::kShared : Space::kGlobal;
}

/// True if reads of undefined memory are checked there.
inline bool watches(const Context& c, const Instr& in, Space space) {
  return c.grid->watched && (space == Space::kShared || c.extents[in.slot]->written != nullptr);
}

/// Lets other blocks run before this one uses the loaded value. If it then stores a changed value
/// without an atomic, it overwrites their stores.
inline void part(Context& c, const Instr& in) {
  if (!c.extents[in.slot]->writable || c.warp->parted >= kPartings) return;
  ++c.warp->parted;
  c.parts = true;
  c.merge_ip = nullptr;
}

/// True if one of 32 values contains a word of ones.
template <class M, class R, bool kWide>
bool have_ones(const R* values) {
#ifdef KBENCH_PTX_INTRINSICS
  if constexpr (kWide && sizeof(M) == 4 && sizeof(R) == 4) return wide::has_ones(values);
#endif
  return has_ones<M>(values);
}

template <class M, class R, Space space, bool kWide>
struct Load {
  static void run(Context& c, const Instr& in) {
    if ((in.flags & kOrdered) != 0) {
      c.polled = true;
      if constexpr (space != Space::kShared) return load_slow<M, R>(c, in);
    }
    const Shape* shape = approach<space>(c, in, sizeof(M) * in.aux, false);
    if (shape != nullptr) {
      LaneLoad<M, R, kWide>::run(c, in, *shape);
      if (watches(c, in, place<space>(in, *shape))) inspect(c, in, *shape);
      if (c.grid->parts && place<space>(in, *shape) != Space::kShared) part(c, in);
      return;
    }
    load_slow<M, R>(c, in);
  }

 private:
  /// Undefined memory contains ones, so only loads of ones need a check.
  static void inspect(Context& c, const Instr& in, const Shape& shape) {
    if (shape.kind == Shape::Kind::kLinear && shape.stride == 0) {
      if (!has_ones(shape.host, sizeof(M) * in.aux)) return;
      return watch_loads(c, in, place<space>(in, shape), shape, sizeof(M) * in.aux);
    }
    for (unsigned k = 0; k < in.aux; ++k) {
      if (in.list[k] == kNone || !have_ones<M, R, kWide>(c.target<R>(in.list[k]))) continue;
      return watch_loads(c, in, place<space>(in, shape), shape, sizeof(M) * in.aux);
    }
  }
};

template <class M, class R>
[[gnu::noinline]] void store_slow(Context& c, const Instr& in) {
  alignas(64) Addresses at;
  addresses(c, in, at);
  const u64 bytes = sizeof(M) * in.aux;
  const Space space = space_of(in);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::byte* to = resolve(c, in, i, space, at[i], bytes, Access::kWrite);
    if (to == nullptr) return;
    for (unsigned k = 0; k < in.aux; ++k) {
      store_element(to + k * sizeof(M), static_cast<M>(c.source<R>(in.list[k])[i]),
                    (in.flags & kOrdered) != 0);
    }
  }
}

template <class M, class R, Space space, bool kWide>
struct Store {
  static void run(Context& c, const Instr& in) {
    if constexpr (space != Space::kShared) {
      if ((in.flags & kOrdered) != 0) return store_slow<M, R>(c, in);
    }
    const Shape* shape = approach<space>(c, in, sizeof(M) * in.aux, true);
    if (shape != nullptr) {
      if (watches(c, in, place<space>(in, *shape))) inspect(c, in, *shape);
      return LaneStore<M, R, kWide>::run(c, in, *shape);
    }
    store_slow<M, R>(c, in);
  }

 private:
  /// Runs before the values are stored, so that no thread sees ones without their marks.
  static void inspect(Context& c, const Instr& in, const Shape& shape) {
    for (unsigned k = 0; k < in.aux; ++k) {
      const R* values = c.source<R>(in.list[k]);
      if (!have_ones<M, R, kWide>(values)) continue;
      watch_stores(c, in, place<space>(in, shape), shape, shape.host + k * sizeof(M),
                   {reinterpret_cast<const std::byte*>(values), sizeof(M), sizeof(R)});
    }
  }
};

/// A kernel parameter at a fixed offset, which is the same for all lanes.
template <class M, class R>
struct LoadParameter {
  static void run(Context& c, const Instr& in) {
    const std::byte* from = c.grid->parameters.data() + in.imm;
    for (unsigned k = 0; k < in.aux; ++k) {
      if (in.list[k] == kNone) continue;
      M value;
      std::memcpy(&value, from + k * sizeof(M), sizeof(M));
      put_same(c.target<R>(in.list[k]), c.mask, as_register<R>(value));
    }
  }
};

enum class Direction : std::uint8_t { kLoad, kStore };

template <Direction direction, class M, class R>
Execute choose_space(const Instr& in, bool fixed) {
  const Space space = space_of(in);
  const bool global = space == Space::kGlobal || space == Space::kConst;
  if constexpr (direction == Direction::kLoad) {
    if (space == Space::kParam && fixed) return pick<LoadParameter<M, R>>();
    if (space == Space::kShared)
      return pick<Load<M, R, Space::kShared, false>, Load<M, R, Space::kShared, true>>();
    if (global) return pick<Load<M, R, Space::kGlobal, false>, Load<M, R, Space::kGlobal, true>>();
    return pick<Load<M, R, Space::kGeneric, false>, Load<M, R, Space::kGeneric, true>>();
  } else {
    if (space == Space::kShared)
      return pick<Store<M, R, Space::kShared, false>, Store<M, R, Space::kShared, true>>();
    if (global)
      return pick<Store<M, R, Space::kGlobal, false>, Store<M, R, Space::kGlobal, true>>();
    return pick<Store<M, R, Space::kGeneric, false>, Store<M, R, Space::kGeneric, true>>();
  }
}

template <Direction direction, class M>
Execute choose_register(Decode& d, unsigned register_bytes, bool fixed) {
  if constexpr (sizeof(M) <= 2) {
    if (register_bytes == 2) return choose_space<direction, M, std::uint16_t>(d.out, fixed);
  }
  if constexpr (sizeof(M) <= 4) {
    if (register_bytes == 4) return choose_space<direction, M, u32>(d.out, fixed);
  }
  if (register_bytes == 8) return choose_space<direction, M, u64>(d.out, fixed);
  d.reject("the register's size is not supported");
}

template <Direction direction>
Execute choose_type(Decode& d, Type type, unsigned register_bytes, bool fixed) {
  const bool sign = is_signed(type) && direction == Direction::kLoad;
  switch (size_bytes(type)) {
    case 1:
      return sign ? choose_register<direction, std::int8_t>(d, register_bytes, fixed)
                  : choose_register<direction, std::uint8_t>(d, register_bytes, fixed);
    case 2:
      return sign ? choose_register<direction, std::int16_t>(d, register_bytes, fixed)
                  : choose_register<direction, std::uint16_t>(d, register_bytes, fixed);
    case 4:
      return sign ? choose_register<direction, std::int32_t>(d, register_bytes, fixed)
                  : choose_register<direction, u32>(d, register_bytes, fixed);
    case 8:
      return choose_register<direction, u64>(d, register_bytes, fixed);
    default:
      d.reject("the type is not supported");
  }
}

/// Takes cache operators and memory orders. They have no effect except kOrdered. Returns the number
/// of cache policy operands.
std::size_t take_cache_modifiers(Decode& d) {
  const bool scoped = d.flag("relaxed") || d.flag("acquire") || d.flag("release");
  if (scoped || d.flag("volatile")) d.out.flags |= kOrdered;
  d.flag("mmio");
  if (scoped) d.one_of({"cta", "cluster", "gpu", "sys"});
  d.flag("weak");
  d.flag("nc");
  d.one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  d.one_of({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
            "L1::no_allocate"});
  d.one_of({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  d.one_of({"L2::64B", "L2::128B", "L2::256B"});
  return take_cache_hint(d) ? 1 : 0;
}

template <Direction direction>
void decode_access(Decode& d) {
  if (direction == Direction::kStore && d.flag("async")) return decode_store_async(d);
  const std::size_t hints = take_cache_modifiers(d);
  const Space space = take_space(d);
  unsigned count = 1;
  if (d.flag("v2")) count = 2;
  if (d.flag("v4")) count = 4;
  if (d.flag("v8")) count = 8;
  const Type type = d.type();
  d.expect_operands(2 + hints, 2 + hints);
  constexpr bool kLoads = direction == Direction::kLoad;
  decode_address(d, d.operand(kLoads ? 1 : 0), space);
  const Operand& value = d.operand(kLoads ? 0 : 1);
  std::vector<Operand> items =
      value.kind == Operand::Kind::kVector ? value.items : std::vector<Operand>{value};
  if (items.size() != count) d.reject("the number of registers does not match the vector size");
  std::vector<u32> list;
  unsigned register_bytes = 0;
  for (const Operand& item : items) {
    const bool literal = item.kind != Operand::Kind::kName || !d.find_register(item.name);
    // A literal has the size of the registers; it is filled in below.
    if (kLoads ? item.kind == Operand::Kind::kSink : literal) {
      list.push_back(kNone);
    } else {
      const Register found = d.wide_register(item, size_bytes(type));
      if (register_bytes != 0 && found.bytes != register_bytes) {
        d.reject("registers of different sizes are not supported");
      }
      register_bytes = found.bytes;
      list.push_back(found.offset);
    }
  }
  if (register_bytes == 0) register_bytes = std::max(size_bytes(type), 2U);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] != kNone || kLoads) continue;
    const Type as = size_bytes(type) == register_bytes ? type
                    : register_bytes == 2              ? Type::kB16
                    : register_bytes == 4              ? Type::kB32
                                                       : Type::kB64;
    list[i] = d.source(items[i], as);
  }
  d.out.aux = static_cast<std::uint8_t>(count);
  d.out.list = d.keep(list);
  d.use_shape();
  const bool fixed = !d.find_register(d.operand(kLoads ? 1 : 0).name);
  if (space_of(d.out) == Space::kParam && fixed) {
    const auto end = static_cast<u64>(d.out.imm) + u64{size_bytes(type)} * count;
    if (!kLoads || d.out.imm < 0 || end > d.function().function->parameter_bytes) {
      d.reject("the address is outside the kernel's parameters");
    }
  }
  d.each(choose_type<direction>(d, type, register_bytes, fixed));
}

constexpr OpcodeRow kRows[] = {
    {"ld", decode_access<Direction::kLoad>},
    {"ldu", decode_access<Direction::kLoad>},
    {"st", decode_access<Direction::kStore>},
};

}  // namespace

std::span<const OpcodeRow> memory_opcodes() { return kRows; }

}  // namespace kbench::ptx
