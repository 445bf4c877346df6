// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/machine/machine.hpp"

/// What the hardware may do at any time before it is waited for: copies, and arrivals at mbarriers.
/// Here it happens as late as PTX allows, so that a kernel which forgets to wait reads old data.
namespace kbench::ptx {

/// A place for one more copy of the warp, at the end of its queue.
LateCopy& late_copy(Warp& warp);

/// Performs the copies of `lanes` whose number is below `before`.
void perform_before(Warp& warp, std::uint32_t lanes, std::uint64_t before);

/// Performs the copies of `lanes` but those in their last `pending` groups and in none.
void perform_groups(Warp& warp, std::uint32_t lanes, std::uint32_t pending);

void perform(const BulkCopy& copy);

/// The same for bulk copies.
void perform_bulk_groups(Warp& warp, std::uint32_t lanes, std::uint32_t pending);

/// Performs all that threads which end have left.
void finish_async(Warp& warp, std::uint32_t lanes);

/// Lets those go on that wait on mbarriers: a phase has completed.
void wake_waiters(Cluster& cluster);

/// Lets them go on without success. False where nobody waits so, or where nothing has come of it
/// for so long that nothing will.
bool time_out(Cluster& cluster);

/// Lanes arrive at the cluster's barrier.
void arrive_at_cluster(Context& c);

/// Lanes wait for the phase of the cluster's barrier in which they have arrived.
void wait_for_cluster(Context& c);

/// Releases the cluster's barrier if those who have not arrived are no more.
void complete_cluster_barrier(Context& c);

}  // namespace kbench::ptx
