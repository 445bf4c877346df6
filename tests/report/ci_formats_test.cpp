// SPDX-License-Identifier: MIT
// What JUnit and GitHub's annotations say of expected failures, and where annotations are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/test_folder.hpp"
#include "report/approved.hpp"
#include "report/gate/gate.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using test::written;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The run without a GPU: 2_Softmax is correct, 19_ReLU a mismatch, 3_MatmulGelu unsupported.
Report expecting(const decltype(Expectations::outcomes)& outcomes) {
  Report report = build_report(samples::cpu_run(), {});
  expect(report, {.file = "expected.json", .outcomes = outcomes});
  return report;
}

/// The lines of `text` that contain `part`.
std::string lines_with(const std::string& text, const std::string& part) {
  std::istringstream in(text);
  std::string found;
  for (std::string line; std::getline(in, line);)
    if (line.find(part) != std::string::npos) found += line + "\n";
  return found;
}

/// The element of a test case.
std::string case_of(const std::string& xml, const std::string& name) {
  const std::size_t at = xml.find("name=\"" + name + "\"");
  return at == std::string::npos ? "" : xml.substr(at, xml.find("<testcase", at) - at);
}

TEST(ExpectedFailures, AreSkippedInJunit) {
  const std::string xml = written(expecting({{"19_ReLU/0.cu", {Outcome::kMismatch}}}), "junit");
  EXPECT_THAT(case_of(xml, "level1/19_ReLU 0"),
              AllOf(HasSubstr("<skipped type=\"expected_failure\" message=\"expected failure: "
                              "mismatch, values: 3 of 64 elements"),
                    Not(HasSubstr("<failure"))));
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""));
}

TEST(Junit, HasATestCaseForCandidatesOfNoProblem) {
  Report report = build_report(samples::cpu_run(), {});
  const std::string before = written(report, "junit");
  EXPECT_THAT(before, AllOf(HasSubstr("tests=\"3\" failures=\"2\""), Not(HasSubstr("no_problem"))));
  report.unplaced = "1 candidate belongs to no problem of the run: k/3_Sofmax/<0>.cu";
  EXPECT_THAT(written(report, "junit"),
              AllOf(HasSubstr("tests=\"4\" failures=\"3\""),
                    HasSubstr("<failure type=\"no_problem\" message=\"1 candidate belongs to no "
                              "problem of the run: k/3_Sofmax/&lt;0&gt;.cu\"/>")));
}

TEST(ExpectedFailures, HaveNoAnnotation) {
  const Report report = expecting({{"19_ReLU/0.cu", {Outcome::kMismatch}}});
  const std::string text = written(report, "github");
  EXPECT_THAT(text, AllOf(Not(HasSubstr("file=alpha/level1/19_ReLU")),
                          HasSubstr("file=alpha/level2/3_MatmulGelu")));
  EXPECT_THAT(text, HasSubstr("2 of 3 (1 expected): 1 unsupported, opcode"));
  EXPECT_THAT(written(expecting({{"19_ReLU/0.cu", {Outcome::kMismatch}},
                                 {"3_MatmulGelu/0.cu", {Outcome::kUnsupported}}}),
                      "github"),
              AllOf(Not(HasSubstr("::error")), Not(HasSubstr("title=kbench failures"))));
}

TEST(ExpectedFailures, ThatPassFail) {
  const Report report = expecting({{"2_Softmax/0.cu", {Outcome::kMismatch, Outcome::kCrash}}});
  const std::string xml = written(report, "junit");
  EXPECT_THAT(case_of(xml, "level1/2_Softmax 0"),
              HasSubstr("<failure type=\"unexpected_pass\" message=\"correct, expected mismatch or "
                        "crash\"/>"));
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"3\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(written(report, "github"),
              HasSubstr("::error file=alpha/level1/2_Softmax/0.cu,title=unexpected pass%3A "
                        "level1/2_Softmax alpha 0::correct, expected mismatch or crash\n"));
}

TEST(ExpectedFailures, ThatFailOtherwiseFail) {
  const Report report = expecting({{"19_ReLU/0.cu", {Outcome::kCrash}}});
  EXPECT_THAT(
      case_of(written(report, "junit"), "level1/19_ReLU 0"),
      AllOf(HasSubstr("<failure type=\"mismatch.values\""), HasSubstr("\nexpected: crash")));
  EXPECT_THAT(lines_with(written(report, "github"), "file=alpha/level1/19_ReLU"),
              HasSubstr("got 0.25 (expected crash)"));
}

