// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/problem.hpp"

namespace kbench::cli {

/// Reads lines of standard input as they arrive. The input ends when the cancel descriptor becomes
/// readable.
class LineReader {
 public:
  explicit LineReader(int cancel_fd) : cancel_fd_(cancel_fd) {}
  /// The next line without its line end, or nothing at the end of the input.
  std::optional<std::string> next();

 private:
  int cancel_fd_;
  std::string buffer_;
  bool ended_ = false;
};

/// The numbers of a stream's samples.
class SampleNumbers {
 public:
  /// Gives a candidate without a number (kNone) the least free one of its model and problem. Throws
  /// UsageError if its number is taken: a later record would replace the earlier one.
  void give(Candidate& candidate);
  static constexpr int kNone = -1;

 private:
  /// By model and problem: the numbers that are taken, and one below which all are.
  struct Taken {
    std::set<int> numbers;
    int below = 0;
  };
  std::map<std::pair<std::string, std::string>, Taken> taken_;
};

/// A candidate from one line of `--candidates -`: an object with `problem` and `source`, and
/// optionally `id`, `model`, `sample` (else SampleNumbers::kNone) and `kind`. Throws UsageError
/// that says what is wrong with the line.
Candidate candidate_from_line(const std::string& line, const std::vector<Problem>& problems,
                              std::size_t line_number);

}  // namespace kbench::cli
