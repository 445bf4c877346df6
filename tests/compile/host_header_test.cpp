// SPDX-License-Identifier: MIT
// The precompiled header that all host halves share: what makes it be built anew.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/file.h>

#include <atomic>
#include <map>
#include <thread>

#include "base/file_tree.hpp"
#include "base/text.hpp"
#include "compile/host/precompiled_header_build.hpp"
#include "compile/host_fixture.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kForward = "torch::Tensor forward(torch::Tensor x) { return x; }\n";

class HostHeader : public HostCompileTest {};

/// When each precompiled header below that cache was made.
std::map<std::string, fs::file_time_type> headers_below(const fs::path& cache) {
  std::map<std::string, fs::file_time_type> made;
  for (const auto& kind : fs::directory_iterator(cache / "host-headers"))
    for (const char* name : {kPrecompiledHeaderClang, kPrecompiledHeaderGcc})
      if (fs::exists(kind.path() / name))
        made[(kind.path() / name).string()] = fs::last_write_time(kind.path() / name);
  return made;
}

TEST_F(HostHeader, WordsAboutPrecompiledHeadersAreTheCandidates) {
  HostCompiler(setup()).prepare(HostDevice::kCpu);
  const auto before = headers_below(folder_.path());
  for (const char* words : {"this file is no precompiled header", "AST file", "PCH file"}) {
    const CompileError error =
        must_fail(request(std::string(kForward) + "#error " + words + "\n", ""));
    EXPECT_EQ(error.cause, "syntax_error");
    EXPECT_THAT(error.message, HasSubstr("main.cpp, line 2: "));
  }
  EXPECT_EQ(headers_below(folder_.path()), before) << "shared headers are not made anew for that";
}

TEST_F(HostHeader, EmptyHeadersTakeThePlaceOfOthers) {
  const std::string names = file_text(setup().headers / "empty_headers.txt");
  std::string includes;
  Lines lines(names);
  for (std::string_view name; lines.next(name);)
    if (!name.starts_with('#'))
      includes += fmt::format("#include <{}>\n", name.substr(name.find('/') + 1));
  must_compile(request(includes + kForward, ""));
  const Fd never(eventfd(0, EFD_CLOEXEC));
  PrecompiledHeaders precompiled_headers(setup(), never.value());
  const auto folder =
      precompiled_headers.ready({HostDevice::kCpu, HeaderSet::kUsual, "c++17"}).folder;
  for (const char* name : {"cpu/ATen/cuda/CUDAContext.h", "shadow/torch/extension.h"})
    EXPECT_TRUE(fs::is_empty(folder / kEmulationFolder / name)) << name;
}

TEST_F(HostHeader, AMovedCacheHasNone) {
  const Fd never(eventfd(0, EFD_CLOEXEC));
  const auto name_in = [&](const char* cache) {
    HostSetup own = setup();
    own.cache = folder_.path() / cache;
    return PrecompiledHeaders(own, never.value())
        .folder({HostDevice::kCpu, HeaderSet::kUsual, "c++17"})
        .filename();
  };
  EXPECT_EQ(name_in("here"), name_in("here"));
  EXPECT_NE(name_in("here"), name_in("there"));
}

/// Candidates may read headers, and may lock whatever they can read.
TEST_F(HostHeader, NobodyHoldsItUpWithLocksOfWhatCandidatesRead) {
  HostSetup own = setup();
  own.cache = folder_.path() / "own";
  const Fd cancel(eventfd(0, EFD_CLOEXEC));
  PrecompiledHeaders precompiled_headers(own, cancel.value());
  const PrecompiledHeaderKind kind{HostDevice::kCpu, HeaderSet::kUsual, "c++17"};
  const auto folder = precompiled_headers.folder(kind);
  fs::create_directories(folder);
  const auto complete = [&] { std::ofstream(folder / "complete") << "now\n"; };
  complete();
  precompiled_headers.drop(precompiled_headers.ready(kind));
  std::vector<Fd> locks;
  for (const auto& file : fs::recursive_directory_iterator(own.cache / "host-headers")) {
    locks.emplace_back(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::flock(locks.back().value(), LOCK_EX | LOCK_NB), 0) << file.path();
  }
  complete();
  const PrecompiledHeader precompiled_header = precompiled_headers.ready(kind);
  std::atomic<bool> dropped = false;
  std::thread patience([&] {
    for (int i = 0; i < 100 && !dropped; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::eventfd_write(cancel.value(), 1);
  });
  EXPECT_NO_THROW(precompiled_headers.drop(precompiled_header));
  dropped = true;
  patience.join();
  EXPECT_FALSE(fs::exists(folder / "complete"));
}

/// A folder in the place of src/emulation with pybind11's header alone: torch's take half a minute
/// to precompile.
fs::path small_headers(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream(folder / "kbench_host.hpp") << "#define PYBIND11_NAMESPACE pybind11\n"
                                               "#define TORCH_EXTENSION_NAME kbench_extension\n"
                                               "#include <pybind11/pybind11.h>\n";
  std::vector<std::string> names = runtime_objects(HostDevice::kCpu);
  for (std::string& name : names) name = fs::path(name).replace_extension(".cpp");
  names.insert(names.end(), {"kbench_macros.hpp", "empty_headers.txt"});
  for (const std::string& name : names) std::ofstream(folder / name).flush();
  return folder;
}

TEST_F(HostHeader, AHeaderThatTheCompilerRefusesIsMadeAnew) {
  HostSetup own = setup();
  own.cache = folder_.path() / "own";
  own.headers = small_headers(folder_.path() / "small");
  const Fd never(eventfd(0, EFD_CLOEXEC));
  const auto header =
      PrecompiledHeaders(own, never.value()).folder({HostDevice::kCpu, HeaderSet::kUsual, "c++17"});
  if (!HostCompiler(own).compiler_version().starts_with("clang"))
    GTEST_SKIP() << "GCC takes the text of a header that it refuses";
  fs::create_directories(header);
  std::vector<std::string> files = runtime_objects(HostDevice::kCpu);
  files.insert(files.end(), {"complete", kPrecompiledHeaderClang, kTopHeader,
                             precompiled_header_library(header)});
  for (const std::string& name : files) std::ofstream(header / name) << "not what it should be";
  HostRequest asked = request("int forward(int x) { return x; }\n", "");
  asked.error_handling = false;
  const HostResult result = HostCompiler(own).compile(asked).get();
  const auto* error = std::get_if<CompileError>(&result);
  EXPECT_EQ(error, nullptr) << error->message << "\n" << error->log;
  EXPECT_GT(fs::file_size(header / kPrecompiledHeaderClang), 1u << 20);
}

}  // namespace
}  // namespace kbench
