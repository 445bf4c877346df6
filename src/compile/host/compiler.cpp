// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>

#include "compile/compiler_turns.hpp"
#include "compile/host/cache.hpp"
#include "compile/host/host_compile.hpp"
#include "compile/host/precompiled_header.hpp"
#include "compile/host/run.hpp"
#include "compile/host/source.hpp"
#include "compile/keyed_pool.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

// Increase it when the meaning of a stored result changes.
constexpr std::string_view kHostFormat = "host-5";
constexpr std::string_view kStandard = "c++17";

std::string key_of(const HostRequest& request, const fs::path& precompiled_header,
                   const HostSetup& setup) {
  Sha256 hash;
  hash.field(kHostFormat)
      .field(precompiled_header.string())
      .field(std::to_string(setup.memory_bytes));
  add(hash, request);
  return hash.hex();
}

/// True if the texts name something that only HeaderSet::kHeavy has.
bool asks_for_heavy(const HostRequest& request) {
  constexpr std::array<std::string_view, 6> kWords = {"torch::nn::", "torch/nn",     "torch::optim",
                                                      "torch::jit",  "torch/script", "torch::data"};
  const auto speaks = [&](const HostText& text) {
    return std::ranges::any_of(
        kWords, [&](std::string_view word) { return text.text.find(word) != std::string::npos; });
  };
  return std::ranges::any_of(request.cpp_sources, speaks) ||
         std::ranges::any_of(request.cuda_sources, speaks);
}

/// The precompiled header of most host code for `device`.
PrecompiledHeaderKind common_kind(HostDevice device) {
  return {device, HeaderSet::kUsual, std::string(kStandard)};
}

/// True if another way of compiling cannot change the result.
bool is_settled(const HostResult& result) {
  const auto* error = std::get_if<CompileError>(&result);
  return error == nullptr || error->cause.starts_with("compile") ||
         error->cause == "unsupported_on_cpu";
}

}  // namespace

struct HostCompiler::Impl {
  explicit Impl(HostSetup given)
      : setup(std::move(given)),
        cache(setup.cache / "host"),
        precompiled_headers(setup, cancel_event.value()),
        pool(setup.jobs) {}
  ~Impl() { cancel(); }
  void cancel() {
    ::eventfd_write(cancel_event.value(), 1);
    pool.cancel();
  }
  std::shared_future<HostResult> compile(HostRequest request);
  HostResult work(const HostRequest& request, const std::string& key,
                  const PrecompiledHeaderKind& kind, const HostFlags& flags);
  HostResult compile_on(const PrecompiledHeaderKind& kind, const std::vector<std::string>& units,
                        HostRun& run);
  HostResult compile_now(const HostRequest& request, PrecompiledHeaderKind kind, HostRun& run);

  HostSetup setup;
  HostCache cache;
  Fd cancel_event{::eventfd(0, EFD_CLOEXEC)};
  PrecompiledHeaders precompiled_headers;
  KeyedPool<HostResult> pool;  // last, because its threads use the rest
};

/// Rebuilds a precompiled header once if the compiler refuses it, because headers may have changed.
/// A candidate's text may also cause messages about precompiled headers, so the header is blamed
/// only if it fails without that text.
HostResult HostCompiler::Impl::compile_on(const PrecompiledHeaderKind& kind,
                                          const std::vector<std::string>& units, HostRun& run) {
  HostResult result = run.compile(precompiled_headers.ready(kind), units);
  if (is_settled(result) || !run.said().speaks_of_precompiled_header) return result;
  if (const PrecompiledHeader precompiled_header = precompiled_headers.ready(kind);
      run.refuses(precompiled_header))
    precompiled_headers.drop(precompiled_header);
  // Tries again in any case, because another candidate's compile may have rebuilt the header.
  const PrecompiledHeader precompiled_header = precompiled_headers.ready(kind);
  result = run.compile(precompiled_header, units);
  if (is_settled(result) || !run.said().speaks_of_precompiled_header ||
      !run.refuses(precompiled_header))
    return result;
  throw Error(fmt::format("{} rejects its own precompiled header: {}",
                          precompiled_headers.compiler().name(),
                          std::get<CompileError>(result).message));
}

