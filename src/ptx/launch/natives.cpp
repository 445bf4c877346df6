// SPDX-License-Identifier: MIT
#include "ptx/launch/natives.hpp"

#include <fmt/format.h>

#include <cstring>

#include "ptx/machine/heap.hpp"
#include "ptx/memory/written.hpp"
#include "ptx/observe/print.hpp"

namespace kbench::ptx {
namespace {

void print(Context& c, const Instr& in, const NativeCall& call) {
  for (std::uint32_t left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const auto text = format_printf(c, in, i, call.argument(0, i), call.argument(1, i));
    if (!text) return;
    if (c.grid->options->print) {
      const std::lock_guard lock(c.grid->mutex);
      c.grid->options->print(text->text);
    }
    call.give(c, i, static_cast<std::uint32_t>(text->conversions), 4);
  }
}

void fail_assertion(Context& c, const Instr& in, const NativeCall& call) {
  const auto i = static_cast<unsigned>(std::countr_zero(c.mask));
  const auto message = read_string(c, in, i, call.argument(0, i));
  const auto file = read_string(c, in, i, call.argument(1, i));
  const auto function = read_string(c, in, i, call.argument(3, i));
  if (!message || !file || !function) return;
  raise(c, in, i, FaultKind::kTrap,
        fmt::format("fails the assertion `{}` at {}:{}, in {}", *message, *file,
                    call.argument(2, i, 4), *function));
}

void allocate(Context& c, const Instr&, const NativeCall& call) {
  const auto& heap = c.grid->program->heap;
  for_lanes(c.mask, [&](unsigned i) {
    call.give(c, i, heap == nullptr ? 0 : heap->allocate(call.argument(0, i)), 8);
  });
}

void release(Context& c, const Instr& in, const NativeCall& call) {
  const auto& heap = c.grid->program->heap;
  for (std::uint32_t left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t address = call.argument(0, i);
    if (address == 0 || (heap != nullptr && heap->release(address))) continue;
    return raise(
        c, in, i, FaultKind::kTrap,
        fmt::format("frees {:#x}, which malloc did not return or which is already free", address));
  }
}

constexpr NativeRow kRows[] = {
    {"malloc", {8}, 8, allocate},
    {"free", {8}, 0, release},
    {"vprintf", {8, 8}, 4, print},
    {"__assertfail", {8, 8, 4, 8, 8}, 0, fail_assertion},
};

}  // namespace

std::uint64_t NativeCall::argument(std::size_t k, unsigned lane, unsigned bytes) const {
  std::uint64_t value = 0;
  std::memcpy(&value, arguments[k].lanes + lane * arguments[k].stride, bytes);
  return value;
}

void NativeCall::give(Context& c, unsigned lane, std::uint64_t value, unsigned bytes) const {
  if (result.lanes == nullptr) return;
  if (result.local) mark_local(*c.warp, lane, *result.local, bytes);
  std::memcpy(result.lanes + lane * result.stride, &value, bytes);
}

const NativeRow* find_native(std::string_view name) {
  for (const NativeRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace kbench::ptx
