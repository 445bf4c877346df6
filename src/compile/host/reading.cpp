// SPDX-License-Identifier: MIT
#include "compile/host/reading.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include "compile/compiler_fault.hpp"
#include "compile/host/reading_wire.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

CompileError unread(std::string cause, std::string message, const CommandResult& command) {
  return compile_error(std::move(cause), std::move(message), command.error.substr(0, kMaxLogBytes));
}

/// The error if kbench-cc gave no answer.
CompileError unanswered(const CommandResult& command, std::chrono::milliseconds limit,
                        std::string_view what) {
  const double limit_s = std::chrono::duration<double>(limit).count();
  const ExitStatus& status = command.status;
  if (command.timed_out || (status.signaled && status.code == SIGXCPU)) {
    CompileError error = unread(
        "compile_timeout", fmt::format("reading {} took longer than its limit", what), command);
    error.limit_s = limit_s;
    return error;
  }
  if (status.signaled && status.code == SIGKILL) {
    return unread("compiler_killed",
                  fmt::format("the system killed the process that reads {}", what), command);
  }
  const std::string how =
      status.signaled ? ::strsignal(status.code) : fmt::format("exit code {}", status.code);
  return unread("compiler_crash", fmt::format("the process that reads {} crashed ({})", what, how),
                command);
}

/// A plain, correct source.
TextsJob plain_job() {
  TextsJob job;
  job.cuda = {{"plain.cu", "__global__ void plain(float* x) { x[0] = 1; }\n"}};
  return job;
}

}  // namespace

/// kbench-cc's answer to a job, without the letter of ReadingEnd. Throws CompilerFault.
std::variant<std::string, CompileError> Reader::answer(const std::string& job,
                                                       std::string_view what,
                                                       CompileTime& time) const {
  const CommandResult command =
      time.run({{program_.string(), "--read"}, {}, {}}, job, kMaxAnswerBytes, cancel_fd_);
  if (command.cancelled) throw Error("compiling was cancelled");
  if (command.timed_out || command.status.signaled || command.output.empty())
    return unanswered(command, time.limit(), what);
  const std::string text = command.output.substr(1);
  switch (static_cast<ReadingEnd>(command.output.front())) {
    case ReadingEnd::kRead:
      return text;
    case ReadingEnd::kFault:
      throw CompilerFault(fmt::format("{}: {}", program_.string(), text));
    case ReadingEnd::kOutOfMemory:
      return unread(
          "compiler_out_of_memory",
          fmt::format("reading {} took more than {} MiB of memory", what, kReaderBytes >> 20),
          command);
    default:
      return unanswered(command, time.limit(), what);
  }
}

template <typename Read, typename Job>
Reader::Result<Read> Reader::read_as(const Job& job, std::string_view what,
                                     CompileTime& time) const {
  const std::string packed = pack(job);
  const auto works = [&] {
    // An unreadable library is the machine's fault, not the object's.
    if constexpr (std::is_same_v<Job, ObjectJob>) {
      if (job.libraries) return false;
    }
    CompileTime own(kReadingLimit, nullptr);
    const auto plain = answer(pack(plain_job()), "a plain source", own);
    return std::holds_alternative<std::string>(plain);
  };
  auto answered = settle_fault([&] { return answer(packed, what, time); }, works);
  if (auto* fault = std::get_if<CompileError>(&answered)) return std::move(*fault);
  auto& read_or_error = std::get<0>(answered);
  if (auto* error = std::get_if<CompileError>(&read_or_error)) return std::move(*error);
  try {
    Read read;
    unpack(std::get<std::string>(read_or_error), read);
    return read;
  } catch (const Error& error) {
    return compile_error("compiler_crash", error.what());
  }
}

Reader::Result<TextsRead> Reader::read(const TextsJob& job, CompileTime& time) const {
  return read_as<TextsRead>(job, "the sources", time);
}

Reader::Result<ObjectRead> Reader::read(const ObjectJob& job, CompileTime& time) const {
  return read_as<ObjectRead>(job, "the host compiler's output", time);
}

Reader::Result<LogRead> Reader::read(const LogJob& job, CompileTime& time) const {
  return read_as<LogRead>(job, "the compiler's log", time);
}

LogJob log_job(const std::string& log, const HostRequest& request,
               const std::vector<std::filesystem::path>& includes) {
  LogJob job;
  job.log = log;
  for (const HostText& text : request.cpp_sources) job.cpp_names.push_back(text.name);
  for (const HostText& text : request.cuda_sources) job.cuda_names.push_back(text.name);
  if (request.functions) {
    job.functions.emplace();
    for (const HostFunction& function : *request.functions) job.functions->push_back(function.name);
  }
  if (request.device == HostDevice::kCpu) job.includes = includes;
  return job;
}

}  // namespace kbench
