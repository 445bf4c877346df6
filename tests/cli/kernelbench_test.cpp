// SPDX-License-Identifier: MIT
// KernelBench's files, imported and exported by kbench, and read by KernelBench's own scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"
#include "score/kernelbench_samples.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

json json_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return json::parse(in);
}

CommandResult expect_code(int code, const std::vector<std::string>& arguments) {
  CommandResult result = run_kbench(arguments);
  EXPECT_EQ(result.status.code, code) << result.output << result.error;
  return result;
}

class KernelBench : public testing::Test {
 protected:
  KernelBench() { samples::write_run(folder_, samples::results().dump(4)); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  /// Imports the run folder into run.jsonl.
  CommandResult import(int code, std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"import", at("run"), "--out", at("run.jsonl")};
    all.insert(all.end(), more.begin(), more.end());
    return expect_code(code, all);
  }
  ScratchFolder folder_;
};

TEST_F(KernelBench, ImportsReportsAndExports) {
  const auto imported = import(0, {"--baseline-file", at("timing")});
  EXPECT_THAT(imported.output, HasSubstr("5 of 5 samples imported, 2 correct"));
  EXPECT_THAT(error_lines(imported), SizeIs(1))
      << imported.error;  // one line: result 3 has no name
  const auto report = expect_code(0, {"report", at("run.jsonl"), "--p", "0,1", "--verbose"});
  EXPECT_THAT(report.output,
              AllOf(HasSubstr("kernelbench 5 (imported"), HasSubstr("2.00x"),
                    HasSubstr("judge=kernelbench"), HasSubstr("illegal_address"),
                    HasSubstr("no record says whose kernels ran"), Not(HasSubstr("nan"))));
  const auto again = import(2);
  EXPECT_THAT(again.error, HasSubstr("run.jsonl exists: name another file with --out"));
  const auto exported =
      expect_code(0, {"export", at("run.jsonl"), "--format", "kernelbench", "--out", at("out")});
  EXPECT_THAT(exported.output, HasSubstr("run_name=maker_model-1 level=1"));
  EXPECT_EQ(json_of(folder_ / "out/runs/maker_model-1/eval_results.json")["19"][0]["runtime"], 0.5);
  const auto twice =
      expect_code(2, {"export", at("run.jsonl"), "--format", "kernelbench", "--out", at("out")});
  EXPECT_THAT(twice.error, HasSubstr("exists, and kbench does not replace it"));
}

TEST_F(KernelBench, ResumeJudgesWhatOnlyKernelBenchHasJudged) {
  folder_.write("set/level1/1_AddOne.py", add_one_problem(16));
  json results = {{"1", {samples::result(0, true, true, json::object(), 0.5)}}};
  results["1"][0]["metadata"]["hardware"] = "cpu";
  folder_.write("run/eval_results.json", results.dump());
  std::filesystem::remove(folder_ / "run/level_1_problem_1_sample_0_kernel.py");
  folder_.write("run/level_1_problem_1_sample_0_kernel.cu", add_one_kernel());
  import(0, {"--problem", at("set")});
  const std::vector<std::string> resume = {"eval",     at("set"),  "--candidates",
                                           at("run"),  "--device", "cpu",
                                           "--resume", "--out",    at("run.jsonl")};
  EXPECT_THAT(expect_code(0, resume).error, Not(HasSubstr("have their verdict already")));
  EXPECT_THAT(expect_code(0, resume).error, HasSubstr("1 candidates have their verdict already"));
  const RunFile run = read_run(folder_ / "run.jsonl");
  EXPECT_THAT(run.manifest, SizeIs(1)) << "both speak of the same sample";
  ASSERT_THAT(run.records, SizeIs(2));
  EXPECT_EQ(run.records[0].judge, kKernelBenchJudge);
  EXPECT_EQ(run.records[1].judge, kOwnJudge);
  EXPECT_EQ(run.records[0].candidate_hash, run.records[1].candidate_hash);
  EXPECT_EQ(run.records[0].candidate, run.records[1].candidate);
  const auto report = expect_code(0, {"report", at("run.jsonl")});
  EXPECT_THAT(report.output,
              AllOf(HasSubstr("model-1, by kbench"), HasSubstr("model-1, by kernelbench")));
}

TEST_F(KernelBench, ResumeOnAnotherKindOfDeviceIsRefusedBeforeItRuns) {
  folder_.write("set/level1/1_AddOne.py", add_one_problem(16));
  folder_.write("mine/1_AddOne/0.cu", add_one_kernel());
  import(0);
  const auto result = expect_code(2, {"eval", at("set"), "--candidates", at("mine"), "--device",
                                      "cpu", "--resume", "--out", at("run.jsonl")});
  EXPECT_THAT(result.error, HasSubstr("holds records of NVIDIA H100 80GB HBM3, and this run"));
}

/// Files of level 4 begin like this one; their package is not installed.
TEST_F(KernelBench, AProblemWhosePackageIsMissingIsNoFaultOfItsCandidates) {
  folder_.write("set/level4/1_AddOne.py",
                "from transformers_not_here import AutoModel\n" + add_one_problem(16));
  folder_.write("mine/1_AddOne/0.cu", add_one_kernel());
  expect_code(0, {"eval", at("set"), "--candidates", at("mine"), "--device", "cpu", "--out",
                  at("run.jsonl")});
  const RunFile run = read_run(folder_ / "run.jsonl");
  ASSERT_THAT(run.records, SizeIs(1));
  EXPECT_EQ(run.records[0].outcome, Outcome::kProblemFailure);
  EXPECT_THAT(run.records[0].message, HasSubstr("transformers_not_here"));
  const auto report = expect_code(0, {"report", at("run.jsonl")});
  EXPECT_THAT(report.output, HasSubstr("transformers_not_here"));
}

