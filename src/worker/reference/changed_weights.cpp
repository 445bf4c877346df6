// SPDX-License-Identifier: MIT
#include "worker/reference/changed_weights.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <set>

#include "worker/compare/content_digest.hpp"

namespace kbench::worker {
namespace {

/// One of this many elements is changed. A candidate that compares three elements with its copy's
/// then usually finds no difference.
constexpr std::int64_t kChangedShare = 32;
constexpr std::int64_t kMostChanged = 4096;
constexpr std::int64_t kFewestChanged = 2;
/// At most this many tensors are changed at once; each change chooses others.
constexpr std::size_t kChangedTensors = 16;

}  // namespace

ChangedWeights::ChangedWeights(JudgedProblem& problem, std::span<const std::size_t> slots)
    : problem_(problem), random_(protocol::random_nonce()) {
  for (const std::size_t slot : std::set<std::size_t>(slots.begin(), slots.end())) add(slot);
}

ChangedWeights::~ChangedWeights() { put_back(); }

void ChangedWeights::add(std::size_t slot) {
  InputSet& set = problem_.slot_set(slot);
  const auto entries = problem_.host().state_of(set.model());
  const auto& state = set.state();
  for (std::size_t i = 0; i < std::min(entries.size(), state.size()); ++i) {
    const at::Tensor& live = state[i].live;
    // If two names share a tensor, the change would reach only one of their copies.
    const auto lies_there = [&](const Slot& other) {
      return other.live.storage().data() == live.storage().data();
    };
    if (entries[i].is_buffer || state[i].mutated || !live.is_floating_point() ||
        !live.is_contiguous() || live.numel() < kFewestChanged ||
        std::ranges::count_if(state, lies_there) != 1)
      continue;
    changes_.push_back({&set, i, {}, {}});
  }
}

bool ChangedWeights::change() {
  const at::NoGradGuard no_grad;
  put_back();
  std::ranges::shuffle(changes_, random_);
  for (Change& change : std::span(changes_).first(std::min(changes_.size(), kChangedTensors))) {
    const at::Tensor& live = change.set->state()[change.state].live;
    const auto count = static_cast<std::size_t>(
        std::clamp(live.numel() / kChangedShare, kFewestChanged, kMostChanged));
    std::set<std::int64_t> places;
    std::uniform_int_distribution<std::int64_t> any(0, live.numel() - 1);
    while (places.size() < count) places.insert(any(random_));
    change.places =
        at::tensor(std::vector<std::int64_t>(places.begin(), places.end())).to(live.device());
    change.before = live.view(-1).index_select(0, change.places);
    write(change, change.before.roll(1, 0));
  }
  problem_.device().synchronize();
  return !changes_.empty();
}

void ChangedWeights::put_back() {
  const at::NoGradGuard no_grad;
  for (Change& change : changes_) {
    if (!change.places.defined()) continue;
    write(change, change.before);
    change.places.reset();
  }
  problem_.device().synchronize();
}

void ChangedWeights::write(const Change& change, const at::Tensor& values) {
  // The set is not const, but returns const slots.
  auto& slot = const_cast<Slot&>(change.set->state()[change.state]);
  slot.live.view(-1).index_copy_(0, change.places, values);
  slot.source_view.view(-1).index_copy_(0, change.places, values);
  slot.digest = content_digest(slot.source_view);
}

}  // namespace kbench::worker
