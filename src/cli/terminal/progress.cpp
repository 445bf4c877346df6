// SPDX-License-Identifier: MIT
#include "cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report/text/text.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::cli {
namespace {

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

/// Ignores a failed write, so that the run continues if stderr is closed.
void tell(const std::string& text) { std::fputs(report::without_commands(text).c_str(), stderr); }

/// After this time without a line, a candidate that is still judged is named again.
constexpr auto kSilence = std::chrono::seconds(20), kSilenceOnTerminal = std::chrono::seconds(2);

std::string name_of(const Record& record) {
  return fmt::format("{} {} #{}", report::printable(record.problem.str()),
                     report::printable(record.model.str()), record.sample);
}

std::string clock_text(double seconds) {
  const auto whole = std::llround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(bool quiet, std::string things, std::string counted)
    : quiet_(quiet),
      things_(std::move(things)),
      counted_(std::move(counted)),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (watch_.joinable()) watch_.join();
  end();
}

void Progress::end() {
  const std::lock_guard lock(mutex_);
  if (line_open_) tell("\r\x1b[K");
  line_open_ = false;
}

void Progress::rewrite(const std::string& line) {
  // A line that wraps cannot be rewritten.
  tell(fmt::format("\r{}\x1b[K", report::fitted(line, terminal_width() - 1)));
  std::fflush(stderr);
  line_open_ = true;
}

void Progress::planned(std::size_t total, std::size_t resumed) {
  const std::lock_guard lock(mutex_);
  total_ = total;
  start_ = std::chrono::steady_clock::now();
  if (quiet_ || resumed == 0) return;
  tell(fmt::format("{} {} have their verdict already; {} are left\n", resumed, things_, total));
}

std::string Progress::rate_and_rest() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double rate = static_cast<double>(done_) / std::max(elapsed.count(), 1e-3);
  if (total_ == 0) return fmt::format("{:.1f}/s", rate);
  const double left = static_cast<double>(total_ - done_) / rate;
  return fmt::format("{:.1f}/s, {} left", rate, clock_text(left));
}

std::string Progress::count_text() const {
  return total_ > 0 ? fmt::format("{}/{}", done_, total_) : fmt::format("{}", done_);
}

void Progress::started(const Record& record) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  judged_.emplace_back(name_of(record), std::chrono::steady_clock::now());
  if (!watch_.joinable()) watch_ = std::thread([this] { watch(); });
}

void Progress::watch() {
  const auto silence = terminal_ ? kSilenceOnTerminal : kSilence;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, silence / 2, [this] { return ended_; })) {
    const auto now = std::chrono::steady_clock::now();
    if (judged_.empty() || now - told_ < silence || now - judged_.front().second < silence)
      continue;
    const std::chrono::duration<double> for_s = now - judged_.front().second;
    const std::string text = fmt::format("[{}] still judging {} ({:.0f} s)", count_text(),
                                         judged_.front().first, for_s.count());
    terminal_ ? rewrite(text) : tell(text + "\n");
    told_ = now;
  }
}

void Progress::finished(const Record& record) {
  const std::string name = name_of(record);
  {
    const std::lock_guard lock(mutex_);
    const auto judged = std::ranges::find(judged_, name, [](const auto& one) { return one.first; });
    if (judged != judged_.end()) judged_.erase(judged);
  }
  done(fmt::format("{}: {}", name, to_string(record.outcome)), record.outcome != Outcome::kCorrect,
       record.seconds);
}

void Progress::done(const std::string& what, bool counts, double seconds) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (counts) ++count_;
  if (quiet_) return;
  told_ = std::chrono::steady_clock::now();
  if (terminal_)
    return rewrite(
        fmt::format("[{}] {}, {} {} · {}", count_text(), rate_and_rest(), count_, counted_, what));
  tell(fmt::format("[{}] {} ({:.2f} s; {}, {} {})\n", count_text(), what, seconds, rate_and_rest(),
                   count_, counted_));
}

std::size_t Progress::done_count() {
  const std::lock_guard lock(mutex_);
  return done_;
}

void Progress::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (quiet_) return;
  if (terminal_) return rewrite(std::string(text));
  tell(fmt::format("{}\n", text));
}

}  // namespace kbench::cli
