// SPDX-License-Identifier: MIT
#include "compile/host/precompiled_header_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <unordered_set>

#include "compile/elf.hpp"
#include "compile/mapped_file.hpp"
#include "compile/names.hpp"
#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::chrono::minutes kLimit{20};
constexpr const char* kCodeObject = "precompiled_header.o";
constexpr std::size_t kShownLog = 2000;

/// One build. Commands run in order; a file gets its final name when it is complete.
class Build {
 public:
  Build(const PrecompiledHeader& precompiled_header, const HostSetup& setup, const Words& options,
        int cancel_fd)
      : precompiled_header_(precompiled_header),
        setup_(setup),
        options_(options),
        cancel_fd_(cancel_fd) {
    scratch_ = precompiled_header.folder / fmt::format("tmp.{}", ::getpid());
    fs::create_directories(scratch_);
  }
  ~Build() {
    std::error_code ignored;
    fs::remove_all(scratch_, ignored);
  }
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  void header(bool with_code);
  void code();
  void runtime();
  void library();

 private:
  void run(Words command) const;
  void keep(const std::string& name) const {
    fs::rename(scratch_ / name, precompiled_header_.folder / name);
  }
  void link_library(const Words& inputs) const;
  bool define_missing() const;

  const PrecompiledHeader& precompiled_header_;
  const HostSetup& setup_;
  const Words& options_;
  int cancel_fd_;
  fs::path scratch_;
};

void Build::run(Words command) const {
  command.insert(command.begin(), precompiled_header_.compiler.path.string());
  const CommandResult result = run_command({command, {}, {}}, kLimit, {}, 1u << 20, cancel_fd_);
  if (result.cancelled) throw Error("compiling was cancelled");
  if (result.is_success()) return;
  throw Error(fmt::format("{} cannot compile the headers of torch {} for host code: {}",
                          precompiled_header_.compiler.path.string(), setup_.torch_version,
                          result.error.substr(0, kShownLog)));
}

void Build::header(bool with_code) {
  const bool clang = precompiled_header_.compiler.is_clang;
  const std::string name = clang ? kPrecompiledHeaderClang : kPrecompiledHeaderGcc;
  Words command = options_;
  command.insert(command.end(),
                 {"-x", "c++-header", (precompiled_header_.folder / kTopHeader).string(), "-o",
                  (scratch_ / name).string()});
  if (clang) command.emplace_back("-fpch-instantiate-templates");
  if (with_code) command.emplace_back("-fpch-codegen");
  run(command);
  keep(name);
}

/// Makes an object file with the code of the header's inline functions and template instances.
void Build::code() {
  run({"-fPIC", "-c", (precompiled_header_.folder / kPrecompiledHeaderClang).string(), "-o",
       (scratch_ / kCodeObject).string()});
}

void Build::runtime() {
  for (const std::string& object : runtime_objects(precompiled_header_.kind.device)) {
    const fs::path source =
        precompiled_header_.folder / kEmulationFolder / fs::path(object).replace_extension(".cpp");
    Words command = precompiled_header_.compile_options;
    command.insert(command.end(), {"-c", source.string(), "-o", (scratch_ / object).string()});
    run(command);
    keep(object);
  }
}

void Build::link_library(const Words& inputs) const {
  const std::string name = precompiled_header_library(precompiled_header_.folder);
  Words command{"-shared",
                "-o",
                (scratch_ / name).string(),
                "-Wl,-soname," + name,
                "-Wl,--no-as-needed",
                "-Wl,-rpath," + setup_.torch_lib.string()};
  if (precompiled_header_.compiler.has_lld) command.emplace_back("-fuse-ld=lld");
  for (const auto& folder : setup_.libraries) {
    command.push_back("-Wl,-rpath," + folder.string());
    command.push_back("-Wl,-rpath-link," + folder.string());
  }
  command.insert(command.end(), inputs.begin(), inputs.end());
  const Words torch = torch_libraries(setup_.torch_lib, precompiled_header_.kind.device);
  command.insert(command.end(), torch.begin(), torch.end());
  run(command);
}

