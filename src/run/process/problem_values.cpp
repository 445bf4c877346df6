// SPDX-License-Identifier: MIT
#include "run/process/problem_values.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "kbench/error.hpp"
#include "os/memory_file.hpp"
#include "run/process/worker_host.hpp"
#include "score/kernelbench.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// The period of checks for cancellation.
constexpr std::chrono::milliseconds kCancelPeriod(100);
/// A process that was killed for lack of memory may succeed the next time.
constexpr int kAttempts = 2;

}  // namespace

void ProblemValues::put_into(ModuleJob& job, CandidateKind kind) {
  if (kind == CandidateKind::kModule && kernelbench_row(job.precision) != nullptr) {
    job.problem_path = std::filesystem::path(job.problem_path).filename().string();
    return;
  }
  if (kind == CandidateKind::kModule && !job.problem_source.empty())
    job.problem_values = values_of(job);
  job.problem_path.clear();
  job.problem_source.clear();
  job.sizes.clear();
}

std::string ProblemValues::values_of(const ModuleJob& job) {
  const std::string request = json{
      {"path", job.problem_path},
      {"source", job.problem_source},
      {"sizes", job.sizes},
      {"precision",
       job.precision}}.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::string key = sha256_hex(request);
  std::promise<std::string> promise;
  {
    std::unique_lock lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) {
      const auto future = known->second;
      lock.unlock();
      return future.get();
    }
    known_.emplace(key, promise.get_future().share());
  }
  try {
    std::string values = evaluate(request);
    promise.set_value(values);
    return values;
  } catch (...) {
    promise.set_exception(std::current_exception());
    throw;
  }
}

std::string ProblemValues::evaluate(const std::string& request) {
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const Fd result(::memfd_create("kbench-values", MFD_CLOEXEC));
    if (!result)
      throw Error(fmt::format("cannot create a file in memory: {}", std::strerror(errno)));
    const Fd asked = sealed_memory_file(request);
    const ChildLog log;
    const pid_t pid = host_.fork("values", 0, {result.value(), log.fd(), asked.value()});
    const auto deadline = protocol::Clock::now() + host_.limits().problem;
    bool is_cancelled = false;
    while (!host_.wait_exit(pid, protocol::Clock::now() + kCancelPeriod) && !is_cancelled &&
           protocol::Clock::now() < deadline) {
      is_cancelled = is_readable(cancel_fd_);
    }
    const ExitStatus status = host_.kill_child(pid);
    if (is_cancelled) throw Cancelled{};
    if (!status.signaled) return status.code == 0 ? read_whole(result.value()) : std::string();
  }
  return {};
}

}  // namespace kbench::run
