// SPDX-License-Identifier: MIT
#include "compile/host_run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "compile/exit_codes.hpp"
#include "compile/host_diagnostics.hpp"
#include "compile/host_prelude_build.hpp"
#include "compile/host_symbols.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kQueryLimit{20};
constexpr const char* kObject = "object.so";

/// A folder for one compile, gone with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "kbench-host-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(fmt::format("{} cannot be made: {}", name, ::strerror(errno)));
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string unit_name(std::size_t i) { return fmt::format("unit{}.cpp", i); }

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

CompileError make_error(std::string cause, std::string message, std::string log) {
  return {std::move(cause), std::move(message), std::move(log), 0, false, 0};
}

bool says(std::string_view log, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return log.find(word) != std::string_view::npos; });
}

}  // namespace

HostRun::HostRun(const HostSetup& setup, const HostRequest& request, const HostFlags& flags,
                 int cancel_fd)
    : setup_(setup), request_(request), flags_(flags), cancel_fd_(cancel_fd) {}

/// What the compiler may open: itself and the system, headers, and nothing of the user's.
Words HostRun::readable(const Prelude& prelude) const {
  Words folders{"/usr",
                "/lib",
                "/lib64",
                "/bin",
                "/etc/ld.so.cache",
                "/etc/ld.so.conf",
                "/etc/ld.so.conf.d",
                "/dev/null"};
  folders.push_back(prelude.folder.string());
  folders.push_back(fs::canonical(prelude.compiler.path).parent_path().parent_path().string());
  for (const auto& include : setup_.includes) folders.push_back(include.string());
  return folders;
}

Words HostRun::command(const Prelude& prelude, const fs::path& folder, std::size_t units) const {
  Words words{setup_.guard.string(), "--guard", std::to_string(setup_.memory_bytes)};
  for (const auto& path : readable(prelude)) words.insert(words.end(), {"--read", path});
  words.insert(words.end(), {"--write", folder.string(), "--", prelude.compiler.path.string()});
  words.insert(words.end(), prelude.compile_options.begin(), prelude.compile_options.end());
  for (const auto& include : flags_.folders) words.insert(words.end(), {"-I", include});
  for (const auto& include : request_.includes) words.insert(words.end(), {"-I", include.string()});
  words.insert(words.end(), {"-o", (folder / kObject).string()});
  for (std::size_t i = 0; i < units; ++i) words.push_back((folder / unit_name(i)).string());
  words.insert(words.end(), prelude.link_options.begin(), prelude.link_options.end());
  return words;
}

HostResult HostRun::compile(const Prelude& prelude, const Words& units) {
  const ScratchFolder scratch;
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::ofstream(scratch.path() / unit_name(i), std::ios::binary) << flags_.macros << units[i];
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(setup_.limit - spent_);
  const SpawnOptions spawn{
      command(prelude, scratch.path(), units.size()),
      {{"TMPDIR", scratch.path().string()}, {"LC_ALL", "C"}, {"CPATH", "/nonexistent"}},
      {}};
  const auto start = Clock::now();
  const CommandResult result = run_command(spawn, std::max(left, std::chrono::milliseconds(1)), {},
                                           kMaxLogBytes, cancel_fd_);
  spent_ += Clock::now() - start;
  if (result.cancelled) throw Error("compiling was cancelled");
  const bool done = !result.timed_out && !result.status.signaled && result.status.code == 0;
  if (!done) return failed(result);
  return module(prelude, read_file(scratch.path() / kObject), result.error);
}

/// All that an object's undefined symbols may come from.
Words HostRun::libraries(const Prelude& prelude) const {
  Words files = torch_libraries(setup_.torch_lib, prelude.kind.device);
  files.insert(files.begin(), (prelude.folder / prelude_library(prelude.folder)).string());
  for (const char* name : {"libstdc++.so.6", "libgcc_s.so.1"}) {
    const CommandResult where = run_command(
        {{prelude.compiler.path.string(), fmt::format("-print-file-name={}", name)}, {}, {}},
        kQueryLimit);
    files.push_back(where.output.substr(0, where.output.find('\n')));
  }
  return files;
}

HostResult HostRun::module(const Prelude& prelude, std::string object, std::string log) const {
  HostModule module;
  module.object = std::move(object);
  module.log = std::move(log);
  module.way = prelude.compiler.name() + (prelude.kind.heavy ? ", heavy" : "");
  module.library_folders = {prelude.folder, setup_.torch_lib};
  module.library_folders.insert(module.library_folders.end(), setup_.libraries.begin(),
                                setup_.libraries.end());
  if (auto refused = read_symbols(
          request_, [&] { return libraries(prelude); }, module)) {
    return make_error(refused->cause, refused->message, module.log);
  }
  return module;
}

CompileError HostRun::failed(const CommandResult& result) const {
  const std::string& log = result.error;
  const double limit_s = std::chrono::duration<double>(setup_.limit).count();
  if (result.timed_out) {
    CompileError error = make_error(
        "compile_timeout",
        fmt::format("the host compiler was not done after {:g} s and was killed", limit_s), log);
    error.limit_s = limit_s;
    return error;
  }
  if (result.status.code == kFaultExit && !result.status.signaled) {
    throw Error(fmt::format("{}: {}", setup_.guard.string(), log));
  }
  if (says(log, {"AST file", "PCH file", "precompiled header", "precompiled file"})) {
    return make_error(kPreludeRefused, log.substr(0, log.find('\n')), log);
  }
  if (says(log, {"out of memory", "bad_alloc", "virtual memory exhausted", "Cannot allocate"})) {
    return make_error(
        "compiler_out_of_memory",
        fmt::format("the host compiler took more than {} MiB of memory", setup_.memory_bytes >> 20),
        log);
  }
  const bool killed = result.status.signaled && result.status.code == SIGKILL;
  if (killed || says(log, {"Killed signal", "signal 9"})) {
    return make_error("compiler_killed",
                      "the host compiler was killed from outside, most likely for want of memory",
                      log);
  }
  if (result.status.signaled || says(log, {"internal compiler error", "PLEASE submit a bug"})) {
    return make_error("compiler_crash", "the host compiler crashed", log);
  }
  const Diagnosis diagnosis = diagnose_host(log, request_);
  return make_error(diagnosis.cause, diagnosis.message, log);
}

}  // namespace kbench
