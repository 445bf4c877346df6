// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "ptx/machine/decode.hpp"
#include "ptx/memory/access.hpp"

// mov and the special registers.
namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 nanoseconds() {
  return static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                              std::chrono::steady_clock::now().time_since_epoch())
                              .count());
}

/// Cycles of a clock near that of a GPU.
u64 cycles() { return nanoseconds() * 7 / 4; }

u64 workspace(const Context& c) {
  return c.grid->launch->cooperative ? reinterpret_cast<u64>(c.grid->workspace.data()) : 0;
}

u64 dimension(const Context& c, const std::array<u32, 3>& extents, std::size_t axis) {
  (void)c;
  return extents[axis];
}

using Reader = u64 (*)(const Context&, unsigned lane);

struct SpecialRow {
  std::string_view name;
  Reader read;
};

template <std::size_t axis>
u64 tid(const Context& c, unsigned lane) {
  return c.warp->tid[axis][lane];
}
template <std::size_t axis>
u64 ntid(const Context& c, unsigned) {
  return dimension(c, c.grid->launch->block, axis);
}
template <std::size_t axis>
u64 ctaid(const Context& c, unsigned) {
  return dimension(c, c.block->index, axis);
}
template <std::size_t axis>
u64 nctaid(const Context& c, unsigned) {
  return dimension(c, c.grid->launch->grid, axis);
}
template <std::size_t axis>
u64 clusterid(const Context& c, unsigned) {
  return c.block->cluster->index[axis];
}
template <std::size_t axis>
u64 nclusterid(const Context& c, unsigned) {
  return c.grid->launch->grid[axis] / c.grid->cluster[axis];
}
template <std::size_t axis>
u64 cluster_ctaid(const Context& c, unsigned) {
  return c.block->index[axis] % c.grid->cluster[axis];
}
template <std::size_t axis>
u64 cluster_nctaid(const Context& c, unsigned) {
  return c.grid->cluster[axis];
}
template <u64 value>
u64 fixed(const Context&, unsigned) {
  return value;
}

constexpr u64 kReservedShared = 1024;

u64 linear_block(const Context& c) {
  const auto& grid = c.grid->launch->grid;
  return (u64{c.block->index[2]} * grid[1] + c.block->index[1]) * grid[0] + c.block->index[0];
}

constexpr SpecialRow kSpecials[] = {
    {"%tid.x", tid<0>},
    {"%tid.y", tid<1>},
    {"%tid.z", tid<2>},
    {"%ntid.x", ntid<0>},
    {"%ntid.y", ntid<1>},
    {"%ntid.z", ntid<2>},
    {"%ctaid.x", ctaid<0>},
    {"%ctaid.y", ctaid<1>},
    {"%ctaid.z", ctaid<2>},
    {"%nctaid.x", nctaid<0>},
    {"%nctaid.y", nctaid<1>},
    {"%nctaid.z", nctaid<2>},
    {"%clusterid.x", clusterid<0>},
    {"%clusterid.y", clusterid<1>},
    {"%clusterid.z", clusterid<2>},
    {"%nclusterid.x", nclusterid<0>},
    {"%nclusterid.y", nclusterid<1>},
    {"%nclusterid.z", nclusterid<2>},
    {"%cluster_ctaid.x", cluster_ctaid<0>},
    {"%cluster_ctaid.y", cluster_ctaid<1>},
    {"%cluster_ctaid.z", cluster_ctaid<2>},
    {"%cluster_nctaid.x", cluster_nctaid<0>},
    {"%cluster_nctaid.y", cluster_nctaid<1>},
    {"%cluster_nctaid.z", cluster_nctaid<2>},
    {"%cluster_ctarank", [](const Context& c, unsigned) { return u64{c.block->rank}; }},
    {"%cluster_nctarank",
     [](const Context& c, unsigned) { return u64{c.block->cluster->blocks.size()}; }},
    {"%laneid", [](const Context&, unsigned lane) { return u64{lane}; }},
    {"%warpid", [](const Context& c, unsigned) { return u64{c.warp->index}; }},
    {"%nwarpid", [](const Context& c,
                    unsigned) { return u64{c.grid->options->device.max_threads_per_sm / kLanes}; }},
    {"%smid",
     [](const Context& c, unsigned) { return linear_block(c) % c.grid->options->device.sms; }},
    {"%nsmid", [](const Context& c, unsigned) { return u64{c.grid->options->device.sms}; }},
    {"%gridid", fixed<1>},
    {"%lanemask_eq", [](const Context&, unsigned lane) { return u64{1} << lane; }},
    {"%lanemask_le", [](const Context&, unsigned lane) { return (u64{2} << lane) - 1; }},
    {"%lanemask_lt", [](const Context&, unsigned lane) { return (u64{1} << lane) - 1; }},
    {"%lanemask_ge",
     [](const Context&, unsigned lane) { return u64{kAllLanes} & ~((u64{1} << lane) - 1); }},
    {"%lanemask_gt",
     [](const Context&, unsigned lane) { return u64{kAllLanes} & ~((u64{2} << lane) - 1); }},
    {"%clock", [](const Context&, unsigned) { return cycles() & kAllLanes; }},
    {"%clock_hi", [](const Context&, unsigned) { return cycles() >> 32; }},
    {"%clock64", [](const Context&, unsigned) { return cycles(); }},
    {"%globaltimer", [](const Context&, unsigned) { return nanoseconds(); }},
    {"%globaltimer_lo", [](const Context&, unsigned) { return nanoseconds() & kAllLanes; }},
    {"%globaltimer_hi", [](const Context&, unsigned) { return nanoseconds() >> 32; }},
    {"%dynamic_smem_size",
     [](const Context& c, unsigned) { return u64{c.grid->launch->dynamic_shared_bytes}; }},
    {"%total_smem_size", [](const Context& c, unsigned) { return u64{c.grid->shared_bytes}; }},
    // Shared memory that the system reserves per block is added.
    {"%aggr_smem_size",
     [](const Context& c, unsigned) { return u64{c.grid->shared_bytes} + kReservedShared; }},
    {"%current_graph_exec", fixed<0>},
    // The driver passes the address of the grid barrier of cooperative launches here.
    {"%envreg1", [](const Context& c, unsigned) { return workspace(c) >> 32; }},
    {"%envreg2", [](const Context& c, unsigned) { return workspace(c) & kAllLanes; }},
};

