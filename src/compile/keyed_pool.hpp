// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compile/compiler_turns.hpp"
#include "kbench/error.hpp"

namespace kbench {

/// Returns the future of `start()`. If `start()` throws, the returned future holds that exception.
template <typename Result, typename Start>
std::shared_future<Result> future_of(Start start) {
  try {
    return start();
  } catch (...) {
    std::promise<Result> promise;
    promise.set_exception(std::current_exception());
    return promise.get_future().share();
  }
}

template <typename Result>
std::shared_future<Result> ready_future(Result result) {
  std::promise<Result> promise;
  promise.set_value(std::move(result));
  return promise.get_future().share();
}

inline constexpr const char* kCompilingCancelled = "compiling was cancelled";

/// Threads that run jobs, each with a key. A request for a key that is queued or running gets the
/// result of the same job.
template <typename Result>
class KeyedPool {
 public:
  using Work = std::function<Result()>;
  /// What one request gets for the job's result; empty: the result itself.
  using Shown = std::function<Result(const Result&)>;

  explicit KeyedPool(unsigned threads) {
    for (unsigned i = 0; i < std::max(1u, threads); ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~KeyedPool() {
    cancel();
    for (auto& thread : threads_) thread.join();
  }
  KeyedPool(const KeyedPool&) = delete;
  KeyedPool& operator=(const KeyedPool&) = delete;

  /// A future for what `work` returns or throws. Owners are served in turn. Equal jobs of different
  /// owners run separately, because a failure for lack of one owner's budget must not reach another
  /// owner.
  std::shared_future<Result> submit(const std::string& key, const CompileBudget* owner, Work work,
                                    Shown shown = {}) {
    const std::scoped_lock lock(mutex_);
    Waiter waiter{std::move(shown), {}};
    auto future = waiter.promise.get_future().share();
    if (stopped_) {
      waiter.promise.set_exception(cancelled());
      return future;
    }
    const Key id{key, owner};
    auto& job = under_way_[id];
    if (job == nullptr) {
      job = std::make_shared<Job>(Job{id, std::move(work), {}});
      queue_.push(owner, job);
      wake_.notify_one();
    }
    job->waiters.push_back(std::move(waiter));
    return future;
  }

  /// Futures of queued jobs and of later ones throw kbench::Error.
  void cancel() {
    std::vector<std::shared_ptr<Job>> dropped;
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      dropped = queue_.take_all();
      for (const auto& job : dropped) under_way_.erase(job->key);
    }
    wake_.notify_all();
    for (const auto& job : dropped) finish(*job, nullptr, cancelled());
  }

 private:
  using Key = std::pair<std::string, const CompileBudget*>;
  struct Waiter {
    Shown shown;
    std::promise<Result> promise;
  };
  struct Job {
    Key key;
    Work work;
    std::vector<Waiter> waiters;
  };

  static std::exception_ptr cancelled() {
    return std::make_exception_ptr(Error(kCompilingCancelled));
  }

  void work() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
        if (stopped_) return;
        job = queue_.pop();
      }
      run(*job);
    }
  }

  void run(Job& job) {
    std::exception_ptr error;
    std::optional<Result> result;
    try {
      result = job.work();
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::scoped_lock lock(mutex_);
      under_way_.erase(job.key);
    }
    finish(job, result ? &*result : nullptr, error);
  }

  /// Answers all waiters. The job is no longer in `under_way_`, so none can join it.
  static void finish(Job& job, const Result* result, const std::exception_ptr& error) {
    for (auto& [shown, promise] : job.waiters) {
      if (result == nullptr) {
        promise.set_exception(error);
      } else {
        promise.set_value(shown ? shown(*result) : *result);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  TurnQueue<std::shared_ptr<Job>> queue_;
  std::map<Key, std::shared_ptr<Job>> under_way_;  ///< queued or running
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kbench