TEST(ExpectedFailures, AProblemThatFailsInsteadFails) {
  Report report = build_report(samples::gpu_run(), {});
  expect(report, {.file = "",
                  .outcomes = {{"alpha/level2/3_MatmulGelu/0.cu", {Outcome::kCrash}},
                               {"beta/level1/19_ReLU/1.cu", {Outcome::kHarnessFault}}}});
  const std::string xml = written(report, "junit");
  EXPECT_THAT(xml, HasSubstr("<failure type=\"problem_failure.random_reference\""));
  EXPECT_THAT(xml, HasSubstr("<error type=\"harness_fault\""))
      << "kbench's fault is never passed over";
  EXPECT_THAT(written(report, "github"),
              HasSubstr("::error file=alpha/level2/3_MatmulGelu/0.cu,title=problem failure%3A"));
}

/// What the github format writes of one record, which is not correct.
std::string annotated(Record record, const std::filesystem::path& workspace = {}) {
  RunFile run;
  run.headers = {samples::header("cpu")};
  run.manifest = {samples::planned(record.model.c_str(), record.problem.c_str(), 1, record.sample)};
  record.device = "cpu";
  run.records = {std::move(record)};
  ReportOptions options;
  options.github_workspace = workspace;
  const std::string text = written(build_report(run, options), "github");
  return lines_with(text, " file=");
}

TEST(GithubAnnotations, HavePathsFromTheWorkspace) {
  const test::ScratchFolder folder;
  const auto here = std::filesystem::current_path();
  Record record = samples::mismatch();
  EXPECT_THAT(annotated(record, here), HasSubstr(" file=alpha/level1/19_ReLU/0.cu,"));
  EXPECT_THAT(annotated(record, here.parent_path()),
              HasSubstr(" file=" + here.filename().string() + "/alpha/level1/19_ReLU/0.cu,"));
  EXPECT_THAT(annotated(record, here.parent_path().string() + "/"),
              HasSubstr(" file=" + here.filename().string() + "/alpha/level1/19_ReLU/0.cu,"));
  std::filesystem::create_directory_symlink(here, folder / "link");
  EXPECT_THAT(annotated(record, folder / "link"), HasSubstr(" file=alpha/level1/19_ReLU/0.cu,"));
  record.candidate = (here / "a/../mine/0.cu").string();
  EXPECT_THAT(annotated(record, here), HasSubstr(" file=mine/0.cu,"));
  record.candidate = (folder / "link/0.cu").string();
  EXPECT_THAT(annotated(record, folder / "link"), HasSubstr(" file=0.cu,"));
  record.candidate = "/elsewhere/0.cu";
  EXPECT_THAT(annotated(record, here), HasSubstr(" file=/elsewhere/0.cu,"));
  EXPECT_THAT(annotated(record), HasSubstr(" file=/elsewhere/0.cu,"));
}

Finding finding_in(const Record& record, const char* kind, int line) {
  Finding finding;
  finding.kind = kind;
  finding.file = record.candidate;
  finding.line = line;
  finding.message = "two threads write";
  return finding;
}

TEST(GithubAnnotations, HaveTheLineThatTheRecordKnows) {
  Record compile = samples::failed(Outcome::kCompileFailure, "syntax_error", "line 23: no such");
  EXPECT_THAT(annotated(compile), HasSubstr("0.cu,line=23,"));
  compile.message = "line 3, column 37: there is no `xs`";
  EXPECT_THAT(annotated(compile), HasSubstr("0.cu,line=3,"));
  compile.message = "0.cu, line 14: expected a \";\" (in vector.h, line 3)";
  EXPECT_THAT(annotated(compile), HasSubstr("0.cu,line=14,"));
  compile.message = "vector.h, line 3: expected a \";\"";
  EXPECT_THAT(annotated(compile), HasSubstr("0.cu,title="));

  Record fault = samples::failed(Outcome::kIllegalWrite, "out_of_bounds_write", "a write");
  fault.findings = {finding_in(fault, kFaultFinding, 9)};
  EXPECT_THAT(annotated(fault), HasSubstr("0.cu,line=9,"));
  Record race = samples::mismatch();
  race.findings = {finding_in(race, "global_race", 12)};
  race.findings_count = 1;
  EXPECT_THAT(annotated(race), HasSubstr("::error file=alpha/level1/19_ReLU/0.cu,line=12,"));
}

TEST(GithubAnnotations, OfFindingsAreInTheCandidatesFile) {
  Record record = samples::correct();
  Finding other = finding_in(record, "global_race", 7);
  other.file = "cub/block_scan.cuh";
  other.message = "in a header";
  record.findings = {other};
  record.findings_count = 1;
  EXPECT_THAT(annotated(record), AllOf(HasSubstr("::warning file=alpha/level1/19_ReLU/0.cu,title="),
                                       HasSubstr("in a header")));
  record.findings.push_back(finding_in(record, "global_race", 12));
  EXPECT_THAT(annotated(record), AllOf(HasSubstr("0.cu,line=12,"), HasSubstr("two threads write")));
}

}  // namespace
}  // namespace kbench
