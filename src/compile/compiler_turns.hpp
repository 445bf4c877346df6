// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "compile/budget.hpp"

namespace kbench {

/// Permission for one compiler of this process to run, alongside others or alone, while the object
/// lives. Turns are granted in the order of requests, so later ones do not overtake a compiler that
/// waits to run alone.
class CompilerTurn {
 public:
  enum class Kind : std::uint8_t { kWithOthers, kAlone };
  explicit CompilerTurn(Kind kind);
  ~CompilerTurn();
  CompilerTurn(const CompilerTurn&) = delete;
  CompilerTurn& operator=(const CompilerTurn&) = delete;

 private:
  Kind kind_;
};

/// True if a compile that worked all the time until its limit may be tried again alone, while all
/// others wait. All such tries share one minute plus a quarter of the process's age. Otherwise many
/// endless sources would stop a run.
bool take_time_alone(std::chrono::nanoseconds limit);

/// Requests that wait for a compiler. Owners are served in turn, so many requests of one owner do
/// not delay those of others.
template <typename Item>
class TurnQueue {
 public:
  /// Each item with a null owner counts as an owner of its own.
  void push(const void* owner, Item item) {
    std::uint64_t round = round_;
    if (owner != nullptr) {
      auto& next = next_rounds_[owner];
      round = std::max(round_, next);
      next = round + 1;
    }
    items_.emplace(std::pair(round, pushed_++), std::move(item));
  }
  bool empty() const { return items_.empty(); }
  /// The queue must not be empty.
  Item pop() {
    const auto first = items_.begin();
    round_ = first->first.first;
    Item item = std::move(first->second);
    items_.erase(first);
    if (items_.empty()) next_rounds_.clear();
    return item;
  }
  /// Removes and returns all items.
  std::vector<Item> take_all() {
    std::vector<Item> all;
    while (!empty()) all.push_back(pop());
    return all;
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, Item> items_;  ///< by round, then by age
  std::map<const void*, std::uint64_t> next_rounds_;               ///< of waiting owners
  std::uint64_t round_ = 0, pushed_ = 0;
};

/// Runs `compile(CompileTime&)` within `limit` and the rest of `budget` (null: no limit). After a
/// timeout, tries once more while no other compiler of this process runs, because others may have
/// slowed it down. A budget allows one such try. If the compiler worked all the time,
/// take_time_alone() must also allow it.
template <typename Result, typename Compile>
Result compile_in_time(std::chrono::milliseconds limit, CompileBudget* budget, Compile compile) {
  {
    const CompilerTurn turn(CompilerTurn::Kind::kWithOthers);
    if (budget != nullptr && budget->left() == CompileBudget::Duration::zero())
      return budget_is_spent(*budget);
    CompileTime time(limit, budget);
    Result result = compile(time);
    const auto* error = std::get_if<CompileError>(&result);
    if (error == nullptr || error->cause != "compile_timeout") return result;
    if (!time.has_waited() && !take_time_alone(limit)) return result;
    if (budget != nullptr && !budget->take_second_try()) return result;
  }
  const CompilerTurn turn(CompilerTurn::Kind::kAlone);
  if (budget != nullptr)
    limit = std::min(limit, std::chrono::ceil<std::chrono::milliseconds>(budget->all()));
  CompileTime time(limit, nullptr);
  return compile(time);
}

}  // namespace kbench
