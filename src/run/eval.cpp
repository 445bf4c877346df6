// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "kbench/compile.hpp"
#include "kbench/error.hpp"
#include "kbench/hash.hpp"
#include "kbench/run.hpp"
#include "kbench/version.hpp"
#include "run/check.hpp"
#include "run/device_lanes.hpp"
#include "run/environment.hpp"
#include "run/eval_options.hpp"
#include "run/gpu_lock.hpp"
#include "run/group_queue.hpp"
#include "run/judge_hash.hpp"
#include "run/judge_kernels.hpp"
#include "run/lane_device.hpp"
#include "run/other_sizes.hpp"
#include "run/scout.hpp"
#include "run/size_choice.hpp"
#include "run/verdicts.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using run::Prepared;

/// Judges that a stream of candidates keeps open per lane.
constexpr std::size_t kStreamJudges = 4;
/// Candidates that a GPU's lane looks at: this one, and those that it may start ahead.
constexpr std::size_t kGpuWindow = 4;
/// Candidates of one problem that a lane takes at least, where other lanes could share them: each
/// lane computes its own reference.
constexpr std::size_t kSmallestGroup = 8;
/// Verdicts that wait for equal code.
constexpr std::size_t kKeptVerdicts = 4096;
/// Share of the machine's memory that one candidate's process may hold.
constexpr double kCandidateMemoryShare = 0.7;

}  // namespace

struct EvalRun::Impl {
  Impl(Installation from, EvalOptions asked, Observer& who, int cancel)
      : installation(std::move(from)), options(std::move(asked)), observer(who), cancel_fd(cancel) {
    host.emplace(installation, cancel_fd);  // imports torch while the rest is looked at
    host->cage_candidates(options.cage);
    devices = choose_devices(options.device,
                             options.device == "cpu" ? std::vector<GpuInfo>{} : probe_gpus());
    for (const auto& device : devices)
      if (device.gpu) locks.push_back(run::lock_gpu(*device.gpu));
    source.emplace(installation, cancel_fd, &*host);
    sizes.emplace(*source, options, std::string(device_class()), observer);
    secret = run::by_kernelbench(options) ? "kernelbench"
             : options.seed               ? fmt::format("public:{}", *options.seed)
                                          : protocol::random_hex(32);
    CompilerSetup setup;
    setup.compiler = installation.compiler;
    setup.nvrtc = installation.nvrtc;
    setup.includes = installation.cuda_includes;
    setup.cache = installation.cache / "compiled";
    setup.jobs =
        options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    setup.limit = std::chrono::milliseconds(static_cast<long long>(options.compile_limit_s * 1000));
    const unsigned jobs = setup.jobs;
    const auto limit = setup.limit;
    pool.emplace(std::move(setup));
    HostSetup host_half = host_setup(installation);
    host_half.jobs = jobs;
    host_half.limit = std::max(limit, host_half.limit);
    NvccSetup nvcc = nvcc_setup(installation);
    // Each takes two cores, and a gigabyte or two on each.
    nvcc.jobs = std::max(1u, jobs / 2);
    nvcc.limit = std::chrono::milliseconds(static_cast<long long>(options.nvcc_limit_s * 1000));
    builder.emplace(*pool, std::move(host_half), std::move(nvcc), run::arch_of(devices.front()));
    if (devices.front().gpu) {
      const std::string arch = run::arch_of(devices.front());
      judge_kernels = pool->compile(run::judge_kernels_request(arch));
      flush_kernel = pool->compile(run::flush_kernel_request(arch));
    }
    const auto load_limit =
        std::chrono::milliseconds(static_cast<long long>(options.load_limit_s * 1000));
    scouts.emplace(*host, *builder, jobs, load_limit, candidate_memory_bytes(), cancel_fd);
    options_hash = sha256_hex(run::options_json(options).dump() +
                              (options.seed ? std::to_string(*options.seed) : ""));
  }

  std::string_view device_class() const { return devices.front().gpu ? "gpu" : "cpu"; }

