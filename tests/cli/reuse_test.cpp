// SPDX-License-Identifier: MIT
// Equal code is judged once in a run, and each sample has its own record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Reads one element too many. The message names the file.
constexpr const char* kOffByOne = R"(//@ dims x[N]
//@ out y like x
//@ add_one<<<cdiv(N, 256), 256>>>(x, y, N)
__global__ void add_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = x[i] + 1;
}
)";

class Reuse : public testing::Test {
 protected:
  Reuse() {
    folder_.write("set/level1/1_AddOne.py", add_one_problem(1000));
    folder_.write("set/level1/2_AddOne.py", add_one_problem(1000));
    for (const char* name :
         {"me/1_AddOne/a.cu", "me/1_AddOne/b.cu", "you/1_AddOne/c.cu", "you/2_AddOne/d.cu"})
      folder_.write(std::string("candidates/") + name, add_one_kernel());
    folder_.write("candidates/me/2_AddOne/e.cu", kOffByOne);
    folder_.write("candidates/you/2_AddOne/f.cu", kOffByOne);
  }

  /// The records by the candidates' file names.
  std::map<std::string, Record> eval(std::vector<std::string> more = {}) {
    const auto out = folder_.path() / "run.jsonl";
    std::filesystem::remove(out);
    std::vector<std::string> arguments{"eval",         (folder_.path() / "set").string(),
                                       "--candidates", (folder_.path() / "candidates").string(),
                                       "--device",     "cpu",
                                       "--out",        out.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    output_ = result.output;
    std::map<std::string, Record> records;
    for (const auto& [id, record] : records_by_candidate(out))
      records.emplace(std::filesystem::path(id).filename().string(), record);
    EXPECT_EQ(records.size(), 6u);
    return records;
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(Reuse, OfOneProblemWhoeverWroteIt) {
  const auto records = eval();
  const Record& first = records.at("a.cu");
  EXPECT_EQ(first.outcome, Outcome::kCorrect) << first.message;
  EXPECT_EQ(first.reused_from, "");
  for (const char* name : {"b.cu", "c.cu"}) {
    const Record& record = records.at(name);
    EXPECT_EQ(record.outcome, Outcome::kCorrect);
    EXPECT_EQ(record.reused_from, first.candidate) << name;
    ASSERT_TRUE(record.timing);
    EXPECT_EQ(record.timing->sides.at("candidate").median_ms,
              first.timing->sides.at("candidate").median_ms);
  }
  EXPECT_EQ(records.at("b.cu").sample, 1);
  EXPECT_EQ(records.at("c.cu").model, "you");
  // Equal code for another problem is judged itself.
  EXPECT_EQ(records.at("d.cu").reused_from, "");
  EXPECT_EQ(records.at("e.cu").outcome, Outcome::kCrash);
  EXPECT_EQ(records.at("f.cu").outcome, Outcome::kCrash);
  EXPECT_EQ(records.at("f.cu").reused_from, records.at("e.cu").candidate);
  EXPECT_THAT(records.at("f.cu").message, HasSubstr("f.cu:6"));
  EXPECT_THAT(records.at("f.cu").message, Not(HasSubstr("e.cu")));
  EXPECT_THAT(output_, HasSubstr("reused"));
}

TEST_F(Reuse, OnlyWhereItIsWanted) {
  for (const auto& [name, record] : eval({"--no-reuse"})) EXPECT_EQ(record.reused_from, "") << name;
  EXPECT_THAT(output_, Not(HasSubstr("reused")));
}

TEST_F(Reuse, FromAnEarlierRunEvenIfTheFileHasAnotherName) {
  const auto main = eval();
  const auto at = [&](const std::string& name) { return folder_.path() / name; };
  std::filesystem::rename(at("run.jsonl"), at("main.jsonl"));
  std::filesystem::rename(at("run.details.jsonl"), at("main.details.jsonl"));
  const auto candidates = at("candidates");
  std::filesystem::rename(candidates / "me/1_AddOne/a.cu", candidates / "me/1_AddOne/renamed.cu");
  folder_.write("candidates/you/2_AddOne/f.cu", add_one_kernel());
  const auto records = eval({"--reuse-from", at("main.jsonl").string()});
  EXPECT_EQ(records.at("renamed.cu").reused_from, main.at("a.cu").candidate);
  EXPECT_EQ(records.at("e.cu").message, main.at("e.cu").message);
  EXPECT_EQ(records.at("e.cu").reused_from, main.at("e.cu").candidate);
  EXPECT_EQ(records.at("f.cu").outcome, Outcome::kCorrect) << "its code has changed";
}

TEST_F(Reuse, InAStream) {
  std::string input;
  for (const char* id : {"first", "second"}) {
    const nlohmann::json line{
        {"id", id}, {"problem", "1_AddOne"}, {"model", id}, {"source", add_one_kernel()}};
    input += line.dump() + "\n";
  }
  const auto result = run_kbench(
      {"eval", (folder_.path() / "set").string(), "--candidates", "-", "--device", "cpu"}, input);
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto second = nlohmann::json::parse(result.output.substr(result.output.find('\n') + 1));
  EXPECT_EQ(second.at("candidate"), "second");
  EXPECT_EQ(second.at("outcome"), "correct");
  EXPECT_EQ(second.at("reused_from"), "first");
}

}  // namespace
}  // namespace kbench::test
