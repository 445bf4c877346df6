// SPDX-License-Identifier: MIT
#include "os/installation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kbench/error.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class InstallationTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kbench-installation-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& text) const {
    fs::path path = folder_ / "kbench.json";
    std::ofstream(path) << text;
    return path;
  }

  std::string message_of(const fs::path& path) const {
    try {
      read_installation(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(InstallationTest, ReadsEveryField) {
  const auto found = read_installation(write(R"({
    "python": "/p/python", "python_version": "3.12.1", "torch_version": "2.11.0",
    "cuda_version": "13.0", "nvrtc": "/n/libnvrtc.so.13", "cuda_includes": ["/i", "/i/cccl"],
    "torch_includes": ["/t/include"], "python_includes": ["/p/include"], "torch_lib": "/t/lib",
    "torch_cxx11_abi": false, "host_headers": "/k/host", "problems": "/k/problems", "candidates": "/k/right"})"));
  EXPECT_EQ(found.bin, folder_);
  EXPECT_EQ(found.compiler, folder_ / "kbench-cc");
  EXPECT_EQ(found.worker, folder_ / "kbench-worker");
  EXPECT_EQ(found.python, "/p/python");
  EXPECT_EQ(found.python_version, "3.12.1");
  EXPECT_EQ(found.torch_version, "2.11.0");
  EXPECT_EQ(found.cuda_version, "13.0");
  EXPECT_EQ(found.nvrtc, "/n/libnvrtc.so.13");
  EXPECT_THAT(found.cuda_includes, ElementsAre("/i", "/i/cccl"));
  EXPECT_THAT(found.torch_includes, ElementsAre("/t/include"));
  EXPECT_THAT(found.python_includes, ElementsAre("/p/include"));
  EXPECT_EQ(found.torch_lib, "/t/lib");
  EXPECT_FALSE(found.torch_cxx11_abi);
  EXPECT_EQ(found.host_headers, "/k/host");
  EXPECT_EQ(found.problems, "/k/problems");
  EXPECT_EQ(found.candidates, "/k/right");
  EXPECT_EQ(found.cache, default_cache());
}

TEST_F(InstallationTest, NamesEveryFileThatIsGone) {
  Installation installation;
  installation.python = "/proc/self/exe";
  installation.problems = folder_ / "problems";
  installation.nvrtc = folder_ / "libnvrtc.so";
  installation.cuda_includes = {folder_, folder_ / "cccl"};
  EXPECT_THAT(missing_files(installation),
              ElementsAre(folder_ / "problems", folder_ / "libnvrtc.so", folder_ / "cccl"));
}

TEST_F(InstallationTest, WhatWasNeverFoundIsNotGone) {
  Installation driver_only;
  driver_only.problems = folder_;
  EXPECT_THAT(missing_files(driver_only), testing::IsEmpty());
}

TEST_F(InstallationTest, SaysWhatToDoWhereTheFileIsMissingOrDamaged) {
  EXPECT_THAT(message_of(folder_ / "none.json"), HasSubstr("scripts/kbench setup"));
  EXPECT_THAT(message_of(write("{\"python\": ")), HasSubstr("scripts/kbench setup"));
  EXPECT_THAT(message_of(write("{\"python\": 3}")), HasSubstr("scripts/kbench setup"));
  EXPECT_THAT(message_of(write("{}")), HasSubstr("python"));
}

TEST_F(InstallationTest, TheBuildItselfIsFound) {
  const auto found = find_installation();
  EXPECT_EQ(found.bin, fs::path(KBENCH_BIN_DIR));
  EXPECT_TRUE(fs::exists(found.python)) << found.python;
  EXPECT_EQ(found.problems, fs::path(KBENCH_SOURCE_DIR) / "problems");
}

TEST_F(InstallationTest, TheCacheFollowsTheEnvironment) {
  const char* names[] = {"KBENCH_HOME", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::pair<const char*, std::string>> saved;
  for (const char* name : names) {
    if (const char* value = getenv(name); value != nullptr) {
      saved.emplace_back(name, value);
    }
  }
  setenv("KBENCH_HOME", "/h", 1);
  setenv("XDG_CACHE_HOME", "/x", 1);
  setenv("HOME", "/u", 1);
  EXPECT_EQ(default_cache(), "/h/cache");
  unsetenv("KBENCH_HOME");
  EXPECT_EQ(default_cache(), "/x/kbench");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_cache(), "/u/.cache/kbench");
  unsetenv("HOME");
  EXPECT_TRUE(default_cache().is_absolute());
  unsetenv("XDG_CACHE_HOME");
  for (const auto& [name, value] : saved) {
    setenv(name, value.c_str(), 1);
  }
}

}  // namespace
}  // namespace kbench
