// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/report_options.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/terminal.hpp"
#include "record/run_follower.hpp"
#include "report/model/tables.hpp"
#include "report/text/console_lines.hpp"
#include "report/text/text.hpp"

namespace kbench::cli {
namespace {

constexpr std::size_t kNewestFailures = 8;
constexpr double kRecent_s = 60;  // window of the rate

struct WatchArguments {
  std::filesystem::path run;
  std::vector<std::string> selections;
  double interval_s = 1;
  bool once = false;
};

double now_s() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count();
}

std::string duration_text(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// The state of a run, from the lines read so far.
class ScoredSample {
 public:
  explicit ScoredSample(Selection selection) : selection_(std::move(selection)) {}

  void add(RunUpdate update) {
    RunFile part;
    part.manifest = std::move(update.manifest);
    part.records = std::move(update.records);
    selection_.apply(part);
    for (const ManifestEntry& entry : part.manifest) planned_.insert(key_of(entry));
    for (const Record& record : part.records) take(record);
    bad_lines_ += update.bad_lines;
    if (!update.headers.empty() || update.ended || !part.records.empty()) ended_ = update.ended;
  }

  bool ended() const { return ended_; }
  std::size_t finished() const { return outcomes_.size(); }

  void write(report::ConsoleLines& out, const std::string& name, bool is_written) const {
    const bool complete = finished() == planned_.size() && faults_.empty();
    const std::string state = ended_       ? "the run has ended"
                              : is_written ? "the run is going on"
                                           : "the run was interrupted (--resume continues it)";
    out.toned(complete && ended_ ? report::Tone::kGood : report::Tone::kBold,
              fmt::format("{}  {}", report::printable(name), state));
    const double share =
        planned_.empty() ? 0
                         : static_cast<double>(finished()) / static_cast<double>(planned_.size());
    constexpr std::size_t kBar = 30;
    const auto full = static_cast<std::size_t>(share * kBar);
    out.labelled("", 2,
                 fmt::format("[{}{}] {}/{}, {:.0f} %{}", std::string(full, '#'),
                             std::string(kBar - full, '.'), finished(), planned_.size(),
                             std::floor(share * 100), is_written && !ended_ ? rate_text() : ""));
    std::map<Outcome, std::size_t> counts;
    std::map<Interned, std::pair<std::size_t, std::size_t>> models;
    for (const auto& [key, outcome] : outcomes_) {
      ++counts[outcome];
      auto& [correct, all] = models[std::get<0>(key)];
      ++all;
      correct += outcome == Outcome::kCorrect ? 1 : 0;
    }
    std::string text;
    for (const auto& [outcome, count] : counts)
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", count, report::outcome_text(outcome));
    out.labelled("", 2, text);
    if (models.size() > 1) {
      text.clear();
      for (const auto& [model, count] : models)
        text += fmt::format("{}{} {}/{} correct", text.empty() ? "" : ", ",
                            report::printable(model.str()), count.first, count.second);
      out.labelled("", 2, text);
    }
    if (!faults_.empty())
      out.labelled("!", 2,
                   fmt::format("{} of kbench itself: the run is incomplete; --resume tries again",
                               report::counted(faults_.size(), "fault")));
    if (bad_lines_ > 0)
      out.labelled("!", 2,
                   fmt::format("{} could not be read", report::counted(bad_lines_, "line")));
    if (failures_.empty()) return;
    out.heading("Newest failures");
    for (const Record& record : failures_) {
      out.labelled("", 2,
                   fmt::format("{}  {}", report::outcome_text(record.outcome, record.cause),
                               report::candidate_name(record)));
      out.labelled("", 4, report::failure_text(record));
    }
  }

  /// One line, for output that is not a terminal.
  std::string line() const {
    std::size_t correct = 0;
    for (const auto& [key, outcome] : outcomes_) correct += outcome == Outcome::kCorrect ? 1 : 0;
    return fmt::format("{}/{}, {} correct{}", finished(), planned_.size(), correct,
                       ended_ ? "; the run has ended" : rate_text());
  }

 private:
  using Key = std::tuple<Interned, Interned, int>;
  template <typename Sample>
  static Key key_of(const Sample& sample) {
    return {sample.model, sample.problem, sample.sample};
  }

  void take(const Record& record) {
    const Key key = key_of(record);
    // The record is not in the manifest, or the selection leaves it out.
    if (!planned_.contains(key) || !selection_.lists(record)) return;
    if (record.outcome == Outcome::kHarnessFault) {
      if (!outcomes_.contains(key)) faults_.insert(key);
      return;
    }
    faults_.erase(key);
    outcomes_[key] = record.outcome;
    times_.push_back(record.ended_at.value_or(now_s()));
    while (times_.size() > 2 && times_.back() - times_.front() > kRecent_s) times_.pop_front();
    if (record.outcome == Outcome::kCorrect) return;
    failures_.push_front(record);
    if (failures_.size() > kNewestFailures) failures_.pop_back();
  }

  /// ", 3.2/s, 0:12 left", from the verdicts of the last minute.
  std::string rate_text() const {
    if (times_.size() < 2) return "";
    const double span = std::max(now_s(), times_.back()) - times_.front();
    if (span <= 0) return "";
    const double rate = static_cast<double>(times_.size() - 1) / span;
    const double left = static_cast<double>(planned_.size() - finished()) / rate;
    return fmt::format(", {:.3g}/s, {} left", rate, duration_text(left));
  }

  Selection selection_;
  std::set<Key> planned_, faults_;
  std::map<Key, Outcome> outcomes_;
  std::deque<Record> failures_;  // newest first
  std::deque<double> times_;
  std::uint64_t bad_lines_ = 0;
  bool ended_ = false;
};

/// Waits; returns false if the user cancels.
bool wait(int cancel_fd, double seconds) {
  pollfd cancel{.fd = cancel_fd, .events = POLLIN, .revents = 0};
  return ::poll(&cancel, 1, static_cast<int>(seconds * 1000)) == 0;
}

int watch(const WatchArguments& arguments) {
  RunFollower follower(arguments.run);
  ScoredSample scored_sample(selection_of(arguments.selections));
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const int cancel_fd = install_cancel();
  std::string last;
  while (true) {
    for (bool more = true; more;) {
      RunUpdate update = follower.poll();
      more = update.more;
      scored_sample.add(std::move(update));
    }
    const bool is_written = follower.is_written();
    const bool is_last = scored_sample.ended() || !is_written || arguments.once;
    if (terminal || is_last) {
      bool color = false;
      int width = 100;
      fit_terminal(color, width);
      // Starts at the top and erases the old text, so that nothing flickers.
      if (terminal && !arguments.once) std::cout << "\x1b[H\x1b[2J";
      report::ConsoleLines out(std::cout, color, width);
      scored_sample.write(out, arguments.run.string(), is_written);
      std::cout.flush();
    } else if (std::string line = scored_sample.line(); line != last) {
      std::cout << line << std::endl;
      last = std::move(line);
    }
    if (is_last) return 0;
    if (!wait(cancel_fd, arguments.interval_s)) return kInterrupted;
  }
}

}  // namespace

Subcommand add_watch(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "watch", "Follow a run of another process: its progress, speed and failures");
  auto arguments = std::make_shared<WatchArguments>();
  command->option_defaults()->group(group::kShown);
  command->add_option("RUN", arguments->run, "run file")->required();
  add_select_option(*command, arguments->selections);
  command->option_defaults()->group(group::kOutput);
  command->add_option("--interval", arguments->interval_s, "seconds between two reads of the file")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  command->add_flag("--once", arguments->once, "show the current state once, and exit");
  return {command, [arguments] { return watch(*arguments); }};
}

}  // namespace kbench::cli