/// Inline functions of torch's headers use a few symbols that torch's libraries do not export.
/// Usually nothing calls these functions. But this library has the code of all of them, and could
/// not be loaded without the symbols. Writes an assembly file that defines the symbols as traps.
/// False if none is missing.
bool Build::define_missing() const {
  std::unordered_set<std::string> exported;
  for (const std::string& path :
       torch_libraries(setup_.torch_lib, precompiled_header_.kind.device)) {
    const MappedFile file(path);
    for (const ElfSymbol& symbol : ElfFile(file.bytes()).dynamic_symbols()) {
      if (symbol.is_defined) exported.emplace(symbol.name);
    }
  }
  const MappedFile library(scratch_ / precompiled_header_library(precompiled_header_.folder));
  std::ofstream traps(scratch_ / "missing.s");
  traps << ".text\n";
  bool any = false;
  for (const ElfSymbol& symbol : ElfFile(library.bytes()).dynamic_symbols()) {
    const std::string name(symbol.name);
    if (symbol.is_defined || symbol.is_weak || exported.contains(name)) continue;
    const std::string plain = demangle(name);
    const bool torchs = std::ranges::any_of(
        std::initializer_list<std::string_view>{"c10::", "at::", "torch::"},
        [&](std::string_view space) { return plain.find(space) != std::string::npos; });
    if (!name.starts_with("_Z") || !torchs) continue;
    traps << fmt::format(".weak {0}\n{0}:\n.fill 64, 2, 0x0b0f\n", name);  // ud2
    any = true;
  }
  return any;
}

void Build::library() {
  const std::string errors = (scratch_ / "cuda_errors.o").string();
  Words inputs;
  if (precompiled_header_.kind.device == HostDevice::kCuda) {
    Words command = options_;
    command.insert(
        command.end(),
        {"-c", (precompiled_header_.folder / kEmulationFolder / "cuda_errors.cpp").string(), "-o",
         errors});
    run(command);
    inputs.push_back(errors);
  }
  if (fs::exists(scratch_ / kCodeObject)) inputs.push_back((scratch_ / kCodeObject).string());
  link_library(inputs);
  if (define_missing()) {
    inputs.push_back((scratch_ / "missing.s").string());
    link_library(inputs);
  }
  keep(precompiled_header_library(precompiled_header_.folder));
}

}  // namespace

std::string precompiled_header_library(const fs::path& folder) {
  return fmt::format("libkbench_host_{}.so", folder.filename().string());
}

Words torch_libraries(const fs::path& folder, HostDevice device) {
  Words names{"torch", "torch_cpu", "c10", "torch_python"};
  if (device == HostDevice::kCuda) names.insert(names.end(), {"torch_cuda", "c10_cuda"});
  Words files;
  for (const std::string& name : names) {
    const fs::path file = folder / fmt::format("lib{}.so", name);
    if (fs::exists(file)) files.push_back(file.string());
  }
  return files;
}

std::vector<std::string> runtime_objects(HostDevice device) {
  std::vector<std::string> objects{"split_runtime.o", "device_names.o"};
  if (device == HostDevice::kCpu) {
    objects.insert(objects.end(), {"cpu_memory.o", "cpu_device.o", "cpu_torch.o", "cpu_blas.o"});
  }
  return objects;
}

void build_precompiled_header(const PrecompiledHeader& precompiled_header, const HostSetup& setup,
                              const Words& options, int cancel_fd) {
  Build build(precompiled_header, setup, options, cancel_fd);
  // Clang 14 fails on instances of torch::nn when it compiles the code of a header alone.
  const bool with_code =
      precompiled_header.compiler.is_clang && precompiled_header.kind.headers != HeaderSet::kHeavy;
  build.header(with_code);
  try {
    if (with_code) build.code();
  } catch (const Error&) {
    build.header(false);  // slower: each candidate compiles what it uses
  }
  build.library();
  build.runtime();
}

}  // namespace kbench
