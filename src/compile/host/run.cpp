// SPDX-License-Identifier: MIT
#include "compile/host/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/file_tree.hpp"
#include "base/scratch_folder.hpp"
#include "compile/compiler_fault.hpp"
#include "compile/host/diagnostics.hpp"
#include "compile/host/precompiled_header_build.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kQueryLimit{20};
/// Limit for an empty unit: the compiler may read a header of 130 MB from a slow disk.
constexpr std::chrono::seconds kEmptyLimit{60};

std::string unit_name(std::size_t i) { return fmt::format("unit{}.cpp", i); }

}  // namespace

HostRun::HostRun(const HostSetup& setup, const HostRequest& request, const HostFlags& flags,
                 int cancel_fd, CompileTime& time)
    : setup_(setup),
      request_(request),
      flags_(flags),
      cancel_fd_(cancel_fd),
      time_(time),
      reader_(setup.guard, cancel_fd) {}

/// The compiler may open its own files and headers, but none of the user's files.
GuardedCompiler HostRun::guarded_by(const PrecompiledHeader& precompiled_header,
                                    const fs::path& scratch) const {
  GuardedCompiler compiler{"the host compiler", setup_.guard, setup_.memory_bytes, scratch, {}};
  compiler.readable = setup_.includes;
  compiler.readable.push_back(precompiled_header.folder);
  compiler.readable.push_back(program_tree(fs::canonical(precompiled_header.compiler.path)));
  return compiler;
}

Words HostRun::command(const PrecompiledHeader& precompiled_header, const fs::path& folder,
                       std::size_t units) const {
  Words words{precompiled_header.compiler.path.string()};
  words.insert(words.end(), precompiled_header.compile_options.begin(),
               precompiled_header.compile_options.end());
  for (const auto& include : flags_.folders) words.insert(words.end(), {"-I", include});
  for (const auto& include : request_.includes) words.insert(words.end(), {"-I", include.string()});
  words.insert(words.end(), {"-o", (folder / kObjectName).string()});
  for (std::size_t i = 0; i < units; ++i) words.push_back((folder / unit_name(i)).string());
  words.insert(words.end(), precompiled_header.link_options.begin(),
               precompiled_header.link_options.end());
  return words;
}

HostResult HostRun::compile(const PrecompiledHeader& precompiled_header, const Words& units) {
  const ScratchFolder scratch;
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::ofstream(scratch.path() / unit_name(i), std::ios::binary) << flags_.macros << units[i];
  }
  const GuardedCompiler compiler = guarded_by(precompiled_header, scratch.path());
  const Words words = command(precompiled_header, scratch.path(), units.size());
  const auto start = Clock::now();
  const auto ended =
      settle_fault([&] { return run_guarded(compiler, words, time_, cancel_fd_); },
                   [&] { return compile_empty(precompiled_header).status.is_success(); });
  spent_ += Clock::now() - start;
  if (const auto* fault = std::get_if<CompileError>(&ended)) return *fault;
  const auto& result = std::get<CommandResult>(ended);
  if (!result.is_success()) return failed(compiler, result);
  return module(precompiled_header, scratch.path() / kObjectName, result.error);
}

/// Compiles an empty unit with the precompiled header.
CommandResult HostRun::compile_empty(const PrecompiledHeader& precompiled_header) const {
  const ScratchFolder scratch;
  const fs::path unit = scratch.path() / unit_name(0);
  std::ofstream(unit).flush();
  const GuardedCompiler compiler = guarded_by(precompiled_header, scratch.path());
  Words words{precompiled_header.compiler.path.string()};
  words.insert(words.end(), precompiled_header.compile_options.begin(),
               precompiled_header.compile_options.end());
  words.insert(words.end(), {"-fsyntax-only", unit.string()});
  return run_guarded(compiler, words, kEmptyLimit, cancel_fd_);
}

bool HostRun::refuses(const PrecompiledHeader& precompiled_header) const {
  const CommandResult result = compile_empty(precompiled_header);
  const bool ended = !result.timed_out && !result.status.signaled;
  return ended && result.status.code != 0 && speaks_of_precompiled_header(result.error);
}

/// All libraries that may define an object's undefined symbols.
Words HostRun::libraries(const PrecompiledHeader& precompiled_header) const {
  Words files = torch_libraries(setup_.torch_lib, precompiled_header.kind.device);
  files.insert(
      files.begin(),
      (precompiled_header.folder / precompiled_header_library(precompiled_header.folder)).string());
  for (const char* name : {"libstdc++.so.6", "libgcc_s.so.1"}) {
    const CommandResult where = run_command(
        {{precompiled_header.compiler.path.string(), fmt::format("-print-file-name={}", name)},
         {},
         {}},
        kQueryLimit);
    files.push_back(where.output.substr(0, where.output.find('\n')));
  }
  return files;
}

/// Reads the libraries only if the object's own symbols do not decide.
Reader::Result<ObjectRead> HostRun::read_object(const PrecompiledHeader& precompiled_header,
                                                const fs::path& object) const {
  ObjectJob job{object, request_.kernels, request_.variables, request_.device, {}};
  auto read = reader_.read(job, time_);
  const auto* first = std::get_if<ObjectRead>(&read);
  if (first == nullptr || !first->needs_libraries) return read;
  job.libraries.emplace();
  for (const auto& library : libraries(precompiled_header)) {
    std::error_code ignored;
    job.libraries->push_back(fs::weakly_canonical(library, ignored).string());
  }
  return reader_.read(job, time_);
}

HostResult HostRun::module(const PrecompiledHeader& precompiled_header, const fs::path& object,
                           std::string log) {
  auto read = read_object(precompiled_header, object);
  if (auto* error = std::get_if<CompileError>(&read)) return std::move(*error);
  auto& symbols = std::get<ObjectRead>(read);
  if (symbols.refusal) {
    said_ = {};  // there is no error in the log
    return compile_error(symbols.refusal->cause, symbols.refusal->message, std::move(log));
  }
  HostModule module;
  module.object = file_text(object);
  module.stubs = std::move(symbols.stubs);
  module.variables = std::move(symbols.variables);
  module.log = std::move(log);
  module.way = precompiled_header.compiler.name();
  if (precompiled_header.kind.headers == HeaderSet::kHeavy) module.way += ", heavy";
  module.library_folders = {precompiled_header.folder, setup_.torch_lib};
  module.library_folders.insert(module.library_folders.end(), setup_.libraries.begin(),
                                setup_.libraries.end());
  return module;
}

CompileError HostRun::failed(const GuardedCompiler& compiler, const CommandResult& result) {
  const std::string& log = result.error;
  if (auto failure = compiler_failure(compiler, result, time_.limit())) return *failure;
  auto read = reader_.read(log_job(log, request_, setup_.includes), time_);
  if (auto* error = std::get_if<CompileError>(&read)) return std::move(*error);
  said_ = std::get<LogRead>(std::move(read));
  if (request_.device == HostDevice::kCpu && !said_.unsupported.empty())
    return compile_error(
        "unsupported_on_cpu",
        fmt::format("the host code uses {}, which kbench does not emulate on the CPU",
                    said_.unsupported),
        log);
  return compile_error(said_.diagnosis.cause, said_.diagnosis.message, log);
}

}  // namespace kbench
