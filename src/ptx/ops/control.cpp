// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/machine/decode.hpp"
#include "ptx/memory/access.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Jumps to `target`. A backward jump counts as a spin if the loop polled.
void jump(Context& c, const Instr* target) {
  if (target < c.ip) {
    if (c.polled) {
      c.polled = false;
      if (++c.spins >= kSpinsPerTurn) c.merge_ip = nullptr;
    }
    if (c.warp->fragments.size() > 1) c.merge_ip = nullptr;
  }
  c.ip = target;
}

void branch(Context& c, const Instr& in) {
  if (enter_guard(c, in)) jump(c, in.target);
}

void branch_indexed(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const auto& targets = *static_cast<const std::vector<const Instr*>*>(in.object);
  const u32* index = c.source<u32>(in.s[0]);
  const auto first = static_cast<unsigned>(std::countr_zero(c.mask));
  u32 same = 0;
  for_lanes(c.mask, [&](unsigned i) { same |= u32{index[i] == index[first]} << i; });
  if (index[first] >= targets.size()) {
    return raise(
        c, in, first, FaultKind::kTrap,
        fmt::format("jumps to entry {} of a table of {} entries", index[first], targets.size()));
  }
  if (same != c.mask) {
    keep_only(c, in, same);
    c.merge_ip = nullptr;
  }
  jump(c, targets[index[first]]);
}

void leave_kernel(Context& c, const Instr& in) {
  if (enter_guard(c, in)) exit_lanes(c, c.mask);
}

void trap(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  raise(c, in, static_cast<unsigned>(std::countr_zero(c.mask)), FaultKind::kTrap,
        "executes a trap");
}

void decode_bra(Decode& d) {
  d.flag("uni");
  d.expect_operands(1, 1);
  d.branch_to(d.operand(0).name);
  d.control(&branch);
}

void decode_brx(Decode& d) {
  d.flag("uni");
  if (!d.flag("idx")) d.reject("only brx.idx is supported");
  d.expect_operands(2, 2);
  d.out.s[0] = d.source(d.operand(0), Type::kB32);
  const auto& tables = d.function().branch_targets;
  const auto found = tables.find(d.operand(1).name);
  if (found == tables.end()) d.reject("the table of targets is missing");
  d.table = found->second;
  d.control(&branch_indexed);
}

void decode_exit(Decode& d) {
  d.expect_operands(0, 0);
  d.control(&leave_kernel);
}

void decode_trap(Decode& d) {
  d.expect_operands(0, 0);
  d.control(&trap);
}

void nothing(Context&, const Instr&) {}

/// Hints to the hardware: events are not observed and registers not counted.
void decode_hint(Decode& d) {
  if (d.statement().opcode == "setmaxnreg") {
    if (!d.one_of({"inc", "dec"})) d.reject("one of .inc, .dec is missing");
    if (!d.flag("sync") || !d.flag("aligned")) d.reject("the modifiers .sync.aligned are missing");
    if (d.type() != Type::kU32) d.reject("the type is not supported");
  } else {
    d.flag("mask");
  }
  d.expect_operands(1, 1);
  d.each(&nothing);
}

constexpr OpcodeRow kRows[] = {
    {"bra", decode_bra},         {"brx", decode_brx},    {"exit", decode_exit},
    {"trap", decode_trap},       {"brkpt", decode_trap}, {"pmevent", decode_hint},
    {"setmaxnreg", decode_hint},
};

}  // namespace

std::span<const OpcodeRow> control_opcodes() { return kRows; }

}  // namespace kbench::ptx
