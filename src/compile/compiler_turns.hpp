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

/// While it lives, a compiler of this process may run: beside others, or alone. In the order in
/// which they were asked for, so that one that waits to be alone is not passed by all others.
class CompilerTurn {
 public:
  enum class Kind : std::uint8_t { kBesideOthers, kAlone };
  explicit CompilerTurn(Kind kind);
  ~CompilerTurn();
  CompilerTurn(const CompilerTurn&) = delete;
  CompilerTurn& operator=(const CompilerTurn&) = delete;

 private:
  Kind kind_;
};

/// Whether a compile that worked up to its limit may be tried again alone, which takes as long, and
/// all others wait. Such tries take a minute of a process's time, and a quarter of what goes
/// beyond: many endless sources would stop a run.
bool take_time_alone(std::chrono::nanoseconds limit);

/// What waits for a compiler. Owners are served in turn, one of each after the other, so that many
/// requests of one owner do not hold up those of others.
template <typename Item>
class TurnQueue {
 public:
  /// An owner that is null is one of its own.
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
  /// Of a queue that is not empty.
  Item pop() {
    const auto first = items_.begin();
    round_ = first->first.first;
    Item item = std::move(first->second);
    items_.erase(first);
    if (items_.empty()) next_rounds_.clear();
    return item;
  }
  /// Empties it.
  std::vector<Item> take_all() {
    std::vector<Item> all;
    while (!empty()) all.push_back(pop());
    return all;
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, Item> items_;  ///< by round, then by age
  std::map<const void*, std::uint64_t> next_rounds_;               ///< of owners that wait
  std::uint64_t round_ = 0, pushed_ = 0;
};

/// What `compile(CompileTime&)` gives within `limit` and what is left of `budget` (null: no bound).
/// Where it takes too long it is tried once more with no other compiler of this process beside it,
/// since others may have been the reason; once for all compiles of a budget, and where the compiler
/// had work all the time only as take_time_alone() allows.
template <typename Result, typename Compile>
Result compile_in_time(std::chrono::milliseconds limit, CompileBudget* budget, Compile compile) {
  {
    const CompilerTurn turn(CompilerTurn::Kind::kBesideOthers);
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
