// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "kbench/run.hpp"

namespace kbench::cli {

/// Tells on stderr how a run goes on: one line that is rewritten where stderr is a terminal, else a
/// line for each candidate.
class Progress : public Observer {
 public:
  /// `quiet` tells nothing at all. What is judged, and what is counted of it, in words.
  explicit Progress(bool quiet, std::string things = "candidates", std::string counted = "failed");
  ~Progress() override;
  void planned(std::size_t total, std::size_t resumed) override;
  void finished(const Record& record) override;
  void note(std::string_view text) override;
  /// One of the things is done: what became of it, in some seconds.
  void done(const std::string& what, bool counts, double seconds);

 private:
  void rewrite(const std::string& line);
  std::string rate_and_rest() const;

  bool quiet_;
  std::string things_, counted_;
  bool terminal_;
  std::mutex mutex_;
  std::size_t total_ = 0, done_ = 0, count_ = 0;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace kbench::cli
