// SPDX-License-Identifier: MIT
#include "run/build/stored_bytes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "kbench/error.hpp"

namespace kbench::run {
namespace {
namespace fs = std::filesystem;

class Stored : public testing::Test {
 protected:
  Stored() {
    std::string pattern = (fs::temp_directory_path() / "stored-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Stored() override { fs::remove_all(folder_); }
  auto files() const { return std::distance(fs::directory_iterator(folder_), {}); }
  fs::path folder_;
};

TEST_F(Stored, ComesBackAsItWas) {
  const std::string bytes("ELF\0\n\xff", 6);
  const StoredBytes stored(bytes, folder_);
  EXPECT_EQ(stored.size(), 6u);
  EXPECT_EQ(stored.read(), bytes);
  EXPECT_EQ(stored.read(), bytes);
}

TEST_F(Stored, NothingNeedsNoFile) {
  const StoredBytes nothing("", folder_);
  EXPECT_EQ(nothing.read(), "");
  EXPECT_EQ(files(), 0);
}

TEST_F(Stored, TheFileGoesWithTheLastCopy) {
  StoredBytes copy;
  {
    const StoredBytes stored("bytes", folder_);
    copy = stored;
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(copy.read(), "bytes");
  copy = {};
  EXPECT_EQ(files(), 0);
}

TEST_F(Stored, AFileThatWasCutOffIsAFault) {
  const StoredBytes stored("bytes", folder_);
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry.path(), 3);
  EXPECT_THROW((void)stored.read(), Error);
  EXPECT_THROW(StoredBytes("bytes", "/proc/nowhere"), Error);
}

TEST_F(Stored, WhatARunThatWasKilledHasLeftGoes) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const StoredBytes stored("bytes", folder_);
    ::_exit(stored.size() == 5 ? 0 : 1);
  }
  ::waitpid(pid, nullptr, 0);
  const StoredBytes own("own", folder_);
  std::ofstream(folder_ / "other") << "not ours";
  EXPECT_EQ(files(), 3);
  remove_stored_bytes(folder_);
  EXPECT_EQ(files(), 2);
  EXPECT_EQ(own.read(), "own");
}

}  // namespace
}  // namespace kbench::run
