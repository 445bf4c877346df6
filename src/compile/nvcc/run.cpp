// SPDX-License-Identifier: MIT
#include "compile/nvcc/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <future>

#include "base/file_tree.hpp"
#include "base/scratch_folder.hpp"
#include "compile/compiler_fault.hpp"
#include "compile/host/precompiled_header_build.hpp"
#include "compile/host/reading.hpp"
#include "compile/host/source.hpp"
#include "compile/languages.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

/// Units of one extension that are compiled in parallel; each takes one or two gigabytes of memory.
constexpr std::size_t kUnitsAtOnce = 4;

/// The flags that torch.utils.cpp_extension passes to nvcc, so that a source compiles as with
/// torch.
constexpr const char* kTorchFlags[] = {
    "-D__CUDA_NO_HALF_OPERATORS__",       "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
    "--expt-relaxed-constexpr",           "--extended-lambda",
    "-allow-unsupported-compiler"};

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// The flags for nvcc alone; read_flags() reads -D, -U, -I and -std.
Words device_flags(const Words& flags) {
  Words kept;
  for (const auto& flag : flags) {
    if (flag.starts_with("-D") || flag.find("std=") != std::string::npos) continue;
    // -default-device is NVRTC's own. -O would only optimise host code, which is left unoptimised
    // to compile fast.
    if (flag.find("default-device") != std::string::npos || flag.find("-O") == 0) continue;
    const auto known = find_language("cuda")->options({flag});
    if (std::holds_alternative<Words>(known)) kept.push_back(flag);
  }
  return kept;
}

/// The path of "libcublas.so.13" or the like in one of the folders, for `name` "cublas"; empty if
/// there is none.
fs::path library_file(const std::vector<fs::path>& folders, const std::string& name) {
  const std::string start = fmt::format("lib{}.so", name);
  for (const auto& folder : folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (file == start || file.starts_with(start + ".")) return entry.path();
    }
  }
  return {};
}

/// The result of one command.
struct Ended {
  CommandResult result;
  bool done = false;
  std::optional<CompileError> fault;  ///< a fault of its process that this source causes
};

Ended run(const GuardedCompiler& compiler, const Words& command, CompileTime& time, int cancel_fd) {
  Ended ended;
  auto settled =
      settle_fault([&] { return run_guarded(compiler, command, time, cancel_fd); },
                   [&] {
                     return run_guarded(compiler, {command.front(), "--version"}, time, cancel_fd)
                         .status.is_success();
                   });
  if (auto* fault = std::get_if<CompileError>(&settled)) {
    ended.fault = std::move(*fault);
    return ended;
  }
  ended.result = std::get<CommandResult>(std::move(settled));
  // cudafe++ and cicc print their messages on standard error, ptxas on standard output.
  ended.result.error += ended.result.output;
  ended.done = ended.result.is_success();
  return ended;
}

}  // namespace

std::vector<fs::path> nvcc_headers(const FoundNvcc& nvcc) {
  std::error_code ignored;
  const fs::path root = fs::canonical(nvcc.path, ignored).parent_path().parent_path();
  std::vector<fs::path> folders;
  for (const char* name : {"include", "include/cccl", "targets/x86_64-linux/include"}) {
    if (fs::is_directory(root / name, ignored)) folders.push_back(root / name);
  }
  return folders;
}

std::vector<NvccUnit> nvcc_units(const NvccRequest& request) {
  const HostRequest& sources = request.sources;
  std::vector<NvccUnit> units;
  if (request.separate_files) {
    for (const auto& text : sources.cpp_sources) units.push_back({named_text(text), false});
    for (const auto& text : sources.cuda_sources) units.push_back({named_text(text), true});
    return units;
  }
  std::string main;
  for (const auto& text : sources.cpp_sources) main += named_text(text);
  if (sources.functions) main += named_text({std::string(kBindingsName), bindings(sources)});
  if (!main.empty()) {
    units.push_back(
        {(request.implicit_headers ? "#include <torch/extension.h>\n" : "") + main, false});
  }
  if (sources.cuda_sources.empty()) return units;
  std::string cuda =
      request.implicit_headers
          ? "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
          : "";
  for (const auto& text : sources.cuda_sources) cuda += named_text(text);
  units.push_back({cuda, true});
  return units;
}

NvccRun::NvccRun(const NvccSetup& setup, const FoundNvcc& nvcc, const FoundCompiler& compiler,
                 int cancel_fd, CompileTime& time)
    : setup_(setup), nvcc_(nvcc), compiler_(compiler), cancel_fd_(cancel_fd), time_(time) {}

