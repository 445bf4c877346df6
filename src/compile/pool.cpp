// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <mutex>

#include "base/file_tree.hpp"
#include "base/hash.hpp"
#include "compile/budget.hpp"
#include "compile/compile.hpp"
#include "compile/compiler_fault.hpp"
#include "compile/compiler_turns.hpp"
#include "compile/content_cache.hpp"
#include "compile/headers/compatibility_headers.hpp"
#include "compile/keyed_pool.hpp"
#include "compile/languages.hpp"
#include "compile/ptx_names.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLoadLimit{60};  // to read a library of 100 MB from a slow disk
// Increase it when the meaning of a stored result changes.
constexpr std::string_view kCompileFormat = "compile-4";

/// A hash of the names, sizes and times in a folder. It changes with the version of CUDA's headers,
/// and takes no reading of files.
std::string folder_identity(const fs::path& folder) {
  std::vector<std::string> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    entries.push_back(file_version(entry.path()) + "\n");
  }
  std::sort(entries.begin(), entries.end());
  Sha256 hash;
  for (const auto& entry : entries) hash.field(entry);
  return hash.hex();
}

std::string compatibility_headers_identity() {
  Sha256 hash;
  for (const CompatibilityHeader& compatibility_header : compatibility_headers())
    hash.field(compatibility_header.name).field(compatibility_header.text);
  return hash.hex();
}

/// An error if NUL or control characters would change the request on its way to the compiler.
std::optional<CompileError> malformed(const CompileRequest& request) {
  if (const std::size_t nul = request.source.find('\0'); nul != std::string::npos) {
    const auto line = std::count(request.source.begin(),
                                 request.source.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    return compile_error("syntax_error",
                         fmt::format("line {}: a NUL byte in the source", line + 1));
  }
  for (const auto& name : request.name_expressions) {
    if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 0 && c < ' '; })) {
      return compile_error("unknown_kernel", "a kernel's name contains a control character");
    }
  }
  return std::nullopt;
}

/// Puts the candidate's file name into log and PTX in place of kSourceName, the name of all
/// sources.
CompileResult with_file_name(CompileResult result, const std::string& file_name) {
  if (file_name.empty()) return result;
  std::string& log =
      std::visit([](auto& alternative) -> std::string& { return alternative.log; }, result);
  std::string named;
  std::size_t at = 0;
  for (std::size_t found; (found = log.find(kSourceName, at)) != std::string::npos;) {
    named.append(log, at, found - at).append(file_name);
    at = found + kSourceName.size();
  }
  log = named.append(log, at);
  auto* artifact = std::get_if<Artifact>(&result);
  if (artifact != nullptr && artifact->is_ptx) name_in_ptx(artifact->image, kSourceName, file_name);
  return result;
}

}  // namespace

struct CompilePool::Impl {
  explicit Impl(CompilerSetup given);
  ~Impl() { cancel(); }
  void cancel() {
    ::eventfd_write(cancel_event.value(), 1);
    pool.cancel();
  }
  std::shared_future<CompileResult> compile(CompileRequest request);
  const std::string& version();

  std::string key_of(const CompileRequest& request);
  CompileResult work(const CompileRequest& request, const std::string& key);
  CompileResult compile_now(const CompileRequest& request);
  CompileResult compile_once(const CompileRequest& request, CompileTime& time);
  bool works(const CompileRequest& failed);
  CompileResult died(const CommandResult& command, const CompileTime& time) const;

  CompilerSetup setup;
  ResultCache<CompileResult, unpack_result> cache;
  std::string includes_identity;
  std::string compatibility_headers_hash = compatibility_headers_identity();
  std::mutex version_mutex;
  std::string version_text;  ///< empty: not asked yet
  Fd cancel_event{::eventfd(0, EFD_CLOEXEC)};
  KeyedPool<CompileResult> pool;  // last, because its threads use the rest
};

CompilePool::Impl::Impl(CompilerSetup given)
    : setup(std::move(given)), cache(setup.cache), pool(setup.jobs) {
  for (const auto& folder : setup.includes) {
    includes_identity += folder.string() + folder_identity(folder);
  }
}

const std::string& CompilePool::Impl::version() {
  const std::scoped_lock lock(version_mutex);
  if (!version_text.empty()) return version_text;
  const std::string key =
      Sha256().field("nvrtc-version").field(file_version(setup.nvrtc) + "\n").hex();
  if (auto known = cache.load_text(key)) {
    version_text = *known;
    return version_text;
  }
  const CommandResult result =
      run_command({{setup.compiler.string(), "--version", setup.nvrtc.string()}, {}, {}},
                  kLoadLimit, {}, kMaxLogBytes, cancel_event.value());
  if (result.cancelled) throw Error(kCompilingCancelled);
  if (!result.is_success()) {
    throw Error(result.error.empty() ? fmt::format("{} cannot load {}; run scripts/kbench setup",
                                                   setup.compiler.string(), setup.nvrtc.string())
                                     : result.error.substr(0, result.error.find('\n')));
  }
  version_text = result.output.substr(0, result.output.find('\n'));
  cache.store_text(key, version_text);
  return version_text;
}