  static std::size_t candidate_memory_bytes() {
    return static_cast<std::size_t>(kCandidateMemoryShare *
                                    static_cast<double>(run::total_memory_bytes()));
  }

  bool cancelled() const {
    pollfd cancel{cancel_fd, POLLIN, 0};
    return poll(&cancel, 1, 0) > 0;
  }

  /// Signature, or the problem's failure; asked once per problem.
  const std::variant<Signature, std::string>& signature_of(const Problem& problem) {
    ask_signature(problem);
    return signatures.at(problem.key).get();
  }

  void ask_signature(const Problem& problem) {
    if (!signatures.contains(problem.key))
      signatures.emplace(problem.key,
                         source->ask(problem, sizes->of(problem).sizes, options.precision));
  }

  void prepare(Prepared& prepared) {
    prepared.later = false;
    const auto& signature = signature_of(*prepared.problem);
    if (const auto* failure = std::get_if<std::string>(&signature))
      return run::decide(prepared, Outcome::kProblemFailure, Stage::kRoster, "reference_failed",
                         *failure);
    const auto& found = std::get<Signature>(signature);
    const auto& device = devices.front();
    prepared.sizes = sizes->of(*prepared.problem).sizes;
    prepared.needed_bytes = run::needed_bytes(found);
    if (const auto unfit = run::unfit(found, device, prepared.record.shrunk, options.shrink))
      return run::decide(prepared, Outcome::kProblemFailure, Stage::kRoster, unfit->cause,
                         unfit->message);
    if (prepared.candidate->kind == CandidateKind::kKernel)
      return run::prepare(prepared, found, run::limits_of(device), kernel_arch(),
                          options.call_limit_s, *pool);
    run::prepare_module(prepared, found, options.entry, options.call_limit_s);
    if (prepared.module && !prepared.scouted.valid())
      prepared.scouted = scouts->send(*prepared.module);
  }

  /// What a module wants built depends on no signature: compilers begin while those are found.
  void send_ahead(Prepared& prepared) {
    const Candidate& candidate = *prepared.candidate;
    if (candidate.kind == CandidateKind::kKernel || !candidate.reject_cause.empty()) return;
    prepared.sizes = sizes->of(*prepared.problem).sizes;
    run::begin_module(prepared, options.entry, options.precision);
    prepared.scouted = scouts->send(*prepared.module);
  }

  /// What is blank in a candidate's record before it is judged.
  Record blank_record(const Candidate& candidate, const Problem& problem);

  const Problem* problem_at(const Problem& problem, const std::string& name) {
    const auto key = std::pair(problem.key, name);
    if (!other_problems.contains(key))
      other_problems.emplace(key, run::at_sizes(problem, name, std::string(device_class())));
    const auto& found = other_problems.at(key);
    return found ? &*found : nullptr;
  }

  void prepare_other_sizes(Prepared& prepared) {
    for (const std::string& name : options.other_sizes) {
      const Problem* problem = problem_at(*prepared.problem, name);
      if (problem == nullptr) continue;
      auto other = std::make_unique<Prepared>();
      other->candidate = prepared.candidate;
      other->problem = problem;
      other->record = blank_record(*prepared.candidate, *problem);
      other->timed = false;
      prepare(*other);
      prepared.at_other_sizes.emplace_back(name, std::move(other));
    }
  }

  std::string kernel_arch() const {
    return options.kernel_arch.empty() ? run::arch_of(devices.front()) : options.kernel_arch;
  }

  /// The same for a candidate that belongs to no problem.
  void prepare_unplaced(Prepared& prepared) {
    if (prepared.candidate->kind == CandidateKind::kKernel)
      return run::prepare_unplaced(prepared, kernel_arch(), *pool);
    run::prepare_module(prepared, Signature{}, options.entry, options.call_limit_s);
    if (prepared.module) prepared.scouted = scouts->send(*prepared.module);
  }

