// SPDX-License-Identifier: MIT
#include "ptx/ops/async.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/launch/async.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/memory/written.hpp"

// cp.async: a copy is checked when it is issued, and performed when an instruction waits for it.
namespace kbench::ptx {

FurtherAddress FurtherAddress::decode(Decode& d, const Operand& operand) {
  if (operand.kind != Operand::Kind::kAddress) d.reject("an address in brackets is missing");
  FurtherAddress address;
  address.displacement = operand.offset;
  if (const auto found = d.find_register(operand.name)) {
    if (found->predicate || found->bytes < 4) {
      d.reject("the address is not a 32-bit or 64-bit register");
    }
    address.operand = found->offset;
    address.narrow = found->bytes == 4;
    return address;
  }
  std::uint64_t base = 0;
  if (!operand.name.empty()) {
    const Symbol* symbol = d.find_symbol(operand.name);
    if (symbol == nullptr) d.reject(fmt::format("unknown name '{}'", operand.name));
    if (symbol->frame_relative) d.reject("the address of a local variable is not supported here");
    base = symbol->address;
  }
  address.operand = d.constant(base, 8);
  return address;
}

void FurtherAddress::append_to(std::vector<std::uint32_t>& list) const {
  const auto bits = static_cast<std::uint64_t>(displacement);
  list.push_back(operand);
  list.push_back(narrow ? 1 : 0);
  list.push_back(static_cast<std::uint32_t>(bits));
  list.push_back(static_cast<std::uint32_t>(bits >> 32));
}

bool take_cache_hint(Decode& d) {
  if (!d.flag("L2::cache_hint")) return false;
  if (d.operands() == 0) d.reject("the cache policy is missing");
  d.source(d.operand(d.operands() - 1), Type::kB64);
  return true;
}

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Number of bytes that a lane reads; none after a fault.
std::optional<u64> bytes_read(Context& c, const Instr& in, unsigned lane) {
  const u64 bytes = in.aux;
  if (in.extra != kNone) {
    const u32 ignored = c.predicate_source(in.extra) ^ (in.s[3] != kNone ? kAllLanes : 0U);
    return ((ignored >> lane) & 1U) != 0 ? 0 : bytes;
  }
  if (in.s[2] == kNone) return bytes;
  const u64 wanted = c.source<u32>(in.s[2])[lane];
  if (wanted <= bytes) return wanted;
  raise(c, in, lane, FaultKind::kTrap,
        fmt::format("reads {} bytes for an asynchronous copy of {} bytes", wanted, bytes));
  return std::nullopt;
}

/// Host address of a lane's source; null after a fault. It must be aligned to the size of the whole
/// copy.
const std::byte* resolve_source(Context& c, const Instr& in, unsigned lane, u64 from, u64 read) {
  const u64 bytes = in.aux;
  if (read == bytes) return resolve(c, in, lane, Space::kGlobal, from, bytes, Access::kRead);
  if ((from & (bytes - 1)) != 0) {
    raise(c, in, lane, FaultKind::kMisaligned,
          fmt::format("reads at {:#x}, which is not a multiple of {}", from, bytes));
    return nullptr;
  }
  const std::byte* first = nullptr;
  for (u64 k = 0; k < read; ++k) {
    const std::byte* at = resolve(c, in, lane, Space::kGlobal, from + k, 1, Access::kRead);
    if (at == nullptr) return nullptr;
    if (k == 0) first = at;
  }
  return first;
}

struct Copy {
  Addresses to, from;
};

/// True if all lanes are in [begin, begin + size) and aligned.
bool inside(const Addresses& at, u32 mask, u64 begin, u64 size, u64 bytes) {
  if (size < bytes) return false;
  u64 bad = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const u64 wrong = static_cast<u64>(at[i] - begin > size - bytes) | (at[i] & (bytes - 1));
    bad |= ((mask >> i) & 1U) != 0 ? wrong : 0;
  }
  return bad == 0;
}

/// True if all lanes read as many bytes as they write.
bool reads_whole(const Context& c, const Instr& in) {
  if (in.s[2] == kNone) return true;
  const u32* wanted = c.source<u32>(in.s[2]);
  u32 other = 0;
  for (unsigned i = 0; i < kLanes; ++i) other |= ((c.mask >> i) & 1U) != 0 ? wanted[i] ^ in.aux : 0;
  return other == 0;
}

/// Issues the copies of all lanes at once. False if each lane must be checked on its own.
bool issue_whole(const Context& c, const Instr& in, const Copy& at, LateCopy& copy) {
  const Extent& extent = *c.extents[in.slot];
  const u64 bytes = in.aux;
  if (c.observer != nullptr || in.extra != kNone || !reads_whole(c, in)) return false;
  if (!inside(at.to, c.mask, 0, c.grid->shared_bytes, bytes)) return false;
  if (!inside(at.from, c.mask, extent.begin, extent.bytes, bytes)) return false;
  for (unsigned i = 0; i < kLanes; ++i) {
    copy.to[i] = static_cast<u32>(at.to[i]);
    copy.from[i] = at_address(at.from[i]);
  }
  copy.read.fill(in.aux);
  if (!c.grid->watched || extent.written == nullptr) return true;
  bool ones = false;
  for_lanes(c.mask, [&](unsigned i) { ones |= has_ones(copy.from[i], bytes); });
  return !ones;
}

