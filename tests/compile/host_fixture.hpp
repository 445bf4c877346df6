// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile_fixture.hpp"
#include "compile/host/compilers.hpp"
#include "compile/host/host_compile.hpp"
#include "os/installation.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// Compiles with the machine's own compilers and torch's headers. Results go to a folder of the
/// test's own; precompiled headers are shared with all other tests, since they take so long.
class HostCompileTest : public testing::Test {
 protected:
  void SetUp() override {
    installation_ = find_installation();
    if (installation_.torch_lib.empty()) {
      GTEST_SKIP() << "no Python with torch was found when this was built: no torch headers";
    }
    if (find_host_compilers({}).empty()) {
      GTEST_SKIP() << "neither clang++ nor g++ is installed";
    }
    const auto shared = installation_.cache / "host-headers";
    std::filesystem::create_directories(shared);
    std::filesystem::create_directory_symlink(shared, folder_.path() / "host-headers");
  }

  HostSetup setup() const {
    HostSetup setup = host_setup(installation_);
    setup.compilers = compilers_;
    setup.cache = folder_.path();
    return setup;
  }

  /// load_inline(cpp_sources=[cpp], cuda_sources=[cuda], functions=["forward"]), for the CPU.
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

  /// What a Python script prints that finds the module loaded as `m`, and what it launches in
  /// `launches`: (expression, grid, block, shared bytes, bytes of each argument). Set
  /// `kernels[expression]` to a function of the arguments' addresses to have it do something.
  std::string run_python(const HostModule& module, const std::string& script) const {
    std::ofstream(folder_.path() / "module.so", std::ios::binary) << module.object;
    std::ofstream names(folder_.path() / "names.txt");
    for (const auto& stub : module.stubs) {
      names << "stub " << stub.offset << " " << stub.size << " " << stub.expression << "\n";
    }
    for (const auto& variable : module.variables) {
      names << "variable " << variable.offset << " " << variable.size << " " << variable.name
            << "\n";
    }
    names.close();
    const auto file = folder_.path() / "script.py";
    std::ofstream(file) << "from host_runtime import *\nm = load('" << folder_.path().string()
                        << "')\n"
                        << script;
    const CommandResult result = run_command(
        {{installation_.python.string(), file.string()},
         {{"PYTHONPATH", KBENCH_SOURCE_DIR "/tests/compile"}, {"PYTHONDONTWRITEBYTECODE", "1"}},
         {}},
        std::chrono::minutes(2));
    EXPECT_FALSE(result.timed_out);
    EXPECT_TRUE(!result.status.signaled && result.status.code == 0) << result.status.code << "\n"
                                                                    << result.error;
    return result.output;
  }

  Installation installation_;
  std::vector<std::filesystem::path> compilers_;  ///< none: those on PATH
  TemporaryFolder folder_;
};

}  // namespace kbench
