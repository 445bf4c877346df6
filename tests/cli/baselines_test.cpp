// SPDX-License-Identifier: MIT
// Runs kbench on the CPU with each way to run the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/kbench_process.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Baselines : public testing::Test {
 protected:
  Record judged(const std::vector<std::string>& options) {
    const std::string set =
        folder_.write("set/level1/1_AddOne.py", problem_).parent_path().string();
    folder_.write("candidates/me/1_AddOne/a.cu", add_one_kernel());
    std::vector<std::string> arguments = {
        "eval",     set,   "--candidates", (folder_.path() / "candidates").string(),
        "--device", "cpu", "--out",        out().string(),
        "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    const RunFile run = read_run(out());
    EXPECT_THAT(run.records, SizeIs(1));
    return run.records.at(0);
  }

  std::filesystem::path out() const { return folder_.path() / "run.jsonl"; }

  std::string details() const { return contents(details_path(out())); }

  TempFolder folder_;
  std::string problem_ = add_one_problem(1000);
};

TEST_F(Baselines, EachIsASideOfItsOwn) {
  const Record record = judged({"--baseline", "eager,eager_tf32"});
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_THAT(record.flags, IsEmpty());
  ASSERT_TRUE(record.timing);
  for (const char* side : {"candidate", "eager", "eager_tf32"})
    EXPECT_EQ(record.timing->sides.count(side), 1u) << side;
  EXPECT_EQ(record.timing->sides.size(), 3u);
}

TEST_F(Baselines, OneThatFailsIsNamedAndTheOthersStay) {
  const Record record = judged({"--baseline", "compile,eager"});
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_THAT(record.flags, Contains("baseline_failed"));
  EXPECT_THAT(details(), HasSubstr("failed_baselines"));
  EXPECT_THAT(details(), HasSubstr("timed on a GPU only"));
  const auto shown = run_kbench({"show", out().string(), "1_AddOne"});
  EXPECT_THAT(shown.output, HasSubstr("no time of compile: "));
  EXPECT_THAT(shown.output, HasSubstr("timed on a GPU only"));
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->sides.count("compile"), 0u);
  EXPECT_EQ(record.timing->sides.count("eager"), 1u);
}

TEST_F(Baselines, WithoutTimingThereAreVerdictsAlone) {
  const Record record = judged({"--timing", "none"});
  EXPECT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_FALSE(record.timing);
  EXPECT_FALSE(record.sol);
  EXPECT_THAT(record.speedup, IsEmpty());
}

TEST_F(Baselines, TheLeastWorkIsInTheRecord) {
  const Record record = judged({});
  ASSERT_TRUE(record.sol);
  EXPECT_EQ(record.sol->work.read_bytes, 4000u);
  EXPECT_EQ(record.sol->work.written_bytes, 4000u);
  EXPECT_FALSE(record.sol->limit_ms);  // kbench does not measure a CPU's peaks
}

TEST_F(Baselines, AreStoredAndUsedInsteadOfMeasured) {
  const std::string set = folder_.write("set/level1/1_AddOne.py", problem_).parent_path().string();
  const std::string stored = (folder_.path() / "stored.jsonl").string();
  const auto made = run_kbench({"baseline", set, "--device", "cpu", "--baseline",
                                "eager,eager_tf32", "--out", stored, "--quiet"});
  ASSERT_EQ(made.status.code, 0) << made.error;
  EXPECT_THAT(made.output, HasSubstr("eager_tf32"));
  EXPECT_THAT(made.output, HasSubstr("level1/1_AddOne"));
  const Record reference = read_run(stored).records.at(0);
  ASSERT_EQ(reference.outcome, Outcome::kCorrect) << reference.message;
  const Record record = judged({"--baseline", "eager", "--baseline-file", stored});
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_THAT(record.flags, IsEmpty());
  // Equal numbers show that nothing was measured again.
  EXPECT_EQ(record.timing->sides.at("eager").median_ms,
            reference.timing->sides.at("eager").median_ms);
  // Stored baselines are not measured again.
  const auto again = run_kbench({"baseline", set, "--device", "cpu", "--baseline",
                                 "eager,eager_tf32", "--out", stored, "--quiet", "--resume"});
  EXPECT_EQ(again.status.code, 0) << again.error;
  EXPECT_THAT(read_run(stored).records, SizeIs(1));
  // If the file is damaged, a warning says that the baselines are measured.
  std::string damaged = contents(stored);
  damaged.replace(damaged.find("\"median_ms\":"), 12, "\"median_ms\":x");
  const std::string broken = folder_.write("broken.jsonl", damaged).string();
  const auto measured =
      run_kbench({"eval", set, "--candidates", (folder_.path() / "candidates").string(), "--device",
                  "cpu", "--out", (folder_.path() / "broken-run.jsonl").string(), "--quiet",
                  "--baseline-file", broken});
  EXPECT_EQ(measured.status.code, 0);
  EXPECT_THAT(measured.error, HasSubstr("some lines cannot be read (line 3: "));
  // The options do not match the file. That is an error before anything is measured or written.
  const std::string text = contents(stored);
  const auto warm = run_kbench({"baseline", set, "--device", "cpu", "--l2", "warm", "--baseline",
                                "eager,eager_tf32", "--out", stored, "--quiet", "--resume"});
  EXPECT_EQ(warm.status.code, 2);
  EXPECT_THAT(warm.error, HasSubstr("holds times measured with --l2 cold"));
  EXPECT_EQ(contents(stored), text);
}

