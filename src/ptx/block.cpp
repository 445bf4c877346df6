// SPDX-License-Identifier: MIT
#include "ptx/block.hpp"

#include <fmt/format.h>

#include <cstring>

#include "ptx/exec.hpp"

namespace kbench::ptx {
namespace {

constexpr std::uint64_t kSlice = 4096;                    // instructions of a warp before the next
constexpr std::uint64_t kShare = std::uint64_t{1} << 25;  // of a block before it is suspended
constexpr unsigned kSpinningRounds = 4;

void start_warp(Block& block, Warp& warp, unsigned index, std::uint64_t threads) {
  const Function& kernel = *block.grid->kernel;
  const auto& extents = block.grid->launch->block;
  warp.block = &block;
  warp.index = index;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t thread = index * kLanes + lane;
    warp.tid[0][lane] = thread % extents[0];
    warp.tid[1][lane] = thread / extents[0] % extents[1];
    warp.tid[2][lane] = thread / extents[0] / extents[1];
    if (thread < threads) warp.live |= 1U << lane;
  }
  warp.local_stride = kernel.local_stack;
  warp.local = Bytes(std::size_t{kLanes} * warp.local_stride);
  if (warp.local.size() != 0) std::memset(warp.local.data(), 0xff, warp.local.size());
  auto frame = std::make_unique<Frame>();
  frame->function = &kernel;
  frame->registers = Bytes(kernel.register_bytes);
  frame->lanes = warp.live;
  Fragment fragment;
  fragment.mask = warp.live;
  fragment.ip = kernel.code.data();
  fragment.frame = frame.get();
  warp.frames.push_back(std::move(frame));
  warp.fragments.push_back(fragment);
}

void stop(Context& c, const Block& block, FaultKind kind, const std::string& message) {
  Grid& grid = *c.grid;
  const std::lock_guard lock(grid.mutex);
  if (!grid.fault) {
    Fault fault;
    fault.kind = kind;
    fault.kernel = grid.launch->kernel;
    fault.block = block.index;
    fault.message = message;
    grid.fault = std::move(fault);
  }
  grid.stop.store(true);
}

void deadlock(Context& c, Block& block) {
  for (Warp& warp : block.warps) {
    if (warp.fragments.empty()) continue;
    const Fragment& fragment = warp.fragments[0];
    c.warp = &warp;
    c.block = &block;
    c.frame = fragment.frame;
    const bool at_instruction = fragment.wait == Wait::kConverge;
    raise(c, at_instruction ? *fragment.ip : fragment.ip[-1],
          static_cast<unsigned>(std::countr_zero(fragment.mask)), FaultKind::kDeadlock,
          "waits for threads that never come: no thread of the block can go on");
    return;
  }
}

bool cancelled(const Grid& grid) {
  const auto* cancel = grid.options->cancel;
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

}  // namespace

std::unique_ptr<Block> make_block(Grid& grid, std::uint64_t linear) {
  auto block = std::make_unique<Block>();
  const auto& extents = grid.launch->grid;
  block->grid = &grid;
  block->index = {static_cast<std::uint32_t>(linear % extents[0]),
                  static_cast<std::uint32_t>(linear / extents[0] % extents[1]),
                  static_cast<std::uint32_t>(linear / extents[0] / extents[1])};
  const auto& shape = grid.launch->block;
  const std::uint64_t threads = std::uint64_t{shape[0]} * shape[1] * shape[2];
  block->live_threads = static_cast<std::uint32_t>(threads);
  block->shared = Bytes(grid.shared_bytes);
  // Not zeros: what a kernel reads before it writes shall be seen in its result.
  if (grid.shared_bytes != 0) std::memset(block->shared.data(), 0xff, grid.shared_bytes);
  block->warps = std::vector<Warp>((threads + kLanes - 1) / kLanes);
  for (unsigned i = 0; i < block->warps.size(); ++i) {
    start_warp(*block, block->warps[i], i, threads);
  }
  return block;
}

BlockEnd run_block(Context& c, Block& block) {
  const std::uint64_t begin = c.executed;
  unsigned spinning_rounds = 0;
  while (true) {
    const std::uint64_t before = c.executed;
    bool done = true, only_spins = true;
    for (Warp& warp : block.warps) {
      if (warp.fragments.empty()) continue;
      const std::uint64_t warp_before = c.executed;
      const SliceEnd end = run_warp(c, warp, kSlice);
      if (end == SliceEnd::kStopped) return BlockEnd::kStopped;
      done = done && end == SliceEnd::kDone;
      const bool idle = end == SliceEnd::kWaiting && c.executed == warp_before;
      only_spins = only_spins && (end == SliceEnd::kSpinning || idle);
      if (cancelled(*c.grid)) {
        stop(c, block, FaultKind::kCancelled, fmt::format("{}: cancelled", c.grid->launch->kernel));
        return BlockEnd::kStopped;
      }
    }
    if (done) return BlockEnd::kDone;
    if (c.executed == before) {
      deadlock(c, block);
      return BlockEnd::kStopped;
    }
    spinning_rounds = only_spins ? spinning_rounds + 1 : 0;
    if (spinning_rounds >= kSpinningRounds || c.executed - begin > kShare) {
      return BlockEnd::kSuspended;
    }
  }
}

}  // namespace kbench::ptx
