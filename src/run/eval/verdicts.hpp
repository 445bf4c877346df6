// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "kbench/record.hpp"

namespace kbench::run {

/// The verdicts of one run, by what they depend on: equal code for one problem is judged once. For
/// any thread.
class Verdicts {
 public:
  /// Of as many verdicts as are `kept`, the latest.
  explicit Verdicts(std::size_t kept) : kept_(kept) {}

  /// What a verdict depends on, in a run: problem, code and kind, and by whose rules in which row.
  static std::string key_of(const Record& record);

  /// The verdict that equal code got, on the record of a candidate that has none yet: with its own
  /// identity, named in the texts, and with reference to the one that was judged.
  std::optional<Record> find(const Record& blank) const;
  /// Remembers a verdict, unless it is a fault of the harness, which the next one need not have.
  void keep(const Record& judged);
  /// Forgets all.
  void clear();

 private:
  std::size_t kept_;
  mutable std::mutex mutex_;
  std::map<std::string, Record> records_;
  std::deque<std::string> order_;  ///< keys, the oldest first
};

}  // namespace kbench::run