/// Options for both the C++ compiler and nvcc. The -I folders keep the order of the request.
Words NvccRun::common(const NvccRequest& request) const {
  const HostSetup& host = setup_.host;
  const HostFlags flags = read_flags(request.sources.flags);
  Words words{"-std=" + (flags.standard.empty() ? "c++17" : flags.standard), "-w",
              fmt::format("-DTORCH_EXTENSION_NAME={}", kHostModule),
              "-DTORCH_API_INCLUDE_EXTENSION_H",
              fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", host.torch_cxx11_abi ? 1 : 0)};
  for (const auto& folder : flags.folders) append(words, {"-I", folder});
  for (const auto& folder : request.sources.includes) append(words, {"-I", folder.string()});
  for (const auto& include : host.includes) append(words, {"-isystem", include.string()});
  return words;
}

Words NvccRun::cuda_command(const NvccRequest& request) const {
  Words words{nvcc_.path.string(),
              "-ccbin",
              compiler_.path.string(),
              "-Xcompiler",
              "-fPIC",
              "-Xcompiler",
              "-w",
              "-arch",
              request.arch};
  append(words, {std::begin(kTorchFlags), std::end(kTorchFlags)});
  append(words, common(request));
  append(words, device_flags(request.cuda_flags));
  return words;
}

std::vector<fs::path> NvccRun::library_folders() const {
  std::vector<fs::path> folders = setup_.host.libraries;
  std::error_code ignored;
  const fs::path root = fs::canonical(nvcc_.path, ignored).parent_path().parent_path();
  for (const char* name : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
    if (fs::is_directory(root / name, ignored)) folders.push_back(root / name);
  }
  return folders;
}

/// Links torch's libraries and the CUDA runtime that torch itself has loaded. A second runtime in
/// the process would not know torch's current device.
Words NvccRun::link_command(const NvccRequest& request, const fs::path& scratch,
                            std::size_t units) const {
  Words words{compiler_.path.string(), "-shared", "-Wl,--no-as-needed", "-o",
              (scratch / kObjectName).string()};
  for (std::size_t i = 0; i < units; ++i) {
    words.push_back((scratch / fmt::format("unit{}.o", i)).string());
  }
  append(words, torch_libraries(setup_.host.torch_lib, HostDevice::kCuda));
  const auto folders = library_folders();
  const fs::path runtime = library_file(folders, "cudart");
  if (runtime.empty()) throw Error("libcudart.so is neither in Python's packages nor next to nvcc");
  words.push_back(runtime.string());
  for (const auto& flag : request.libraries) {
    if (!flag.starts_with("-l")) continue;
    const fs::path file = library_file(folders, flag.substr(2));
    if (!file.empty()) words.push_back(file.string());
  }
  append(words, {"-Wl,-rpath," + setup_.host.torch_lib.string()});
  for (const auto& folder : folders)
    append(words, {"-Wl,-rpath," + folder.string(), "-Wl,-rpath-link," + folder.string()});
  return words;
}

GuardedCompiler NvccRun::guarded_by(const fs::path& scratch) const {
  GuardedCompiler compiler{"nvcc", setup_.host.guard, setup_.memory_bytes, scratch, {}};
  compiler.readable = setup_.host.includes;
  compiler.readable.push_back(setup_.host.torch_lib);
  for (const auto& program : {nvcc_.path, compiler_.path}) {
    compiler.readable.push_back(program_tree(fs::canonical(program)));
  }
  const auto folders = library_folders();
  compiler.readable.insert(compiler.readable.end(), folders.begin(), folders.end());
  return compiler;
}

CompileError NvccRun::failed(const GuardedCompiler& compiler, const NvccRequest& request,
                             const CommandResult& result) const {
  if (auto failure = compiler_failure(compiler, result, time_.limit())) return *failure;
  const Reader reader(setup_.host.guard, cancel_fd_);
  auto read = reader.read(log_job(result.error, request.sources, {}), time_);
  if (auto* error = std::get_if<CompileError>(&read)) return std::move(*error);
  const Diagnosis& diagnosis = std::get<LogRead>(read).diagnosis;
  return compile_error(diagnosis.cause, "nvcc: " + diagnosis.message, result.error);
}

Words NvccRun::unit_command(const NvccRequest& request, const NvccUnit& unit,
                            const fs::path& source) const {
  Words words = unit.is_cuda ? cuda_command(request) : Words{compiler_.path.string()};
  if (!unit.is_cuda) {
    append(words, common(request));
    append(words, {"-fPIC", "-O0"});
  }
  append(words, {"-c", source.string(), "-o", fs::path(source).replace_extension(".o").string()});
  return words;
}

HostResult NvccRun::compile(const NvccRequest& request) const {
  const auto start = Clock::now();
  HostResult result = compile_units(request);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::visit([&](auto& alternative) { alternative.seconds = seconds; }, result);
  return result;
}

HostResult NvccRun::compile_units(const NvccRequest& request) const {
  const ScratchFolder scratch;
  const GuardedCompiler compiler = guarded_by(scratch.path());
  const auto units = nvcc_units(request);
  const HostFlags flags = read_flags(request.sources.flags);
  std::vector<Ended> ended;
  std::vector<std::future<Ended>> compiles;
  const auto finish = [&] {
    for (auto& compile : compiles) ended.push_back(compile.get());
    compiles.clear();
  };
  compiles.reserve(kUnitsAtOnce);
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (compiles.size() == kUnitsAtOnce) finish();
    const fs::path source =
        scratch.path() / fmt::format("unit{}.{}", i, units[i].is_cuda ? "cu" : "cpp");
    std::ofstream(source, std::ios::binary) << flags.macros << units[i].text;
    compiles.push_back(std::async(std::launch::async, run, compiler,
                                  unit_command(request, units[i], source), std::ref(time_),
                                  cancel_fd_));
  }
  finish();
  const auto bad = std::ranges::find(ended, false, &Ended::done);
  if (bad != ended.end() && bad->fault) return *bad->fault;
  if (bad != ended.end()) return failed(compiler, request, bad->result);
  const Ended linked =
      run(compiler, link_command(request, scratch.path(), units.size()), time_, cancel_fd_);
  if (linked.fault) return *linked.fault;
  if (!linked.done) return failed(compiler, request, linked.result);
  HostModule module;
  module.object = file_text(scratch.path() / kObjectName);
  for (const Ended& each : ended) module.log += each.result.error;
  module.way = fmt::format("nvcc {} + {}", nvcc_.version, compiler_.name());
  module.library_folders = library_folders();
  module.library_folders.push_back(setup_.host.torch_lib);
  return module;
}

}  // namespace kbench
