// SPDX-License-Identifier: MIT
#include "ptx/launch/mbarrier.hpp"

#include "ptx/launch/async.hpp"

namespace kbench::ptx {

void store_mbarrier(Context& c, std::byte* at, Mbarrier barrier) {
  const bool completed = barrier.complete();
  const std::uint64_t word = barrier.encode();
  std::memcpy(at, &word, sizeof word);
  if (!completed) return;
  wake_waiters(*c.block->cluster);
  c.merge_ip = nullptr;
}

const char* add_transactions(Mbarrier& barrier, std::int64_t bytes) {
  const std::int64_t sum = barrier.transactions + bytes;
  if (sum > kMostTransactions || sum < -kMostTransactions) {
    return "brings the transaction count of an mbarrier out of its range";
  }
  barrier.transactions = static_cast<std::int32_t>(sum);
  return nullptr;
}

namespace {

enum class Settled : std::uint8_t { kNothing, kArrived, kCompleted, kBroken };

/// Performs one arrival: a bulk copy, or the arrival of one lane.
Settled settle_one(Context& c, std::byte* at, LateArrival& arrival) {
  const bool bulk = arrival.mask == 0;
  if (bulk) {
    perform(arrival.copy);
  } else {
    const std::uint32_t lane = arrival.mask & (0U - arrival.mask);
    perform_before(*arrival.warp, arrival.mask, arrival.before);
    arrival.mask &= ~lane;
  }
  auto barrier = load_mbarrier(at);
  if (!barrier || (!bulk && barrier->pending == 0)) return Settled::kBroken;
  const std::uint32_t phase = barrier->phase;
  if (bulk) {
    if (add_transactions(*barrier, -static_cast<std::int64_t>(arrival.copy.bytes)) != nullptr) {
      return Settled::kBroken;
    }
  } else {
    --barrier->pending;
  }
  store_mbarrier(c, at, *barrier);
  const auto after = load_mbarrier(at);
  return after->phase != phase ? Settled::kCompleted : Settled::kArrived;
}

}  // namespace

void drop_arrivals(Context& c, const std::byte* at) {
  std::erase_if(c.block->cluster->arrivals, [&](LateArrival& arrival) {
    if (arrival.barrier != at) return false;
    if (arrival.mask == 0) {
      perform(arrival.copy);
    } else {
      perform_before(*arrival.warp, arrival.mask, arrival.before);
    }
    return true;
  });
}

bool settle_arrivals(Context& c, std::byte* at) {
  auto& arrivals = c.block->cluster->arrivals;
  Settled settled = Settled::kNothing;
  for (std::size_t i = 0; i < arrivals.size() && settled <= Settled::kArrived;) {
    if (arrivals[i].barrier != at) {
      ++i;
      continue;
    }
    settled = settle_one(c, at, arrivals[i]);
    if (arrivals[i].mask == 0) arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return settled != Settled::kBroken;
}

}  // namespace kbench::ptx
