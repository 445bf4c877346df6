// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {

/// Creates a cluster whose blocks are at their first instruction. `linear`: its number in the grid.
std::unique_ptr<Cluster> make_cluster(Grid& grid, std::uint64_t linear);

/// Grid::tids for a block of these extents.
decltype(Grid::tids) number_threads(const std::array<std::uint32_t, 3>& extents);

enum class BlockEnd : std::uint8_t {
  kDone,
  kSuspended,  ///< only spins, or has used up its slice; run it again later
  kParted,     ///< yields to other blocks first: see Grid::parts
  kStopped,    ///< the launch ends early
};

/// Runs a cluster until it is done or yields its host thread.
BlockEnd run_cluster(Context& c, Cluster& cluster);

}  // namespace kbench::ptx