TEST_F(Baselines, AnotherBaselineCandidateInTheSamePlaceIsNoResumption) {
  const std::filesystem::path other = folder_.write("main/1_AddOne.cu", add_one_kernel());
  const std::string baseline = "candidate:" + other.string();
  const Record first = judged({"--baseline", baseline});
  EXPECT_EQ(judged({"--baseline", baseline, "--resume"}).options_hash, first.options_hash);
  folder_.write("main/1_AddOne.cu", add_one_kernel() + "\n// another one\n");
  const auto again =
      run_kbench({"eval", (folder_.path() / "set").string(), "--candidates",
                  (folder_.path() / "candidates").string(), "--device", "cpu", "--out",
                  out().string(), "--quiet", "--baseline", baseline, "--resume"});
  EXPECT_EQ(again.status.code, 0) << again.error;
  EXPECT_NE(read_run(out()).records.back().options_hash, first.options_hash);
}

TEST_F(Baselines, OfAStreamAreCheckedBeforeItIsRead) {
  const std::string set = folder_.write("set/level1/1_AddOne.py", problem_).parent_path().string();
  for (const char* wrong : {"numpy", "eager,eager"})
    EXPECT_EQ(run_kbench({"eval", set, "--candidates", "-", "--device", "cpu", "--baseline", wrong})
                  .status.code,
              2)
        << wrong;
}

TEST_F(Baselines, AnotherCandidateMayBeOne) {
  const std::filesystem::path other = folder_.write("main/1_AddOne/theirs.cu", add_one_kernel());
  const std::string baseline = "candidate:" + other.parent_path().parent_path().string();
  const Record record = judged({"--baseline", "eager," + baseline});
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_THAT(record.flags, IsEmpty());
  // The candidate has the baseline's code, but is timed itself.
  EXPECT_THAT(record.reused_from, IsEmpty());
  ASSERT_TRUE(record.timing);
  EXPECT_EQ(record.timing->sides.size(), 3u);
  ASSERT_EQ(record.timing->sides.count(baseline), 1u);
  EXPECT_GT(record.timing->sides.at(baseline).median_ms, 0);
  // The baseline is no sample of the run.
  EXPECT_THAT(read_run(out()).manifest, SizeIs(1));
}

TEST_F(Baselines, ABaselineCandidateThatIsWrongIsNamed) {
  std::string wrong = add_one_kernel();
  const std::size_t at = wrong.find("+ 1");
  ASSERT_NE(at, std::string::npos) << wrong;
  wrong.replace(at, 3, "+ 2");
  const std::filesystem::path other = folder_.write("main/1_AddOne.cu", wrong);
  const Record record = judged({"--baseline", "candidate:" + other.string()});
  ASSERT_EQ(record.outcome, Outcome::kCorrect) << record.message;
  EXPECT_THAT(record.flags, Contains("baseline_failed"));
  EXPECT_THAT(details(), HasSubstr("mismatch: "));
}

TEST_F(Baselines, MistakesWithBaselineCandidatesAreToldInOneSentence) {
  const std::string set = folder_.write("set/level1/1_AddOne.py", problem_).parent_path().string();
  const std::string mine =
      folder_.write("candidates/me/1_AddOne/a.cu", add_one_kernel()).parent_path().string();
  folder_.write("two/1_AddOne/a.cu", add_one_kernel());
  folder_.write("two/1_AddOne/b.cu", add_one_kernel());
  const std::string two = "candidate:" + (folder_.path() / "two").string();
  const auto refused = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"eval", set, "--candidates", mine, "--device", "cpu"});
    const auto result = run_kbench(options);
    EXPECT_EQ(result.status.code, 2) << result.output;
    EXPECT_THAT(error_lines(result), SizeIs(1)) << result.error;
    return result.error;
  };
  EXPECT_THAT(refused({"--baseline", "candidate:/nonexistent"}), HasSubstr("/nonexistent"));
  EXPECT_THAT(refused({"--baseline", "candidate:"}), HasSubstr("needs a path"));
  EXPECT_THAT(refused({"--baseline", two}), HasSubstr("several candidates for level1/1_AddOne"));
  EXPECT_THAT(refused({"--baseline", two, "--timing", "none"}), HasSubstr("no times"));
  EXPECT_THAT(refused({"--baseline", "eagre"}), HasSubstr("did you mean eager?"));
}

TEST_F(Baselines, MistakesWithStoredOnesAreToldInOneSentence) {
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "eval");
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 2) << result.output;
    EXPECT_THAT(error_lines(result), SizeIs(1)) << result.error;
    return result.error;
  };
  const std::string none = (folder_.path() / "none.jsonl").string();
  EXPECT_THAT(refused({"--baseline-file", none}), HasSubstr("none.jsonl"));
  EXPECT_THAT(refused({"--baseline-file", none, "--timing", "none"}), HasSubstr("no times"));
}

}  // namespace
}  // namespace kbench::test
