// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
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

/// Threads that run jobs, each with a key. A request for a key that is queued or running gets the
/// same future.
template <typename Result>
class KeyedPool {
 public:
  using Work = std::function<Result()>;

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
  std::shared_future<Result> submit(const std::string& key, const CompileBudget* owner, Work work) {
    const std::scoped_lock lock(mutex_);
    const Key id{key, owner};
    if (const auto known = under_way_.find(id); known != under_way_.end()) return known->second;
    auto job = std::make_shared<Job>(Job{id, std::move(work), {}});
    auto future = job->promise.get_future().share();
    if (stopped_) {
      job->promise.set_exception(cancelled());
      return future;
    }
    under_way_.emplace(id, future);
    queue_.push(owner, std::move(job));
    wake_.notify_one();
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
    for (const auto& job : dropped) job->promise.set_exception(cancelled());
  }

 private:
  using Key = std::pair<std::string, const CompileBudget*>;
  struct Job {
    Key key;
    Work work;
    std::promise<Result> promise;
  };

  static std::exception_ptr cancelled() {
    return std::make_exception_ptr(Error("compiling was cancelled"));
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
    std::unique_ptr<Result> result;
    try {
      result = std::make_unique<Result>(job.work());
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::scoped_lock lock(mutex_);
      under_way_.erase(job.key);
    }
    if (error) {
      job.promise.set_exception(error);
    } else {
      job.promise.set_value(std::move(*result));
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  TurnQueue<std::shared_ptr<Job>> queue_;
  std::map<Key, std::shared_future<Result>> under_way_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kbench
