// SPDX-License-Identifier: MIT
#include "run/schedule/size_choice.hpp"

namespace kbench::run {
namespace {

/// After this much total search time, the user gets a message about it.
constexpr auto kSilence = std::chrono::seconds(1);

}  // namespace

const ChosenSizes& SizeChoice::of(const Problem& problem) {
  const auto found = chosen_.find(problem.key);
  if (found != chosen_.end()) return found->second;
  const auto start = std::chrono::steady_clock::now();
  ChosenSizes sizes =
      source_.choose_sizes(problem, device_class_, options_.overrides, options_.reduce_sizes);
  spent_ += std::chrono::steady_clock::now() - start;
  if (spent_ > kSilence && !told_) {
    observer_.note(
        "searching for reduced sizes for the CPU (--reduce-sizes); kbench stores them for later "
        "runs");
    told_ = true;
  }
  return chosen_.emplace(problem.key, std::move(sizes)).first->second;
}

}  // namespace kbench::run
