// SPDX-License-Identifier: MIT
// Instructions that concern memory but do not access it: address conversions, prefetches, fences.
#include "ptx/machine/decode.hpp"
#include "ptx/machine/exec.hpp"
#include "ptx/memory/access.hpp"
#include "ptx/ops/async.hpp"

namespace kbench::ptx {
namespace {

using u64 = std::uint64_t;

/// cvta: converts between an address of a space and a generic one.
void decode_cvta(Decode& d) {
  const bool to = d.flag("to");
  const Space space = take_space(d);
  const Type type = d.type();
  if (type != Type::kU64) d.reject("the type is not supported");
  d.plain_operands(Type::kU64, {Type::kU64});
  u64 window = 0;
  if (space == Space::kShared) window = kSharedWindow;
  if (space == Space::kLocal) window = kLocalWindow;
  if (space == Space::kParam) window = d.function().function->entry ? kParamWindow : kLocalWindow;
  d.out.s[1] = d.constant(to ? 0 - window : window, 8);
  if (window == 0) return d.lanes<u64, u64>([](u64 a) { return a; });
  d.lanes<u64, u64, u64>([](u64 a, u64 b) { return a + b; });
}

void decode_isspacep(Decode& d) {
  if (d.flag("shared") || d.flag("shared::cta")) return decode_in_own_shared(d);
  const Space space = take_space(d);
  d.plain_operands(Type::kPred, {Type::kU64});
  u64 window = 0;
  if (space == Space::kShared) window = kSharedWindow;
  if (space == Space::kLocal) window = kLocalWindow;
  if (space == Space::kParam) window = kParamWindow;
  d.out.s[1] = d.constant(window >> kWindowShift, 8);
  if (space == Space::kConst) d.reject("the executor cannot distinguish .const from .global");
  const auto inside = [](u64 a, u64 b) {
    const u64 found = a >> kWindowShift;
    const bool in_window =
        found >= kSharedWindow >> kWindowShift && found <= kParamWindow >> kWindowShift;
    return b == 0 ? !in_window : found == b;
  };
  d.each(pick<Test<decltype(inside), u64, u64>>());
}

void nothing(Context&, const Instr&) {}

void decode_prefetch(Decode& d) {
  take_space(d);
  d.one_of({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  d.each(&nothing);
}

void fence(Context&, const Instr&) { std::atomic_thread_fence(std::memory_order_seq_cst); }

void decode_fence(Decode& d) {
  d.expect_operands(0, 0);
  if (d.flag("proxy")) {
    d.one_of({"alias", "async", "async::generic"});
    d.one_of({"global", "shared::cta", "shared::cluster"});
  }
  d.flag("mbarrier_init");
  d.one_of({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  d.one_of({"sc", "acq_rel", "acquire", "release"});
  d.one_of({"cta", "gl", "gpu", "sys", "cluster"});
  d.each(&fence);
}

constexpr OpcodeRow kRows[] = {
    {"cvta", decode_cvta},          {"isspacep", decode_isspacep}, {"prefetch", decode_prefetch},
    {"prefetchu", decode_prefetch}, {"membar", decode_fence},      {"fence", decode_fence},
};

}  // namespace

std::span<const OpcodeRow> address_opcodes() { return kRows; }

}  // namespace kbench::ptx