  run::CheckSetup check_setup() {
    return {&*host, &*builder,
            std::chrono::milliseconds(static_cast<long long>(options.load_limit_s * 1000)),
            candidate_memory_bytes(), cancel_fd};
  }

  run::DeviceLanes lanes(std::size_t judges) {
    run::LaneSetup common;
    common.host = &*host;
    common.options = &options;
    common.secret = secret;
    common.kept_judges = judges;
    common.judge_kernels = judge_kernels;
    common.flush_kernel = flush_kernel;
    common.builder = &*builder;
    common.memory_limit_bytes = candidate_memory_bytes();
    common.cancel_fd = cancel_fd;
    return {std::move(common), devices};
  }

  /// Whether a candidate's code may have had its verdict in this run.
  bool may_reuse(const Prepared& prepared) const {
    return options.reuse && prepared.candidate->reject_cause.empty();
  }

  /// Judges one candidate on a lane, unless equal code has been, and hands its record on; then
  /// those with equal code.
  void finish(run::Lane& lane, Prepared& prepared, run::Following following, const Sink& sink) {
    json details = json::object();
    if (auto known = may_reuse(prepared) ? verdicts.find(prepared.record) : std::nullopt) {
      prepared.record = std::move(*known);
    } else {
      if (prepared.later) {
        prepare(prepared);
        prepare_other_sizes(prepared);
      }
      lane.judge(prepared, following, details);
      for (auto& [name, other] : prepared.at_other_sizes) {
        if (prepared.record.outcome != Outcome::kCorrect) break;
        json other_details = json::object();
        lane.judge(*other, following, other_details);
        prepared.record.seconds += other->record.seconds;
        run::add_other_sizes(prepared.record, other->record, name, std::move(other_details),
                             details);
      }
      if (may_reuse(prepared)) verdicts.keep(prepared.record);
    }
    deliver(prepared, std::move(details), sink);
    for (Prepared* copy : prepared.copies) finish(lane, *copy, following, sink);
  }

  void deliver(Prepared& prepared, json details, const Sink& sink) {
    if (prepared.record.outcome == Outcome::kHarnessFault) ++faults;
    const std::lock_guard lock(sink_mutex);
    sink(prepared.record, std::move(details));
    observer.finished(prepared.record);
  }

  Installation installation;
  EvalOptions options;
  Observer& observer;
  int cancel_fd;
  std::vector<LaneDevice> devices;
  std::vector<Fd> locks;
  std::string secret, options_hash;
  std::optional<run::WorkerHost> host;
  std::optional<CompilePool> pool;
  std::optional<run::ExtensionBuilder> builder;
  std::shared_future<CompileResult> judge_kernels, flush_kernel;
  std::optional<run::Scouts> scouts;
  std::optional<SignatureSource> source;
  std::optional<run::SizeChoice> sizes;
  std::map<std::pair<std::string, std::string>, std::optional<Problem>> other_problems;
  std::map<std::string, std::shared_future<std::variant<Signature, std::string>>> signatures;
  run::Verdicts verdicts{kKeptVerdicts};
  std::mutex sink_mutex;
  std::atomic<int> faults = 0;
};

EvalRun::EvalRun(Installation installation, EvalOptions options, Observer& observer, int cancel_fd)
    : impl_(std::make_unique<Impl>(std::move(installation), std::move(options), observer,
                                   cancel_fd)) {}
EvalRun::~EvalRun() = default;

const std::vector<LaneDevice>& EvalRun::devices() const { return impl_->devices; }
const std::string& EvalRun::secret() const { return impl_->secret; }

RunHeader EvalRun::header(std::vector<std::string> arguments, std::string problem_set_hash) {
  RunHeader header;
  header.run_id = protocol::random_hex(8);
  header.started = run::iso_now();
  header.kbench_version = kVersion;
  header.arguments = std::move(arguments);
  header.options = run::options_json(impl_->options);
  // Not in the hash of the options: what it changes are sizes, and those are in the problem's.
  header.options["shrink"] = to_json(impl_->options.shrink);
  header.options["reuse"] = impl_->options.reuse;  // changes no verdict
  header.environment =
      run::environment_of(impl_->installation, impl_->devices, impl_->pool->nvrtc_version());
  header.environment["cage"] = run::cage_json(impl_->options.cage);
  header.problem_set_hash = std::move(problem_set_hash);
  return header;
}

