// SPDX-License-Identifier: MIT
// The precompiled header that all host halves share: what makes it be built anew.
#include <gmock/gmock.h>
#include <sys/eventfd.h>

#include <map>

#include "compile/host_prelude_build.hpp"
#include "host_fixture.hpp"

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
    for (const char* name : {kPreludePch, kPreludeGch})
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

TEST_F(HostHeader, AMovedCacheHasNone) {
  const Fd never(eventfd(0, EFD_CLOEXEC));
  const auto name_in = [&](const char* cache) {
    HostSetup own = setup();
    own.cache = folder_.path() / cache;
    return Preludes(own, never.value())
        .folder({HostDevice::kCpu, HeaderSet::kUsual, "c++17"})
        .filename();
  };
  EXPECT_EQ(name_in("here"), name_in("here"));
  EXPECT_NE(name_in("here"), name_in("there"));
}

TEST_F(HostHeader, AHeaderThatTheCompilerRefusesIsMadeAnew) {
  HostSetup own = setup();
  own.cache = folder_.path() / "own";
  const Fd never(eventfd(0, EFD_CLOEXEC));
  const auto header =
      Preludes(own, never.value()).folder({HostDevice::kCpu, HeaderSet::kUsual, "c++17"});
  if (!HostCompiler(own).compiler_version().starts_with("clang"))
    GTEST_SKIP() << "GCC takes the text of a header that it refuses";
  fs::create_directories(header);
  std::vector<std::string> files = runtime_objects(HostDevice::kCpu);
  files.insert(files.end(), {"complete", kPreludePch, kPreludeHeader, prelude_library(header)});
  for (const std::string& name : files) std::ofstream(header / name) << "not what it should be";
  const HostResult result = HostCompiler(own).compile(request(kForward, "")).get();
  EXPECT_TRUE(std::holds_alternative<HostModule>(result));
  EXPECT_GT(fs::file_size(header / kPreludePch), 1u << 20);
}

}  // namespace
}  // namespace kbench
