// SPDX-License-Identifier: MIT
#include "run/eval/eval_run.hpp"

#include <algorithm>
#include <thread>

#include "kbench/error.hpp"
#include "run/environment.hpp"
#include "run/eval/measured_peaks.hpp"
#include "run/eval_options.hpp"
#include "run/judge_hash.hpp"
#include "run/prepare/other_sizes.hpp"
#include "run/schedule/queue_device.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using run::Prepared;

/// The most verdicts kept for equal code.
constexpr std::size_t kKeptVerdicts = 4096;
/// The fraction of the machine's memory that one candidate's process may use.
constexpr double kCandidateMemoryShare = 0.7;
/// The budget of a candidate's compilers suffices for this many extensions at the limit.
constexpr int kExtensionsInBudget = 4;

std::size_t candidate_memory_bytes() {
  return static_cast<std::size_t>(kCandidateMemoryShare *
                                  static_cast<double>(run::total_memory_bytes()));
}

}  // namespace

EvalRun::Impl::Impl(Installation from, EvalOptions asked, Observer& who, int cancel)
    : RunSetup(std::move(from), std::move(asked), {}, who, cancel),
      observer(who),
      verdicts(kKeptVerdicts) {
  open_compilers();
  if (!run::by_kernelbench(options))
    trivial.emplace(installation.cache / "trivial",
                    json{options.precision, options.trials, device_class(),
                         installation.torch_version, run::judge_of(options), run::kJudgeHash}
                        .dump());
}

void EvalRun::Impl::open_compilers() {
  CompilerSetup setup;
  setup.compiler = installation.compiler;
  setup.nvrtc = installation.nvrtc;
  setup.includes = installation.cuda_includes;
  setup.cache = installation.cache / "compiled";
  setup.jobs = options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  HostSetup host_code = host_setup(installation);
  NvccSetup nvcc = nvcc_setup(installation);
  nvcc.limit = std::chrono::milliseconds(static_cast<long long>(options.nvcc_limit_s * 1000));
  // Enough time for kExtensionsInBudget extensions, by nvcc or by the source splitter.
  auto budget =
      kExtensionsInBudget * (devices.front().gpu ? nvcc.limit : host_code.limit + setup.limit);
  if (options.compile_limit_s > 0) {
    budget = std::chrono::milliseconds(static_cast<long long>(options.compile_limit_s * 1000));
    setup.limit = host_code.limit = budget;
  }
  const unsigned jobs = setup.jobs;
  pool.emplace(std::move(setup));
  host_code.jobs = jobs;
  // Each nvcc uses two cores, with one to two gigabytes of memory per core.
  nvcc.jobs = std::max(1u, jobs / 2);
  builder.emplace(*pool, std::move(host_code), std::move(nvcc), run::arch_of(devices.front()),
                  budget);
  cancelled_builds.emplace(*builder, cancel_fd);
  if (devices.front().gpu)
    own_kernels = run::compile_own_kernels(installation, run::arch_of(devices.front()));
  const auto load_limit =
      std::chrono::milliseconds(static_cast<long long>(options.load_limit_s * 1000));
  dry_imports.emplace(*host, *builder, jobs, load_limit, candidate_memory_bytes(), cancel_fd);
}

const std::variant<Signature, std::string>& EvalRun::Impl::signature_of(const Problem& problem) {
  ask_signature(problem);
  return signatures.at(problem.key).get();
}

void EvalRun::Impl::ask_signature(const Problem& problem) {
  if (!signatures.contains(problem.key))
    signatures.emplace(problem.key, source->ask(problem, sizes->of(problem).sizes,
                                                options.precision, options.eval_mode));
}

void EvalRun::Impl::prepare(Prepared& prepared) {
  prepared.later = false;
  const auto& signature = signature_of(*prepared.problem);
  if (const auto* failure = std::get_if<std::string>(&signature))
    return run::decide(prepared, Outcome::kProblemFailure, Stage::kManifest, "reference_failed",
                       *failure);
  const auto& found = std::get<Signature>(signature);
  const auto& device = devices.front();
  prepared.sizes = sizes->of(*prepared.problem).sizes;
  prepared.needed_bytes = run::needed_bytes(found);
  prepared.work = found.work;
  prepared.output_bytes = found.output_bytes();
  if (const auto unfit =
          run::unfit(found, device, prepared.record.reduced_sizes, options.reduce_sizes))
    return run::decide(prepared, Outcome::kProblemFailure, Stage::kManifest, unfit->cause,
                       unfit->message);
  if (prepared.candidate->kind == CandidateKind::kKernel)
    return run::prepare(prepared, found, run::limits_of(device), kernel_arch(),
                        options.call_limit_s, *pool);
  run::prepare_module(prepared, found, options.entry, options.call_limit_s);
  if (prepared.module) prepared.module->module.eval_mode = options.eval_mode;
  if (prepared.module && !prepared.dry_imported.valid())
    prepared.dry_imported = dry_imports->send(*prepared.module);
}

void EvalRun::Impl::send_ahead(Prepared& prepared) {
  const Candidate& candidate = *prepared.candidate;
  if (candidate.kind == CandidateKind::kKernel || !candidate.reject_cause.empty()) return;
  prepared.sizes = sizes->of(*prepared.problem).sizes;
  run::begin_module(prepared, options.entry, options.precision);
  prepared.module->module.eval_mode = options.eval_mode;
  prepared.dry_imported = dry_imports->send(*prepared.module);
}

