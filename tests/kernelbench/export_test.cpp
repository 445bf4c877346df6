// SPDX-License-Identifier: MIT
#include "kernelbench/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "kbench/report.hpp"
#include "kernelbench/export_kernelbench.hpp"
#include "kernelbench/import.hpp"
#include "report/approved.hpp"
#include "report/report_samples.hpp"
#include "score/kernelbench_samples.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

using Files = std::map<std::string, std::string>;

Files files_of(const Export& made) {
  Files files;
  for (const auto& [path, content] : made.files) files[path.string()] = content;
  return files;
}

Export exported(const RunFile& run, std::vector<int> k = {1}) {
  return export_format("kernelbench").make(run, {.out = "OUT", .k = std::move(k)});
}

std::string as_one_text(const Export& made) {
  std::string text;
  for (const auto& [path, content] : files_of(made)) text += "==> " + path + "\n" + content;
  return text;
}

/// The records of an import, as a run file that is read back.
RunFile run_of(const ImportedRun& imported) {
  RunFile run;
  run.headers = {imported.header};
  run.manifest = imported.manifest;
  for (const auto& [record, details] : imported.records)
    run.records.push_back(record_from_json(to_json(record)));
  run.ended = true;
  return run;
}

/// Writes the export below `folder` and imports each of its run folders.
RunFile back_again(const RunFile& run, const test::ScratchFolder& folder) {
  const ExportOptions options{.out = folder.path(), .k = {1}};
  const Export made = export_format("kernelbench").make(run, options);
  write_export(made, options);
  RunFile all;
  for (const auto& [path, content] : made.files) {
    if (path.filename() != "eval_results.json") continue;
    const RunFile one = run_of(import_kernelbench((folder.path() / path).parent_path(), {}));
    all.headers.push_back(one.headers.front());
    std::ranges::copy(one.manifest, std::back_inserter(all.manifest));
    std::ranges::copy(one.records, std::back_inserter(all.records));
  }
  all.ended = true;
  return all;
}

std::map<std::string, std::optional<double>> metrics_of(const RunFile& run) {
  const Report report = build_report(run, {.k = {1, 2}});
  std::map<std::string, std::optional<double>> values;
  for (const SummaryRow& row : report.summary) {
    for (std::size_t i = 0; i < report.metrics.size(); ++i) {
      const std::string name = report.metrics[i].name();
      // What KernelBench's files have no place for: intervals, what was checked of own work, how
      // far outputs were off.
      if (name.ends_with("@ci") || name.ends_with(" own") || name.starts_with("allclose_"))
        continue;
      values[row.model.str() + " " + std::to_string(row.level) + " " + name] =
          row.estimates[i].value;
    }
  }
  return values;
}

/// A run in which every planned sample has its verdict.
RunFile finished_run() {
  RunFile run = samples::gpu_run();
  std::erase_if(run.records, [](const Record& record) {
    return record.outcome == Outcome::kHarnessFault || record.model == "gamma";
  });
  std::erase_if(run.manifest, [&](const ManifestEntry& entry) {
    return std::ranges::none_of(run.records, [&](const Record& record) {
      return record.model == entry.model && record.problem == entry.problem &&
             record.sample == entry.sample;
    });
  });
  for (Record& record : run.records) {
    if (record.timing)
      record.timing->sides["candidate"].median_ms =
          record.timing->sides["eager"].median_ms / record.speedup[0].value;
  }
  run.ended = true;
  return run;
}

TEST(ExportFormats, EachHasItsRow) {
  for (const ExportFormat& format : export_formats()) {
    EXPECT_EQ(&export_format(format.name), &format);
    EXPECT_FALSE(format.meaning.empty());
    EXPECT_FALSE(format.make(finished_run(), {.out = "OUT", .k = {1}}).files.empty());
  }
  EXPECT_THAT([] { export_format("excel"); },
              ThrowsMessage<UsageError>(HasSubstr("there is kernelbench")));
}

TEST(ExportKernelBench, EveryOutcomeHasItsRow) {
  ASSERT_THAT(report::kernelbench_outcomes(), SizeIs(outcomes().size()));
  for (std::size_t i = 0; i < outcomes().size(); ++i)
    EXPECT_EQ(report::kernelbench_outcomes()[i].outcome, outcomes()[i].outcome);
}

TEST(ExportKernelBench, WritesTheApprovedFilesOfAGpusRun) {
  const Export made = exported(samples::gpu_run(), {1, 2});
  test::expect_approved(as_one_text(made), "gpu_kernelbench.txt");
  EXPECT_THAT(made.notes, ElementsAre("2 samples left out, because they have no verdict yet"));
  EXPECT_THAT(made.summary, Contains(HasSubstr("runs/alpha_level1: level 1, 2 problems")));
}

TEST(ExportKernelBench, WritesNoTimesOfTheCpu) {
  const Export made = exported(samples::cpu_run());
  test::expect_approved(as_one_text(made), "cpu_kernelbench.txt");
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("times of the CPU are left out")));
}

