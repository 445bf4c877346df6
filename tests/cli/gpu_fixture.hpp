// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/kbench_process.hpp"
#include "os/device_probe.hpp"

namespace kbench::test {

/// A problem and a right kernel for it, on a machine that has a GPU.
class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    gpus_ = probe_gpus();
    if (gpus_.empty()) GTEST_SKIP() << "no GPU on this machine";
    folder_.write("set/level1/1_AddOne.py", add_one_problem(1 << 22));
    folder_.write("candidates/me/1_AddOne/a.cu", add_one_kernel());
  }
  std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all{"eval",         (folder_.path() / "set").string(),
                                 "--candidates", (folder_.path() / "candidates").string(),
                                 "--device",     "cuda:0",
                                 "--out",        out().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::filesystem::path out() const { return folder_.path() / "run.jsonl"; }

  std::vector<GpuInfo> gpus_;
  TempFolder folder_;
};

}  // namespace kbench::test
