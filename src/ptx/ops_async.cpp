// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/access.hpp"
#include "ptx/decode.hpp"

// cp.async: copies that the hardware may finish at any time before they are waited for. Here they
// are done when they are issued, which is one of the times that PTX allows.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// in.s[0]: target, in.s[1]: source, in.s[2]: bytes that are read, the rest of in.imm being zeros;
/// in.extra: predicate of "ignore the source".
void copy_async(Context& c, const Instr& in) {
  const auto bytes = static_cast<u64>(in.aux);
  const auto address = [&](u32 operand, bool narrow, unsigned lane) -> u64 {
    return narrow ? c.source<u32>(operand)[lane] : c.source<u64>(operand)[lane];
  };
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const u64 to = address(in.s[0], (in.flags & kAddress32) != 0, i) + static_cast<u64>(in.imm);
    const u64 from = address(in.s[1], false, i) + u64{in.list[0]};
    u64 wanted = in.s[2] == kNone ? bytes : std::min<u64>(c.source<u32>(in.s[2])[i], bytes);
    if (in.extra != kNone && ((c.predicate_source(in.extra) >> i) & 1U) != 0) wanted = 0;
    std::byte* target = resolve(c, in, i, Space::kShared, to, bytes, Access::kWrite);
    if (target == nullptr) return;
    std::memset(target, 0, bytes);
    if (wanted == 0) continue;
    // The alignment is that of the whole copy, even where only its beginning is read.
    const bool whole = wanted == bytes;
    for (u64 k = 0; k < wanted; k += whole ? bytes : 1) {
      const std::byte* source =
          resolve(c, in, i, Space::kGlobal, from + k, whole ? bytes : 1, Access::kRead);
      if (source == nullptr) return;
      std::memcpy(target + k, source, whole ? bytes : 1);
    }
  }
}

void nothing(Context&, const Instr&) {}

void decode_copy(Decode& d) {
  if (!d.flag("ca") && !d.flag("cg")) d.reject("one of .ca, .cg is missing");
  if (!d.flag("shared") && !d.flag("shared::cta")) d.reject("the target is not shared memory");
  if (!d.flag("global")) d.reject("the source is not global memory");
  d.one_of({"L2::64B", "L2::128B", "L2::256B"});
  d.expect_operands(3, 4);
  const Operand& size = d.operand(2);
  const bool known =
      size.kind == Operand::Kind::kInteger && (size.bits == 4 || size.bits == 8 || size.bits == 16);
  if (!known) d.reject("the size of the copy is not 4, 8 or 16");
  const Operand& source = d.operand(1);
  const auto from = d.find_register(source.name);
  if (!from || from->bytes != 8 || source.offset < 0)
    d.reject("the source address is not supported");
  decode_address(d, d.operand(0), Space::kShared);
  if (!d.find_register(d.operand(0).name)) d.reject("the target address is not supported");
  d.out.s[1] = from->offset;
  d.out.list = d.keep({static_cast<u32>(source.offset)});
  d.out.aux = static_cast<std::uint8_t>(size.bits);
  if (d.operands() == 4) {
    const auto last = d.find_register(d.operand(3).name);
    if (last && last->predicate) {
      d.out.extra = last->offset;
    } else {
      d.out.s[2] = d.source(d.operand(3), Type::kU32);
    }
  }
  d.each(&copy_async);
}

void decode_cp(Decode& d) {
  if (!d.flag("async")) d.reject("only cp.async is known");
  for (const std::string_view name : {"bulk", "mbarrier"}) {
    if (d.flag(name)) d.reject("bulk copies and mbarriers are not supported");
  }
  if (d.flag("commit_group") || d.flag("wait_all")) {
    d.expect_operands(0, 0);
    return d.each(&nothing);
  }
  if (d.flag("wait_group")) {
    d.expect_operands(1, 1);
    return d.each(&nothing);
  }
  decode_copy(d);
}

constexpr OpcodeRow kRows[] = {{"cp", decode_cp}};

}  // namespace

std::span<const OpcodeRow> async_opcodes() { return kRows; }

}  // namespace kbench::ptx
