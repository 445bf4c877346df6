// SPDX-License-Identifier: MIT
#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

#include "kbench/error.hpp"
#include "record/stored_baselines.hpp"
#include "run/environment.hpp"
#include "run/eval/eval_run.hpp"
#include "run/schedule/group_queue.hpp"

namespace kbench {
namespace {

using run::Prepared;

/// The number of judges that each device queue keeps open for a stream of candidates.
constexpr std::size_t kStreamJudges = 4;
/// The number of candidates that a GPU's queue holds: the current one, and those it may prefetch.
constexpr std::size_t kGpuWindow = 4;
/// The fewest candidates of one problem in a group for a queue, if there are several queues. Each
/// queue computes its own reference, so small groups would waste time.
constexpr std::size_t kSmallestGroup = 8;

}  // namespace

EvalRun::EvalRun(Installation installation, EvalOptions options, Observer& observer, int cancel_fd)
    : impl_(std::make_unique<Impl>(std::move(installation), std::move(options), observer,
                                   cancel_fd)) {}
EvalRun::EvalRun(const std::filesystem::path& programs, EvalOptions options, Observer& observer,
                 int cancel_fd)
    : EvalRun(read_installation(programs / "kbench.json"), std::move(options), observer,
              cancel_fd) {}
EvalRun::~EvalRun() = default;

const std::vector<QueueDevice>& EvalRun::devices() const { return impl_->devices; }
const std::string& EvalRun::secret() const { return impl_->secret; }
void EvalRun::take_times(std::shared_ptr<const StoredBaselines> times) {
  impl_->options.stored = std::move(times);
  impl_->verdicts.clear();  // verdicts depend on the earlier times
}

RunHeader EvalRun::header(std::vector<std::string> arguments, std::string problem_set_hash) {
  impl_->measure_devices();
  RunHeader header = impl_->header(std::move(arguments), std::move(problem_set_hash),
                                   impl_->pool->nvrtc_version());
  header.options["reuse"] = impl_->options.reuse;  // changes no verdict
  header.environment["sandbox"] = run::sandbox_json(impl_->options.sandbox);
  return header;
}

Record EvalRun::blank_record(const Candidate& candidate, const Problem& problem) const {
  return impl_->blank_record(candidate, problem);
}

const std::variant<Signature, std::string>& EvalRun::signature(const Problem& problem) {
  return impl_->signature_of(problem);
}

std::vector<CheckedCandidate> EvalRun::check(const std::vector<Problem>& problems,
                                             const std::vector<Candidate>& candidates) {
  // Prepares all candidates before it waits for the first.
  std::deque<Prepared> prepared;
  for (const auto& candidate : candidates) {
    Prepared& item = prepared.emplace_back();
    item.candidate = &candidate;
    if (candidate.problem.empty()) {
      item.problem = &run::no_problem();
      impl_->prepare_unplaced(item);
    } else {
      item.problem = &*std::ranges::find(problems, candidate.problem, &Problem::key);
      impl_->prepare(item);
      const Record blank = blank_record(candidate, *item.problem);
      item.record.sizes = blank.sizes;
      item.record.reduced_sizes = blank.reduced_sizes;
    }
  }
  std::vector<CheckedCandidate> checked;
  checked.reserve(prepared.size());
  for (Prepared& item : prepared)
    checked.push_back(run::checked_candidate(item, impl_->check_setup()));
  return checked;
}

bool EvalRun::run(const std::vector<Problem>& problems, const std::vector<Candidate>& candidates,
                  const Sink& sink) {
  std::map<std::string_view, const Problem*> by_key;
  for (const auto& problem : problems) by_key[problem.key] = &problem;
  // One group per problem, in the problems' order, so that each reference is opened once.
  std::map<const Problem*, std::vector<Prepared>> prepared;
  for (const auto& candidate : candidates) {
    const Problem* problem = by_key.at(candidate.problem);
    Prepared item;
    item.candidate = &candidate;
    item.problem = problem;
    item.record = blank_record(candidate, *problem);
    prepared[problem].push_back(std::move(item));
  }
  std::vector<const Problem*> used;
  for (const auto& problem : problems)
    if (prepared.contains(&problem)) used.push_back(&problem);
  run::DeviceQueues device_queues = impl_->device_queues(1 + impl_->options.other_sizes.size());
  Impl::Checking checking(*impl_, problems, sink);
  const auto& counts = device_queues.counts();
  const std::size_t queue_count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  // Makes several groups for each queue, so that all queues end at about the same time.
  const std::size_t share = queue_count == 1
                                ? candidates.size()
                                : std::max(kSmallestGroup, candidates.size() / (4 * queue_count));
  run::GroupQueue queue;
  std::thread preparer([&] {
    try {
      // Requests all signatures first; candidates are prepared as soon as their problem is known.
      for (const Problem* problem : used) impl_->ask_signature(*problem);
      std::map<const Problem*, std::vector<Prepared*>> groups;
      for (const Problem* problem : used) {
        std::map<std::string, Prepared*> first;  // for each distinct code
        for (auto& item : prepared.at(problem)) {
          Prepared* same = first.emplace(run::Verdicts::key_of(item.record), &item).first->second;
          item.later = same != &item && impl_->may_reuse(item);
          if (!item.later && impl_->devices.front().gpu) impl_->send_ahead(item);
          (item.later ? same->copies : groups[problem]).push_back(&item);
        }
      }
      for (const Problem* problem : used) {
        const auto& group = groups[problem];
        for (Prepared* item : group) {
          impl_->prepare(*item);
          impl_->prepare_other_sizes(*item);
        }
        for (std::size_t begin = 0; begin < group.size(); begin += share)
          queue.push(
              {group.begin() + static_cast<std::ptrdiff_t>(begin),
               group.begin() + static_cast<std::ptrdiff_t>(std::min(begin + share, group.size()))});
      }
      queue.close({});
    } catch (...) {
      queue.close(std::current_exception());
    }
  });
  const std::size_t window = impl_->devices.front().gpu ? kGpuWindow : 1;
  const auto work = [&](run::DeviceQueue& device_queue) {
    std::vector<Prepared*> taken;
    for (std::size_t at = 0;; ++at) {
      while (taken.size() < at + window) {
        // The next group may come late; only an idle queue waits for it.
        auto group = queue.take(false);
        if (group.empty() && taken.size() == at) {
          device_queue.rest();
          group = queue.take(true);
        }
        if (group.empty()) break;
        taken.insert(taken.end(), group.begin(), group.end());
      }
      if (at == taken.size()) return;
      impl_->finish(device_queue, *taken[at], run::Following(taken).subspan(at + 1), sink);
    }
  };
  const run::Joined joined(preparer);
  const bool finished = device_queues.run(work);
  checking.finish();
  return finished && !impl_->cancelled();
}

bool EvalRun::run_stream(const std::vector<Problem>& problems,
                         const std::function<std::optional<Candidate>()>& next, const Sink& sink) {
  std::map<std::string_view, const Problem*> by_key;
  for (const auto& problem : problems) by_key[problem.key] = &problem;
  std::mutex input_mutex;
  // A queue that waits for its next candidate must not hold anything that another queue waits for.
  const std::size_t judges = kStreamJudges * (1 + impl_->options.other_sizes.size());
  Impl::Checking checking(*impl_, problems, sink);
  const bool finished =
      impl_->device_queues(judges).run_single([&](run::DeviceQueue& device_queue) {
        while (true) {
          std::optional<Candidate> candidate;
          Prepared prepared;
          {
            const std::lock_guard lock(input_mutex);
            candidate = next();
            if (!candidate) return;
            prepared.candidate = &*candidate;
            prepared.problem = by_key.at(candidate->problem);
            prepared.record = blank_record(*candidate, *prepared.problem);
            prepared.later = impl_->may_reuse(prepared) && impl_->verdicts.find(prepared.record);
            if (!prepared.later) {
              impl_->prepare(prepared);
              impl_->prepare_other_sizes(prepared);
            }
          }
          impl_->finish(device_queue, prepared, {}, sink);
        }
      });
  checking.finish();
  return finished && !impl_->cancelled();
}

}  // namespace kbench