bool issue_lane(Context& c, const Instr& in, unsigned lane, const Copy& at, LateCopy& copy) {
  const auto read = bytes_read(c, in, lane);
  if (!read) return false;
  const std::byte* target = resolve_late_write(c, in, lane, Space::kShared, at.to[lane], in.aux);
  if (target == nullptr) return false;
  copy.to[lane] = static_cast<u32>(target - c.block->shared.data());
  copy.read[lane] = static_cast<std::uint8_t>(*read);
  copy.from[lane] = nullptr;
  if (*read == 0) return true;
  copy.from[lane] = resolve_source(c, in, lane, at.from[lane], *read);
  return copy.from[lane] != nullptr;
}

/// Target: see decode_address(). in.list: source. in.s[2]: bytes read, the rest of in.aux bytes
/// becomes zeros. in.extra: predicate that the source is ignored, inverted if in.s[3] is set.
struct CopyAsync {
  static void run(Context& c, const Instr& in) {
    Copy at;
    addresses(c, in, at.to);
    const FurtherAddress source = FurtherAddress::in(in.list);
    for (unsigned i = 0; i < kLanes; ++i) at.from[i] = source.of(c, i);
    LateCopy& copy = late_copy(*c.warp);
    copy.mask = 0;
    copy.bytes = in.aux;
    copy.group = c.warp->late.group;
    if (!issue_whole(c, in, at, copy)) {
      for (u32 left = c.mask; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        if (!issue_lane(c, in, i, at, copy)) return;
      }
    }
    copy.mask = c.mask;
  }
};

void commit_group(Context& c, const Instr&) {
  auto& group = c.warp->late.group;
  for (unsigned i = 0; i < kLanes; ++i) group[i] += (c.mask >> i) & 1U;
}

void wait_group(Context& c, const Instr& in) {
  perform_groups(*c.warp, c.mask, static_cast<u32>(in.imm));
}

void wait_all(Context& c, const Instr& in) {
  commit_group(c, in);
  perform_groups(*c.warp, c.mask, 0);
}

void decode_read_bytes(Decode& d, std::size_t operands) {
  if (operands == 3) return;
  const Operand& last = d.operand(3);
  const auto found = d.find_register(last.name);
  const bool whole = last.kind == Operand::Kind::kInteger && last.bits == d.operand(2).bits;
  if (whole) return;
  if (found && found->predicate) {
    bool negated = false;
    d.out.extra = d.predicate_source(last, negated);
    if (negated) d.out.s[3] = d.out.extra;
  } else {
    d.out.s[2] = d.source(last, Type::kU32);
  }
}

void decode_copy(Decode& d) {
  const bool all_levels = d.flag("ca");
  if (!all_levels && !d.flag("cg")) d.reject("one of .ca, .cg is missing");
  if (!d.flag("shared") && !d.flag("shared::cta")) d.reject("the target is not shared memory");
  if (!d.flag("global")) d.reject("the source is not global memory");
  const std::size_t hints = take_cache_hint(d) ? 1 : 0;
  d.one_of({"L2::64B", "L2::128B", "L2::256B"});
  d.expect_operands(3 + hints, 4 + hints);
  const Operand& size = d.operand(2);
  const bool known = size.kind == Operand::Kind::kInteger &&
                     (size.bits == 16 || (all_levels && (size.bits == 4 || size.bits == 8)));
  if (!known) d.reject("the size of the copy is not 16, or 4 or 8 with .ca");
  decode_address(d, d.operand(0), Space::kShared);
  std::vector<u32> list;
  FurtherAddress::decode(d, d.operand(1)).append_to(list);
  d.out.list = d.keep(list);
  d.out.aux = static_cast<std::uint8_t>(size.bits);
  decode_read_bytes(d, d.operands() - hints);
  d.each(pick<CopyAsync>());
}

void decode_wait_group(Decode& d) {
  decode_pending(d);
  d.each(&wait_group);
}

void decode_cp(Decode& d) {
  const bool reduces = d.flag("reduce");
  if (!d.flag("async")) d.reject("only cp.async is supported");
  if (d.flag("bulk")) return decode_bulk(d, reduces);
  if (reduces) d.reject("only bulk copies can reduce");
  if (d.flag("mbarrier")) return decode_arrive_after_copies(d);
  if (d.flag("wait_group")) return decode_wait_group(d);
  if (d.flag("commit_group")) {
    d.expect_operands(0, 0);
    return d.each(&commit_group);
  }
  if (d.flag("wait_all")) {
    d.expect_operands(0, 0);
    return d.each(&wait_all);
  }
  decode_copy(d);
}

constexpr OpcodeRow kRows[] = {{"cp", decode_cp}};

}  // namespace

void decode_pending(Decode& d) {
  d.expect_operands(1, 1);
  const Operand& pending = d.operand(0);
  if (pending.kind != Operand::Kind::kInteger) d.reject("the number of groups is not a literal");
  d.out.imm = static_cast<std::int64_t>(std::min<u64>(pending.bits, kAllLanes));
}

std::span<const OpcodeRow> async_opcodes() { return kRows; }

}  // namespace kbench::ptx
