// SPDX-License-Identifier: MIT
// Runs kbench on the CPU with --kb-compat: KernelBench's verdicts, kbench's own on the same
// candidates, and one report of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;

const std::string kHead = "import torch\nimport torch.nn as nn\n";

std::string indented(const std::string& lines) {
  std::string text = "        ";
  for (const char c : lines) text += c == '\n' ? std::string("\n        ") : std::string(1, c);
  return text + "\n";
}

std::string model(const std::string& name, const std::string& init, const std::string& forward,
                  const std::string& inputs = "x") {
  return "\nclass " + name + "(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
         indented(init) + "\n    def forward(self, " + inputs + "):\n" + indented(forward);
}

std::string problem(const std::string& init, const std::string& forward, const std::string& drawn,
                    const std::string& inputs = "x") {
  return kHead + "rows = 8\ncolumns = 20\n" + model("Model", init, forward, inputs) +
         "\ndef get_inputs():\n    return [" + drawn +
         "]\n\ndef get_init_inputs():\n    return []\n";
}

const std::string kWeights =
    "self.scale = nn.Parameter(torch.rand(20))\nself.bias = nn.Parameter(torch.rand(20))";
const std::string kSwapped =
    "self.bias = nn.Parameter(torch.rand(20))\nself.scale = nn.Parameter(torch.rand(20))";
const std::string kAffine = "return torch.relu(x) * self.scale + self.bias";

std::map<std::string, std::string> problems() {
  return {{"1_Affine", problem(kWeights, kAffine, "torch.randn(rows, columns)")},
          {"2_Tiny", problem("", "return torch.softmax(x, 1)", "torch.rand(rows, 20000)")},
          {"3_Mask",
           problem("", "return (x * mask).cumsum(1)",
                   "torch.rand(rows, 20), torch.randint(0, 2, (rows, 20)).bool()", "x, mask")},
          {"4_Labels", problem("", "return nn.functional.cross_entropy(x, t)",
                               "torch.rand(rows, 20), torch.randint(0, 20, (rows,))", "x, t")},
          {"5_Random",
           problem("", "return x + torch.rand(20, device=x.device)", "torch.rand(rows, 20)")}};
}

/// A candidate's outcome by kbench's rules and by KernelBench's.
struct Expectation {
  std::string problem, source;
  Outcome compat, own;
  std::vector<std::string> flags = {};  ///< by KernelBench's rules
};

const std::map<std::string, Expectation>& samples() {
  const auto affine = [](const std::string& init, const std::string& forward) {
    return kHead + model("ModelNew", init, forward);
  };
  constexpr auto kRight = Outcome::kCorrect;
  constexpr auto kWrong = Outcome::kMismatch;
  const std::string counting = kWeights + "\nself.calls = 0";
  static const std::map<std::string, Expectation> kSamples{
      {"right", {"1_Affine", affine(kWeights, kAffine), kRight, kRight}},
      {"other_order", {"1_Affine", affine(kSwapped, kAffine), kWrong, kRight}},
      {"returns_double",
       {"1_Affine", affine(kWeights, "return (torch.relu(x) * self.scale + self.bias).double()"),
        Outcome::kWrongDtype, Outcome::kWrongDtype}},
      {"writes_its_input",
       {"1_Affine",
        affine(kWeights, "return x.relu_() * self.scale + self.bias"),
        kRight,
        Outcome::kIllegalWrite,
        {"kbench:illegal_write"}}},
      {"nan_once",
       {"1_Affine",
        affine(kWeights,
               "y = torch.relu(x) * self.scale + self.bias\ny[0, 0] = float('nan')\n"
               "return y"),
        kWrong, kWrong}},
      {"inherits",
       {"1_Affine", "class ModelNew(Model):\n    pass\n", kRight, Outcome::kLoadFailure}},
      {"wrong_later",
       {"1_Affine",
        affine(counting,
               "self.calls += 1\n"
               "return torch.relu(x) * self.scale + self.bias + (self.calls >= 4)"),
        kWrong, kWrong}},
      {"raises_when_timed",
       {"1_Affine",
        affine(counting, "self.calls += 1\nassert self.calls < 9\n" + kAffine),
        kRight,
        kRight,
        {"timing_failed"}}},
      {"other_constants",
       {"1_Affine",
        "rows = 2\n" + affine(kWeights, kAffine),
        kRight,
        kRight,
        {"replaces_constants"}}},
      {"zeros",
       {"2_Tiny", affine("", "return torch.zeros_like(x)"), kRight, kWrong, {"kbench:mismatch"}}},
      {"wants_a_bool",
       {"3_Mask",
        kHead + model("ModelNew", "", "return x.masked_fill(~mask, 0).cumsum(1)", "x, mask"),
        Outcome::kCrash, kRight}},
      {"any_label",
       {"4_Labels",
        kHead + model("ModelNew", "", "return nn.functional.cross_entropy(x, t.long())", "x, t"),
        Outcome::kProblemFailure, kRight}},
      {"same_numbers",
       {"5_Random", affine("", "return x + torch.rand(20, device=x.device)"), kWrong,
        Outcome::kProblemFailure}},
  };
  return kSamples;
}

