// SPDX-License-Identifier: MIT
#include "report/format/annotations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/test_folder.hpp"
#include "kbench/run_file.hpp"
#include "record/run_samples.hpp"

namespace kbench::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Record record_of(const std::string& candidate, const std::string& message = "") {
  Record record = samples::failed(Outcome::kCompileFailure, "syntax_error", message.c_str());
  record.candidate = candidate;
  return record;
}

Annotation annotation(int line, std::string_view severity, const char* text) {
  return {.line = line, .severity = severity, .text = text};
}

TEST(Annotations, AreFoundInWhatEachCompilerSays) {
  const Record record = record_of("folder/scale.cu");
  EXPECT_THAT(annotations_of(record,
                             "/tmp/x/scale.cu(29): error: identifier \"v\" is undefined\n"
                             "    v = 1;\n    ^\n\nscale.cu(7): warning #177-D: never used\n"),
              ElementsAre(annotation(7, "warning", "never used"),
                          annotation(29, "error", "identifier \"v\" is undefined")));
  EXPECT_THAT(annotations_of(record,
                             "scale.cu:12:5: error: expected ';'\n"
                             "In file included from scale.cu:3:\n"
                             "/x/scale.cu:13: fatal error: no.h: No such file\n"
                             "scale.cu:14:1: note: declared here\n"),
              ElementsAre(annotation(12, "error", "expected ';'"),
                          annotation(13, "error", "no.h: No such file"),
                          annotation(14, "note", "declared here")));
}

TEST(Annotations, OfATracebackAreTheLinesOfTheFileAndWhatWasRaised) {
  EXPECT_THAT(annotations_of(record_of("m/model.py"),
                             "Traceback (most recent call last):\n"
                             "  File \"/x/m/model.py\", line 7, in forward\n    y = self.f(x)\n"
                             "  File \"/x/m/model.py\", line 3, in f\n    return x + None\n"
                             "TypeError: unsupported operand\nafter: that\n"),
              ElementsAre(annotation(3, "error", "TypeError: unsupported operand"),
                          annotation(7, "error", "in forward")));
}

TEST(Annotations, AreOfTheCandidatesFileAlone) {
  EXPECT_THAT(annotations_of(record_of("a/0.cu"),
                             "/x/10.cu(3): error: of another\nother.h(1): error: x\n"
                             "0.cu: nothing\n0.cu(): error: x\n0.cu(0): error: x\n"
                             "0.cu(99999999999999): error: x\n"),
              IsEmpty());
}

TEST(Annotations, ComeFromTheMessageWhereNoLogHasAnError) {
  EXPECT_THAT(annotations_of(record_of("a.cu", "line 5, column 17: the grid's x is 0"), ""),
              ElementsAre(annotation(5, "error", "the grid's x is 0")));
  EXPECT_THAT(
      annotations_of(record_of("a.cu", "line 29: no conversion"), "a.cu(29): error: no conversion"),
      SizeIs(1));
  EXPECT_THAT(annotations_of(record_of("m/a.cu", "a.cu, line 5: x"), ""),
              ElementsAre(annotation(5, "error", "x")));
  EXPECT_THAT(annotations_of(record_of("m/a.py", "a.py:12: not valid Python: x"), ""),
              ElementsAre(annotation(12, "error", "not valid Python: x")));
  for (const char* message : {"lines 5: x", "b.cu, line 5: x", "b.cu:5: x", "a.cu:x", "a.cu: 5: x"})
    EXPECT_THAT(annotations_of(record_of("m/a.cu", message), ""), IsEmpty()) << message;
}

TEST(Annotations, FindingsAreMarkedAndFaultsAreErrors) {
  Record record = samples::observed();
  record.candidate = record.findings[0].file.str();
  const auto annotations = annotations_of(record, "");
  ASSERT_THAT(annotations, SizeIs(1));
  EXPECT_EQ(annotations[0].line, record.findings[0].line);
  EXPECT_EQ(annotations[0].severity, "warning");
}

TEST(Annotations, NothingInALogMakesManyOfThem) {
  std::string log;
  for (int i = 1; i <= 1000; ++i) log += "a.cu(" + std::to_string(i) + "): error: e\n";
  EXPECT_THAT(annotations_of(record_of("a.cu"), log), SizeIs(50));
}

TEST(FirstLines, LeaveOutEmptyOnesAndWhatSteersATerminal) {
  EXPECT_THAT(first_lines("\n  \none\x1b[31m\n\ntwo\nthree", 2), ElementsAre("one [31m", "two"));
  EXPECT_THAT(first_lines("", 2), IsEmpty());
  EXPECT_THAT(first_lines(std::string(5000, 'x'), 1)[0].size(), testing::Lt(210u));
}

TEST(LogOf, PutsAllLogsTogether) {
  EXPECT_EQ(log_of({{"log", "c\n"}, {"compiler_log", "a"}, {"raw_ms", {1, 2}}}), "a\nc\n");
  EXPECT_EQ(log_of(nullptr), "");
  EXPECT_EQ(log_of({{"log", 3}}), "");
}

TEST(SourceOf, IsTheFileThatWasJudgedAndNoOther) {
  const test::ScratchFolder folder;
  const std::string path = (folder.path() / "a.cu").string();
  const std::string text = "__global__ void f() {}\n";
  std::ofstream(path) << text;
  const RunDetails none{RunFile()};
  Record record = record_of(path);
  record.candidate_hash = sha256_hex(text);
  EXPECT_EQ(source_of(record, none).text, text);
  record.candidate_hash = sha256_hex("other");
  EXPECT_EQ(source_of(record, none).text, "");
  EXPECT_THAT(source_of(record, none).why_none, HasSubstr("changed"));
  EXPECT_THAT(source_of(record_of("/etc/passwd"), none).text, IsEmpty())
      << "no code, and not judged";
  EXPECT_THAT(source_of(record_of("/no/such.cu"), none).why_none, HasSubstr("no such file"));
}

TEST(SourceOf, IsInTheDetailsFileIfTheCandidateCameByStandardInput) {
  const test::ScratchFolder folder;
  const auto path = folder.path() / "run.jsonl";
  const std::string text = "__global__ void f() {}\n";
  {
    RunWriter writer(path, false);
    writer.write(RunHeader());
    writer.keep_source(sha256_hex(text), text);
    Record record = record_of("step-7/0");
    record.candidate_hash = sha256_hex(text);
    writer.write(record, nullptr);
  }
  const RunFile run = read_run(path);
  const RunDetails files(run);
  EXPECT_EQ(source_of(run.records.at(0), files).text, text);
  Record other = run.records.at(0);
  other.candidate_hash = sha256_hex("other");
  EXPECT_EQ(source_of(other, files).text, "");
  std::filesystem::resize_file(details_path(path), 10);
  EXPECT_THAT(source_of(run.records.at(0), files).why_none, HasSubstr("run.details.jsonl"));
}

}  // namespace
}  // namespace kbench::report
