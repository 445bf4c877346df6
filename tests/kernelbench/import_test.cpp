// SPDX-License-Identifier: MIT
#include "kernelbench/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.hpp"
#include "kbench/error.hpp"
#include "score/kernelbench_samples.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

const Record* find(const ImportedRun& run, const char* problem, int sample = 0) {
  for (const auto& [record, details] : run.records)
    if (record.problem == problem && record.sample == sample) return &record;
  return nullptr;
}

class Import : public testing::Test {
 protected:
  Import() { samples::write_run(folder_, samples::results().dump()); }

  ImportedRun import(const ImportOptions& options = {}) const {
    return import_kernelbench(folder_ / "run", options);
  }
  void expect_refused(const ImportOptions& options, const char* words) const {
    EXPECT_THAT([&] { import(options); }, ThrowsMessage<UsageError>(HasSubstr(words)));
  }
  ImportOptions with_timing() const { return {.timing = {folder_ / "timing"}}; }

  test::ScratchFolder folder_;
};

TEST_F(Import, RecordsAreKernelBenchsAndSaySo) {
  const ImportedRun run = import(with_timing());
  EXPECT_TRUE(run.complete);
  EXPECT_THAT(run.manifest, SizeIs(5));
  const Record* square = find(run, "level1/1_Square");
  ASSERT_NE(square, nullptr);
  EXPECT_EQ(square->judge, kKernelBenchJudge);
  EXPECT_EQ(square->judge_hash, "");
  EXPECT_EQ(square->model, "maker/model-1");
  EXPECT_EQ(square->device, samples::kHardware);
  EXPECT_EQ(square->precision, "native");
  EXPECT_EQ(square->level, 1);
  EXPECT_EQ(square->kind, CandidateKind::kModule);
  EXPECT_EQ(square->candidate_hash, sha256_hex("class ModelNew: pass\n"));
  EXPECT_THAT(square->candidate, HasSubstr("run/level_1_problem_1_sample_0_kernel.py"));
  EXPECT_EQ(square->kernel_class, kUnknownClass);
  ASSERT_TRUE(square->timing);
  EXPECT_EQ(square->timing->trust, "self_reported");
  ASSERT_THAT(square->speedup, SizeIs(2));
  EXPECT_EQ(square->speedup[0].baseline, "eager");
  EXPECT_DOUBLE_EQ(square->speedup[0].value, 2.0);
  EXPECT_TRUE(std::isnan(square->speedup[0].lo));
  EXPECT_EQ(square->speedup[1].baseline, "compile");
  EXPECT_DOUBLE_EQ(square->speedup[1].value, 1.0);
  EXPECT_DOUBLE_EQ(find(run, "level1/19_ReLU")->speedup.at(0).value, 0.5);
  EXPECT_EQ(find(run, "level1/19_ReLU", 1)->cause, "illegal_address");
  EXPECT_EQ(find(run, "level1/2_Standard")->message, "add.cu(3): error: no \"x\"");
  // Every record survives the way through a run file.
  for (const auto& [record, details] : run.records) {
    EXPECT_EQ(to_json(record_from_json(to_json(record))), to_json(record));
    EXPECT_TRUE(details.at("kernelbench").contains("metadata"));
  }
  EXPECT_EQ(run.header.environment["import"]["from"], "kernelbench");
  EXPECT_EQ(run.header.options["baselines"], json({"eager", "compile"}));
}

TEST_F(Import, WithoutBaselineTimesThereAreNoSpeedupsAndNumbersForNames) {
  const ImportedRun run = import();
  ASSERT_NE(find(run, "level1/19"), nullptr);
  EXPECT_THAT(find(run, "level1/19")->speedup, IsEmpty());
  EXPECT_TRUE(find(run, "level1/19")->timing);
  EXPECT_THAT(run.notes, ElementsAre(HasSubstr("only numbers"), HasSubstr("no speedups")));
}

TEST_F(Import, ProblemsThatAreNamedAreTheDenominators) {
  for (const char* stem : {"1_Square", "2_Standard", "3_Third", "4_Fourth"})
    samples::write_problem(folder_, stem);
  const ImportedRun run = import({.timing = {folder_ / "timing"},
                                  .problems = find_problems({(folder_ / "level1").string()}, {})});
  EXPECT_THAT(run.manifest, SizeIs(4));
  ASSERT_NE(find(run, "level1/4_Fourth"), nullptr);
  EXPECT_EQ(find(run, "level1/4_Fourth")->outcome, Outcome::kMissing);
  EXPECT_EQ(find(run, "level1/19_ReLU"), nullptr);
  EXPECT_NE(find(run, "level1/1_Square")->problem_hash, "");
  EXPECT_THAT(run.notes,
              ElementsAre(HasSubstr("left out, because their problems were not named: 2")));
}