TEST(ExportKernelBench, MetricsAreTheSameAfterImport) {
  const test::ScratchFolder gpu, cpu;
  EXPECT_EQ(metrics_of(back_again(finished_run(), gpu)), metrics_of(finished_run()));
  EXPECT_EQ(metrics_of(back_again(samples::cpu_run(), cpu)), metrics_of(samples::cpu_run()));
}

TEST(ExportKernelBench, WhatWasImportedComesBackAsItWas) {
  const test::ScratchFolder first, second;
  samples::write_run(first, samples::results().dump());
  const RunFile once = run_of(import_kernelbench(first / "run", {.timing = {first / "timing"}}));
  const RunFile twice = back_again(once, second);
  EXPECT_EQ(metrics_of(twice), metrics_of(once));
  ASSERT_EQ(twice.records.size(), once.records.size());
  const json before = samples::results();
  const json after = json::parse(test::contents(second / "runs/maker_model-1/eval_results.json"));
  for (const auto& [problem, entries] : before.items()) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (const char* field : {"sample_id", "compiled", "correctness", "runtime"})
        EXPECT_EQ(after[problem][i][field], entries[i][field]) << problem << " " << field;
    }
  }
  for (const Record& record : twice.records) EXPECT_EQ(record.judge, kKernelBenchJudge);
}

TEST(ExportKernelBench, AnImportedVerdictIsNoSampleOfKbenchs) {
  RunFile run = finished_run();
  Record imported = run.records.front();
  imported.judge = kKernelBenchJudge;
  run.records.push_back(imported);
  const Files files = files_of(exported(run));
  EXPECT_THAT(files, Contains(Key("runs/alpha_level1_kbench/eval_results.json")));
  EXPECT_THAT(files, Contains(Key("runs/alpha_level1_kernelbench/eval_results.json")));
}

TEST(ExportKernelBench, NamesOfModelsAreNoPaths) {
  RunFile run;
  for (const char* model : {"../../etc", "a/b", "a:b", "", "."}) {
    run.manifest.push_back(samples::planned(model, "level1/19_ReLU", 1, 0));
    run.records.push_back(samples::correct(model));
  }
  const Files files = files_of(exported(run));
  for (const auto& [path, content] : files) {
    for (const auto& part : std::filesystem::path(path))
      EXPECT_FALSE(part.string().starts_with("."));
  }
  EXPECT_THAT(files, Contains(Key("runs/a_b/eval_results.json")));
  EXPECT_THAT(files, Contains(Key("runs/a_b_2/eval_results.json")));
  EXPECT_THAT(files, Contains(Key("runs/unnamed/eval_results.json")));
}

TEST(ExportKernelBench, AProblemThatNobodyGotRightStaysInTheDenominators) {
  RunFile run;
  run.manifest = {samples::planned("alpha", "level1/19_ReLU", 1, 0),
                  samples::planned("alpha", "level1/2_Softmax", 1, 0)};
  run.records = {samples::mismatch(), samples::correct("alpha", "level1/2_Softmax")};
  run.records[1].timing.reset();
  run.records[1].speedup.clear();
  const Export made = exported(run);
  const json times =
      json::parse(files_of(made).at("results/timing/NVIDIA_H200_alpha/baseline_time_torch.json"));
  EXPECT_EQ(times["level1"]["19_ReLU.py"]["mean"], -1);
  EXPECT_FALSE(times["level1"].contains("2_Softmax.py"));
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("correct but not timed")));
}

TEST(ExportKernelBench, WhatHasNoLevelAndNumberIsNamed) {
  RunFile run = finished_run();
  Record odd = samples::correct("alpha", "MyProblem");
  odd.level = 0;
  run.manifest.push_back(samples::planned("alpha", "MyProblem", 0, 0));
  run.records.push_back(odd);
  EXPECT_THAT(exported(run).notes, Contains(HasSubstr("level and number: MyProblem")));
  run.manifest = {run.manifest.back()};
  EXPECT_THAT([&] { exported(run); }, ThrowsMessage<UsageError>(HasSubstr("nothing to export")));
  run.manifest = {samples::planned("alpha", "level1/19_ReLU", 1, 0),
                  samples::planned("alpha", "level1/19_Other", 1, 0)};
  run.records = {samples::correct(), samples::correct("alpha", "level1/19_Other")};
  EXPECT_THAT([&] { exported(run); },
              ThrowsMessage<UsageError>(HasSubstr("are both problem 19 of level 1")));
  EXPECT_THAT([] { exported(finished_run(), {0}); }, ThrowsMessage<UsageError>(HasSubstr("k = 0")));
}

TEST(WriteExport, ReplacesNoFileAndLeavesNone) {
  const test::ScratchFolder folder;
  const ExportOptions options{.out = folder / "out", .k = {1}};
  const Export made = exported(finished_run());
  folder.write("out/runs/beta_level2/pass_at_k_results.json", "mine");
  EXPECT_THAT([&] { write_export(made, options); }, ThrowsMessage<UsageError>(HasSubstr("exists")));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/runs/alpha_level1"));
  folder.write("file", "");
  EXPECT_THAT([&] { write_export(made, {.out = folder / "file", .k = {1}}); },
              ThrowsMessage<Error>(HasSubstr("cannot write")));
}

}  // namespace
}  // namespace kbench