/// A KernelBench checkout, and a Python with the packages that its scripts need.
struct Checkout {
  std::string folder, python = "python3";
};

/// Runs a part of these scripts. Returns standard output and error together.
CommandResult run_script(const Checkout& checkout, std::vector<std::string> arguments) {
  SpawnOptions options;
  options.command = {"/usr/bin/env", checkout.python,
                     KBENCH_SOURCE_DIR "/tests/cli/kernelbench_scripts.py", checkout.folder};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  return run_command(options, std::chrono::seconds(100));
}

TEST_F(KernelBench, ItsOwnScriptsReadWhatIsExported) {
  const char* named = std::getenv("KBENCH_KERNELBENCH");
  if (named == nullptr) GTEST_SKIP() << "KBENCH_KERNELBENCH names no KernelBench checkout";
  Checkout checkout{.folder = named};
  if (const char* python = std::getenv("KBENCH_KERNELBENCH_PYTHON")) checkout.python = python;
  const std::string level1 = checkout.folder + "/KernelBench/level1";
  import(0, {"--problem", level1});
  expect_code(
      0, {"export", at("run.jsonl"), "--format", "kernelbench", "--out", at("out"), "--k", "1,2"});
  const std::string run = at("out/runs/maker_model-1");
  const std::string timing = at("out/results/timing/NVIDIA_H100_80GB_HBM3_maker_model-1");

  const auto analysis = run_script(
      checkout, {"analysis", "run_name=maker_model-1", "level=1", "hardware=any", "baseline=any",
                 "eval_results_dir=" + at("out/runs"), "output_file=" + at("analysis.json"),
                 "baseline_file=" + timing + "/baseline_time_torch.json"});
  ASSERT_EQ(analysis.status.code, 0) << analysis.output << analysis.error;
  EXPECT_THAT(analysis.output, HasSubstr("Eval Results: 100 out of 100"));
  const json seen = json_of(folder_ / "analysis.json");
  EXPECT_EQ(seen["total_count"], 100);
  EXPECT_EQ(seen["compiled_count"], 3);
  EXPECT_EQ(seen["correct_count"], 2);

  // kbench's pass@k file equals the one that KernelBench writes for these results.
  const json ours = json_of(run + "/pass_at_k_results.json");
  EXPECT_EQ(seen["pass_at_k"]["averages"], ours["averages"]);
  const auto again = run_script(checkout, {"pass_at_k", run + "/eval_results.json", "1", "2"});
  ASSERT_EQ(again.status.code, 0) << again.output << again.error;
  EXPECT_EQ(json_of(run + "/pass_at_k_results.json"), ours);
}

TEST_F(KernelBench, ItsOwnScriptSeesTheSameSpeedups) {
  const char* named = std::getenv("KBENCH_KERNELBENCH");
  if (named == nullptr) GTEST_SKIP() << "KBENCH_KERNELBENCH names no KernelBench checkout";
  Checkout checkout{.folder = named};
  if (const char* python = std::getenv("KBENCH_KERNELBENCH_PYTHON")) checkout.python = python;
  json times = samples::timing();
  times["level1"] = {};
  for (const auto& file :
       std::filesystem::directory_iterator(checkout.folder + "/KernelBench/level1")) {
    if (file.path().extension() == ".py")
      times["level1"][file.path().filename().string()] = samples::stats(2.5);
  }
  folder_.write("timing/baseline_time_torch.json", times.dump());
  import(0, {"--problem", checkout.folder + "/KernelBench/level1", "--baseline-file",
             at("timing/baseline_time_torch.json")});
  expect_code(0, {"report", at("run.jsonl"), "--format", "json=" + at("report.json")});
  expect_code(0, {"export", at("run.jsonl"), "--format", "kernelbench", "--out", at("out")});
  const json metrics = json_of(folder_ / "report.json")["summary"][0]["metrics"];
  // KernelBench's analysis of its own files, and of files that kbench imported and exported.
  for (const auto& [runs, name, file] :
       {std::tuple(folder_.path().string(), "run", at("timing/baseline_time_torch.json")),
        std::tuple(at("out/runs"), "maker_model-1",
                   at("out/results/timing/NVIDIA_H100_80GB_HBM3_maker_model-1/"
                      "baseline_time_torch.json"))}) {
    const auto analysis =
        run_script(checkout, {"analysis", std::string("run_name=") + name, "level=1",
                              "hardware=any", "baseline=any", "eval_results_dir=" + runs,
                              "baseline_file=" + file, "output_file=" + at("analysis.json")});
    ASSERT_EQ(analysis.status.code, 0) << analysis.output << analysis.error;
    const json seen = json_of(folder_ / "analysis.json");
    EXPECT_EQ(seen["compiled_count"], 3) << name;
    EXPECT_NEAR(seen["geo_mean_speedup"].get<double>(), metrics["geomean"]["value"].get<double>(),
                1e-9);
    for (const char* p : {"0.5", "1", "1.5", "2"}) {
      const std::string key = std::string(p).size() == 1 ? std::string(p) + ".0" : p;
      EXPECT_NEAR(seen["fast_p"][key].get<double>(),
                  metrics[std::string("fast_") + p]["value"].get<double>(), 1e-12)
          << name << " " << p;
    }
  }
}

}  // namespace
}  // namespace kbench::test
