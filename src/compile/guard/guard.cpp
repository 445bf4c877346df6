// SPDX-License-Identifier: MIT
#include "compile/guard/guard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <vector>

#include "compile/guard/confinement.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

constexpr rlim_t kFileBytes = rlim_t{256} << 20;

struct Job {
  rlim_t memory_bytes = 0;
  std::vector<std::filesystem::path> read, write;
  std::vector<std::string> command;
};

Job parse(std::span<const std::string> arguments) {
  Job job;
  if (arguments.empty()) throw Error("the memory limit is missing");
  const std::string& bytes = arguments.front();
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), job.memory_bytes);
  std::size_t at = 1;
  for (; at + 1 < arguments.size() && arguments[at] != "--"; at += 2) {
    (arguments[at] == "--write" ? job.write : job.read).emplace_back(arguments[at + 1]);
  }
  for (++at; at < arguments.size(); ++at) job.command.push_back(arguments[at]);
  if (job.command.empty()) throw Error("the command is missing");
  return job;
}

void limit(const Job& job) {
  const auto set = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    ::setrlimit(resource, &both);
  };
  set(RLIMIT_CORE, 0);
  set(RLIMIT_FSIZE, kFileBytes);
  // RLIMIT_DATA counts only writable memory, not mapped precompiled headers and libraries.
  if (job.memory_bytes > 0) set(RLIMIT_DATA, job.memory_bytes);
  die_first();
}

void report(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(kGuardReport, text.data(), text.size());
}

[[noreturn]] void become(std::span<const std::string> arguments) {
  Job job = parse(arguments);
  limit(job);
  const OwnNamespaces own = continue_in_namespaces();
  confine_program(job.read, job.write, own);
  std::vector<char*> words;
  for (auto& word : job.command) words.push_back(word.data());
  words.push_back(nullptr);
  report({&kGuardStarted, 1});
  ::execv(words.front(), words.data());
  throw Error(fmt::format("{} cannot be started: {}", job.command.front(), ::strerror(errno)));
}

}  // namespace

void die_first() {
  if (std::FILE* score = std::fopen("/proc/self/oom_score_adj", "w"); score != nullptr) {
    std::fputs("1000", score);
    std::fclose(score);
  }
}

void guard(std::span<const std::string> arguments) {
  ::fcntl(kGuardReport, F_SETFD, FD_CLOEXEC);
  try {
    become(arguments);
  } catch (const std::exception& error) {
    report(error.what());
    throw;
  }
}

}  // namespace kbench
