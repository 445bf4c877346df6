// SPDX-License-Identifier: MIT
// If torch is installed without its bytecode, as in many images, it is compiled only once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/kbench_process.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

/// The folder of kbench's torch.
fs::path torch_package() {
  const auto python = find_installation().python.string();
  SpawnOptions options;
  options.command = {python, "-c",
                     "import importlib.util; print(importlib.util.find_spec('torch').origin)"};
  auto found = run_command(options, std::chrono::seconds(60));
  while (!found.output.empty() && found.output.back() == '\n') found.output.pop_back();
  return fs::path(found.output).parent_path();
}

/// The same torch under another path, without its bytecode.
fs::path torch_without_bytecode(const TempFolder& folder) {
  fs::path site = folder.path() / "site";
  fs::create_directories(site / "torch");
  for (const auto& entry : fs::directory_iterator(torch_package()))
    if (entry.path().filename() != "__pycache__")
      fs::create_symlink(entry.path(), site / "torch" / entry.path().filename());
  return site;
}

/// Runs kbench eval of one right kernel with that home. Python searches `site` before all other
/// packages.
CommandResult eval_with(const TempFolder& folder, const fs::path& site, const fs::path& home) {
  folder.write("me/1_AddOne/a.cu", add_one_kernel());
  SpawnOptions options;
  options.command = {std::string(KBENCH_BIN_DIR) + "/kbench",
                     "eval",
                     folder.write("problems/level1/1_AddOne.py", add_one_problem(64)).string(),
                     "--candidates",
                     (folder.path() / "me").string(),
                     "--device",
                     "cpu",
                     "--out",
                     (folder.path() / "run.jsonl").string()};
  options.env = {{"KBENCH_HOME", home.string()}, {"NO_COLOR", "1"}, {"PYTHONPATH", site.string()}};
  return run_command(options, std::chrono::seconds(200), {}, 1u << 20);
}

TEST(Bytecode, IsKeptWhereTorchHasNoneOfItsOwn) {
  const TempFolder folder;
  const fs::path site = torch_without_bytecode(folder);
  const fs::path home = folder.path() / "home";
  const auto result = eval_with(folder, site, home);
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::size_t kept = 0;
  for (const auto& entry : fs::recursive_directory_iterator(home / "cache" / "bytecode"))
    if (entry.path().extension() == ".pyc") ++kept;
  EXPECT_GT(kept, 500u);
  EXPECT_FALSE(fs::exists(site / "torch" / "__pycache__"));
}

TEST(Bytecode, OfAnOrdinaryInstallationStaysWhereItIs) {
  const TempFolder folder;
  const fs::path site = torch_without_bytecode(folder);
  fs::create_directories(site / "torch" / "__pycache__");
  const fs::path home = folder.path() / "home";
  const auto result = eval_with(folder, site, home);
  ASSERT_EQ(result.status.code, 0) << result.error;
  EXPECT_FALSE(fs::exists(home / "cache" / "bytecode"));
}

}  // namespace
}  // namespace kbench::test
