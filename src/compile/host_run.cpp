// SPDX-License-Identifier: MIT
#include "compile/host_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "compile/host_diagnostics.hpp"
#include "compile/host_prelude_build.hpp"
#include "compile/host_symbols.hpp"
#include "compile/host_unsupported.hpp"
#include "compile/scratch_folder.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kQueryLimit{20};
/// For an empty unit: reading a header of 130 MB from a slow disk.
constexpr std::chrono::seconds kEmptyLimit{60};
constexpr const char* kObject = "object.so";

std::string unit_name(std::size_t i) { return fmt::format("unit{}.cpp", i); }

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

CompileError make_error(std::string cause, std::string message, std::string log) {
  return {std::move(cause), std::move(message), std::move(log), 0, false, 0};
}

bool says_prelude(std::string_view log) {
  constexpr std::string_view kWords[] = {"AST file", "PCH file", "precompiled header",
                                         "precompiled file"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return log.find(word) != std::string_view::npos; });
}

}  // namespace

bool speaks_of_prelude(const HostResult& result) {
  const auto* error = std::get_if<CompileError>(&result);
  return error != nullptr && says_prelude(error->log);
}

HostRun::HostRun(const HostSetup& setup, const HostRequest& request, const HostFlags& flags,
                 int cancel_fd, CompileTime& time)
    : setup_(setup), request_(request), flags_(flags), cancel_fd_(cancel_fd), time_(time) {}

/// The compiler may open itself and headers, and nothing of the user's.
GuardedCompiler HostRun::guarded_by(const Prelude& prelude, const fs::path& scratch) const {
  GuardedCompiler compiler{"the host compiler", setup_.guard, setup_.memory_bytes, scratch, {}};
  compiler.readable = setup_.includes;
  compiler.readable.push_back(prelude.folder);
  compiler.readable.push_back(program_tree(fs::canonical(prelude.compiler.path)));
  return compiler;
}

Words HostRun::command(const Prelude& prelude, const fs::path& folder, std::size_t units) const {
  Words words{prelude.compiler.path.string()};
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
  const GuardedCompiler compiler = guarded_by(prelude, scratch.path());
  const SpawnOptions spawn{guarded(compiler, command(prelude, scratch.path(), units.size())),
                           guarded_environment(compiler),
                           {}};
  const auto start = Clock::now();
  const CommandResult result = time_.run(spawn, {}, kMaxLogBytes, cancel_fd_);
  spent_ += Clock::now() - start;
  if (result.cancelled) throw Error("compiling was cancelled");
  const bool done = !result.timed_out && !result.status.signaled && result.status.code == 0;
  if (!done) return failed(compiler, result);
  return module(prelude, read_file(scratch.path() / kObject), result.error);
}

bool HostRun::refuses(const Prelude& prelude) const {
  const ScratchFolder scratch;
  const fs::path unit = scratch.path() / unit_name(0);
  std::ofstream(unit).flush();
  const GuardedCompiler compiler = guarded_by(prelude, scratch.path());
  Words words{prelude.compiler.path.string()};
  words.insert(words.end(), prelude.compile_options.begin(), prelude.compile_options.end());
  words.insert(words.end(), {"-fsyntax-only", unit.string()});
  const CommandResult result =
      run_command({guarded(compiler, words), guarded_environment(compiler), {}}, kEmptyLimit, {},
                  kMaxLogBytes, cancel_fd_);
  if (result.cancelled) throw Error("compiling was cancelled");
  const bool ended = !result.timed_out && !result.status.signaled;
  return ended && result.status.code != 0 && says_prelude(result.error);
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
  module.way = prelude.compiler.name();
  if (prelude.kind.headers == HeaderSet::kLight) module.way += ", light";
  if (prelude.kind.headers == HeaderSet::kHeavy) module.way += ", heavy";
  module.library_folders = {prelude.folder, setup_.torch_lib};
  module.library_folders.insert(module.library_folders.end(), setup_.libraries.begin(),
                                setup_.libraries.end());
  if (auto refused = read_symbols(
          request_, [&] { return libraries(prelude); }, module)) {
    return make_error(refused->cause, refused->message, module.log);
  }
  return module;
}

CompileError HostRun::failed(const GuardedCompiler& compiler, const CommandResult& result) const {
  const std::string& log = result.error;
  if (auto failure = compiler_failure(compiler, result, time_.limit())) return *failure;
  if (request_.device == HostDevice::kCpu) {
    if (const auto what = unsupported_on_cpu(log, setup_.includes); !what.empty())
      return make_error(
          "unsupported_on_cpu",
          fmt::format("the host code names {}, which has no counterpart on the CPU", what), log);
  }
  const Diagnosis diagnosis = diagnose_host(log, request_);
  return make_error(diagnosis.cause, diagnosis.message, log);
}

}  // namespace kbench
