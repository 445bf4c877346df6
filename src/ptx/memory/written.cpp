// SPDX-License-Identifier: MIT
#include "ptx/memory/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptx/machine/exec.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// True if a 2-byte word of the watched memory was never written.
bool undefined_word(const Watched& memory, u64 offset) {
  std::uint16_t word = 0;
  if (offset + 2 > memory.bytes) return false;
  std::memcpy(&word, memory.host + offset, 2);
  return word == 0xffff && !memory.written->marked(offset);
}

/// True if all of an element was never written. A partly written one may be a padded structure.
bool undefined(const Watched& memory, u64 offset, u64 bytes) {
  for (u64 at = offset & ~u64{1}; at < offset + bytes; at += 2) {
    if (!undefined_word(memory, at)) return false;
  }
  return true;
}

void mark(const Watched& memory, u64 offset, u64 bytes) {
  for (u64 at = offset & ~u64{1}; at < offset + bytes; at += 2) {
    if (!memory.written->marked(at)) memory.written->mark(at);
  }
}

/// Shared memory has addresses relative to its begin.
u64 address_of(const Context& c, Space space, const std::byte* host) {
  if (space == Space::kShared) return static_cast<u64>(host - c.block->shared.data());
  return reinterpret_cast<u64>(host);
}

std::string_view text_of(const Context& c, const Instr& in) {
  const Function& function = *c.frame->function;
  return function.texts[static_cast<std::size_t>(&in - function.code.data())];
}

/// True if an instruction other than a store uses the loaded register; a store only copies it.
bool goes_further(const Context& c, u32 loaded) {
  const Function& function = *c.frame->function;
  for (std::size_t i = 0; i < function.code.size(); ++i) {
    const auto& sources = function.code[i].s;
    if (std::find(sources.begin(), sources.end(), loaded) != sources.end()) return true;
  }
  return false;
}

/// The elements of a lane's access that were never written.
struct Undefined {
  unsigned elements = 0;  ///< in the access
  u32 which = 0;          ///< bit per undefined element
  u64 element_bytes = 0;
};

Undefined look(const Watched& memory, const Instr& in, bool load, u64 offset, u64 bytes) {
  Undefined result;
  result.elements = load ? in.aux : 1;
  result.element_bytes = bytes / result.elements;
  for (unsigned k = 0; k < result.elements; ++k) {
    if (load && in.list[k] == kNone) continue;
    const bool is = undefined(memory, offset + k * result.element_bytes, result.element_bytes);
    result.which |= u32{is} << k;
  }
  return result;
}

/// True if a read of undefined memory is reported. Reads that only copy padding or unused values
/// are not. Wholly undefined shared or global memory is reported at once, because a stored value
/// may be a kernel's result.
bool counts(const Context& c, const Instr& in, const Undefined& found, bool load, Space space) {
  if (found.which == 0) return false;
  if (!load) return true;
  const bool all = found.which == (u64{1} << found.elements) - 1;
  if (all && space != Space::kLocal) return true;
  for (unsigned k = 0; k < found.elements; ++k) {
    if (((found.which >> k) & 1U) != 0 && goes_further(c, in.list[k])) return true;
  }
  return false;
}

[[gnu::noinline, gnu::cold]] void check_read(Context& c, const Instr& in, unsigned lane,
                                             Space space, const Watched& memory, u64 address,
                                             u64 bytes) {
  const std::string_view text = text_of(c, in);
  const bool load = text.starts_with("ld");
  // The value that an exchange returns is often unused.
  if (text.find(".exch") != std::string_view::npos) return;
  const Undefined found = look(memory, in, load, address - memory.begin, bytes);
  if (!counts(c, in, found, load, space)) return;
  Finding* entry = nullptr;
  if (!note(c, in, FindingKind::kUninitialized, 1U << lane, entry)) return;
  const u64 first = static_cast<u64>(std::countr_zero(found.which)) * found.element_bytes;
  const bool global = space != Space::kShared && space != Space::kLocal;
  const std::string name = global                    ? c.extents[in.slot]->name
                           : space == Space::kShared ? "shared memory"
                                                     : "local memory";
  u64 size = memory.bytes;
  u64 offset = address - memory.begin + first;
  if (space == Space::kLocal) {
    size = c.warp->local_stride;
    offset -= lane * size;
  }
  describe(
      c, in, lane,
      fmt::format("reads {} uninitialized bytes at {}", found.element_bytes,
                  place_text(name, static_cast<std::int64_t>(offset), size, found.element_bytes)),
      *entry);
  entry->region = name;
  entry->offset_bytes = static_cast<std::int64_t>(offset);
}

}  // namespace

Watched watched_memory(const Context& c, const Instr& in, unsigned lane, Space space) {
  switch (space) {
    case Space::kShared:
      return {c.block->shared_written.get(), c.block->shared.data(), 0, c.grid->shared_bytes};
    case Space::kLocal: {
      // Addresses are relative to the lane's own part.
      const u64 part = u64{lane} * c.warp->local_stride;
      return {c.warp->local_written.get(), c.warp->local.data(), u64{0} - part,
              c.warp->local.size()};
    }
    case Space::kParam:
      return {};
    default:
      break;
  }
  const Extent& extent = *c.extents[in.slot];
  return {extent.written, at_address(extent.begin), extent.begin, extent.bytes};
}

void watch(Context& c, const Instr& in, unsigned lane, Space space, u64 address, u64 bytes,
           Access access) {
  const Watched memory = watched_memory(c, in, lane, space);
  if (memory.written == nullptr) return;
  const u64 offset = address - memory.begin;
  if (access != Access::kWrite) {
    bool found = false;
    for (u64 at = offset & ~u64{1}; at < offset + bytes; at += 2) {
      found |= undefined_word(memory, at);
    }
    if (found) check_read(c, in, lane, space, memory, address, bytes);
  }
  if (access != Access::kRead) mark(memory, offset, bytes);
}

[[gnu::noinline, gnu::cold]] void watch_loads(Context& c, const Instr& in, Space space,
                                              const Shape& shape, u64 bytes) {
  const u64 lowest = address_of(c, space, shape.host);
  for_lanes(shape.mask, [&](unsigned i) {
    watch(c, in, i, space, lowest + shape.offset_of(i), bytes, Access::kRead);
  });
}

[[gnu::noinline, gnu::cold]] void watch_stores(Context& c, const Instr& in, Space space,
                                               const Shape& shape, const std::byte* to,
                                               const StoredValues& values) {
  const Watched memory = watched_memory(c, in, 0, space);
  const u64 lowest = address_of(c, space, to) - memory.begin;
  for_lanes(shape.mask, [&](unsigned i) {
    const u64 offset = lowest + shape.offset_of(i);
    const std::byte* value = values.first + i * values.stride;
    if (values.bytes == 1) {
      if (*value == std::byte{0xff}) mark(memory, offset, 1);
      return;
    }
    for (std::size_t b = 0; b < values.bytes; b += 2) {
      if (has_ones(value + b, 2)) mark(memory, offset + b, 2);
    }
  });
}

void mark_shared(Block& block, u64 offset, u64 bytes) {
  if (block.shared_written == nullptr) return;
  mark({block.shared_written.get(), block.shared.data(), 0, block.shared.size()}, offset, bytes);
}

void mark_local(Warp& warp, unsigned lane, u64 offset, u64 bytes) {
  if (warp.local_written == nullptr) return;
  const Watched memory{warp.local_written.get(), warp.local.data(), 0, warp.local.size()};
  mark(memory, u64{lane} * warp.local_stride + offset, bytes);
}

}  // namespace kbench::ptx
