// SPDX-License-Identifier: MIT
#include "run/schedule/signature_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/hash.hpp"
#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "problem/signature_cache.hpp"
#include "run/judge_hash.hpp"
#include "run/process/judge_client.hpp"
#include "run/schedule/device_queue.hpp"

namespace kbench {
namespace {

/// The most problems that are described in parallel.
constexpr std::size_t kDescribers = 4;

}  // namespace

struct SignatureSource::Impl {
  Impl(const Installation& from, int cancel, run::WorkerHost* shared)
      : installation(from),
        cancel_fd(cancel),
        cache(from.cache, from.torch_version),
        host(shared) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_all();
    for (auto& thread : threads) thread.join();
    // The judge must end before the fork server that reaps it.
    judge.reset();
    try {
      cache.flush();  // also writes sizes whose signature was never requested
    } catch (const Error&) {
      // A failed write is ignored; the next run searches the sizes again.
    }
  }

  struct Task {
    std::string key;
    nlohmann::json request;
    std::promise<SignatureResult> promise;
  };

  run::WorkerHost& running_host() {
    if (host == nullptr) host = &own_host.emplace(installation, cancel_fd);
    return *host;
  }

  std::shared_future<SignatureResult> ask(const Problem& problem, const Sizes& sizes,
                                          std::string_view precision, bool eval_mode) {
    Task task;
    // Outputs may differ in eval mode: some networks have more outputs in training.
    const std::string row = fmt::format("{}{}", precision, eval_mode ? " eval_mode" : "");
    task.key = cache.key(problem, sizes, row);
    auto future = task.promise.get_future().share();
    const std::lock_guard lock(mutex);
    if (auto known = cache.find(task.key)) {
      task.promise.set_value(std::move(*known));
      return future;
    }
    task.request = run::describe_request(problem, sizes, std::string(precision), eval_mode);
    tasks.push_back(std::move(task));
    running_host();
    if (threads.size() < std::min(tasks.size() + busy, kDescribers))
      threads.emplace_back([this] { serve(); });
    changed.notify_one();
    return future;
  }

