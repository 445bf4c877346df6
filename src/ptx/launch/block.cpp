// SPDX-License-Identifier: MIT
#include "ptx/launch/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptx/launch/async.hpp"
#include "ptx/machine/exec.hpp"
#include "ptx/machine/joins.hpp"

namespace kbench::ptx {
namespace {

constexpr std::uint64_t kSlice = 4096;  // instructions of a warp before the next warp runs
constexpr std::uint64_t kShare = std::uint64_t{1} << 25;  // of a cluster before it is suspended
constexpr unsigned kSpinningRounds = 4;

void start_warp(Block& block, Warp& warp, unsigned index, std::uint64_t threads) {
  const Function& kernel = *block.grid->kernel;
  warp.block = &block;
  warp.index = index;
  warp.tid = block.grid->tids[index].data();
  const std::uint64_t lanes = threads - std::uint64_t{index} * kLanes;
  warp.live = lanes >= kLanes ? kAllLanes : (1U << lanes) - 1;
  warp.local_stride = kernel.local_stack;
  warp.local = Bytes(std::size_t{kLanes} * warp.local_stride);
  if (warp.local.size() != 0) std::memset(warp.local.data(), 0xff, warp.local.size());
  if (block.grid->watched && warp.local.size() != 0) {
    warp.local_written = std::make_unique<Written>(warp.local.size());
  }
  if (block.grid->tracked) {
    warp.trail = std::make_unique<Trail>();
    warp.trail->begun = warp.live;
    warp.trail->passes.resize(block.grid->program->sites->rows);
  }
  auto frame = std::make_unique<Frame>();
  frame->function = &kernel;
  frame->registers = make_registers(kernel);
  frame->lanes = warp.live;
  frame->local_end = kernel.local_bytes;
  Fragment fragment;
  fragment.mask = warp.live;
  fragment.ip = kernel.code.data();
  fragment.frame = frame.get();
  warp.frames.push_back(std::move(frame));
  warp.fragments.push_back(fragment);
}

/// Ends the launch at the warp's instruction because a limit was exceeded.
void give_up(Context& c, Block& block, Warp& warp, FaultKind kind, const std::string& what) {
  const auto ready = std::find_if(warp.fragments.begin(), warp.fragments.end(),
                                  [](const Fragment& f) { return f.wait == Wait::kReady; });
  const Fragment& running = ready == warp.fragments.end() ? warp.fragments[0] : *ready;
  const bool behind = running.wait != Wait::kReady && running.wait != Wait::kConverge;
  c.warp = &warp;
  c.block = &block;
  c.frame = running.frame;
  raise(c, behind ? running.ip[-1] : *running.ip,
        static_cast<unsigned>(std::countr_zero(running.mask)), kind, what);
}

/// Counts the instructions that a warp has run. False if the launch has exceeded its budget or
/// deadline.
bool spend(Context& c, Block& block, Warp& warp, std::uint64_t instructions) {
  const Options& options = *c.grid->options;
  const bool counted = options.max_instructions != 0;
  const bool timed = options.deadline != std::chrono::steady_clock::time_point::max();
  if (counted && c.grid->spent.fetch_add(instructions, std::memory_order_relaxed) + instructions >=
                     options.max_instructions) {
    if (warp.fragments.empty()) return true;
    give_up(c, block, warp, FaultKind::kBudget,
            fmt::format("is still running after {} warp instructions, the limit of a launch",
                        options.max_instructions));
    return false;
  }
  if (timed && std::chrono::steady_clock::now() >= options.deadline) {
    if (warp.fragments.empty()) return true;
    give_up(c, block, warp, FaultKind::kDeadline,
            "is still running when the time limit of the call ends");
    return false;
  }
  return true;
}

std::unique_ptr<Block> make_block(Grid& grid, const std::array<std::uint32_t, 3>& index) {
  auto block = std::make_unique<Block>();
  block->grid = &grid;
  block->index = index;
  const auto& shape = grid.launch->block;
  const std::uint64_t threads = std::uint64_t{shape[0]} * shape[1] * shape[2];
  block->live_threads = static_cast<std::uint32_t>(threads);
  block->shared = Bytes(grid.shared_bytes);
  // The fill is not zero, so that a read before a write changes the result. NaN (0xff bytes) can
  // vanish in a comparison; a huge number (0x7e bytes) does not.
  const int poison = grid.backwards ? 0x7e : 0xff;
  if (grid.shared_bytes != 0) std::memset(block->shared.data(), poison, grid.shared_bytes);
  if (grid.watched && grid.shared_bytes != 0) {
    block->shared_written = std::make_unique<Written>(grid.shared_bytes);
  }
  block->warps = std::vector<Warp>((threads + kLanes - 1) / kLanes);
  for (unsigned i = 0; i < block->warps.size(); ++i) {
    start_warp(*block, block->warps[i], i, threads);
  }
  return block;
}

/// State of the warps after each has run one slice.
struct Round {
  bool done = true;
  bool only_spins = true;
  bool spins = false;
  bool parted = false;
};

/// Runs each warp of the block for one slice; false if the launch ends. A GPU guarantees no order
/// of warps.
bool run_round(Context& c, Block& block, Round& round) {
  const std::size_t warps = block.warps.size();
  for (std::size_t i = 0; i < warps; ++i) {
    Warp& warp = block.warps[block.grid->backwards ? warps - 1 - i : i];
    if (warp.fragments.empty()) continue;
    const std::uint64_t before = c.executed;
    const SliceEnd end = run_warp(c, warp, kSlice);
    if (end == SliceEnd::kStopped) return false;
    if (!spend(c, block, warp, c.executed - before)) return false;
    round.done = round.done && end == SliceEnd::kDone;
    const bool idle = end == SliceEnd::kWaiting && c.executed == before;
    round.spins = round.spins || end == SliceEnd::kSpinning;
    round.parted = round.parted || end == SliceEnd::kParted;
    round.only_spins = round.only_spins && (end == SliceEnd::kSpinning || idle);
  }
  return true;
}

}  // namespace

decltype(Grid::tids) number_threads(const std::array<std::uint32_t, 3>& extents) {
  const std::uint32_t threads = extents[0] * extents[1] * extents[2];
  decltype(Grid::tids) tids((threads + kLanes - 1) / kLanes);
  std::uint32_t thread = 0;
  for (auto& tid : tids) {
    for (unsigned lane = 0; lane < kLanes; ++lane, ++thread) {
      tid[0][lane] = thread % extents[0];
      tid[1][lane] = thread / extents[0] % extents[1];
      tid[2][lane] = thread / extents[0] / extents[1];
    }
  }
  return tids;
}

std::unique_ptr<Cluster> make_cluster(Grid& grid, std::uint64_t linear) {
  auto cluster = std::make_unique<Cluster>();
  const auto& extents = grid.cluster;
  std::array<std::uint32_t, 3> clusters{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    clusters[axis] = grid.launch->grid[axis] / extents[axis];
  }
  cluster->index = {static_cast<std::uint32_t>(linear % clusters[0]),
                    static_cast<std::uint32_t>(linear / clusters[0] % clusters[1]),
                    static_cast<std::uint32_t>(linear / clusters[0] / clusters[1])};
  const std::uint32_t blocks = extents[0] * extents[1] * extents[2];
  for (std::uint32_t rank = 0; rank < blocks; ++rank) {
    const std::array<std::uint32_t, 3> within{rank % extents[0], rank / extents[0] % extents[1],
                                              rank / extents[0] / extents[1]};
    std::array<std::uint32_t, 3> index{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      index[axis] = cluster->index[axis] * extents[axis] + within[axis];
    }
    cluster->blocks.push_back(make_block(grid, index));
    cluster->blocks.back()->cluster = cluster.get();
    cluster->blocks.back()->rank = rank;
  }
  return cluster;
}

BlockEnd run_cluster(Context& c, Cluster& cluster) {
  const std::uint64_t begin = c.executed;
  unsigned spinning_rounds = 0;
  while (true) {
    const std::uint64_t before = c.executed;
    Round round;
    for (const auto& block : cluster.blocks) {
      if (!run_round(c, *block, round)) return BlockEnd::kStopped;
    }
    if (round.done) return BlockEnd::kDone;
    if (round.parted) return BlockEnd::kParted;
    if (round.spins) cluster.time_outs = 0;
    const bool idle = c.executed == before;
    if ((idle || round.only_spins) && !time_out(cluster) && idle) {
      report_deadlock(c, cluster);
      return BlockEnd::kStopped;
    }
    spinning_rounds = round.only_spins ? spinning_rounds + 1 : 0;
    if (spinning_rounds >= kSpinningRounds || c.executed - begin > kShare) {
      return BlockEnd::kSuspended;
    }
  }
}

}  // namespace kbench::ptx