Record EvalRun::blank_record(const Candidate& candidate, const Problem& problem) const {
  return impl_->blank_record(candidate, problem);
}

Record EvalRun::Impl::blank_record(const Candidate& candidate, const Problem& problem) {
  Record record;
  record.model = candidate.model;
  record.problem = problem.key;
  record.level = problem.level;
  record.sample = candidate.sample;
  record.candidate = candidate.id;
  record.kind = candidate.kind;
  record.precision = run::precision_of(options);
  record.judge = run::judge_of(options);
  record.device = devices.front().model;
  record.torch = installation.torch_version;
  const auto& [chosen, shrunk] = sizes->of(problem);
  record.problem_hash = problem_hash(problem, chosen);
  if (!chosen.empty()) record.sizes = json(chosen).dump();
  record.shrunk = shrunk;
  record.candidate_hash = candidate_hash(candidate);
  record.options_hash = options_hash;
  record.judge_hash = run::kJudgeHash;
  if (options.seed) record.flags.emplace_back("public_seed");
  return record;
}

const std::variant<Signature, std::string>& EvalRun::signature(const Problem& problem) {
  return impl_->signature_of(problem);
}

std::vector<CheckedCandidate> EvalRun::check(const std::vector<Problem>& problems,
                                             const std::vector<Candidate>& candidates) {
  // All are prepared before the first is waited for.
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
  // One group per problem, in the problems' order: a reference is opened once.
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
  run::DeviceLanes lanes = impl_->lanes(1 + impl_->options.other_sizes.size());
  const auto& counts = lanes.counts();
  const std::size_t all_lanes = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  // Several shares for each lane, so that all end at about the same time.
  const std::size_t share = all_lanes == 1
                                ? candidates.size()
                                : std::max(kSmallestGroup, candidates.size() / (4 * all_lanes));
  run::GroupQueue queue;
  std::thread preparer([&] {
    try {
      // All are asked for at once; candidates are prepared as soon as their problem is known.
      for (const Problem* problem : used) impl_->ask_signature(*problem);
      std::map<const Problem*, std::vector<Prepared*>> groups;
      for (const Problem* problem : used) {
        std::map<std::string, Prepared*> first;  // of each code
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
  const auto work = [&](run::Lane& lane) {
    std::vector<Prepared*> taken;
    for (std::size_t at = 0;; ++at) {
      while (taken.size() < at + window) {
        // What comes next may be late; only a lane that has nothing to do waits for it.
        auto group = queue.take(false);
        if (group.empty() && taken.size() == at) {
          lane.rest();
          group = queue.take(true);
        }
        if (group.empty()) break;
        taken.insert(taken.end(), group.begin(), group.end());
      }
      if (at == taken.size()) return;
      impl_->finish(lane, *taken[at], run::Following(taken).subspan(at + 1), sink);
    }
  };
  const run::Joined joined(preparer);
  return lanes.run(work) && !impl_->cancelled();
}

bool EvalRun::run_stream(const std::vector<Problem>& problems,
                         const std::function<std::optional<Candidate>()>& next, const Sink& sink) {
  std::map<std::string_view, const Problem*> by_key;
  for (const auto& problem : problems) by_key[problem.key] = &problem;
  std::mutex input_mutex;
  // A lane that waits for its next candidate must not hold anything that another one waits for.
  const std::size_t judges = kStreamJudges * (1 + impl_->options.other_sizes.size());
  const bool finished = impl_->lanes(judges).run_single([&](run::Lane& lane) {
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
      impl_->finish(lane, prepared, {}, sink);
    }
  });
  return finished && !impl_->cancelled();
}

}  // namespace kbench
