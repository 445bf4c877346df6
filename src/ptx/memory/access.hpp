// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"
#include "ptx/machine/observer.hpp"

/// Addresses of memory instructions, and checks of what they access.
namespace kbench::ptx {

/// Bits of Instr::flags of memory instructions.
constexpr std::uint16_t kAddress32 = 1;      ///< the address register has 32 bits
constexpr std::uint16_t kFrameRelative = 2;  ///< no register: offset in the frame's locals
constexpr std::uint16_t kOrdered = 4;     ///< ld, st: other threads may access the memory meanwhile
constexpr std::uint16_t kPolls = 4;       ///< atom: a loop around it polls
constexpr std::uint16_t kNoRecord = 128;  ///< ld, st: recompute the Shape each time
constexpr std::uint16_t kSpaceShift = 8;  ///< bits above hold the state space

inline Space space_of(const Instr& in) { return static_cast<Space>(in.flags >> kSpaceShift); }

/// The memory at a global address, which is a host address.
inline std::byte* at_address(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): kernels hold addresses as integers
  return reinterpret_cast<std::byte*>(address);
}

using Addresses = std::array<std::uint64_t, kLanes>;

/// Computes the address of each lane, including the displacement.
inline void addresses(const Context& c, const Instr& in, Addresses& out) {
  const auto displacement = static_cast<std::uint64_t>(in.imm);
  if ((in.flags & kAddress32) != 0) {
    const auto* base = c.source<std::uint32_t>(in.s[0]);
    for (unsigned i = 0; i < kLanes; ++i) {
      out[i] = static_cast<std::uint32_t>(base[i] + static_cast<std::uint32_t>(displacement));
    }
  } else if ((in.flags & kFrameRelative) != 0) {
    for (unsigned i = 0; i < kLanes; ++i) out[i] = displacement + c.frame->local_base;
  } else {
    const auto* base = c.source<std::uint64_t>(in.s[0]);
    for (unsigned i = 0; i < kLanes; ++i) out[i] = base[i] + displacement;
  }
}

/// Checks an access of one lane and returns its host address; null after a fault. All accesses but
/// the fast paths of ld and st use this function, so the sanitizers and observers see them.
std::byte* resolve(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
                   std::uint64_t bytes, Access access);

/// Like resolve(), for a write that happens later; the memory does not yet count as written.
std::byte* resolve_late_write(Context& c, const Instr& in, unsigned lane, Space space,
                              std::uint64_t address, std::uint64_t bytes);

/// Decodes an operand "[…]" into address, space and slot of `out`.
void decode_address(Decode& d, const Operand& operand, Space space);

/// Takes the state space from the modifiers; kGeneric if there is none.
Space take_space(Decode& d);

}  // namespace kbench::ptx
