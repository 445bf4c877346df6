// SPDX-License-Identifier: MIT
//
// kbench-cc: compiles one source with NVRTC and exits. It is a process of its own, because NVRTC
// cannot be cancelled, may crash, and compiles one source at a time per process.
//
//   kbench-cc < JOB > RESULT      both framed as src/compile/wire.hpp says
//   kbench-cc --version LIBRARY   "NVRTC 13.0"
//   kbench-cc --guard …           becomes a host compiler with limits, as guard.hpp says
//   kbench-cc --read < JOB        reads what a candidate wrote or a compiler made (reading.hpp)
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "compile/guard/confinement.hpp"
#include "compile/guard/guard.hpp"
#include "compile/nvrtc/compile.hpp"
#include "compile/reading/reading_main.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

std::string read_all(int fd) {
  std::string bytes;
  for (;;) {
    const std::size_t old = bytes.size();
    bytes.resize(old + (1 << 16));
    const ssize_t count = ::read(fd, bytes.data() + old, bytes.size() - old);
    bytes.resize(old + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count == 0 || (count < 0 && errno != EINTR)) return bytes;
  }
}

/// This process's only answer, either from the compile or from the memory watch, whichever comes
/// first.
class Answer {
 public:
  /// Moves standard output away from descriptor 1, so that NVRTC's prints do not get into the
  /// answer.
  Answer() : fd_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }

  [[noreturn]] void give(const CompileResult& result) { give(pack(result)); }

  [[noreturn]] void give(const std::string& bytes) {
    if (given_.exchange(true)) {
      for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));  // the other thread ends the process
    }
    if (write_all(fd_, bytes) < bytes.size()) ::_exit(1);
    ::_exit(0);  // without NVRTC's destructors, which take longer than a small compile
  }

 private:
  int fd_;
  std::atomic<bool> given_ = false;
};

void limit_self() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_FSIZE, &none);  // does not apply to pipes
  die_first();
}

CompileError out_of_memory(std::size_t bytes) {
  return compile_error("compiler_out_of_memory",
                       fmt::format("the compiler took more than {} MiB of memory", bytes >> 20));
}

CompileResult with_refusals(CompileResult result) {
  const auto refused = refused_file();
  if (!refused) return result;
  const auto* error = std::get_if<CompileError>(&result);
  const std::string where = error != nullptr && error->message.starts_with("line ")
                                ? error->message.substr(0, error->message.find(':') + 2)
                                : std::string();
  return compile_error(
      "illegal_include",
      fmt::format("{}the source may not include {}, only CUDA's headers", where, *refused),
      error != nullptr ? error->log : std::string());
}

[[noreturn]] void compile(Answer& answer) {
  const OwnNamespaces own = continue_in_namespaces();
  const CompilerJob job = unpack_job(read_all(STDIN_FILENO));
  const NvrtcApi nvrtc(job.nvrtc);
  const std::size_t limit = job.memory_bytes;
  watch_memory(limit, [limit, &answer] { answer.give(out_of_memory(limit)); });
  if (::chdir("/") != 0) throw Error("cannot change to the root folder");
  confine_reads(job.includes, own);
  answer.give(with_refusals(nvrtc_compile(nvrtc, job)));
}

/// Reports a fault as an answer, not as an exit code, because a source may make the compiler exit
/// with any code.
[[noreturn]] void compile_or_tell() {
  static Answer answer;
  try {
    compile(answer);
  } catch (const std::exception& error) {
    answer.give(pack_fault(error.what()));
  }
}

int run(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--version") {
    fmt::print("NVRTC {}\n", NvrtcApi(argv[2]).version());
    return 0;
  }
  if (argc > 2 && std::string_view(argv[1]) == "--guard") {
    guard(std::vector<std::string>(argv + 2, argv + argc));
  }
  const bool reads = argc == 2 && std::string_view(argv[1]) == "--read";
  if (argc != 1 && !reads) {
    fmt::print(stderr,
               "usage: kbench-cc [--read] < job > result\n       kbench-cc --version LIBRARY\n"
               "       kbench-cc --guard BYTES [--read PATH] [--write PATH] -- COMMAND\n");
    return 2;
  }
  limit_self();
  if (!reads) compile_or_tell();
  static Answer answer;
  answer.give(answer_reading(read_all(STDIN_FILENO)));
}

}  // namespace
}  // namespace kbench

/// Compilers get a lower priority than processes that work with a device.
constexpr int kNiceness = 5;

int main(int argc, char** argv) {
  try {
    [[maybe_unused]] const int ignored = nice(kNiceness);
    return kbench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