const SpecialRow* find_special(std::string_view name) {
  for (const SpecialRow& row : kSpecials) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool moves(std::string_view name) {
  return name.starts_with("%clock") || name.starts_with("%globaltimer");
}

bool varies(std::string_view name) { return name.starts_with("%tid") || name.starts_with("%lane"); }

template <class T>
struct ReadSame {
  static void run(Context& c, const Instr& in) {
    const auto* row = static_cast<const SpecialRow*>(in.object);
    put_same(c.target<T>(in.d), c.mask, static_cast<T>(row->read(c, 0)));
  }
};

template <class T>
void read_special(Context& c, const Instr& in) {
  const auto* row = static_cast<const SpecialRow*>(in.object);
  T* d = c.target<T>(in.d);
  if (in.aux != 0) {
    const T value = static_cast<T>(row->read(c, 0));
    for_lanes(c.mask, [&](unsigned i) { d[i] = value; });
    c.grid->read_clock.store(true, std::memory_order_relaxed);
    c.polled = true;  // a loop that waits for the clock polls
  } else {
    for_lanes(c.mask, [&](unsigned i) { d[i] = static_cast<T>(row->read(c, i)); });
  }
}

void decode_special(Decode& d, const SpecialRow& row) {
  const Operand& target = d.operand(0);
  const Register found = d.wide_register(target, 2);
  d.out.d = found.offset;
  d.out.object = &row;
  d.out.aux = moves(row.name) ? 1 : 0;
  if (!varies(row.name) && !moves(row.name)) {
    return d.each(found.bytes == 2   ? pick<ReadSame<u16>>()
                  : found.bytes == 4 ? pick<ReadSame<u32>>()
                                     : pick<ReadSame<u64>>());
  }
  if (found.bytes == 2) return d.each(&read_special<u16>);
  if (found.bytes == 4) return d.each(&read_special<u32>);
  d.each(&read_special<u64>);
}

void local_address(Context& c, const Instr& in) {
  const u64 address = c.frame->local_base + static_cast<u64>(in.imm);
  for_lanes(c.mask, [&](unsigned i) {
    if (in.aux == 4) {
      c.target<u32>(in.d)[i] = static_cast<u32>(address);
    } else {
      c.target<u64>(in.d)[i] = address;
    }
  });
}

void predicate_move(Context& c, const Instr& in) {
  c.set_predicate(in.d, c.predicate_source(in.s[0]) ^ (in.aux != 0 ? kAllLanes : 0U));
}

/// Packs several registers into one, or unpacks one. in.list: the registers; in.aux: their number;
/// in.flags: bytes of each. A lane of a register has at least two bytes.
template <class Whole>
void pack(Context& c, const Instr& in) {
  const std::size_t bytes = in.flags, stride = std::max<std::size_t>(bytes, 2);
  auto* d = reinterpret_cast<std::byte*>(c.target<Whole>(in.d));
  for_lanes(c.mask, [&](unsigned i) {
    Whole value = 0;
    for (unsigned k = 0; k < in.aux; ++k) {
      std::memcpy(reinterpret_cast<std::byte*>(&value) + k * bytes,
                  c.source<std::byte>(in.list[k]) + i * stride, bytes);
    }
    std::memcpy(d + i * sizeof(Whole), &value, sizeof(Whole));
  });
}

template <class Whole>
void unpack(Context& c, const Instr& in) {
  const std::size_t bytes = in.flags, stride = std::max<std::size_t>(bytes, 2);
  const auto* s = c.source<std::byte>(in.s[0]);
  for_lanes(c.mask, [&](unsigned i) {
    Whole value = 0;
    std::memcpy(&value, s + i * sizeof(Whole), sizeof(Whole));
    for (unsigned k = 0; k < in.aux; ++k) {
      if (in.list[k] == kNone) continue;
      std::memcpy(c.target<std::byte>(in.list[k]) + i * stride,
                  reinterpret_cast<const std::byte*>(&value) + k * bytes, bytes);
    }
  });
}

/// The function that packs or unpacks a value of `whole` bytes.
template <bool packs>
Execute vector_move(unsigned whole) {
  switch (whole) {
    case 2:
      return packs ? &pack<u16> : &unpack<u16>;
    case 4:
      return packs ? &pack<u32> : &unpack<u32>;
    case 8:
      return packs ? &pack<u64> : &unpack<u64>;
    default:
      return packs ? &pack<unsigned __int128> : &unpack<unsigned __int128>;
  }
}

/// A register or literal of the part's size. 8-bit registers are stored with 16 bits.
u32 part_of(Decode& d, const Operand& item, Type part, bool source) {
  if (!source && item.kind == Operand::Kind::kSink) return kNone;
  if (size_bytes(part) == 1) return d.wide_register(item, 1).offset;
  return source ? d.source(item, part) : d.destination(item, part);
}

void decode_vector_move(Decode& d, Type type) {
  const bool packs = d.operand(1).kind == Operand::Kind::kVector;
  const auto& items = d.operand(packs ? 1 : 0).items;
  const unsigned whole = size_bytes(type);
  if (items.size() != 2 && items.size() != 4) d.reject("vectors have two or four parts");
  const auto bytes = static_cast<unsigned>(whole / items.size());
  if (bytes == 0 || (whole == 16 && bytes != 8)) d.reject("the types are not supported");
  const Type part = bytes == 1   ? Type::kB8
                    : bytes == 2 ? Type::kB16
                    : bytes == 4 ? Type::kB32
                                 : Type::kB64;
  std::vector<u32> list;
  list.reserve(items.size());
  for (const Operand& item : items) list.push_back(part_of(d, item, part, packs));
  d.out.list = d.keep(list);
  d.out.aux = static_cast<std::uint8_t>(list.size());
  d.out.flags = static_cast<std::uint16_t>(bytes);
  if (packs) {
    d.out.d = d.destination(d.operand(0), type);
    return d.each(vector_move<true>(whole));
  }
  d.out.s[0] = d.source(d.operand(1), type);
  d.each(vector_move<false>(whole));
}

void explicit_cluster(Context& c, const Instr& in) {
  c.set_predicate(in.d, c.grid->explicit_cluster ? kAllLanes : 0U);
}

void decode_mov(Decode& d) {
  const Type type = d.type();
  d.expect_operands(2, 2);
  const Operand& from = d.operand(1);
  if (type == Type::kPred) {
    d.out.d = d.predicate(d.operand(0));
    if (from.name == "%is_explicit_cluster") return d.each(&explicit_cluster);
    bool negated = false;
    d.out.s[0] = d.predicate_source(from, negated);
    d.out.aux = negated ? 1 : 0;
    return d.each(&predicate_move);
  }
  if (from.kind == Operand::Kind::kVector || d.operand(0).kind == Operand::Kind::kVector) {
    return decode_vector_move(d, type);
  }
  if (from.kind == Operand::Kind::kName && !d.find_register(from.name)) {
    if (const SpecialRow* row = find_special(from.name)) return decode_special(d, *row);
    const Symbol* symbol = d.find_symbol(from.name);
    if (symbol == nullptr && from.name.starts_with("%")) {
      d.reject(fmt::format("the special register {} is not supported", from.name));
    }
    if (symbol != nullptr && symbol->frame_relative) {
      d.out.d = d.destination(d.operand(0), type);
      d.out.imm = static_cast<std::int64_t>(symbol->address) + from.offset;
      d.out.aux = static_cast<std::uint8_t>(size_bytes(type));
      return d.each(&local_address);
    }
  }
  d.plain_operands(type, {type});
  switch (size_bytes(type)) {
    case 2:
      return d.lanes<u16, u16>([](u16 a) { return a; });
    case 4:
      return d.lanes<u32, u32>([](u32 a) { return a; });
    case 8:
      return d.lanes<u64, u64>([](u64 a) { return a; });
    case 16:
      return d.lanes<unsigned __int128, unsigned __int128>([](unsigned __int128 a) { return a; });
    default:
      d.reject("the type is not supported");
  }
}

constexpr OpcodeRow kRows[] = {{"mov", decode_mov}};

}  // namespace

std::span<const OpcodeRow> move_opcodes() { return kRows; }

}  // namespace kbench::ptx
