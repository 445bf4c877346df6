// SPDX-License-Identifier: MIT
#include "report/format/candidate_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/hash.hpp"
#include "kbench/error.hpp"
#include "record/run_log_fixture.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(NamedRecords, AreFoundByProblemAndSample) {
  const RunFile run = samples::gpu_run();
  const auto count = [&](const char* name) { return named_records(run, name).size(); };
  EXPECT_EQ(count("level1/2_Softmax"), 4u);
  EXPECT_EQ(count("2_Softmax"), 4u);
  EXPECT_EQ(count("2_Softmax/1"), 2u);
  EXPECT_EQ(count("*Soft*"), 4u);
  RunFile of_alpha = samples::gpu_run();
  Selection alpha;
  alpha.add("model=al*");
  alpha.choose_from(of_alpha, "the run");
  const auto found_records = named_records(of_alpha, "level1/19_ReLU/1", alpha);
  ASSERT_THAT(found_records, SizeIs(1));
  const Record& found = of_alpha.records[found_records.front()];
  EXPECT_EQ(found.outcome, Outcome::kMismatch);
}

TEST(NamedRecords, AreFoundByTheFileOfTheCandidate) {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records) record.candidate = "mine/" + record.candidate;
  const auto file = [&](const char* name) {
    const auto found = named_records(run, name);
    EXPECT_EQ(found.size(), 1u) << name;
    return run.records[found.front()].candidate;
  };
  const std::string whole = "mine/alpha/level1/19_ReLU/1.cu";
  EXPECT_EQ(file("mine/alpha/level1/19_ReLU/1.cu"), whole);
  EXPECT_EQ(file("./mine/alpha//level1/19_ReLU/1.cu"), whole);
  EXPECT_EQ(file("/home/mine/alpha/level1/19_ReLU/1.cu"), whole);
  EXPECT_EQ(file("alpha/level1/19_ReLU/1.cu"), whole);
  EXPECT_EQ(named_records(run, "19_ReLU/1.cu").size(), 2u) << "of two models";
  Selection beta;
  beta.add("model=beta");
  beta.choose_from(run, "the run");
  EXPECT_EQ(named_records(run, "19_ReLU/1.cu", beta).size(), 1u);
}

TEST(NamedRecords, WhatIsNotThereIsSaidWithWhatIs) {
  const RunFile run = samples::gpu_run();
  const auto says = [&](const char* name, const char* text) {
    EXPECT_THAT([&] { named_records(run, name); }, ThrowsMessage<UsageError>(HasSubstr(text)));
  };
  says("3_Gelu", "it has level1/19_ReLU, level1/2_Softmax, level2/3_MatmulGelu");
  says("2_Softmax/7", "no sample 7 of \"2_Softmax\"");
  EXPECT_THAT([&] { named_records(RunFile(), "x"); },
              ThrowsMessage<UsageError>(HasSubstr("no records yet")));
}

class CandidateReport : public test::RunLog {
 protected:
  /// The text on a record that was written to a run file and read again.
  std::string told(const Record& record, const nlohmann::json& details,
                   CandidateReportOptions options = {}) {
    std::filesystem::remove(path_);
    std::filesystem::remove(details_path(path_));
    {
      RunWriter writer(path_, false);
      writer.write(test::header());
      writer.write(record, details);
    }
    run_ = read_run(path_);
    std::ostringstream out;
    write_candidate(run_, run_.records.front(), options, out);
    return out.str();
  }
  RunFile run_;
};

TEST_F(CandidateReport, TellsTimesAndEachTrialOfWhatIsRight) {
  Record record = samples::correct();
  record.correctness.push_back(record.correctness[0]);
  record.correctness[1].distribution = "zeros";
  const std::string text = told(record, {{"phases_s", {{"timing", 0.5}, {"tiny", 1e-6}}}});
  EXPECT_THAT(text, AllOf(HasSubstr("correct  level1/19_ReLU alpha 0"), HasSubstr("Times: gated"),
                          HasSubstr("1.90x over eager"), HasSubstr("drawn"), HasSubstr("zeros"),
                          HasSubstr("2026-01-31 09:30:01 UTC"), HasSubstr("timing 500 ms")));
  EXPECT_THAT(text, Not(HasSubstr("tiny")));
}

TEST_F(CandidateReport, SaysWhyABaselineHasNoTime) {
  EXPECT_THAT(told(samples::correct(), {{"failed_baselines", {{"compile", "no compiler"}}}}),
              HasSubstr("no time of compile: no compiler"));
}

TEST_F(CandidateReport, ShowsHowLongACallerWaits) {
  Record record = samples::correct();
  const nlohmann::json details = nlohmann::json::object();
  EXPECT_THAT(told(record, details), Not(HasSubstr("caller's")));
  record.timing->sides["candidate"].wall_ms = 0.020;
  EXPECT_THAT(told(record, details), AllOf(HasSubstr("candidate: caller's time 20.0 µs, span –"),
                                           Not(HasSubstr("caller's speedup"))));
  record.timing->sides["eager"].wall_ms = 0.050;
  EXPECT_THAT(told(record, details), AllOf(HasSubstr("eager: caller's time 50.0 µs"),
                                           HasSubstr("faster); caller's speedup 2.50x")));
}

TEST_F(CandidateReport, ShowsTheLogAndTheLinesThatItIsAbout) {
  const auto source = folder_.path() / "bad.cu";
  std::string code;
  for (int i = 1; i <= 30; ++i) code += "int line" + std::to_string(i) + ";\n";
  test::put(source, code);
  Record record = samples::failed(Outcome::kCompileFailure, "syntax_error", "line 15: wrong");
  record.candidate = source.string();
  record.candidate_hash = sha256_hex(code);
  std::string log = "bad.cu(15): error: wrong\n";
  for (int i = 0; i < 100; ++i) log += "more " + std::to_string(i) + "\n";
  const nlohmann::json details = {{"compiler_log", log}};
  const std::string text = told(record, details);
  EXPECT_THAT(text, AllOf(HasSubstr("    15> int line15;\n        error: wrong"),
                          HasSubstr("    12  int line12;"), HasSubstr("    18  int line18;"),
                          HasSubstr("more 38"), HasSubstr("--log shows all")));
  EXPECT_THAT(
      text, AllOf(Not(HasSubstr("line11;")), Not(HasSubstr("line19;")), Not(HasSubstr("more 60"))));
  const std::string whole = told(record, details, {.whole_source = true, .whole_log = true});
  EXPECT_THAT(whole,
              AllOf(HasSubstr("int line1;"), HasSubstr("int line30;"), HasSubstr("more 99")));
}

TEST_F(CandidateReport, WhatACandidateSaysSteersNoTerminal) {
  Record record = samples::failed(Outcome::kCrash, "x\x1b]0;t\x07", "a\x1b[2Jb");
  record.model = "m\r\n\x1b[31m";
  const std::string text = told(record,
                                {{"log",
                                  "\x1b[2J\xc2\x9b"
                                  "1mlog\r\n"}},
                                {.whole_log = true});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("log"));
}

TEST_F(CandidateReport, ForProgramsItIsTheWholeLineAndTheDetails) {
  const nlohmann::json details = {{"log", "told"}};
  Record record = samples::correct();
  record.correctness.resize(3, record.correctness[0]);
  told(record, details);
  const nlohmann::json json = candidate_json(run_, run_.records.front());
  EXPECT_THAT(json["record"]["correctness"], SizeIs(3)) << "a run that is read keeps one";
  EXPECT_EQ(json["details"], details);
  EXPECT_TRUE(json["source"].is_null());
}

}  // namespace
}  // namespace kbench
