// SPDX-License-Identifier: MIT
// Terminal and file output of several formats: width, colour, names that contain commands, and
// target files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/test_folder.hpp"
#include "kbench/error.hpp"
#include "kbench/report.hpp"
#include "report/approved.hpp"
#include "report/report_samples.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

using test::contents;
using test::written;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

std::size_t widest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(in, line);) widest = std::max(widest, report::columns(line));
  return widest;
}

TEST(Console, FitsTheTerminal) {
  for (const int width : {24, 40, 60, 63, 64, 80, 100, 200}) {
    for (const bool verbose : {false, true}) {
      const Report report = build_report(samples::gpu_run(), {.width = width, .verbose = verbose});
      EXPECT_LE(widest_line(written(report, "console")), static_cast<std::size_t>(width));
    }
  }
}

TEST(Console, QuietIsTheSummaryAndCounts) {
  ReportOptions options;
  options.quiet = true;
  const std::string text = written(build_report(samples::gpu_run(), options), "console");
  EXPECT_THAT(text, HasSubstr("NVIDIA H200"));
  EXPECT_THAT(text, HasSubstr("geomean"));
  EXPECT_THAT(text, HasSubstr("Failures: "));
  EXPECT_THAT(text, Not(HasSubstr("level1/2_Softmax")));
  const std::string whole = written(build_report(samples::gpu_run(), {}), "console");
  EXPECT_LT(std::ranges::count(text, '\n'), std::ranges::count(whole, '\n'));
}

TEST(Console, HasColourOnlyWhereItIsAskedFor) {
  EXPECT_THAT(written(build_report(samples::gpu_run(), {}), "console"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(written(build_report(samples::gpu_run(), {.color = true}), "console"),
              HasSubstr("\x1b[31mmismatch"));
}

TEST(Console, WhatCandidatesAreCalledOrSayCannotSteerTheTerminal) {
  RunFile run;
  run.manifest = {samples::planned("al\x1b[2Jpha", "level1/19_ReLU", 1, 0)};
  run.records = {samples::failed(Outcome::kCrash, "signal",
                                 "bell \a and \xc2\x9b"
                                 "31m\nline",
                                 "al\x1b[2Jpha")};
  const Report report = build_report(run, {});
  for (const char* format : {"console", "markdown"}) {
    const std::string text = written(report, format);
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\a")),
                            Not(HasSubstr("\xc2\x9b")), HasSubstr("line")));
  }
}

/// True if GitHub's runner treats a line as a command, by the rule in its own code.
bool is_command(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return line.find("##[") != std::string_view::npos ||
         (start != std::string_view::npos && line.substr(start).starts_with("::"));
}

TEST(Formats, WhatCandidatesSayIsNoWorkflowCommand) {
  const test::ScratchFolder folder;
  RunFile run = samples::gpu_run();
  // Words of many lengths, so that some wrapped line begins with a command.
  std::string said = "::error::at its beginning";
  for (std::size_t i = 0; i < 120; ++i)
    said += " " + std::string(i, 'x') + " ::add-mask::a ##[error]b";
  const std::string log = "::stop-commands::1\n  ::add-mask::mismatch\nx ##[error]words";
  {
    RunWriter writer(folder / "run.jsonl", false);
    writer.write(run.headers[0]);
    writer.write(run.manifest);
    for (Record record : run.records) {
      if (record.outcome != Outcome::kCorrect) record.message = said;
      writer.write(record, {{"compiler_log", log}});
    }
  }
  for (const int width : {60, 61, 62, 63, 64, 100, 101, 102, 103}) {
    const Report report =
        build_report(read_run(folder / "run.jsonl"), {.width = width, .verbose = true});
    for (const char* format : {"console", "markdown", "json", "junit", "csv", "github", "html",
                               "codequality", "sarif"}) {
      std::istringstream lines(written(report, format));
      for (std::string line; std::getline(lines, line);) {
        const bool is_own = std::string_view(format) == "github" &&
                            (line.starts_with("::error file=") || line.starts_with("::notice ") ||
                             line.starts_with("::warning "));
        EXPECT_FALSE(is_command(is_own ? std::string_view(line).substr(2) : line))
            << format << ": " << line;
      }
    }
  }
  const auto json =
      nlohmann::json::parse(written(build_report(read_run(folder / "run.jsonl"), {}), "json"));
  EXPECT_THAT(json.dump(), HasSubstr("##[error]b")) << "the value stays what it is";
}