std::string CompilePool::Impl::key_of(const CompileRequest& request) {
  std::error_code ignored;
  Sha256 hash;
  hash.field(kCompileFormat).field(request.language).field(request.source).field(request.arch);
  hash.field(std::to_string(request.flags.size()));
  for (const auto& flag : request.flags) hash.field(flag);
  for (const auto& name : request.name_expressions) hash.field(name);
  if (!request.find_parameters) hash.field("no parameters");
  hash.field(version()).field(std::to_string(fs::file_size(setup.nvrtc, ignored)));
  hash.field(compatibility_headers_hash)
      .field(includes_identity)
      .field(std::to_string(setup.memory_bytes));
  return hash.hex();
}

std::shared_future<CompileResult> CompilePool::Impl::compile(CompileRequest request) {
  const Language* language = find_language(request.language);
  if (language == nullptr) throw Error(fmt::format("unknown language {}", request.language));
  if (const auto error = malformed(request)) return ready_future<CompileResult>(*error);
  Options options = language->options(request.flags);
  if (auto* error = std::get_if<CompileError>(&options))
    return ready_future<CompileResult>(std::move(*error));
  request.flags = std::get<std::vector<std::string>>(std::move(options));
  if (language->prelude)
    request.flags.insert(request.flags.begin(), fmt::format("-include={}", kPrelude));
  const std::string key = key_of(request);
  const std::string file_name = std::exchange(request.file_name, {});
  if (is_readable(cancel_event.value())) throw Error(kCompilingCancelled);
  if (auto known = cache.load(key))
    return ready_future(with_file_name(std::move(*known), file_name));
  CompileBudget* const budget = request.budget.get();
  return pool.submit(
      key, budget, [this, key, request = std::move(request)] { return work(request, key); },
      [file_name](const CompileResult& result) { return with_file_name(result, file_name); });
}

CompileResult CompilePool::Impl::work(const CompileRequest& request, const std::string& key) {
  // Checks again, because another job may have stored it while this one was queued.
  if (auto known = cache.load(key)) return *known;
  CompileResult result = compile_now(request);
  cache.store(key, result);
  return result;
}

CompileResult CompilePool::Impl::compile_now(const CompileRequest& request) {
  return compile_in_time<CompileResult>(setup.limit, request.budget.get(), [&](CompileTime& time) {
    auto result =
        settle_fault([&] { return compile_once(request, time); }, [&] { return works(request); });
    if (auto* fault = std::get_if<1>(&result)) return CompileResult(std::move(*fault));
    return std::get<0>(std::move(result));
  });
}

/// True if a plain, correct source compiles for the architecture of `failed`.
bool CompilePool::Impl::works(const CompileRequest& failed) {
  CompileRequest plain;
  plain.source = "__global__ void plain(float* x) { x[0] = 1; }\n";
  plain.arch = failed.arch;
  CompileTime time(setup.limit, nullptr);
  return std::holds_alternative<Artifact>(compile_once(plain, time));
}

CompileResult CompilePool::Impl::compile_once(const CompileRequest& request, CompileTime& time) {
  const CompilerJob job{setup.nvrtc, setup.includes, setup.memory_bytes, request};
  const auto start = Clock::now();
  const CommandResult command = time.run({{setup.compiler.string()}, {}, {}}, pack(job),
                                         kMaxAnswerBytes, cancel_event.value());
  if (command.cancelled) throw Error(kCompilingCancelled);
  const bool answered = command.is_success();
  CompileResult result;
  try {
    result = answered ? unpack_result(command.output) : died(command, time);
  } catch (const CompilerFault& fault) {
    throw CompilerFault(fmt::format("{}: {}", setup.compiler.string(), fault.what()));
  } catch (const Error&) {
    if (!answered) throw;
    result = died(command, time);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::visit([&](auto& alternative) { alternative.seconds = seconds; }, result);
  return result;
}

CompileResult CompilePool::Impl::died(const CommandResult& command, const CompileTime& time) const {
  CompileError error;
  error.log = command.error.substr(0, kMaxLogBytes);
  if (command.timed_out) {
    const double limit_s = std::chrono::duration<double>(time.limit()).count();
    error.cause = "compile_timeout";
    error.message = fmt::format(
        "the compiler was not done after {:g} s of processor time and was killed", limit_s);
    error.limit_s = limit_s;
  } else if (command.status.signaled && command.status.code == SIGKILL) {
    error.cause = "compiler_killed";
    error.message = "the system killed the compiler, most likely because memory ran out";
  } else if (command.status.signaled) {
    error.cause = "compiler_crash";
    error.message = fmt::format("the compiler crashed ({})", ::strsignal(command.status.code));
  } else {
    error.cause = "compiler_crash";
    error.message =
        fmt::format("the compiler ended without an answer (exit code {})", command.status.code);
  }
  return error;
}

CompilePool::CompilePool(CompilerSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {}

CompilePool::~CompilePool() = default;

std::shared_future<CompileResult> CompilePool::compile(CompileRequest request) {
  return future_of<CompileResult>([&] { return impl_->compile(std::move(request)); });
}

void CompilePool::cancel() { impl_->cancel(); }

const std::string& CompilePool::nvrtc_version() const { return impl_->version(); }

}  // namespace kbench