TEST_F(Import, KernelsWithoutResultAreLeftToResume) {
  folder_.write("run/level_1_problem_2_sample_1_kernel.py", "class ModelNew: pass\n");
  folder_.write("run/level_2_problem_2_sample_1_kernel.py", "class ModelNew: pass\n");
  const ImportedRun run = import(with_timing());
  EXPECT_THAT(run.manifest, SizeIs(6));
  EXPECT_THAT(run.records, SizeIs(5));
  EXPECT_FALSE(run.complete);
  EXPECT_THAT(
      run.notes,
      Contains(HasSubstr("samples without a result (kbench eval --resume judges them): 1")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("skipped kernels of other levels than 1: 1")));
}

TEST_F(Import, AProblemWithoutBaselineTimeHasNoSpeedup) {
  json results = samples::results();
  results["3"][0] = samples::result(0, true, true, json::object(), 2.0);
  folder_.write("run/eval_results.json", results.dump());
  const ImportedRun run = import(with_timing());
  EXPECT_THAT(find(run, "level1/3")->speedup, IsEmpty());
  EXPECT_THAT(
      run.notes,
      Contains(HasSubstr("no speedup over eager, because this baseline has no time for level1/3")));
}

TEST_F(Import, BaselinesOfOtherHardwareAreRefusedUnlessSaidToBeTheSame) {
  json other = samples::timing();
  other["level1"]["19_ReLU.py"]["hardware"] = "NVIDIA L40S";
  folder_.write("timing/baseline_time_torch.json", other.dump());
  expect_refused(with_timing(), "different hardware (NVIDIA H100 80GB HBM3; NVIDIA L40S)");
  ImportOptions options = with_timing();
  options.hardware = "H100";
  EXPECT_EQ(find(import(options), "level1/19_ReLU")->device, "H100");
}

TEST_F(Import, AReferenceTimedBesideTheSampleServesWhereNoFileDoes) {
  json results = samples::results();
  results["1"][0]["ref_runtime"] = 5.0;
  results["19"][0]["ref_runtime"] = -1.0;
  folder_.write("run/eval_results.json", results.dump());
  const ImportedRun run = import();
  EXPECT_DOUBLE_EQ(find(run, "level1/1")->speedup.at(0).value, 4.0);
  EXPECT_THAT(find(run, "level1/19")->speedup, IsEmpty());
  EXPECT_DOUBLE_EQ(find(import(with_timing()), "level1/1_Square")->speedup.at(0).value, 2.0);
}

TEST_F(Import, NamesThatKbenchHasWrittenAreTakenWhereTheyFit) {
  json results = samples::results();
  results["1"][0]["problem_name"] = "1_Square";
  results["3"][0]["problem_name"] = "4_Other";
  results["19"][0]["problem_name"] = "19_../../x";
  folder_.write("run/eval_results.json", results.dump());
  const ImportedRun run = import();
  for (const char* key : {"level1/1_Square", "level1/2", "level1/3", "level1/19"})
    EXPECT_NE(find(run, key), nullptr) << key;
}

TEST_F(Import, OptionsGoBeforeWhatTheFolderSays) {
  ImportOptions options;
  options.model = "other";
  options.precision = "bf16";
  options.level = 3;
  const ImportedRun run = import(options);
  ASSERT_NE(find(run, "level3/19"), nullptr);
  EXPECT_EQ(find(run, "level3/19")->model, "other");
  EXPECT_EQ(find(run, "level3/19")->precision, "bf16");
  EXPECT_EQ(find(run, "level3/19")->level, 3);
  EXPECT_EQ(find(run, "level3/19")->candidate_hash, "") << "the kernels are level 1's";
}

TEST_F(Import, AFolderThatDoesNotSayItTakesItsName) {
  std::filesystem::remove(folder_ / "run/generation_config.yaml");
  EXPECT_EQ(find(import(), "level1/19")->model, "run");
  folder_.write("run/level_2_problem_2_sample_1_kernel.py", "class ModelNew: pass\n");
  expect_refused({}, "kernels of levels 1, 2");
}

TEST_F(Import, WhatIsWrongIsSaidInOneSentence) {
  EXPECT_THAT([&] { import_kernelbench(folder_ / "nowhere", {}); },
              ThrowsMessage<UsageError>(HasSubstr("there is no run folder")));
  EXPECT_THAT([&] { import_kernelbench(folder_ / "timing", {}); },
              ThrowsMessage<UsageError>(HasSubstr("has no eval_results.json")));
  folder_.write("run/generation_config.yaml", "level: 1\nprecision: fp4\n");
  expect_refused({}, "the precision \"fp4\"");
  folder_.write("run/generation_config.yaml", "level: 1\n");
  samples::write_problem(folder_, "50_Other");
  const auto problems = find_problems({(folder_ / "level1").string()}, {});
  expect_refused({.problems = problems}, "no result for any of the named problems");
  expect_refused({.problems = problems, .level = 2}, "none of them has level 2");
  folder_.write("run/eval_results.json", "{\"1\": [");
  expect_refused({}, "eval_results.json is cut off in line 1");
}

}  // namespace
}  // namespace kbench
