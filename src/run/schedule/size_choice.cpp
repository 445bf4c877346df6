// SPDX-License-Identifier: MIT
#include "run/schedule/size_choice.hpp"

#include <fmt/format.h>

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
  if (const auto& reduced = sizes.reduced_sizes; reduced && !reduced->within)
    observer_.note(
        fmt::format("{} needs {} at the smallest sizes that are found, which may take minutes on "
                    "the CPU: choose "
                    "sizes with --set",
                    problem.key, cost_text(reduced->bytes, reduced->flops)));
  return chosen_.emplace(problem.key, std::move(sizes)).first->second;
}

}  // namespace kbench::run