  /// A thread's loop. Each thread has its own judge, because the first problem in a process costs
  /// seconds of imports and some problems take seconds themselves.
  void serve() {
    std::unique_ptr<run::JudgeClient> own_judge;
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return stopped || !tasks.empty(); });
      if (stopped) return;
      Task task = std::move(tasks.front());
      tasks.pop_front();
      ++busy;
      lock.unlock();
      std::optional<SignatureResult> result;
      bool lasting = true;
      try {
        result = describe(own_judge, task.request, lasting);
      } catch (...) {
        task.promise.set_exception(std::current_exception());
      }
      lock.lock();
      --busy;
      if (!result) continue;
      if (lasting) cache.put(task.key, *result);
      task.promise.set_value(std::move(*result));
    }
  }

  /// Asks a judge. A judge that dies affects only its current problem.
  SignatureResult describe(std::unique_ptr<run::JudgeClient>& asked, const nlohmann::json& request,
                           bool& lasting) {
    host->torch_version();
    if (!asked) asked = std::make_unique<run::JudgeClient>(*host, cancel_fd);
    try {
      auto answer = asked->describe(request);
      if (auto* signature = std::get_if<Signature>(&answer)) return std::move(*signature);
      const auto& fault = std::get<run::ProblemFault>(answer);
      // The result may change with more memory or after a package is installed.
      lasting = fault.cause != "does_not_fit" && fault.cause != "import_failed";
      return fault.message;
    } catch (const Error& error) {
      asked.reset();
      lasting = false;
      return std::string("kbench cannot describe the problem: ") + error.what();
    }
  }

  /// Nothing if the problem fails for a reason that may not recur.
  std::optional<ChosenSizes> reduce_sizes(const Problem& problem, const Sizes& sizes,
                                          const ReduceSizesOptions& options) {
    running_host().torch_version();
    if (!judge) judge = std::make_unique<run::JudgeClient>(*host, cancel_fd);
    // The same sizes in training and eval mode, so that both can be compared.
    nlohmann::json request = run::describe_request(problem, sizes, "native", false);
    request["max_bytes"] = options.max_bytes;
    request["max_flops"] = options.max_flops;
    try {
      auto answer = judge->reduce_sizes(request);
      if (auto* chosen = std::get_if<ChosenSizes>(&answer)) return std::move(*chosen);
    } catch (const Error&) {
      judge.reset();  // describing it meets the same error and reports it
    }
    return std::nullopt;
  }

  std::optional<ChosenSizes> known_sizes(std::string_view key) {
    const std::lock_guard lock(mutex);
    const auto text = cache.find_text(key);
    if (!text) return std::nullopt;
    try {
      return chosen_sizes_from_json(nlohmann::json::parse(*text, nullptr, false));
    } catch (const Error&) {
      return std::nullopt;  // damaged, so the sizes are searched again
    }
  }

  /// Includes the judge's hash, because a search with other rules finds other sizes.
  std::string reduce_sizes_key(const Problem& problem, const Sizes& sizes,
                               const ReduceSizesOptions& options) const {
    return Sha256()
        .field("reduce_sizes")
        .field(run::kJudgeHash)
        .field(cache.key(problem, sizes, "native"))
        .field(fmt::format("{} {}", options.max_bytes, options.max_flops))
        .hex();
  }

  Installation installation;
  int cancel_fd;
  SignatureCache cache;
  std::optional<run::WorkerHost> own_host;
  run::WorkerHost* host;
  std::unique_ptr<run::JudgeClient> judge;  ///< for choose_sizes()
  std::mutex mutex;                         ///< guards the cache and all below
  std::condition_variable changed;
  std::deque<Task> tasks;
  std::size_t busy = 0;
  bool stopped = false;
  std::vector<std::thread> threads;
};

SignatureSource::SignatureSource(const Installation& installation, int cancel_fd,
                                 run::WorkerHost* host)
    : impl_(std::make_unique<Impl>(installation, cancel_fd, host)) {}
SignatureSource::~SignatureSource() = default;

ChosenSizes SignatureSource::choose_sizes(const Problem& problem, std::string_view device_class,
                                          const Sizes& overrides,
                                          const ReduceSizesOptions& reduce_sizes) {
  const Sizes sizes = sizes_for(problem, device_class, overrides);
  if (!reduce_sizes.applies_to(problem, device_class)) return {sizes, std::nullopt};
  const std::string key = impl_->reduce_sizes_key(problem, sizes, reduce_sizes);
  if (auto known = impl_->known_sizes(key)) return std::move(*known);
  const auto found = impl_->reduce_sizes(problem, sizes, reduce_sizes);
  if (!found) return {sizes, std::nullopt};
  const std::lock_guard lock(impl_->mutex);
  impl_->cache.put_text(key, to_json(*found).dump());
  return *found;
}

std::shared_future<SignatureResult> SignatureSource::ask(const Problem& problem, const Sizes& sizes,
                                                         std::string_view precision,
                                                         bool eval_mode) {
  return impl_->ask(problem, sizes, precision, eval_mode);
}

std::vector<SignatureResult> SignatureSource::get(
    const std::vector<std::pair<Problem, Sizes>>& problems, std::string_view precision) {
  std::vector<std::shared_future<SignatureResult>> asked;
  asked.reserve(problems.size());
  for (const auto& [problem, sizes] : problems) asked.push_back(ask(problem, sizes, precision));
  std::vector<SignatureResult> results;
  results.reserve(asked.size());
  for (const auto& one : asked) results.push_back(one.get());
  const std::lock_guard lock(impl_->mutex);
  impl_->cache.flush();
  return results;
}

}  // namespace kbench
