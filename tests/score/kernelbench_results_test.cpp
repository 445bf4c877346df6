// SPDX-License-Identifier: MIT
#include "score/kernelbench_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/python_json.hpp"
#include "candidate/generation_config.hpp"
#include "kbench/error.hpp"
#include "score/kernelbench_samples.hpp"
#include "score/kernelbench_timing.hpp"
#include "score/kernelbench_verdict.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(PythonJson, WhatJsonLacksBecomesNull) {
  const json value =
      parse_python_json(R"({"a": NaN, "b": [-Infinity, Infinity, -1.5], "c": "NaN \" Infinity"})");
  EXPECT_EQ(value, json::parse(R"({"a": null, "b": [null, null, -1.5], "c": "NaN \" Infinity"})"));
}

TEST(PythonJson, HalvesOfSurrogatePairsAreReplaced) {
  EXPECT_EQ(parse_python_json(R"(["\udce2x", "\ud83d", "\ud83d\ude00", "\\ud83d", "\ud83d\\"])"),
            json::parse(R"(["\ufffdx", "\ufffd", "\ud83d\ude00", "\\ud83d", "\ufffd\\"])"));
}

TEST(PythonJson, WhatIsWrongIsSaidInAClause) {
  EXPECT_THAT([] { parse_python_json(" \n"); }, ThrowsMessage<Error>("is empty"));
  EXPECT_THAT([] { parse_python_json("{\"a\":\n [1,"); },
              ThrowsMessage<Error>("is cut off in line 2"));
  EXPECT_THAT([] { parse_python_json("{\n\n\"a\" 1}"); },
              ThrowsMessage<Error>("is not JSON (line 3)"));
  EXPECT_THAT([] { parse_python_json("\"\xff\""); }, ThrowsMessage<Error>("is not UTF-8 text"));
  EXPECT_THAT([] { parse_python_json(std::string(100000, '[')); },
              ThrowsMessage<Error>(HasSubstr("levels deep")));
}

TEST(KernelBenchResults, EveryPlaceWhereTheFileMayEndIsSaidToBeCutOff) {
  const std::string whole = samples::results().dump(1);
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
    EXPECT_THAT([&] { parse_kernelbench_results(whole.substr(0, bytes)); },
                ThrowsMessage<Error>(HasSubstr("is cut off")))
        << bytes;
  }
  EXPECT_THAT(parse_kernelbench_results(whole).results, SizeIs(5));
}

TEST(KernelBenchResults, AllFormsSayTheSame) {
  const json one = samples::result(0, true, true, json::object(), 0.5);
  const json text_id = [&] {
    json entry = one;
    entry["sample_id"] = "0";
    return entry;
  }();
  for (const json& form : {json{{"19", {one}}}, json{{"19", one}}, json{{"19", {{"0", one}}}},
                           json{{"19", {text_id}}}}) {
    const auto all = parse_kernelbench_results(form.dump());
    EXPECT_THAT(all.notes, IsEmpty()) << form;
    ASSERT_THAT(all.results, SizeIs(1)) << form;
    EXPECT_EQ(all.results[0].problem, 19);
    EXPECT_EQ(all.results[0].sample, 0);
    EXPECT_EQ(all.results[0].fault, "");
    ASSERT_TRUE(all.results[0].time);
    EXPECT_DOUBLE_EQ(all.results[0].time->mean_ms, 0.5);
    EXPECT_TRUE(std::isnan(all.results[0].time->median_ms));
    EXPECT_EQ(all.results[0].time->count, 100);
  }
}

TEST(KernelBenchResults, WhatIsNoTimeIsNone) {
  for (const char* runtime : {"-1.0", "-0.5", "0", "NaN", "Infinity", "null", "\"0.5\"", "[]"}) {
    const auto all = parse_kernelbench_results(
        std::string(
            R"({"1": {"compiled": true, "correctness": true, "unheard_of": 1, "runtime": )") +
        runtime + R"(, "runtime_stats": {"mean": 0.5}}})");
    EXPECT_FALSE(all.results.at(0).time) << runtime;
    EXPECT_EQ(all.results[0].fault, "") << runtime;
  }
}

TEST(KernelBenchResults, FaultyEntriesAreNamedAndKeepTheirPlaces) {
  const auto all = parse_kernelbench_results(
      R"({"summary": {}, "1": [{"sample_id": -3, "compiled": true, "correctness": true}, 7],
          "2": [{"compiled": "yes", "correctness": false}], "3": "broken", "4": []})");
  EXPECT_THAT(
      all.notes,
      ElementsAre(HasSubstr("skipped the result of problem 1, sample 0: its \"sample_id\""),
                  HasSubstr("problem 1, sample 1: it is not a JSON object"),
                  HasSubstr("problem 2, sample 0: its \"compiled\""),
                  HasSubstr("problem 3, sample 0"), HasSubstr("\"summary\": it is not a problem")));
  EXPECT_THAT(all.results, SizeIs(4));
}

