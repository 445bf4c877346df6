// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "kbench/record.hpp"

namespace kbench::run {

/// The verdict `judged` on equal code, as a record for the candidate `blank`. The record and its
/// messages have the candidate's own identity; `reused_from` names the judged candidate.
Record reused(Record judged, const Record& blank);

/// A run's verdicts, so that equal code for one problem is judged once. Thread-safe.
class Verdicts {
 public:
  /// Keeps the latest `kept` verdicts.
  explicit Verdicts(std::size_t kept) : kept_(kept) {}

  /// The key of a verdict: all that decides it. Unlike record_key(), it leaves out whose sample it
  /// is.
  static std::string key_of(const Record& record);

  /// A verdict of equal code, as a record for the candidate `blank` (reused()); nothing if there is
  /// none.
  std::optional<Record> find(const Record& blank) const;
  /// Keeps a verdict. Ignores a harness_fault, because it may not recur.
  void keep(const Record& judged);
  void clear();

 private:
  std::size_t kept_;
  mutable std::mutex mutex_;
  std::map<std::string, Record> records_;
  std::deque<std::string> order_;  ///< keys, the oldest first
};

}  // namespace kbench::run