const Problem* EvalRun::Impl::problem_at(const Problem& problem, const std::string& name) {
  const auto key = std::pair(problem.key, name);
  if (!other_problems.contains(key))
    other_problems.emplace(key, run::at_sizes(problem, name, std::string(device_class())));
  const auto& found = other_problems.at(key);
  return found ? &*found : nullptr;
}

void EvalRun::Impl::prepare_other_sizes(Prepared& prepared) {
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

std::string EvalRun::Impl::kernel_arch() const {
  return options.kernel_arch.empty() ? run::arch_of(devices.front()) : options.kernel_arch;
}

void EvalRun::Impl::prepare_unplaced(Prepared& prepared) {
  if (prepared.candidate->kind == CandidateKind::kKernel)
    return run::prepare_unplaced(prepared, kernel_arch(), *pool);
  run::prepare_module(prepared, Signature{}, options.entry, options.call_limit_s);
  if (prepared.module) prepared.dry_imported = dry_imports->send(*prepared.module);
}

run::CheckSetup EvalRun::Impl::check_setup() {
  return {&*host, &*builder,
          std::chrono::milliseconds(static_cast<long long>(options.load_limit_s * 1000)),
          candidate_memory_bytes(), cancel_fd};
}

void EvalRun::Impl::measure_devices() {
  if (std::exchange(devices_measured_, true) || !is_timed(options)) return;
  for (QueueDevice& device : devices)
    device.measured = run::measured_peaks(*host, device, installation.cache / "peaks", cancel_fd);
}

run::DeviceQueues EvalRun::Impl::device_queues(std::size_t judges) {
  measure_devices();
  run::QueueSetup common;
  common.host = &*host;
  common.options = &options;
  common.secret = secret;
  common.kbench = installation.bin / "kbench";
  common.baseline_cache = (installation.cache / "baselines").string();
  common.kept_judges = judges;
  common.own_kernels = own_kernels;
  common.trivial = trivial ? &*trivial : nullptr;
  common.builder = &*builder;
  common.memory_limit_bytes = candidate_memory_bytes();
  common.cancel_fd = cancel_fd;
  return {std::move(common), devices};
}

void EvalRun::Impl::finish(run::DeviceQueue& device_queue, Prepared& prepared,
                           run::Following following, const Sink& sink) {
  json details = json::object();
  if (auto known = may_reuse(prepared) ? verdicts.find(prepared.record) : std::nullopt) {
    prepared.record = std::move(*known);
  } else {
    if (prepared.later) {
      prepare(prepared);
      prepare_other_sizes(prepared);
    }
    {
      const std::lock_guard lock(sink_mutex);
      observer.started(prepared.record);
    }
    device_queue.judge(prepared, following, details);
    for (auto& [name, other] : prepared.at_other_sizes) {
      if (prepared.record.outcome != Outcome::kCorrect) break;
      json other_details = json::object();
      device_queue.judge(*other, following, other_details);
      prepared.record.seconds += other->record.seconds;
      run::add_other_sizes(prepared.record, other->record, name, std::move(other_details), details);
    }
    if (may_reuse(prepared)) verdicts.keep(prepared.record);
  }
  deliver(prepared, std::move(details), sink);
  for (Prepared* copy : prepared.copies) finish(device_queue, *copy, following, sink);
}

void EvalRun::Impl::deliver(Prepared& prepared, json details, const Sink& sink) {
  // This also applies if the problem was opened for another candidate.
  if (trivial) prepared.record.degenerate_problem = trivial->find(prepared.record.problem_hash);
  if (prepared.record.outcome == Outcome::kHarnessFault) ++faults;
  if (checks && run::ExecutorChecks::takes(*prepared.candidate, prepared.record))
    return checks->add(*prepared.candidate, prepared.record, std::move(details));
  send(prepared.record, std::move(details), sink);
}

void EvalRun::Impl::send(Record record, json details, const Sink& sink) {
  const std::lock_guard lock(sink_mutex);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  record.ended_at = now.count();
  sink(record, std::move(details));
  observer.finished(record);
}

EvalRun::Impl::Checking::Checking(Impl& run, const std::vector<Problem>& problems, const Sink& sink)
    : run_(run) {
  const EvalOptions& options = run.options;
  if (!run.devices.front().gpu || options.sanitize == "none" || run::by_kernelbench(options))
    return;
  run.checks.emplace(run.installation, options, problems, run.cancel_fd,
                     [&run, &sink](Record record, json details) {
                       run.send(std::move(record), std::move(details), sink);
                     });
}

void EvalRun::Impl::Checking::finish() {
  if (run_.checks) run_.checks->finish();
}

Record EvalRun::Impl::blank_record(const Candidate& candidate, const Problem& problem) {
  Record record = blank<Record>(problem);
  record.model = candidate.model;
  record.sample = candidate.sample;
  record.candidate = candidate.id;
  record.kind = candidate.kind;
  record.precision = run::precision_of(options);
  record.judge = run::judge_of(options);
  record.candidate_hash = candidate_hash(candidate);
  if (options.seed) record.flags.emplace_back("public_seed");
  return record;
}

}  // namespace kbench
