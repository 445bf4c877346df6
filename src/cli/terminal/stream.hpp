// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
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

/// A candidate from one line of `--candidates -`: an object with `problem` and `source`, and
/// optionally `id`, `model`, `sample` and `kind`. Throws UsageError that says what is wrong with
/// the line.
Candidate candidate_from_line(const std::string& line, const std::vector<Problem>& problems,
                              std::size_t line_number);

}  // namespace kbench::cli