TEST(Console, LeavesOutTheLinesOfVeryManyCandidatesUnlessAsked) {
  RunFile run;
  for (int i = 0; i < 1001; ++i) {
    run.manifest.push_back(samples::planned("alpha", "level1/19_ReLU", 1, i));
    run.records.push_back(samples::correct("alpha", "level1/19_ReLU", i));
  }
  EXPECT_THAT(written(build_report(run, {}), "console"), HasSubstr("1001 are too many to list"));
  EXPECT_THAT(written(build_report(run, {.verbose = true}), "console"),
              HasSubstr("ReLU alpha 1000"));
  run.manifest.pop_back();
  run.records.pop_back();
  EXPECT_THAT(written(build_report(run, {}), "console"), HasSubstr("ReLU alpha 999"))
      << "all four samples of each problem of KernelBench are listed";
}

/// Two models with similar names, on a problem with a name as long as KernelBench's.
RunFile long_names(const char* device) {
  constexpr const char* kProblem = "level2/38_ConvTranspose3d_AvgPool_Clamp_Softmax_Multiply";
  RunFile run;
  run.headers = {samples::header(std::string_view(device) == "cpu" ? "cpu" : "cuda")};
  const Record observed = samples::observed();
  for (const char* model : {"some-maker/large-model-1", "some-maker/large-model-2"}) {
    for (int sample = 0; sample < 2; ++sample)
      run.manifest.push_back(samples::planned(model, kProblem, 2, sample));
    Record right = samples::correct(model, kProblem, 0, 1.9);
    right.flags = {"reuses_output", "public_seed"};
    right.estimate = observed.estimate;
    right.profile = observed.profile;
    run.records.push_back(right);
    run.records.push_back(samples::mismatch(model, kProblem, 1));
  }
  for (Record& record : run.records) record.device = device;
  return run;
}

TEST(Console, LongNamesLeaveIntervalsAndFlagsOnEveryTerminal) {
  for (const int width : {64, 72, 80, 100, 120, 200}) {
    for (const char* device : {"NVIDIA H200", "cpu"}) {
      const std::string text =
          written(build_report(long_names(device), {.width = width}), "console");
      SCOPED_TRACE(text);
      EXPECT_LE(widest_line(text), static_cast<std::size_t>(width));
      EXPECT_THAT(text, AllOf(HasSubstr("reuses_output"), HasSubstr("public_seed"),
                              HasSubstr("-1 "), HasSubstr("-2 "), HasSubstr("4.60 µs 1.63x")))
          << "models are told apart, and nothing is lost";
      if (std::string_view(device) != "cpu") {
        EXPECT_THAT(text, AllOf(HasSubstr("1.90x"), HasSubstr("1.86–1.94"), HasSubstr("50 %")));
      }
      EXPECT_THAT(text, Not(testing::ContainsRegex("mismatch[^\n]*…\n"))) << "padding is not cut";
    }
  }
}

