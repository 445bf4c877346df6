// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "os/memory_file.hpp"
#include "run/eval/audit_run.hpp"
#include "run/eval/run_setup.hpp"
#include "run/eval_options.hpp"
#include "run/prepare/prepare.hpp"
#include "run/process/judge_client.hpp"
#include "run/schedule/queue_device.hpp"
#include "run/schedule/queue_setup.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using run::JudgeClient;

/// If the judge died, the problem is tried once more with a new judge.
constexpr int kAttempts = 2;

void fail(ProblemAudit& audit, AuditOutcome outcome, std::string_view cause, std::string message) {
  audit.outcome = outcome;
  audit.cause = cause;
  audit.message = std::move(message);
}

void take(ProblemAudit& audit, run::AuditedAnswers audited) {
  audit.answers = std::move(audited.answers);
  audit.distributions_left_out = std::move(audited.distributions_left_out);
  audit.outcome = audit.passing().empty() ? AuditOutcome::kHealthy : AuditOutcome::kDegenerate;
}

}  // namespace

struct AuditRun::Impl : run::RunSetup {
  Impl(Installation from, AuditOptions asked, Observer& observer, int cancel)
      : RunSetup(std::move(from), std::move(asked.check),
                 {.problem = std::chrono::milliseconds(
                      static_cast<long long>(asked.problem_limit_s * 1000))},
                 observer, cancel),
        problem_limit_s(asked.problem_limit_s),
        jobs(asked.jobs) {
    if (devices.front().gpu) compile_kernels();
  }

  void compile_kernels() {
    own_kernels = run::compile_own_kernels(installation, run::arch_of(devices.front()));
    kernels = sealed_memory_file(run::own_image(own_kernels.judge, cancel_fd));
  }

  /// Audits one problem on a device. Makes a judge if there is none.
  void audit(const Problem& problem, const QueueDevice& device, std::size_t queues,
             std::unique_ptr<JudgeClient>& judge, ProblemAudit& audit) {
    const auto signature =
        source->ask(problem, sizes_of.at(&problem), options.precision, options.eval_mode).get();
    if (const auto* failure = std::get_if<std::string>(&signature))
      return fail(audit, AuditOutcome::kProblemFailure, "reference_failed", *failure);
    if (const auto unfit = run::unfit(std::get<Signature>(signature), device, audit.reduced_sizes,
                                      options.reduce_sizes))
      return fail(audit, AuditOutcome::kProblemFailure, unfit->cause, unfit->message);
    run::QueueSetup setup;
    setup.device = device;
    setup.options = &options;
    setup.secret = secret;
    setup.device_queues = queues;
    run::Prepared prepared;
    prepared.problem = &problem;
    prepared.sizes = sizes_of.at(&problem);
    const json request = run::open_request(setup, prepared);
    for (int attempt = 1;; ++attempt) {
      try {
        return ask(request, device.visible_gpu(), judge, audit);
      } catch (const run::TookTooLong&) {
        judge.reset();
        return fail(audit, AuditOutcome::kProblemFailure, "time_limit",
                    fmt::format("the problem took longer than {:.3g} s: choose smaller sizes with "
                                "--set, or more time with --timeout",
                                problem_limit_s));
      } catch (const Error& error) {
        judge.reset();
        if (attempt < kAttempts) continue;
        return fail(audit, AuditOutcome::kHarnessFault, "judge_died", error.what());
      }
    }
  }

  void ask(const json& request, const std::string& visible_gpu, std::unique_ptr<JudgeClient>& judge,
           ProblemAudit& audit) {
    if (!judge) judge = std::make_unique<JudgeClient>(*host, cancel_fd, visible_gpu);
    judge->start_open(request, kernels.value());
    auto opened = judge->finish_open();
    const auto* fault = std::get_if<run::ProblemFault>(&opened);
    std::variant<run::AuditedAnswers, run::ProblemFault> audited;
    if (fault == nullptr) {
      audited = judge->audit();
      fault = std::get_if<run::ProblemFault>(&audited);
    }
    if (fault == nullptr)
      take(audit, std::get<run::AuditedAnswers>(std::move(audited)));
    else
      fail(audit, AuditOutcome::kProblemFailure, fault->cause, fault->message);
    if (fault != nullptr || !judge->close()) judge.reset();
  }

  double problem_limit_s;
  unsigned jobs;
  Fd kernels;
  std::map<const Problem*, Sizes> sizes_of;
};

AuditRun::AuditRun(Installation installation, AuditOptions options, Observer& observer,
                   int cancel_fd)
    : impl_(std::make_unique<Impl>(std::move(installation), std::move(options), observer,
                                   cancel_fd)) {}
AuditRun::~AuditRun() = default;

const std::string& AuditRun::secret() const { return impl_->secret; }

RunHeader AuditRun::header(std::vector<std::string> arguments, std::string problem_set_hash) {
  RunHeader header =
      impl_->header(std::move(arguments), std::move(problem_set_hash),
                    impl_->own_kernels.pool ? impl_->own_kernels.pool->nvrtc_version() : "");
  header.options["problem_limit_s"] = impl_->problem_limit_s;
  return header;
}

ProblemAudit AuditRun::blank(const Problem& problem) const {
  const EvalOptions& check = impl_->options;
  auto audit = impl_->blank<ProblemAudit>(problem);
  audit.check = {.judge = run::judge_of(check),
                 .precision = run::precision_of(check),
                 .trials = check.trials,
                 .distributions = check.distributions && !run::by_kernelbench(check)};
  return audit;
}

bool AuditRun::run(const std::vector<Problem>& problems, const Sink& sink) {
  std::vector<ProblemAudit> blanks;
  for (const Problem& problem : problems) {
    blanks.push_back(blank(problem));
    impl_->sizes_of[&problem] = impl_->sizes->of(problem).sizes;
  }
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::exception_ptr fault;
  const auto work = [&](const QueueDevice& device, std::size_t queues) {
    std::unique_ptr<JudgeClient> judge;
    try {
      for (std::size_t i; !stopped && (i = next++) < problems.size();) {
        const auto start = std::chrono::steady_clock::now();
        impl_->audit(problems[i], device, queues, judge, blanks[i]);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        blanks[i].seconds = took.count();
        const std::lock_guard lock(mutex);
        sink(std::move(blanks[i]));
      }
    } catch (const run::Cancelled&) {
      stopped = true;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!fault) fault = std::current_exception();
      stopped = true;
    }
  };
  std::vector<std::thread> threads;
  for (const QueueDevice& device : impl_->devices) {
    const std::size_t jobs = device.gpu ? 1 : std::max(impl_->jobs, 1U);
    for (std::size_t job = 0; job < jobs; ++job) threads.emplace_back(work, device, jobs);
  }
  for (auto& thread : threads) thread.join();
  if (fault) std::rethrow_exception(fault);
  return !stopped && !impl_->cancelled();
}

}  // namespace kbench
