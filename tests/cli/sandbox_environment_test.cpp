// SPDX-License-Identifier: MIT
// The environment and the folders that modules in a sandbox get.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sandboxed_run.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

void write_modules(const SandboxedRun& run) {
  run.write("asks", module_with(R"(
import os

assert os.environ["OMP_WAIT_POLICY"] == "active" and os.environ["OMP_NUM_THREADS"] == "1"
assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
assert "CUDA_LAUNCH_BLOCKING" not in os.environ
assert "KBENCH_TEST_TOKEN" not in os.environ and "KBENCH_HOME" not in os.environ
assert b"secret" not in open("/proc/self/environ", "rb").read()
)",
                                "        return torch.relu(x) * self.scale + self.bias\n"));
  const std::string other = (run.folder.path() / "other/header").string();
  run.write("builds", module_with(fmt::format(R"(
import os
import subprocess

assert subprocess.run(["cc"], stdout=subprocess.PIPE, text=True, check=True).stdout == "int two;"
assert not os.access("{0}", os.R_OK) or subprocess.run(["cat", "{0}"]).returncode != 0
assert open(os.environ["CUDA_HOME"] + "/include/header").read() == "int four;"
)",
                                              other),
                                  kPlainCall));
  run.write("imports",
            module_with("from beside import TWO",
                        "        return torch.relu(x) * self.scale + self.bias * (TWO - 1)\n"));
  for (const auto& [name, path] :
       std::map<std::string, std::string>{{"problem", "set/level1/1_ReluScale.py"},
                                          {"result", "run.jsonl"},
                                          {"others", "mine/1_ReluScale/imports.py"}})
    run.write(name, attempt_module(
                        fmt::format("open('{}').read()", (run.folder.path() / path).string())));
}

/// A run in an environment with many variables that libraries read, and with folders on Python's
/// path.
const SandboxedRun& sandboxed_run() {
  static SandboxedRun run;
  static const bool kJudged = [] {
    const TempFolder& folder = run.folder;
    const auto compiler =
        folder.write("tools/bin/cc", "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib/header\"\n");
    folder.write("tools/lib/header", "int two;");
    folder.write("other/header", "int three;");
    folder.write("cuda/include/header", "int four;");
    fs::permissions(compiler, fs::perms::owner_exec, fs::perm_options::add);
    folder.write("packages/beside.py", "TWO = 2");
    write_modules(run);
    const std::string path =
        fmt::format("{0}/packages:{0}/mine/1_ReluScale:{0}/set/level1:{0}", folder.path().string());
    const char* const libraries = std::getenv("LD_LIBRARY_PATH");
    const Variables variables{
        {"OMP_WAIT_POLICY", "active"},
        {"OMP_NUM_THREADS", "1"},
        {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
        {"CUDA_LAUNCH_BLOCKING", "1"},
        {"KBENCH_TEST_TOKEN", "secret"},
        {"PATH", fmt::format("{}:{}", compiler.parent_path().string(), std::getenv("PATH"))},
        {"CUDA_HOME", (folder.path() / "cuda").string()},
        {"PYTHONPATH", path},
        {"LD_LIBRARY_PATH", libraries == nullptr ? path : fmt::format("{}:{}", libraries, path)}};
    run.judge();
    return true;
  }();
  EXPECT_TRUE(kJudged);
  return run;
}

TEST(SandboxedModules, HaveOfTheEnvironmentWhatTellsLibrariesHowToWork) {
  expect_outcome(sandboxed_run().records.at("asks"), Outcome::kCorrect, "", "");
}

TEST(SandboxedModules, FindCompilersThatLieElsewhere) {
  if (!sandbox_has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  expect_outcome(sandboxed_run().records.at("builds"), Outcome::kCorrect, "", "");
}

TEST(SandboxedModules, ImportFromPythonsPathButSeeNoneOfTheRunsFoldersThere) {
  if (!sandbox_has(SandboxPart::kFiles)) GTEST_SKIP() << "this machine has no Landlock";
  for (const char* name : {"imports", "problem", "result", "others"}) {
    SCOPED_TRACE(name);
    expect_outcome(sandboxed_run().records.at(name), Outcome::kCorrect, "", "");
  }
}

}  // namespace
}  // namespace kbench::test
