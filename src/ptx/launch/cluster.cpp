// SPDX-License-Identifier: MIT
#include "ptx/launch/async.hpp"
#include "ptx/machine/exec.hpp"

// A phase of a cluster's barrier completes when all live threads have arrived. A thread waits for
// the phase in which it has arrived.
namespace kbench::ptx {

void complete_cluster_barrier(Context& c) {
  Cluster& cluster = *c.block->cluster;
  if (cluster.arrived == 0) return;
  std::uint32_t live = 0;
  for (const auto& block : cluster.blocks) live += block->live_threads;
  std::uint32_t arrived = 0;
  if (cluster.arrived < live) return;
  for (const auto& block : cluster.blocks) {
    for (const Warp& warp : block->warps) {
      arrived += static_cast<std::uint32_t>(std::popcount(warp.cluster_arrived & warp.live));
    }
  }
  if (arrived < live) return;
  cluster.arrived = 0;
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      warp.cluster_arrived = 0;
      for (Fragment& fragment : warp.fragments) {
        if (fragment.wait == Wait::kCluster) fragment.wait = Wait::kReady;
      }
    }
  }
  c.merge_ip = nullptr;
}

void arrive_at_cluster(Context& c) {
  c.warp->cluster_arrived |= c.mask;
  c.warp->cluster_owing |= c.mask;
  c.block->cluster->arrived += static_cast<std::uint32_t>(std::popcount(c.mask));
  complete_cluster_barrier(c);
}

void wait_for_cluster(Context& c) {
  Warp& warp = *c.warp;
  warp.cluster_owing &= ~c.mask;
  const std::uint32_t waiting = c.mask & warp.cluster_arrived;
  if (waiting == 0) return;
  c.merge_ip = nullptr;
  if (waiting == c.mask) {
    c.wait = Wait::kCluster;
    return;
  }
  Fragment rest;
  rest.mask = waiting;
  rest.ip = c.ip;
  rest.frame = c.frame;
  rest.wait = Wait::kCluster;
  warp.fragments.push_back(rest);
  c.mask &= ~waiting;
  c.full = false;
}

}  // namespace kbench::ptx