std::map<std::string, Record> run(const TempFolder& folder, const std::string& out,
                                  const std::vector<std::string>& more) {
  const auto file = folder.path() / out;
  std::vector<std::string> arguments{"eval",         (folder.path() / "set").string(),
                                     "--candidates", (folder.path() / "candidates").string(),
                                     "--device",     "cpu",
                                     "--out",        file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto result = run_kbench(arguments, {}, std::chrono::seconds(280));
  EXPECT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(file))
    records.emplace(std::filesystem::path(id).stem().string(), record);
  return records;
}

// One test, because a run with one candidate costs as much as a run with all.
TEST(KbCompat, GivesKernelBenchsVerdictsBesideKbenchs) {
  const TempFolder folder;
  for (const auto& [name, source] : problems()) folder.write("set/level1/" + name + ".py", source);
  for (const auto& [name, sample] : samples())
    folder.write("candidates/me/" + sample.problem + "/" + name + ".py", sample.source);
  const auto compat = run(folder, "compat.jsonl", {"--kb-compat"});
  // Without distributions, because some candidates count their calls.
  const auto own = run(folder, "own.jsonl", {"--no-distributions"});
  for (const auto& [name, expected] : samples()) {
    SCOPED_TRACE(name);
    ASSERT_THAT(compat, Contains(testing::Key(name)));
    ASSERT_THAT(own, Contains(testing::Key(name)));
    const Record& record = compat.at(name);
    EXPECT_EQ(to_string(record.outcome), to_string(expected.compat))
        << record.cause.str() << ": " << record.message;
    EXPECT_EQ(record.judge, kCompatJudge);
    EXPECT_EQ(record.precision, "native");
    EXPECT_THAT(record.flags, IsSupersetOf(expected.flags));
    EXPECT_EQ(to_string(own.at(name).outcome), to_string(expected.own))
        << own.at(name).cause.str() << ": " << own.at(name).message;
    EXPECT_EQ(own.at(name).judge, kOwnJudge);
  }
  // read_run() keeps the first failed trial. It is trial 3, because one model makes all calls in
  // order.
  ASSERT_EQ(compat.at("wrong_later").correctness.size(), 1u);
  EXPECT_EQ(compat.at("wrong_later").correctness[0].trial, 3);
  EXPECT_THAT(compat.at("right").flags, testing::IsEmpty());
  EXPECT_FALSE(compat.at("raises_when_timed").timing);
  ASSERT_TRUE(compat.at("right").timing);
  EXPECT_EQ(compat.at("right").timing->sides.at("eager").count, 3);

  const auto report = run_kbench({"report", (folder.path() / "own.jsonl").string(),
                                  (folder.path() / "compat.jsonl").string()});
  EXPECT_EQ(report.status.code, 0) << report.error;
  EXPECT_THAT(report.output, AllOf(HasSubstr("me, by kbench"), HasSubstr("me, by kb_compat"),
                                   HasSubstr("Verdicts that differ"),
                                   HasSubstr("kbench mismatch, wrong_values; kb_compat correct")));
  const auto again = run(folder, "compat.jsonl", {"--kb-compat", "--resume"});
  EXPECT_EQ(again.size(), compat.size());
  EXPECT_EQ(again.at("right").seconds, compat.at("right").seconds);  // the verdict is reused
}

TEST(KbCompat, TakesNoKernelFromAStream) {
  const TempFolder folder;
  folder.write("level1/2_AddOne.py", add_one_problem(10));
  const auto result = run_kbench({"eval", (folder.path() / "level1").string(), "--candidates", "-",
                                  "--device", "cpu", "--kb-compat"},
                                 "{\"problem\": \"2_AddOne\", \"source\": \"//@ out y like x\"}\n");
  EXPECT_EQ(result.status.code, 0) << "what a candidate holds is no usage error";
  EXPECT_THAT(result.output, AllOf(HasSubstr("\"rejected\""), HasSubstr("not_a_module"),
                                   HasSubstr("--kb-compat")));
}

}  // namespace
}  // namespace kbench::test
