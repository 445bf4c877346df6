// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kbench/run.hpp"

namespace kbench::cli {

/// Prints a run's progress on stderr: one line that is rewritten if stderr is a terminal, else one
/// line per candidate. If a candidate takes long, it says so from time to time.
class Progress : public Observer {
 public:
  /// `quiet`: prints nothing. `things`: the word for what is judged. `counted`: the word for the
  /// things that done() counts.
  explicit Progress(bool quiet, std::string things = "candidates", std::string counted = "failed");
  ~Progress() override;
  void planned(std::size_t total, std::size_t resumed) override;
  void started(const Record& record) override;
  void finished(const Record& record) override;
  void note(std::string_view text) override;
  /// Reports one finished thing: its result `what`, if it is `counted`, and how many seconds it
  /// took.
  void done(const std::string& what, bool counts, double seconds);
  /// The number of finished things.
  std::size_t done_count();
  /// Erases the live line, so that other output can follow.
  void end();

 private:
  void rewrite(const std::string& line);
  std::string rate_and_rest() const;
  std::string count_text() const;
  /// A thread's loop: says which candidate takes long.
  void watch();

  bool quiet_;
  std::string things_, counted_;
  bool terminal_;
  std::mutex mutex_;
  std::size_t total_ = 0, done_ = 0, count_ = 0;
  bool line_open_ = false, ended_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point told_;  ///< when the last line was printed
  /// The candidates that are judged now, and since when.
  std::vector<std::pair<std::string, std::chrono::steady_clock::time_point>> judged_;
  std::condition_variable changed_;
  std::thread watch_;
};

}  // namespace kbench::cli
