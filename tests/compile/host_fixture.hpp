// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "compile/host_compilers.hpp"
#include "compile_fixture.hpp"
#include "kbench/host_compile.hpp"
#include "kbench/subprocess.hpp"

namespace kbench {

/// Compiles with the machine's own compilers and torch's headers. Results go to a folder of the
/// test's own; precompiled headers are shared with the user's kbench, since they take so long.
class HostCompileTest : public testing::Test {
 protected:
  void SetUp() override {
    installation_ = find_installation();
    if (installation_.torch_lib.empty()) {
      GTEST_SKIP() << "no Python with torch was found when this was built: no torch headers";
    }
    if (find_host_compilers({}).empty()) GTEST_SKIP() << "neither clang++ nor g++ is installed";
    const auto shared = installation_.cache / "host-headers";
    std::filesystem::create_directories(shared);
    std::filesystem::create_directory_symlink(shared, folder_.path() / "host-headers");
  }

  HostSetup setup() const {
    HostSetup setup = host_setup(installation_);
    setup.cache = folder_.path();
    return setup;
  }

  /// load_inline(cpp_sources=[cpp], cuda_sources=[cuda], functions=["forward"]).
  static HostRequest request(std::string cpp, std::string cuda,
                             std::vector<std::string> kernels = {}) {
    HostRequest request;
    request.cpp_sources = {{"main.cpp", std::move(cpp)}};
    if (!cuda.empty()) request.cuda_sources = {{"cuda.cu", std::move(cuda)}};
    request.functions = std::vector<HostFunction>{HostFunction{"forward", "forward"}};
    request.kernels = std::move(kernels);
    request.device = HostDevice::kCpu;
    return request;
  }

  HostResult compile(HostRequest asked) const {
    return HostCompiler(setup()).compile(std::move(asked)).get();
  }
  HostModule must_compile(HostRequest asked) const {
    HostResult result = compile(std::move(asked));
    if (const auto* error = std::get_if<CompileError>(&result)) {
      ADD_FAILURE() << error->cause << ": " << error->message << "\n" << error->log.substr(0, 4000);
      return {};
    }
    return std::get<HostModule>(result);
  }
  CompileError must_fail(HostRequest asked) const {
    HostResult result = compile(std::move(asked));
    if (std::holds_alternative<HostModule>(result)) {
      ADD_FAILURE() << "compiled, but should not";
      return {};
    }
    return std::get<CompileError>(result);
  }

  /// What a Python script prints, with the module as `module.so` in its folder.
  std::string run_python(const HostModule& module, const std::string& script) const {
    std::ofstream(folder_.path() / "module.so", std::ios::binary) << module.object;
    std::ofstream(folder_.path() / "script.py") << script;
    const CommandResult result = run_command(
        {{installation_.python.string(), (folder_.path() / "script.py").string()}, {}, {}},
        std::chrono::minutes(2));
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.status.code, 0) << result.error;
    return result.output;
  }

  Installation installation_;
  TemporaryFolder folder_;
};

}  // namespace kbench