/// Tries one translation unit first, for speed. If that fails, tries one unit for each source, as
/// torch does, because joined sources may conflict. If the usual headers may be insufficient, tries
/// again with all of torch's headers.
HostResult HostCompiler::Impl::compile_now(const HostRequest& request, PrecompiledHeaderKind kind,
                                           HostRun& run) {
  const std::vector<std::string> joined{joined_source(request)};
  const std::vector<std::string> separate = separate_sources(request);
  const auto attempt = [&] {
    HostResult result = compile_on(kind, joined, run);
    if (is_settled(result) || separate.size() < 2) return result;
    return compile_on(kind, separate, run);
  };
  std::optional<HostResult> usual;
  if (!asks_for_heavy(request)) {
    usual = attempt();
    if (is_settled(*usual) || !run.said().may_need_heavy) return *usual;
  }
  kind.headers = HeaderSet::kHeavy;
  HostResult heavy = attempt();
  // If both header sets fail, the usual set's error is shorter to read.
  if (usual && std::holds_alternative<CompileError>(heavy)) return *usual;
  return heavy;
}

HostResult HostCompiler::Impl::work(const HostRequest& request, const std::string& key,
                                    const PrecompiledHeaderKind& kind, const HostFlags& flags) {
  // Checks again, because another job may have stored it while this one was queued.
  if (auto known = cache.load(key)) return *known;
  HostResult result =
      compile_in_time<HostResult>(setup.limit, request.budget.get(), [&](CompileTime& time) {
        HostRun run(setup, request, flags, cancel_event.value(), time);
        HostResult made = compile_now(request, kind, run);
        std::visit([&](auto& alternative) { alternative.seconds = run.seconds(); }, made);
        return made;
      });
  cache.store(key, result);
  return result;
}

std::shared_future<HostResult> HostCompiler::Impl::compile(HostRequest request) {
  HostFlags flags = read_flags(request.flags);
  const PrecompiledHeaderKind kind{
      request.device, HeaderSet::kUsual,
      flags.standard.empty() ? std::string(kStandard) : flags.standard};
  const std::string key = key_of(request, precompiled_headers.folder(kind), setup);
  if (auto known = cache.load(key)) return ready_future(std::move(*known));
  return pool.submit(key, request.budget.get(),
                     [this, key, kind, flags = std::move(flags), request = std::move(request)] {
                       return work(request, key, kind, flags);
                     });
}

HostCompiler::HostCompiler(HostSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {}

HostCompiler::~HostCompiler() = default;

std::shared_future<HostResult> HostCompiler::compile(HostRequest request) {
  return future_of<HostResult>([&] { return impl_->compile(std::move(request)); });
}

void HostCompiler::cancel() { impl_->cancel(); }

std::string HostCompiler::compiler_version() {
  return impl_->precompiled_headers.compiler().name();
}

HostHeaders HostCompiler::headers(HostDevice device) {
  return impl_->precompiled_headers.state(common_kind(device));
}

void HostCompiler::prepare(HostDevice device) {
  impl_->precompiled_headers.ready(common_kind(device));
}

HostSetup host_setup(const Installation& installation) {
  HostSetup setup;
  setup.guard = installation.compiler;
  setup.headers = installation.host_headers;
  setup.torch_version = installation.torch_version;
  setup.torch_cxx11_abi = installation.torch_cxx11_abi;
  setup.torch_lib = installation.torch_lib;
  for (const auto* folders :
       {&installation.torch_includes, &installation.cuda_includes, &installation.python_includes}) {
    setup.includes.insert(setup.includes.end(), folders->begin(), folders->end());
  }
  if (!installation.nvrtc.empty()) setup.libraries = {installation.nvrtc.parent_path()};
  setup.cache = installation.cache;
  return setup;
}

}  // namespace kbench
