// SPDX-License-Identifier: MIT
#include "base/remove_tree.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

#include "base/test_folder.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

/// Makes so many folders, each in the one before.
void nest(const fs::path& folder, int count) {
  int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(::mkdirat(at, "d", 0700), 0);
    const int below = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_GE(below, 0);
    ::close(std::exchange(at, below));
  }
  ::close(::openat(at, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ::close(at);
}

TEST(RemoveTree, FoldersDeeperThanAnyPath) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "a/b");
  nest(scratch / "a", 5000);
  nest(scratch / "a/b", 2500);
  EXPECT_TRUE(remove_tree(scratch / "a"));
  EXPECT_FALSE(fs::exists(scratch / "a"));
}

TEST(RemoveTree, WhatNobodyMayReadOrWrite) {
  const ScratchFolder scratch;
  scratch.write("a/locked/inner/file", "x");
  scratch.write("a/sealed/file", "x");
  fs::permissions(scratch / "a/locked/inner", fs::perms::none);
  fs::permissions(scratch / "a/locked", fs::perms::none);
  fs::permissions(scratch / "a/sealed", fs::perms::owner_read);
  EXPECT_TRUE(remove_tree(scratch / "a"));
  EXPECT_FALSE(fs::exists(scratch / "a"));
}

TEST(RemoveTree, LinksLeadNowhere) {
  const ScratchFolder scratch;
  scratch.write("outside/file", "x");
  fs::create_directories(scratch / "a/b/c");
  fs::create_symlink(scratch / "outside", scratch / "a/link");
  fs::create_symlink(scratch / "outside", scratch / "a/b/c/link");
  fs::create_symlink("..", scratch / "a/b/c/up");
  EXPECT_TRUE(remove_tree(scratch / "a"));
  EXPECT_FALSE(fs::exists(scratch / "a"));
  EXPECT_TRUE(fs::exists(scratch / "outside/file"));
  fs::create_directory_symlink(scratch / "outside", scratch / "a");
  EXPECT_FALSE(remove_tree(scratch / "a"));
  EXPECT_TRUE(fs::exists(scratch / "outside/file"));
}

TEST(RemoveTree, NamesThatAreTakenAlready) {
  const ScratchFolder scratch;
  for (int i = 0; i < 30; ++i) {
    const std::string name = "a/kbench-" + std::to_string(i);
    if (i % 3 == 0) scratch.write(name, "x");
    if (i % 3 == 1) scratch.write(name + "/deep/er/file", "x");
    if (i % 3 == 2) fs::create_directories(scratch / name / "deep/er/still");
  }
  EXPECT_TRUE(remove_tree(scratch / "a"));
  EXPECT_FALSE(fs::exists(scratch / "a"));
}

TEST(RemoveTree, WhatIsNotThereIsGone) {
  const ScratchFolder scratch;
  EXPECT_TRUE(remove_tree(scratch / "never"));
}

}  // namespace
}  // namespace kbench