/// `text` without the places at which lines may be broken.
std::string unbroken(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST(Console, NothingIsCutOnANarrowTerminal) {
  for (const int width : {24, 40, 63}) {
    for (const char* device : {"NVIDIA H200", "cpu"}) {
      const std::string text =
          written(build_report(long_names(device), {.width = width}), "console");
      SCOPED_TRACE(text);
      EXPECT_LE(widest_line(text), static_cast<std::size_t>(width));
      EXPECT_THAT(text, Not(HasSubstr("…")));
      EXPECT_THAT(unbroken(text),
                  AllOf(HasSubstr("reuses_output"), HasSubstr("some-maker/large-model-10"),
                        HasSubstr("some-maker/large-model-21"), HasSubstr("4.60µs1.63x")));
      if (std::string_view(device) != "cpu") {
        EXPECT_THAT(unbroken(text), AllOf(HasSubstr("1.90x"), HasSubstr("1.86–1.94")));
      }
    }
  }
}

TEST(Console, LogLinesGiveWayInTheirPaths) {
  const test::ScratchFolder folder;
  RunFile run = samples::gpu_run();
  const std::string path = "/work/" + std::string(90, 'a') + "/" + std::string(60, 'b') + "/";
  const std::string log = path + "kernel.cu(12): error: expected a \";\"";
  {
    RunWriter writer(folder / "run.jsonl", false);
    writer.write(run.headers[0]);
    writer.write(run.manifest);
    for (const Record& record : run.records) writer.write(record, {{"compiler_log", log}});
  }
  const std::string text =
      written(build_report(read_run(folder / "run.jsonl"), {.width = 80}), "console");
  EXPECT_THAT(text, HasSubstr("…/kernel.cu(12): error: expected a \";\""));
  EXPECT_LE(widest_line(text), 80u);
}

TEST(Json, IsValidAndItsIndicesLead) {
  const nlohmann::json json =
      nlohmann::json::parse(written(build_report(samples::gpu_run(), {}), "json"));
  const auto& failed = json.at("failures").at(0);
  const auto first = failed.at("candidates").at(0).get<std::size_t>();
  EXPECT_EQ(json.at("candidates").at(first).at("outcome"), failed.at("outcome"));
  EXPECT_EQ(json.at("summary").at(0).at("metrics").at("fast_1").at("value"), 0.5);
}

TEST(ReportFiles, LinksStayLinksAndDevicesDevices) {
  namespace fs = std::filesystem;
  const test::ScratchFolder folder;
  const Report report = build_report(samples::gpu_run(), {});
  const auto write_to = [&](const fs::path& file) {
    std::ostringstream out;
    write_reports(report, std::vector{ReportFile{&report_format("csv"), file}}, out);
  };
  fs::create_symlink("real.csv", folder.path() / "link.csv");
  write_to(folder.path() / "link.csv");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link.csv"));
  EXPECT_EQ(contents(folder.path() / "real.csv"), written(report, "csv"));
  write_to("/dev/null");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_to("/dev/full"), Error);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(ReportFiles, WriteFilesWithoutColourAndTheRestToTheStream) {
  const test::ScratchFolder folder;
  const Report report = build_report(samples::gpu_run(), {.color = true});
  const std::filesystem::path file = folder / "report.txt";
  const std::vector<ReportFile> report_files = {report_file("console=" + file.string()),
                                                report_file("csv")};
  std::ostringstream out;
  write_reports(report, report_files, out);
  EXPECT_EQ(contents(file), written(build_report(samples::gpu_run(), {}), "console"));
  EXPECT_THAT(out.str(), testing::StartsWith("model,problem,"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);

  std::ostringstream console;
  write_reports(report, {}, console);
  EXPECT_THAT(console.str(), HasSubstr("INCOMPLETE"));
}

TEST(ReportFiles, AFolderThatIsNotThereIsSaidBeforeAnythingIsDone) {
  const test::ScratchFolder folder;
  EXPECT_THAT([&] { report_file("csv=" + (folder / "none/report.csv").string()); },
              ThrowsMessage<UsageError>(
                  AllOf(HasSubstr("none/report.csv"), HasSubstr("there is no folder"))));
}

TEST(ReportFiles, WhatCannotBeWrittenKeepsNothingElseFromBeingWritten) {
  const test::ScratchFolder folder;
  const std::filesystem::path file = folder / "report.csv";
  const std::vector<ReportFile> report_files = {
      report_file("csv=/dev/full"), report_file("csv=" + file.string()), report_file("json")};
  std::ostringstream out;
  const Report report = build_report(samples::gpu_run(), {});
  EXPECT_THAT([&] { write_reports(report, report_files, out); },
              ThrowsMessage<Error>(HasSubstr("/dev/full")));
  EXPECT_EQ(contents(file), written(report, "csv"));
  EXPECT_TRUE(nlohmann::json::accept(out.str()));
}

}  // namespace
}  // namespace kbench
