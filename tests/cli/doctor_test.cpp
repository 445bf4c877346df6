// SPDX-License-Identifier: MIT
#include "cli/doctor/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "os/subprocess.hpp"

namespace kbench::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A machine without faults.
Machine sound_machine() {
  Machine machine;
  Installation& installation = machine.installation.emplace();
  installation.bin = "/k/bin";
  installation.python = "/p/python";
  installation.python_version = "3.12.1";
  installation.torch_version = "2.11.0+cu130";
  installation.nvrtc = "/n/libnvrtc.so.13";
  installation.cuda_includes = {"/n/include"};
  machine.compiler_exists = machine.worker_exists = true;
  machine.kernel_driver = "580.159.03";
  machine.driver.cuda_version = 13000;
  machine.driver.gpus.push_back({"NVIDIA H200", 150'000'000'000, 9, 0, 0, false});
  machine.nvrtc_version = "13.0";
  machine.cupti = "/n/libcupti.so.13";
  machine.host_compilers = {{"/usr/bin/clang++", "clang++ 14.0.6"}};
  machine.headers_cuda = HostHeaders{true, 148'000'000, std::chrono::hours(5)};
  machine.headers_cpu = HostHeaders{};
  machine.ncu = "/n/bin/ncu";
  machine.nvcc.found = FoundNvcc{"/n/bin/nvcc", "13.0.88"};
  machine.torch_version = "2.11.0+cu130";
  machine.torch_cuda = "13.0";
  for (const auto& row : sandbox_parts()) machine.sandbox.add(row.part);
  machine.cores = 16;
  machine.memory_bytes = 128'000'000'000;
  machine.available_bytes = 120'000'000'000;
  machine.shm_bytes = 8'000'000'000;
  machine.cache = "/c";
  machine.cache_writable = true;
  machine.cache_free_bytes = 50'000'000'000;
  machine.problems = 24;
  return machine;
}

/// A fault, the check that must report it, and the devices that still work.
struct Fault {
  std::string check;
  std::function<void(Machine&)> cause;
  Level level;
  bool cpu, gpu;
};

std::vector<Fault> faults() {
  return {
      {"installation", [](Machine& m) { m.worker_exists = false; }, Level::kMissing, false, false},
      {"installation", [](Machine& m) { m.gone = {"/n"}; }, Level::kMissing, false, false},
      {"problems", [](Machine& m) { m.problems = 0; }, Level::kNote, true, true},
      {"python", [](Machine& m) { m.torch_error = "no torch"; }, Level::kMissing, false, false},
      {"python", [](Machine& m) { m.torch_version = "2.9.0"; }, Level::kMissing, false, false},
      {"nvrtc", [](Machine& m) { m.nvrtc_error = "not an ELF"; }, Level::kMissing, false, false},
      {"nvrtc", [](Machine& m) { m.nvrtc_version = "12.8"; }, Level::kNote, true, true},
      {"headers", [](Machine& m) { m.missing_headers = {"crt/mma.h"}; }, Level::kNote, true, true},
      {"headers", [](Machine& m) { m.missing_headers = {"cuda_fp16.h"}; }, Level::kMissing, false,
       false},
      {"host compiler", [](Machine& m) { m.host_compilers.clear(); }, Level::kNote, true, true},
      {"nvcc",
       [](Machine& m) {
         m.nvcc = {std::nullopt, "no nvcc"};
       },
       Level::kNote, true, true},
      {"ncu", [](Machine& m) { m.ncu.clear(); }, Level::kNote, true, true},
      {"driver", [](Machine& m) { m.driver.error = "no libcuda.so.1"; }, Level::kMissing, true,
       false},
      {"driver", [](Machine& m) { m.driver.cuda_version = 12040; }, Level::kMissing, true, false},
      {"driver", [](Machine& m) { m.torch_cuda.clear(); }, Level::kMissing, true, false},
      {"gpu", [](Machine& m) { m.driver.gpus.clear(); }, Level::kMissing, true, false},
      {"cupti", [](Machine& m) { m.cupti.clear(); }, Level::kNote, true, true},
      {"device files", [](Machine& m) { m.locked_devices = {"/dev/nvidia0"}; }, Level::kMissing,
       true, false},
      {"compute mode", [](Machine& m) { m.driver.gpus[0].compute_mode = 3; }, Level::kMissing, true,
       false},
      {"mps", [](Machine& m) { m.mps = true; }, Level::kNote, true, true},
      {"hmm", [](Machine& m) { m.driver.gpus[0].pageable_access = true; }, Level::kNote, true,
       true},
      {"sandbox", [](Machine& m) { m.sandbox = {}; }, Level::kNote, true, true},
      {"memory", [](Machine& m) { m.available_bytes = 1'000'000'000; }, Level::kNote, true, true},
      {"shared memory", [](Machine& m) { m.shm_bytes = 64'000'000; }, Level::kNote, true, true},
      {"cache", [](Machine& m) { m.cache_writable = false; }, Level::kMissing, false, false},
  };
}

TEST(DoctorTest, EveryCheckIsContentWithASoundMachine) {
  const Machine machine = sound_machine();
  std::set<std::string_view> names;
  for (const Check& check : doctor_checks()) {
    const Finding finding = check.judge(machine);
    EXPECT_EQ(finding.level, Level::kOk) << check.name << ": " << finding.found;
    EXPECT_THAT(finding.found, Not(IsEmpty())) << check.name;
    EXPECT_THAT(finding.advice, IsEmpty()) << check.name;
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
  }
  EXPECT_TRUE(verdict(machine).cpu);
  EXPECT_TRUE(verdict(machine).gpu);
}

TEST(DoctorTest, EveryCheckFindsItsFaultAndSaysWhatToDo) {
  std::set<std::string_view> covered;
  for (const Fault& fault : faults()) {
    Machine machine = sound_machine();
    fault.cause(machine);
    for (const Check& check : doctor_checks()) {
      if (check.name == fault.check) {
        const Finding finding = check.judge(machine);
        EXPECT_EQ(finding.level, fault.level) << check.name << ": " << finding.found;
        EXPECT_THAT(finding.found, Not(IsEmpty())) << check.name;
        EXPECT_THAT(finding.advice, Not(IsEmpty())) << check.name;
        covered.insert(check.name);
      }
    }
    EXPECT_EQ(verdict(machine).cpu, fault.cpu) << fault.check;
    EXPECT_EQ(verdict(machine).gpu, fault.gpu) << fault.check;
  }
  EXPECT_EQ(covered.size(), doctor_checks().size());
}

TEST(DoctorTest, NothingFoundAtAllIsSaidInEveryLineWithAdvice) {
  const Machine nothing;
  for (const Check& check : doctor_checks()) {
    const Finding finding = check.judge(nothing);
    EXPECT_EQ(finding.level == Level::kOk, finding.advice.empty()) << check.name;
  }
  EXPECT_FALSE(verdict(nothing).cpu);
  EXPECT_THAT(doctor_text(nothing), HasSubstr("scripts/kbench setup"));
}

TEST(DoctorTest, JsonHoldsEveryCheck) {
  const auto json = doctor_json(sound_machine());
  EXPECT_EQ(json.at("checks").size(), doctor_checks().size());
  EXPECT_TRUE(json.at("can_run").at("gpu").get<bool>());
  for (const auto& check : json.at("checks")) {
    EXPECT_EQ(check.at("level"), "ok");
  }
}

TEST(DoctorTest, ProbesAnswerOrSayWhyNot) {
  EXPECT_THAT(probe("nvrtc:/nowhere/libnvrtc.so").at("error"), HasSubstr("/nowhere/libnvrtc.so"));
  EXPECT_THROW(probe("weather"), UsageError);
}

// The real command on this machine: its JSON is valid, and its exit code agrees with its verdict.
TEST(DoctorTest, LooksAtThisMachine) {
  SpawnOptions options;
  options.command = {KBENCH_BIN_DIR "/kbench", "doctor", "--format", "json"};
  const CommandResult result = run_command(options, std::chrono::minutes(2));
  ASSERT_FALSE(result.timed_out);
  const auto json = nlohmann::json::parse(result.output);
  const bool can_run = json.at("can_run").at("cpu").get<bool>() || json.at("can_run").at("gpu");
  EXPECT_EQ(result.status.code, can_run ? 0 : 1) << result.output << result.error;
  for (const auto& check : json.at("checks")) {
    if (check.at("name") == "nvrtc" && check.at("level") == "ok") {
      EXPECT_THAT(check.at("found").get<std::string>(), HasSubstr("NVRTC 1"));
    }
    if (check.at("name") == "memory") {
      EXPECT_THAT(check.at("found").get<std::string>(), Not(HasSubstr("of 0.0 GB")));
    }
  }
}

TEST(Doctor, TellsWhichWayHostCodeTakes) {
  Machine machine = sound_machine();
  EXPECT_THAT(
      doctor_text(machine),
      HasSubstr("clang++ 14.0.6, /usr/bin/clang++; precompiled header: cuda 148 MB, 5 hours "
                "old, cpu not yet"));
  EXPECT_THAT(doctor_text(machine),
              HasSubstr("nvcc 13.0.88, /n/bin/nvcc: compiles sources that kbench cannot split"));
  machine.host_compilers = {{"/usr/bin/g++", "g++ 12.2.0"}};
  machine.nvcc = {std::nullopt, "no nvcc on PATH"};
  EXPECT_THAT(doctor_text(machine),
              HasSubstr("install clang: it compiles host code about seven times as fast"));
  EXPECT_THAT(doctor_text(machine), HasSubstr("no nvcc on PATH: a source that kbench cannot split "
                                              "is a compile_failure"));
  EXPECT_THAT(doctor_text(machine), HasSubstr("pip install 'nvidia-cuda-nvcc=="));
}

}  // namespace
}  // namespace kbench::cli
