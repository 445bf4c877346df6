// SPDX-License-Identifier: MIT
// What kbench makes of Nsight Compute, with a script in its place.
#include "run/schedule/ncu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_folder.hpp"
#include "os/device_probe.hpp"
#include "run/devices.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Ncu : public testing::Test {
 protected:
  /// A program that runs `body`; $log is the file that it is told to write to.
  std::filesystem::path program(const std::string& body) {
    const auto path = folder_.path() / "ncu";
    std::ofstream(path) << R"(#!/bin/sh
said="$*"
while [ "$1" != --log-file ]; do shift; done
log=$2
)" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  json look(const std::filesystem::path& ncu) {
    Prepared prepared;
    candidate_.source = "__global__ void scale() {}";
    problem_.path = "/set/level1/1_Scale.py";
    prepared.candidate = &candidate_;
    prepared.problem = &problem_;
    prepared.sizes = {{"N", "64"}};
    prepared.record.precision = "fp16";
    KernelProfile scale;
    scale.kernel = "kernels::scale<128, float>";
    scale.launches = 2;
    KernelProfile sum;
    sum.kernel = "sum";
    sum.launches = 1;
    prepared.record.profile = {scale, sum};
    QueueDevice device{.name = "cuda:1", .model = "NVIDIA H200", .gpu = GpuInfo{}};
    device.gpu->uuid = "GPU-1";
    json details = json::object();
    profile_by_ncu(ncu, "/k/bin/kbench", device, prepared, -1, details);
    return details;
  }

  test::ScratchFolder folder_;
  Candidate candidate_;
  Problem problem_;
};

TEST_F(Ncu, IsAskedForTheKernelsOfTheProfileAndToldTheCandidate) {
  const json details = look(program(R"(for last; do case $last in *.cu) file=$last;; esac; done
{ echo "$said"; echo "Section: told $KBENCH_GPU_HELD"; cat "$file"; } > "$log"
)"));
  ASSERT_TRUE(details.contains("ncu")) << details.dump();
  EXPECT_THAT(details["ncu"].get<std::string>(),
              AllOf(HasSubstr("--kernel-name regex:^(scale|sum)$ --launch-count 3"),
                    HasSubstr("/k/bin/kbench eval --candidate"),
                    HasSubstr("--problem /set/level1/1_Scale.py --device cuda:1 --precision fp16"),
                    HasSubstr("--set N=64"), HasSubstr("Section: told GPU-1"),
                    HasSubstr("__global__ void scale() {}")));
}

TEST_F(Ncu, ThatSaysNothingIsQuoted) {
  const json details = look(program("echo 'ERR_NVGPUCTRPERM' >&2; exit 9\n"));
  EXPECT_FALSE(details.contains("ncu"));
  EXPECT_THAT(details.at("ncu_failed").get<std::string>(),
              AllOf(HasSubstr("exited with code 9"), HasSubstr("ERR_NVGPUCTRPERM")));
}

TEST_F(Ncu, ThatSaysTooMuchIsCutOff) {
  const json details =
      look(program("{ echo Section: a; head -c 300000 /dev/zero | tr '\\0' x; } > \"$log\"\n"));
  EXPECT_LT(details.at("ncu").get<std::string>().size(), 110'000u);
  EXPECT_THAT(details.at("ncu").get<std::string>(), HasSubstr("[cut off]"));
}

TEST_F(Ncu, IsFoundByItsVariable) {
  const auto own = program("exit 0\n");
  setenv("KBENCH_NCU", own.c_str(), 1);
  EXPECT_EQ(find_ncu(), own);
  setenv("KBENCH_NCU", "/nowhere/ncu", 1);
  EXPECT_EQ(find_ncu(), std::nullopt);
  unsetenv("KBENCH_NCU");
}

}  // namespace
}  // namespace kbench::run
