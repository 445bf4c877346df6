// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/machine/warp_sync.hpp"

// Lets lanes meet at different copies of one instruction, because compilers copy an instruction
// into both branches of an `if`. Lanes meet only if the warp could not continue otherwise. Each
// lane uses the operands and results of its own copy.
namespace kbench::ptx {
namespace {

constexpr std::uint32_t kOperandBytes = kLanes * 8;

/// Scratch registers for the operands of all lanes that meet: four sources, destination, second
/// destination.
struct Scratch {
  alignas(64) std::array<std::byte, std::size_t{6} * kOperandBytes> bytes{};
};
constexpr std::uint32_t kDestination = 4 * kOperandBytes, kSecond = 5 * kOperandBytes;

std::byte* place(const Fragment& fragment, std::uint32_t operand) {
  const Frame& frame = *fragment.frame;
  std::byte* base =
      (operand & kConstantBit) != 0 ? frame.function->constants.data() : frame.registers.data();
  return base + (operand & ~kConstantBit);
}

/// Copies the lanes of `mask`; a predicate's bits are inverted by the mask `flip`.
void copy_lanes(std::byte* to, const std::byte* from, std::uint32_t mask, Lanes lanes,
                std::uint32_t flip = 0) {
  if (lanes == Lanes::kPredicate) {
    std::uint32_t old = 0, fresh = 0;
    std::memcpy(&old, to, 4);
    std::memcpy(&fresh, from, 4);
    old = (old & ~mask) | ((fresh ^ flip) & mask);
    std::memcpy(to, &old, 4);
    return;
  }
  const std::size_t bytes = lanes == Lanes::k64 ? 8 : 4;
  for_lanes(mask, [&](unsigned i) { std::memcpy(to + i * bytes, from + i * bytes, bytes); });
}

bool same_kind(const Fragment& a, const Fragment& b) {
  return b.wait == Wait::kConverge && a.ip->full == b.ip->full && a.ip->aux == b.ip->aux;
}

/// The lanes at this kind of instruction whose partners have all reached it.
std::uint32_t complete_lanes(const Warp& warp, const Fragment& kind, const SyncRow& row) {
  std::array<std::uint32_t, kLanes> members{};
  std::uint32_t lanes = 0;
  for (const Fragment& fragment : warp.fragments) {
    if (!same_kind(kind, fragment)) continue;
    lanes |= fragment.mask;
    const std::byte* from = place(fragment, fragment.ip->s[row.members]);
    copy_lanes(reinterpret_cast<std::byte*>(members.data()), from, fragment.mask, Lanes::k32);
  }
  for (std::uint32_t before = 0; before != lanes;) {
    before = lanes;
    for_lanes(before, [&](unsigned i) {
      if ((members[i] & warp.live & ~before) != 0) lanes &= ~(1U << i);
    });
  }
  return lanes;
}

void gather(const Warp& warp, const Fragment& kind, const SyncRow& row, std::uint32_t lanes,
            Scratch& scratch) {
  for (const Fragment& fragment : warp.fragments) {
    if (!same_kind(kind, fragment)) continue;
    for (std::size_t k = 0; k < row.sources.size(); ++k) {
      if (row.sources[k] == Lanes::kNothing) continue;
      const bool flips = row.sources[k] == Lanes::kPredicate && fragment.ip->flags != 0;
      copy_lanes(scratch.bytes.data() + k * kOperandBytes, place(fragment, fragment.ip->s[k]),
                 fragment.mask & lanes, row.sources[k], flips ? kAllLanes : 0U);
    }
  }
}

/// Runs the instruction once for all lanes, on the scratch registers.
void execute(Context& c, Warp& warp, const Fragment& kind, const SyncRow& row, std::uint32_t lanes,
             Scratch& scratch) {
  Instr in = *kind.ip;
  in.guard = kNone;
  if (row.sources[0] == Lanes::kPredicate) in.flags = 0;
  for (std::uint32_t k = 0; k < row.sources.size(); ++k) {
    if (row.sources[k] != Lanes::kNothing) in.s[k] = k * kOperandBytes;
  }
  in.d = kDestination;
  in.extra = row.destination == Lanes::kPredicate ? kNone : kSecond;
  c.warp = &warp;
  c.block = warp.block;
  c.frame = kind.frame;
  c.base = {scratch.bytes.data(), scratch.bytes.data()};
  c.mask = lanes;
  c.full = false;
  row.execute(c, in);
}

/// Copies the results to each lane's registers; those lanes continue after their instruction.
void scatter(Warp& warp, const Instr& kind, const SyncRow& row, std::uint32_t lanes,
             const Scratch& scratch) {
  const std::size_t count = warp.fragments.size();
  for (std::size_t f = 0; f < count; ++f) {
    Fragment& fragment = warp.fragments[f];
    if (fragment.wait != Wait::kConverge || fragment.ip->full != kind.full ||
        fragment.ip->aux != kind.aux) {
      continue;
    }
    const std::uint32_t here = fragment.mask & lanes;
    if (here == 0) continue;
    const Instr& in = *fragment.ip;
    if (in.d != kNone) {
      copy_lanes(place(fragment, in.d), scratch.bytes.data() + kDestination, here, row.destination);
    }
    if (in.extra != kNone) {
      copy_lanes(place(fragment, in.extra), scratch.bytes.data() + kSecond, here,
                 Lanes::kPredicate);
    }
    Fragment gone = fragment;
    gone.mask = here;
    gone.ip = &in + 1;
    gone.wait = Wait::kReady;
    if (here == fragment.mask) {
      fragment = gone;
    } else {
      fragment.mask &= ~here;
      warp.fragments.push_back(gone);
    }
  }
}

}  // namespace

bool meet(Context& c, Warp& warp) {
  for (const Fragment& fragment : warp.fragments) {
    if (fragment.wait != Wait::kConverge) continue;
    const SyncRow* row = find_sync(*fragment.ip);
    if (row == nullptr) continue;
    const std::uint32_t lanes = complete_lanes(warp, fragment, *row);
    if (lanes == 0) continue;
    Scratch scratch;
    gather(warp, fragment, *row, lanes, scratch);
    execute(c, warp, fragment, *row, lanes, scratch);
    scatter(warp, *fragment.ip, *row, lanes, scratch);
    return true;
  }
  return false;
}

}  // namespace kbench::ptx
