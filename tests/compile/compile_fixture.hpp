// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "os/installation.hpp"

namespace kbench {

/// A source whose compile nobody sees the end of: 2^60 instantiations, at most 60 deep.
inline constexpr const char* kEndless =
    "template <int kDepth, unsigned long long kId> struct Tree {\n"
    "  static constexpr int value =\n"
    "      Tree<kDepth - 1, 2 * kId>::value + Tree<kDepth - 1, 2 * kId + 1>::value;\n};\n"
    "template <unsigned long long kId> struct Tree<0, kId> { static constexpr int value = 1; };\n"
    "__global__ void k(float* x) { x[0] = Tree<60, 0>::value; }";

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("kbench_compile_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Compiles with the real kbench-cc and NVRTC into a cache of the test's own.
class CompileTest : public testing::Test {
 protected:
  CompilerSetup setup() const {
    const Installation installation = find_installation();
    CompilerSetup setup;
    setup.compiler = installation.compiler;
    setup.nvrtc = installation.nvrtc;
    setup.includes = installation.cuda_includes;
    setup.cache = folder_.path();
    return setup;
  }
  static CompileRequest request(std::string source, std::vector<std::string> kernels,
                                std::string arch = "compute_90a") {
    CompileRequest request;
    request.source = std::move(source);
    request.name_expressions = std::move(kernels);
    request.arch = std::move(arch);
    return request;
  }
  /// The result with a pool of its own.
  CompileResult compile(CompileRequest asked) const {
    return CompilePool(setup()).compile(std::move(asked)).get();
  }
  Artifact must_compile(CompileRequest asked) const { return artifact(compile(std::move(asked))); }
  CompileError must_fail(CompileRequest asked) const { return error(compile(std::move(asked))); }

  static Artifact artifact(const CompileResult& result) {
    if (const auto* error = std::get_if<CompileError>(&result)) {
      ADD_FAILURE() << error->cause << ": " << error->message << "\n" << error->log.substr(0, 2000);
      return {};
    }
    return std::get<Artifact>(result);
  }
  static CompileError error(const CompileResult& result) {
    if (std::holds_alternative<Artifact>(result)) {
      ADD_FAILURE() << "compiled, but should not";
      return {};
    }
    return std::get<CompileError>(result);
  }

  TemporaryFolder folder_;
};

inline std::string signature(const KernelEntry& kernel) {
  std::string text;
  for (const auto& parameter : kernel.parameters) {
    text += (text.empty() ? "" : ", ") + parameter.type + (parameter.is_pointer ? "*" : "");
  }
  return text;
}

}  // namespace kbench
