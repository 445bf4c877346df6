// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/machine.hpp"

/// Asynchronous copies and arrivals at mbarriers. Hardware may perform them at any time before the
/// wait. The executor performs them as late as PTX allows, so a kernel that forgets to wait reads
/// old data.
namespace kbench::ptx {

/// Appends an entry to the warp's queue of copies and returns it.
LateCopy& late_copy(Warp& warp);

/// Performs the copies of `lanes` that are numbered below `before`.
void perform_before(Warp& warp, std::uint32_t lanes, std::uint64_t before);

/// Performs the committed copies of `lanes`, except those in the last `pending` groups of each
/// lane.
void perform_groups(Warp& warp, std::uint32_t lanes, std::uint32_t pending);

void perform(const BulkCopy& copy);

/// Like perform_groups(), for bulk copies.
void perform_bulk_groups(Warp& warp, std::uint32_t lanes, std::uint32_t pending);

/// Performs all outstanding copies of threads that are ending.
void finish_async(Warp& warp, std::uint32_t lanes);

/// Makes fragments that wait on mbarriers ready, because a phase has completed.
void wake_waiters(Cluster& cluster);

/// Makes fragments that wait on mbarriers ready although their phase has not completed. False if
/// there are none, or after too many time-outs without progress.
bool time_out(Cluster& cluster);

/// Lanes arrive at the cluster's barrier.
void arrive_at_cluster(Context& c);

/// Lanes wait until the phase of the cluster's barrier in which they arrived is complete.
void wait_for_cluster(Context& c);

/// Releases the cluster's barrier if all live threads have arrived.
void complete_cluster_barrier(Context& c);

}  // namespace kbench::ptx
