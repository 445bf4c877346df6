// SPDX-License-Identifier: MIT
#include "ptx/memory/access.hpp"

#include <fmt/format.h>

#include "ptx/memory/written.hpp"

namespace kbench::ptx {
namespace {

Space space_of_window(std::uint64_t& address) {
  const std::uint64_t window = address >> kWindowShift << kWindowShift;
  Space space = Space::kGlobal;
  if (window == kSharedWindow) space = Space::kShared;
  if (window == kLocalWindow) space = Space::kLocal;
  if (window == kParamWindow) space = Space::kParam;
  if (space != Space::kGlobal) address -= window;
  return space;
}

constexpr std::uint64_t kNullPage = 4096;  // bytes; no buffer begins below

std::string verb(std::uint64_t bytes, bool write) {
  return fmt::format("{} {} byte{}", write ? "writes" : "reads", bytes, bytes == 1 ? "" : "s");
}

[[gnu::noinline]] std::byte* outside_window(Context& c, const Instr& in, unsigned lane,
                                            const std::string& name, std::uint64_t address,
                                            std::uint64_t bytes, std::uint64_t size, bool write) {
  Extent extent;
  extent.begin = 0;
  extent.bytes = size;
  extent.name = name;
  raise(c, in, lane, FaultKind::kIllegalAddress,
        fmt::format("{} at {}", verb(bytes, write),
                    place_text(name, static_cast<std::int64_t>(address), size, bytes)),
        &extent, address);
  return nullptr;
}

/// True for an address that is outside the red zones but likely comes from a wrong index.
bool just_outside(const Extent& extent, std::int64_t offset) {
  constexpr std::int64_t kReach = 4096;
  return !extent.name.empty() && offset >= -kReach &&
         offset < static_cast<std::int64_t>(extent.bytes) + kReach;
}

[[gnu::noinline]] std::byte* refuse(Context& c, const Instr& in, unsigned lane,
                                    const Lookup& lookup, std::uint64_t address,
                                    std::uint64_t bytes, bool write) {
  const Extent& extent = *lookup.extent;
  const auto offset = static_cast<std::int64_t>(address - extent.begin);
  std::string what;
  if (lookup.fault == FaultKind::kIllegalAddress && !just_outside(extent, offset)) {
    what = fmt::format("{} at {:#x}, which is {}", verb(bytes, write), address,
                       address < kNullPage ? "a null pointer" : "in no buffer");
    if (!extent.name.empty()) {
      what += fmt::format(" (nearest: {}, offset {})", extent.name, offset);
    }
  } else if (lookup.fault != FaultKind::kIllegalAddress && offset >= 0 &&
             static_cast<std::uint64_t>(offset) + bytes <= extent.bytes) {
    what = fmt::format("{} at offset {} of {}, which is read-only", verb(bytes, write), offset,
                       extent.name);
  } else {
    what = fmt::format("{} at {}", verb(bytes, write),
                       place_text(extent.name, offset, extent.bytes, bytes));
  }
  raise(c, in, lane, lookup.fault, what, extent.name.empty() ? nullptr : &extent, address);
  return nullptr;
}

/// Host address of an allowed access, else null; `space` is not kGeneric.
std::byte* locate(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
                  std::uint64_t bytes, bool write) {
  if ((address & (bytes - 1)) != 0) {
    raise(c, in, lane, FaultKind::kMisaligned,
          fmt::format("{} at {:#x}, which is not a multiple of {}", verb(bytes, write), address,
                      bytes));
    return nullptr;
  }
  const auto inside = [&](std::uint64_t size) { return size >= bytes && address <= size - bytes; };
  switch (space) {
    case Space::kShared: {
      const std::uint64_t size = c.grid->shared_bytes;
      if (inside(size)) return c.block->shared.data() + address;
      return outside_window(c, in, lane, "shared memory", address, bytes, size, write);
    }
    case Space::kLocal: {
      const std::uint64_t size = c.warp->local_stride;
      if (inside(size)) return c.warp->local.data() + lane * size + address;
      return outside_window(c, in, lane, "local memory", address, bytes, size, write);
    }
    case Space::kParam: {
      const std::uint64_t size = c.grid->parameters.size();
      if (!write && inside(size)) return c.grid->parameters.data() + address;
      return outside_window(c, in, lane, "kernel parameters", address, bytes, size, write);
    }
    default:
      break;
  }
  const Extent* last = c.extents[in.slot];
  const std::uint64_t offset = address - last->begin;
  const bool hit = last->bytes >= bytes && offset <= last->bytes - bytes;
  if (hit && (!write || last->writable)) return at_address(address);
  const Lookup lookup = c.grid->memory.find(address, bytes, write);
  if (!lookup.allowed) return refuse(c, in, lane, lookup, address, bytes, write);
  c.extents[in.slot] = lookup.extent;
  return at_address(address);
}

/// Host address in the shared memory of another block of the cluster; null after a fault.
[[gnu::noinline]] std::byte* locate_remote(Context& c, const Instr& in, unsigned lane,
                                           std::uint64_t address, std::uint64_t bytes, bool write) {
  const auto& blocks = c.block->cluster->blocks;
  const std::uint64_t rank = (address >> kRankShift) - 1;
  const std::uint64_t offset = address & ((std::uint64_t{1} << kRankShift) - 1);
  const std::uint64_t size = c.grid->shared_bytes;
  if (rank >= blocks.size() || size < bytes || offset > size - bytes) {
    return outside_window(c, in, lane, "shared memory", address, bytes, size, write);
  }
  if ((offset & (bytes - 1)) == 0) return blocks[rank]->shared.data() + offset;
  raise(c, in, lane, FaultKind::kMisaligned,
        fmt::format("{} at {:#x}, which is not a multiple of {}", verb(bytes, write), address,
                    bytes));
  return nullptr;
}

void mark_remote(const Context& c, const std::byte* host, std::uint64_t address,
                 std::uint64_t bytes) {
  Block& block = *c.block->cluster->blocks[(address >> kRankShift) - 1];
  mark_shared(block, static_cast<std::uint64_t>(host - block.shared.data()), bytes);
}

/// `late`: the write happens later, so the memory does not count as written yet.
std::byte* reach(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
                 std::uint64_t bytes, Access access, bool late) {
  if (space == Space::kGeneric) space = space_of_window(address);
  if (space == Space::kShared && address >> kRankShift != 0) {
    const std::uint64_t own = (std::uint64_t{c.block->rank} + 1) << kRankShift;
    if (address >> kRankShift != own >> kRankShift) {
      std::byte* host = locate_remote(c, in, lane, address, bytes, access != Access::kRead);
      if (host != nullptr && access != Access::kRead && !late) mark_remote(c, host, address, bytes);
      return host;
    }
    address -= own;
  }
  std::byte* host = locate(c, in, lane, space, address, bytes, access != Access::kRead);
  const bool watched = c.grid->watched && host != nullptr && !late;
  if (watched && (access != Access::kRead || has_ones(host, bytes))) {
    watch(c, in, lane, space, address, bytes, access);
  }
  if (c.observer != nullptr && host != nullptr) {
    c.observer->access(c, in, lane, space, address, bytes, access);
  }
  return host;
}

}  // namespace

std::byte* resolve(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
                   std::uint64_t bytes, Access access) {
  return reach(c, in, lane, space, address, bytes, access, false);
}

std::byte* resolve_late_write(Context& c, const Instr& in, unsigned lane, Space space,
                              std::uint64_t address, std::uint64_t bytes) {
  return reach(c, in, lane, space, address, bytes, Access::kWrite, true);
}

Space take_space(Decode& d) {
  if (d.flag("global")) return Space::kGlobal;
  if (d.flag("shared") || d.flag("shared::cta") || d.flag("shared::cluster")) return Space::kShared;
  if (d.flag("local")) return Space::kLocal;
  if (d.flag("const")) return Space::kConst;
  if (d.flag("param") || d.flag("param::entry") || d.flag("param::func")) return Space::kParam;
  return Space::kGeneric;
}

void decode_address(Decode& d, const Operand& operand, Space space) {
  if (operand.kind != Operand::Kind::kAddress) d.reject("an address in brackets is missing");
  if (!operand.items.empty()) d.reject("addresses of tensors and textures are not supported here");
  d.out.imm = operand.offset;
  d.out.slot = d.next_slot();
  if (const auto found = d.find_register(operand.name)) {
    if (found->predicate || found->bytes < 4)
      d.reject("the address is not a 32-bit or 64-bit register");
    d.out.s[0] = found->offset;
    if (space == Space::kParam && !d.function().function->entry) space = Space::kLocal;
    if (found->bytes == 4) d.out.flags |= kAddress32;
  } else if (operand.name.empty()) {
    d.out.s[0] = d.constant(0, 8);
  } else {
    const Symbol* symbol = d.find_symbol(operand.name);
    if (symbol == nullptr) d.reject(fmt::format("unknown name '{}'", operand.name));
    if (space == Space::kGeneric || (space == Space::kParam && symbol->frame_relative)) {
      space = symbol->space;
    }
    const auto kind = [](Space of) { return of == Space::kConst ? Space::kGlobal : of; };
    if (kind(space) != kind(symbol->space)) {
      d.reject(fmt::format("'{}' is not in this state space", operand.name));
    }
    d.out.imm += static_cast<std::int64_t>(symbol->address);
    if (symbol->frame_relative) {
      d.out.flags |= kFrameRelative;
    } else {
      // The symbol's address is in the displacement, so the base is zero.
      d.out.s[0] = d.constant(0, 8);
    }
  }
  d.out.flags |= static_cast<std::uint16_t>(static_cast<unsigned>(space) << kSpaceShift);
}

}  // namespace kbench::ptx
