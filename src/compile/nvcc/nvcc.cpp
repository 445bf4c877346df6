// SPDX-License-Identifier: MIT
#include "compile/nvcc/nvcc.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <mutex>

#include "base/file_tree.hpp"
#include "compile/compiler_turns.hpp"
#include "compile/host/cache.hpp"
#include "compile/keyed_pool.hpp"
#include "compile/nvcc/run.hpp"
#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

// Increase it when the meaning of a stored result changes.
constexpr std::string_view kNvccFormat = "nvcc-2";

}  // namespace

struct NvccCompiler::Impl {
  explicit Impl(NvccSetup given)
      : setup(std::move(given)), cache(setup.host.cache / "nvcc"), pool(setup.jobs) {}
  ~Impl() { cancel(); }
  void cancel() {
    ::eventfd_write(cancel_event.value(), 1);
    pool.cancel();
  }
  const NvccSearch& search() {
    std::call_once(searched, [this] { known = find_nvcc(setup); });
    return known;
  }
  const FoundNvcc& nvcc() {
    if (!search().found) throw Error(search().absence);
    return *search().found;
  }
  const FoundCompiler& compiler();
  std::string key_of(const NvccRequest& request);
  std::shared_future<HostResult> compile(NvccRequest request);

  NvccSetup setup;
  HostCache cache;
  Fd cancel_event{::eventfd(0, EFD_CLOEXEC)};
  std::once_flag searched, compiler_searched;
  NvccSearch known;
  std::optional<FoundCompiler> found_compiler;
  KeyedPool<HostResult> pool;  // last, because its threads use the rest
};

/// Prefers g++ to clang++, because nvcc and torch use g++ by default.
const FoundCompiler& NvccCompiler::Impl::compiler() {
  std::call_once(compiler_searched, [this] {
    const auto found = find_host_compilers(setup.host.compilers);
    const auto gcc = std::ranges::find(found, false, &FoundCompiler::is_clang);
    if (gcc != found.end()) {
      found_compiler = *gcc;
    } else if (!found.empty()) {
      found_compiler = found.front();
    }
  });
  if (!found_compiler) throw Error("nvcc needs a C++ compiler, but there is none: install g++");
  return *found_compiler;
}

std::string NvccCompiler::Impl::key_of(const NvccRequest& request) {
  Sha256 hash;
  hash.field(kNvccFormat).field(file_version(nvcc().path)).field(nvcc().version);
  hash.field(file_version(compiler().path)).field(compiler().name());
  hash.field(setup.host.torch_version).field(file_version(setup.host.torch_lib));
  for (const auto& include : setup.host.includes) hash.field(file_version(include));
  hash.field(std::to_string(setup.memory_bytes));
  add(hash, request.sources);
  hash.field(request.separate_files ? "files" : "inline");
  hash.field(request.implicit_headers ? "headers" : "none").field(request.arch);
  hash.field(std::to_string(request.cuda_flags.size()));
  for (const auto& flag : request.cuda_flags) hash.field(flag);
  for (const auto& library : request.libraries) hash.field(library);
  return hash.hex();
}

std::shared_future<HostResult> NvccCompiler::Impl::compile(NvccRequest request) {
  const std::string key = key_of(request);
  CompileBudget* const budget = request.sources.budget.get();
  return pool.submit(key, budget, [this, key, budget, request = std::move(request)] {
    if (auto kept = cache.load(key)) return *kept;
    // The limit is per source; the sources are compiled in parallel.
    const auto limit = setup.limit * std::max<std::size_t>(1, nvcc_units(request).size());
    HostResult result = compile_in_time<HostResult>(limit, budget, [&](CompileTime& time) {
      return NvccRun(setup, nvcc(), compiler(), cancel_event.value(), time).compile(request);
    });
    cache.store(key, result);
    return result;
  });
}

NvccCompiler::NvccCompiler(NvccSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {}

NvccCompiler::~NvccCompiler() = default;

const NvccSearch& NvccCompiler::search() { return impl_->search(); }

std::vector<fs::path> NvccCompiler::headers() {
  const auto& found = search().found;
  return found ? nvcc_headers(*found) : std::vector<fs::path>();
}

std::shared_future<HostResult> NvccCompiler::compile(NvccRequest request) {
  return future_of<HostResult>([&] { return impl_->compile(std::move(request)); });
}

void NvccCompiler::cancel() { impl_->cancel(); }

}  // namespace kbench
