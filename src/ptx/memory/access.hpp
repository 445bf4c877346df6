// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/decode.hpp"
#include "ptx/machine/observer.hpp"

/// Addresses of memory instructions, and what may be accessed.
namespace kbench::ptx {

/// Bits of Instr::flags of memory instructions.
constexpr std::uint16_t kAddress32 = 1;      ///< the address register has 32 bits
constexpr std::uint16_t kFrameRelative = 2;  ///< no register: an offset in the frame's locals
constexpr std::uint16_t kOrdered = 4;        ///< ld, st: of what others look at meanwhile
constexpr std::uint16_t kPolls = 4;          ///< atom: a loop around it only spins
constexpr std::uint16_t kNoRecord = 128;     ///< ld, st: the Shape is to be found each time
constexpr std::uint16_t kSpaceShift = 8;     ///< the state space

inline Space space_of(const Instr& in) { return static_cast<Space>(in.flags >> kSpaceShift); }

/// What lies at a global address: they are the host's own.
inline std::byte* at_address(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): kernels hold addresses as integers
  return reinterpret_cast<std::byte*>(address);
}

using Addresses = std::array<std::uint64_t, kLanes>;

/// The address of each lane, displacement included.
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

/// Host address of an access of one lane; null after a fault has been raised. Whatever an
/// instruction touches outside the fast ways of ld and st goes through here: checks look on.
std::byte* resolve(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
                   std::uint64_t bytes, Access access);

/// The same for a write that is performed later: until then the memory does not count as written.
std::byte* resolve_late_write(Context& c, const Instr& in, unsigned lane, Space space,
                              std::uint64_t address, std::uint64_t bytes);

/// Sets address, space and slot of `out` from an operand "[…]".
void decode_address(Decode& d, const Operand& operand, Space space);

/// Takes the state space among the modifiers; generic where there is none.
Space take_space(Decode& d);

}  // namespace kbench::ptx
