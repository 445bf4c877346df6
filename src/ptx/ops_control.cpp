// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstring>

#include "ptx/access.hpp"
#include "ptx/decode.hpp"
#include "ptx/print.hpp"
#include "ptx/written.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Goes to `target`; a loop over something polled counts as a spin.
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

/// Goes on with the lanes of `kept`; the others come back to this instruction as a fragment.
void keep_only(Context& c, const Instr& in, u32 kept) {
  Fragment rest;
  rest.mask = c.mask & ~kept;
  rest.ip = &in;
  rest.frame = c.frame;
  c.warp->fragments.push_back(rest);
  c.mask = kept;
  c.full = false;
}

void branch_indexed(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const auto& targets = *static_cast<const std::vector<const Instr*>*>(in.object);
  const u32* index = c.source<u32>(in.s[0]);
  const auto first = static_cast<unsigned>(std::countr_zero(c.mask));
  u32 same = 0;
  for_lanes(c.mask, [&](unsigned i) { same |= u32{index[i] == index[first]} << i; });
  if (index[first] >= targets.size()) {
    return raise(c, in, first, FaultKind::kTrap,
                 fmt::format("jumps to entry {} of a table of {}", index[first], targets.size()));
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

void copy_locals(const Context& c, u64 to, u64 from, u64 bytes) {
  std::byte* local = c.warp->local.data();
  const u64 stride = c.warp->local_stride;
  for_lanes(c.mask, [&](unsigned i) {
    std::memcpy(local + i * stride + to, local + i * stride + from, bytes);
    mark_local(*c.warp, i, to, bytes);
  });
}

void switch_frame(Context& c, Frame* frame, const Instr* ip) {
  c.frame = frame;
  c.base = {frame->registers.data(), frame->function->constants.data()};
  c.ip = ip;
  c.merge_ip = nullptr;
}

void return_from(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  Frame* frame = c.frame;
  if (frame->caller == nullptr) return exit_lanes(c, c.mask);
  Frame* caller = frame->caller;
  const Function& function = *frame->function;
  const u32* results = frame->call->list + 1 + frame->call->list[0];
  for (std::size_t k = 0; k < function.returns.size() && k < results[0]; ++k) {
    copy_locals(c, caller->local_base + results[k + 1],
                frame->local_base + function.returns[k].offset, function.returns[k].bytes);
  }
  const Instr* ip = frame->return_ip;
  frame->lanes &= ~c.mask;
  if (frame->lanes == 0) {
    std::erase_if(c.warp->frames, [&](const auto& held) { return held.get() == frame; });
  }
  switch_frame(c, caller, ip);
}

void enter_function(Context& c, const Instr& in, const Function& function) {
  auto frame = std::make_unique<Frame>();
  frame->function = &function;
  frame->caller = c.frame;
  frame->return_ip = c.ip;
  frame->call = &in;
  frame->lanes = c.mask;
  frame->depth = c.frame->depth + 1;
  frame->local_base = c.frame->local_base + c.frame->function->local_bytes;
  if (u64{frame->local_base} + function.local_bytes > c.warp->local_stride) {
    return raise(c, in, static_cast<unsigned>(std::countr_zero(c.mask)), FaultKind::kIllegalAddress,
                 fmt::format("calls {} at depth {} and overflows the stack of {} bytes",
                             function.name, frame->depth, c.warp->local_stride));
  }
  frame->registers = make_registers(function);
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    copy_locals(c, frame->local_base + function.parameters[k].offset,
                c.frame->local_base + in.list[k + 1], function.parameters[k].bytes);
  }
  Frame* entered = frame.get();
  c.warp->frames.push_back(std::move(frame));
  switch_frame(c, entered, function.code.data());
}

void call_direct(Context& c, const Instr& in) {
  if (enter_guard(c, in)) enter_function(c, in, *static_cast<const Function*>(in.object));
}

void call_indirect(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const u64* address = c.source<u64>(in.s[0]);
  const auto first = static_cast<unsigned>(std::countr_zero(c.mask));
  u32 same = 0;
  for_lanes(c.mask, [&](unsigned i) { same |= u32{address[i] == address[first]} << i; });
  const u64 index = address[first] - kFunctionWindow;
  const auto& functions = c.grid->program->functions;
  const bool known = index < functions.size() &&
                     functions[index]->parameters.size() == in.list[0] && !functions[index]->entry;
  if (!known) {
    return raise(c, in, first, FaultKind::kIllegalAddress,
                 fmt::format("calls {:#x}, which is no function of this form", address[first]));
  }
  if (same != c.mask) keep_only(c, in, same);
  enter_function(c, in, *functions[index]);
}

/// Value of an argument of a native function, from the caller's locals.
u64 argument(const Context& c, const Instr& in, std::size_t k, unsigned lane, unsigned bytes) {
  u64 value = 0;
  const u64 at = lane * u64{c.warp->local_stride} + c.frame->local_base + in.list[k + 1];
  std::memcpy(&value, c.warp->local.data() + at, bytes);
  return value;
}

void call_printf(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const u32* results = in.list + 1 + in.list[0];
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const auto text = format_printf(c, in, i, argument(c, in, 0, i, 8), argument(c, in, 1, i, 8));
    if (!text) return;
    if (c.grid->options->print) {
      const std::lock_guard lock(c.grid->mutex);
      c.grid->options->print(*text);
    }
    if (results[0] == 0) continue;
    const auto count = static_cast<std::int32_t>(text->size());
    std::memcpy(
        c.warp->local.data() + i * u64{c.warp->local_stride} + c.frame->local_base + results[1],
        &count, sizeof count);
  }
}