TEST(KernelBenchResults, OfSeveralForASampleTheLastThatCanBeReadCounts) {
  json twice = {
      {"1", {samples::result(0, true, false), samples::result(0, true, true), {{"sample_id", 0}}}}};
  const auto all = parse_kernelbench_results(twice.dump());
  ASSERT_THAT(all.results, SizeIs(1));
  EXPECT_TRUE(all.results[0].correct);
  EXPECT_THAT(all.notes, testing::Contains(HasSubstr("several results for sample 0")));
}

TEST(KernelBenchResults, WhatIsNoneIsSaid) {
  EXPECT_THAT([] { parse_kernelbench_results("[]"); },
              ThrowsMessage<Error>(HasSubstr("not a JSON object")));
  EXPECT_THAT([] { parse_kernelbench_results(R"({"a": 1})"); },
              ThrowsMessage<Error>(HasSubstr("none of its keys is a problem's number")));
}

struct Case {
  json metadata;
  bool compiled;
  Outcome outcome;
  const char* cause;
};

ImportedVerdict verdict_of(bool compiled, bool correct, json metadata) {
  KernelBenchResult result;
  result.compiled = compiled;
  result.correct = correct;
  result.metadata = std::move(metadata);
  return imported_verdict(result);
}

TEST(ImportedVerdict, KernelBenchsWordsHaveKbenchsOutcomes) {
  const std::vector<Case> cases = {
      {{{"compilation_error", "Error building extension 'x'"}},
       false,
       Outcome::kCompileFailure,
       "build_failed"},
      {{{"compilation_error", "Syntax error in custom generated code or ModelNew not found"}},
       false,
       Outcome::kCompileFailure,
       "syntax_error"},
      {{{"compilation_error", "No module named 'cutlass'"}},
       false,
       Outcome::kLoadFailure,
       "missing_package"},
      {{{"compilation_error", "name 'y' is not defined"}},
       false,
       Outcome::kCompileFailure,
       "import_failed"},
      {{{"runtime_error", "CUDA out of memory. Tried"}},
       true,
       Outcome::kOutOfMemory,
       "allocation_failed"},
      {{{"runtime_error", "CUDA error: an illegal memory access"}},
       true,
       Outcome::kCrash,
       "illegal_address"},
      {{{"runtime_error", "CUDA error: invalid configuration argument"}},
       true,
       Outcome::kCrash,
       "invalid_launch"},
      {{{"runtime_error", "CUDA error: unspecified"}}, true, Outcome::kCrash, "cuda_error"},
      {{{"runtime_error", "expected 3 arguments"}}, true, Outcome::kCrash, "candidate_raised"},
      {{{"gpu_error", "AcceleratorError"}, {"error_message", "CUDA error: misaligned address"}},
       false,
       Outcome::kCrash,
       "misaligned_address"},
      {{{"cuda_error_name", "torch.OutOfMemoryError"}},
       false,
       Outcome::kOutOfMemory,
       "allocation_failed"},
      {{{"other_error", "error: bad"}}, false, Outcome::kCrash, "candidate_raised"},
      {{{"correctness_issue", "Output shape mismatch: Expected (2), got (3)"}},
       true,
       Outcome::kWrongShape,
       "shape"},
      {{{"correctness_issue", "Output mismatch"}}, true, Outcome::kMismatch, "wrong_values"},
      {{{"error", "Evaluation timed out"}}, false, Outcome::kTimeout, "execution_limit"},
      {{{"error", "Kernel not found for problem 3 sample 0"}}, false, Outcome::kMissing, "no_code"},
      {{{"error", "GPU not attached to container"}}, false, Outcome::kHarnessFault, "no_gpu"},
      {{{"error", "Future was None - evaluation did not"}},
       false,
       Outcome::kHarnessFault,
       "no_result"},
      {{{"error", "cannot pickle"}}, false, Outcome::kCrash, "process_died"},
      {json::object(), true, Outcome::kMismatch, "no_reason_given"},
      {json::object(), false, Outcome::kCompileFailure, "no_reason_given"},
      {{{"runtime_error", {1, 2}}}, true, Outcome::kMismatch, "no_reason_given"},
  };
  for (const Case& test : cases) {
    const ImportedVerdict verdict = verdict_of(test.compiled, false, test.metadata);
    EXPECT_EQ(to_string(verdict.outcome), to_string(test.outcome)) << test.metadata;
    EXPECT_EQ(verdict.cause, test.cause) << test.metadata;
    EXPECT_FALSE(verdict.message.empty());
    EXPECT_TRUE(test.compiled || verdict.stage <= Stage::kCompile) << test.metadata;
  }
}

