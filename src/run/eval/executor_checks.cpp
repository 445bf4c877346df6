// SPDX-License-Identifier: MIT
#include "run/eval/executor_checks.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "kbench/error.hpp"
#include "record/flags.hpp"
#include "run/schedule/failure_findings.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// Processors per check that runs at the same time, and the most of these checks.
constexpr unsigned kCoresPerCheck = 4, kMostChecks = 8;
/// If more records wait, judging waits for the checks.
constexpr std::size_t kMostWaiting = 64;
constexpr int kLowestPriority = 19;

EvalOptions options_of_checks(EvalOptions options) {
  options.device = "cpu";
  options.timing = "none";
  options.sanitize = kAllChecks;
  options.trials = 1;
  options.distributions = false;
  options.require_clean = options.require_own = false;
  options.profile = false;
  options.ncu.clear();
  options.kernel_arch.clear();
  options.other_sizes.clear();
  options.stored = nullptr;
  options.baselines = {"eager"};
  options.jobs = 1;
  options.reduce_sizes.when = ReduceSizesOptions::When::kOnCpu;
  if (options.call_limit_s <= 0) options.call_limit_s = kCheckedCallLimit_s;
  return options;
}

/// A run without an observer.
struct NoObserver : Observer {
  void planned(std::size_t, std::size_t) override {}
  void finished(const Record&) override {}
  void note(std::string_view) override {}
};

/// Rejects a correct candidate with a flag that `--require clean` does not allow.
void reject_unclean(Record& record) {
  if (record.outcome != Outcome::kCorrect) return;
  for (const FlagRow& row : flags()) {
    if (!row.is_unclean || std::ranges::find(record.flags, row.name) == record.flags.end())
      continue;
    const auto finding = std::ranges::find(record.findings, row.name,
                                           [](const Finding& one) { return one.kind.str(); });
    record.outcome = Outcome::kRejected;
    record.cause = "not_clean";
    record.message =
        fmt::format("{}: {}", row.name,
                    finding != record.findings.end() ? finding->message : std::string(row.meaning));
    record.timing.reset();
    record.speedup.clear();
    return;
  }
}

}  // namespace

void add_checked(const Record& checked, const json& checked_details, bool require_clean,
                 Record& record, json& details) {
  // At other sizes than its own a kernel may be wrong. Its races then prove nothing about it,
  // unless it is also wrong at its own sizes.
  const bool is_alike =
      checked.outcome == Outcome::kCorrect ||
      (record.outcome != Outcome::kCorrect &&
       (checked.outcome == Outcome::kMismatch || checked.outcome == Outcome::kNondeterministic));
  if (!is_alike) {
    record.checked_again = "unfinished";
    return;
  }
  record.checked_again = checked.findings.empty() ? "nothing_found" : "found";
  // Not each flag has a finding: the executor only knows that a clock was read.
  for (const std::string& flag : checked.flags) {
    const FlagRow* const row = find_flag(flag);
    if (row != nullptr && row->is_unclean &&
        std::ranges::find(record.flags, flag) == record.flags.end())
      record.flags.push_back(flag);
  }
  if (!checked.findings.empty()) {
    record.findings = checked.findings;
    put_likeliest_first(record.findings);
    record.findings_count = checked.findings_count;
    if (const auto found = checked_details.find("findings"); found != checked_details.end())
      details["findings"] = *found;
    if (record.outcome != Outcome::kCorrect)
      record.message += finding_words(record.findings.front());
  }
  if (require_clean) reject_unclean(record);
}

ExecutorChecks::ExecutorChecks(Installation installation, const EvalOptions& options,
                               const std::vector<Problem>& problems, int cancel_fd,
                               EvalRun::Sink deliver)
    : installation_(std::move(installation)),
      options_(options_of_checks(options)),
      require_clean_(options.require_clean),
      problems_(problems),
      cancel_fd_(cancel_fd),
      deliver_(std::move(deliver)) {}

ExecutorChecks::~ExecutorChecks() {
  {
    // After an error of the run, checks are of no use.
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  try {
    finish();
  } catch (...) {
    // The run already ends with an error.
  }
}

bool ExecutorChecks::takes(const Candidate& candidate, const Record& record) {
  const bool may_race = record.outcome == Outcome::kCorrect ||
                        record.outcome == Outcome::kMismatch ||
                        record.outcome == Outcome::kNondeterministic ||
                        (record.outcome == Outcome::kCrash && record.stage != Stage::kLoad);
  // Builds, and not words of the source, show that a module has CUDA kernels.
  return may_race && (candidate.kind != CandidateKind::kModule || record.compile.has_value());
}

void ExecutorChecks::add(const Candidate& candidate, Record record, json details) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting || fault_; });
  if (fault_) std::rethrow_exception(fault_);
  waiting_.push_back({candidate, std::move(record), std::move(details)});
  const unsigned most =
      std::clamp(std::thread::hardware_concurrency() / kCoresPerCheck, 1U, kMostChecks);
  if (idle_ < waiting_.size() && threads_.size() < most) threads_.emplace_back([this] { serve(); });
  changed_.notify_all();
}

std::optional<ExecutorChecks::Waiting> ExecutorChecks::take() {
  std::unique_lock lock(mutex_);
  ++idle_;
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  --idle_;
  if (waiting_.empty()) return std::nullopt;
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  changed_.notify_all();
  return next;
}

void ExecutorChecks::deliver(Waiting done) {
  try {
    deliver_(std::move(done.record), std::move(done.details));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::current_exception();
    changed_.notify_all();
  }
}

void ExecutorChecks::serve() {
  // On Linux this is the priority of the calling thread, which its children inherit.
  setpriority(PRIO_PROCESS, 0, kLowestPriority);
  std::optional<Waiting> current;
  std::string why;
  try {
    NoObserver observer;
    EvalRun run(installation_, options_, observer, cancel_fd_);
    const auto next = [&]() -> std::optional<Candidate> {
      current = take();
      const std::lock_guard lock(mutex_);
      return current && !abandoned_ ? std::optional(current->candidate) : std::nullopt;
    };
    run.run_stream(problems_, next, [&](const Record& checked, const json& checked_details) {
      Waiting done = std::move(*std::exchange(current, std::nullopt));
      add_checked(checked, checked_details, require_clean_, done.record, done.details);
      deliver(std::move(done));
    });
  } catch (const std::exception& error) {
    why = error.what();
  }
  // Candidates whose check was cancelled have no record, so a resumed run judges them again. If
  // checks cannot run, the verdicts stay.
  do {
    if (!current || is_readable(cancel_fd_)) continue;
    current->record.checked_again = "unfinished";
    if (!why.empty()) current->details["executor_check"] = why;
    deliver(std::move(*std::exchange(current, std::nullopt)));
  } while ((current = take()));
}

void ExecutorChecks::finish() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
  if (fault_) std::rethrow_exception(fault_);
}

}  // namespace kbench::run