void call_assert(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const auto i = static_cast<unsigned>(std::countr_zero(c.mask));
  const auto message = read_string(c, in, i, argument(c, in, 0, i, 8));
  const auto file = read_string(c, in, i, argument(c, in, 1, i, 8));
  if (!message || !file) return;
  raise(
      c, in, i, FaultKind::kTrap,
      fmt::format("fails the assertion `{}` at {}:{}", *message, *file, argument(c, in, 2, i, 4)));
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
  if (!d.flag("idx")) d.reject("only brx.idx is known");
  d.expect_operands(2, 2);
  d.out.s[0] = d.source(d.operand(0), Type::kB32);
  for (const BranchTargets& targets : d.function().text->branch_targets) {
    if (targets.name != d.operand(1).name) continue;
    for (const auto& label : targets.labels) d.targets.push_back(d.label(label));
    d.table = true;
    return d.control(&branch_indexed);
  }
  d.reject("the table of targets is missing");
}

/// Offsets of the variables that are passed, with their number first.
void append_places(Decode& d, const Operand* operand, std::vector<u32>& list) {
  const std::size_t count = operand == nullptr ? 0 : operand->items.size();
  list.push_back(static_cast<u32>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const Symbol* symbol = d.find_symbol(operand->items[k].name);
    if (symbol == nullptr || !symbol->frame_relative) {
      d.reject("arguments that are no .param variables are not supported");
    }
    list.push_back(static_cast<u32>(symbol->address));
  }
}

void decode_call(Decode& d) {
  d.flag("uni");
  std::size_t next = 0;
  const Operand* results = nullptr;
  if (d.operand(0).kind == Operand::Kind::kVector) results = &d.operand(next++);
  const Operand& callee = d.operand(next++);
  const Operand* arguments = nullptr;
  if (next < d.operands() && d.operand(next).kind == Operand::Kind::kVector) {
    arguments = &d.operand(next++);
  }
  std::vector<u32> list;
  append_places(d, arguments, list);
  append_places(d, results, list);
  d.out.list = d.keep(list);
  if (d.find_register(callee.name)) {
    d.out.s[0] = d.source(callee, Type::kB64);
    return d.control(&call_indirect);
  }
  if (callee.name == "vprintf") return d.control(&call_printf);
  if (callee.name == "__assertfail") return d.control(&call_assert);
  const auto& functions = d.function().module_names->functions;
  const auto found = functions.find(callee.name);
  if (found == functions.end()) {
    d.reject(fmt::format("the function {} is not defined in this module", callee.name));
  }
  d.out.object = found->second;
  d.control(&call_direct);
}

void decode_ret(Decode& d) {
  d.flag("uni");
  d.expect_operands(0, 0);
  d.control(&return_from);
}

void decode_exit(Decode& d) {
  d.expect_operands(0, 0);
  d.control(&leave_kernel);
}

void decode_trap(Decode& d) {
  d.expect_operands(0, 0);
  d.control(&trap);
}

constexpr OpcodeRow kRows[] = {
    {"bra", decode_bra},   {"brx", decode_brx},   {"call", decode_call},  {"ret", decode_ret},
    {"exit", decode_exit}, {"trap", decode_trap}, {"brkpt", decode_trap},
};

}  // namespace

std::span<const OpcodeRow> control_opcodes() { return kRows; }

}  // namespace kbench::ptx
