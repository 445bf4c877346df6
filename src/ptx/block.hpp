// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine.hpp"

namespace kbench::ptx {

/// A block at its first instruction; `linear` is its number in the grid.
std::unique_ptr<Block> make_block(Grid& grid, std::uint64_t linear);

enum class BlockEnd : std::uint8_t {
  kDone,
  kSuspended,  ///< only spins, or has had its share: run it again later
  kStopped,    ///< the launch ends early
};

/// Runs a block until it is done or others should have the host thread.
BlockEnd run_block(Context& c, Block& block);

}  // namespace kbench::ptx