TEST(ImportedVerdict, OnlyWhatKernelBenchCallsCompiledAndCorrectIsCorrect) {
  EXPECT_EQ(verdict_of(true, true, {}).outcome, Outcome::kCorrect);
  EXPECT_EQ(verdict_of(true, true, {{"kbench_outcome", "cheat"}}).outcome, Outcome::kCorrect);
  EXPECT_EQ(verdict_of(false, true, {}).cause, "contradictory");
  for (const char* claim : {"correct", "harness_fault", "glory", ""}) {
    EXPECT_EQ(
        verdict_of(true, false, {{"correctness_issue", "x"}, {"kbench_outcome", claim}}).outcome,
        Outcome::kMismatch)
        << claim;
  }
  const auto own = verdict_of(true, false,
                              {{"runtime_error", "x wrote past y"},
                               {"kbench_outcome", "illegal_write"},
                               {"kbench_cause", "Red Zone!"}});
  EXPECT_EQ(own.outcome, Outcome::kIllegalWrite);
  EXPECT_EQ(own.cause, "_ed__one_");
  EXPECT_EQ(own.message, "x wrote past y");
}

TEST(ImportedVerdict, DifferencesBecomeTrialsAndFlagsStay) {
  const auto wrong = verdict_of(true, false,
                                {{"correctness_issue", "Output mismatch"},
                                 {"max_difference", {"0.25", "nan", 2, "inf", "x"}},
                                 {"correctness_trials", "(0 / 5)"}});
  ASSERT_THAT(wrong.trials, SizeIs(5));
  EXPECT_EQ(wrong.trials[0].max_abs_error, 0.25);
  EXPECT_EQ(wrong.trials[1].max_abs_error, std::nullopt);
  EXPECT_EQ(wrong.trials[2].max_abs_error, 2);
  EXPECT_EQ(wrong.message, "Output mismatch, trials passed: (0 / 5)");
  EXPECT_THAT(verdict_of(true, true, {{"excessive_speedup", true}}).flags,
              ElementsAre("excessive_speedup"));
  EXPECT_THAT(verdict_of(true, true,
                         {{"excessive_speedup", false}, {"error_during_performance", "CUDA error"}})
                  .flags,
              ElementsAre("timing_failed"));
}

TEST(ImportedVerdict, LongMessagesAreCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "é";
  const auto verdict = verdict_of(true, false, {{"runtime_error", "\n\n" + text + "\nmore"}});
  EXPECT_LT(verdict.message.size(), 310u);
  EXPECT_NO_THROW(json(verdict.message).dump());
}

TEST(BaselineTimes, NamesGoBothWays) {
  for (const char* stem : {"baseline_time_torch", "baseline_time_torch_compile_inductor_default",
                           "baseline_time_torch_compile_cudagraphs"}) {
    EXPECT_EQ(file_of_baseline(baseline_of_file(stem)), stem);
  }
  EXPECT_EQ(baseline_of_file("baseline_time_torch"), "eager");
  EXPECT_EQ(baseline_of_file("mine"), "mine");
}

TEST(BaselineTimes, FoldersAndFilesAreReadEagerFirst) {
  const test::ScratchFolder folder;
  samples::write_run(folder, "{}");
  const auto all = read_baseline_times({folder / "timing"});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].baseline, "eager");
  EXPECT_EQ(all[1].baseline, "compile");
  EXPECT_DOUBLE_EQ(all[0].times.at({1, "19_ReLU"}).mean_ms, 0.25);
  EXPECT_THAT(all[0].hardware, ElementsAre(samples::kHardware));
  const auto refusal = [&](std::vector<std::filesystem::path> paths, const char* words) {
    EXPECT_THAT([&] { read_baseline_times(paths); }, ThrowsMessage<UsageError>(HasSubstr(words)));
  };
  refusal({folder / "none"}, "no such file");
  refusal({folder / "run"}, "has no baseline_time_*.json");
  refusal({folder / "timing/notes.json"}, "is not JSON (line 1)");
  refusal({folder / "timing", folder / "timing/baseline_time_torch.json"}, "both times of");
  refusal({folder.write("list.json", "[]")}, "not a JSON object");
  refusal({folder.write("flat.json", R"({"19_ReLU.py": {"mean": 1}})")}, "has no level");
}

TEST(GenerationConfig, ReadsPlainAndQuotedScalarsAndWhatItWrites) {
  const test::ScratchFolder folder;
  folder.write(
      "generation_config.yaml",
      "custom:\n  level: 9\nlevel: 2\nmodel_name: \"a \\\"b\\\"\" # who\nprecision: 'bf16'\n");
  GenerationConfig config = read_generation_config(folder.path());
  EXPECT_EQ(config.level, 2);
  EXPECT_EQ(config.model, "a \"b\"");
  EXPECT_EQ(config.precision, "bf16");
  config.model = "it's: a #model";
  folder.write("generation_config.yaml", generation_config_text(config, "run"));
  EXPECT_EQ(read_generation_config(folder.path()).model, config.model);
  folder.write("generation_config.yaml", "level: two\nmodel_name: null\n");
  config = read_generation_config(folder.path());
  EXPECT_FALSE(config.level);
  EXPECT_EQ(config.model, "");
}

}  // namespace
}  // namespace kbench
