// SPDX-License-Identifier: MIT
// References that keep state in attributes of their model. Reference and candidate begin each
// compared call with the state of a new model, and are also compared in several consecutive calls.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;

class Stateful : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(KBENCH_TEST_DEVICE) == "cuda" && !have_gpu())
      GTEST_SKIP() << "no GPU on this machine";
  }
};

/// A class with these bodies, which are already indented.
std::string class_of(const std::string& name, const std::string& init, const std::string& forward) {
  return "class " + name + "(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
         init + "\n    def forward(self, x):\n" + forward + "\n\n";
}

std::string file_of(const std::string& classes, const std::string& before = "") {
  return "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n" + before +
         classes +
         "\ndef get_inputs():\n    return [torch.randn(8, 16)]\n"
         "\ndef get_init_inputs():\n    return []\n";
}

/// A problem, and its candidates with their expected results: an outcome, or outcome and cause.
struct Case {
  std::string problem;
  std::map<std::string, std::pair<std::string, std::string>> answers;
  std::string message = "";  ///< part of each wrong answer's message
};

const std::string kLayer = "        self.l = nn.Linear(16, 16)\n";

Case tensor() {
  const std::string init = kLayer + "        self.h = None\n";
  const std::string begin = "        if self.h is None: self.h = torch.zeros_like(x)\n";
  const std::string forward =
      begin + "        self.h = torch.tanh(self.l(x + self.h))\n        return self.h\n";
  const auto module = [&](const std::string& in_init, const std::string& in_forward) {
    return file_of(class_of("ModelNew", in_init, in_forward));
  };
  const std::string by_function =
      begin +
      "        self.h = torch.tanh(F.linear(x + self.h, self.l.weight, self.l.bias))\n"
      "        return self.h.clone()\n";
  const std::string in_place = "        self.h.copy_(torch.tanh(self.l(x + self.h)))\n";
  const std::string kernel =
      "__global__ void f(const float* x, float* y, int n) {\n"
      "  int i = threadIdx.x; if (i < n) y[i] = x[i];\n}\n";
  return {file_of(class_of("Model", init, forward)),
          {{"same.py", {"correct", module(init, forward)}},
           {"by_function.py", {"correct", module(init, by_function)}},
           {"in_place.py", {"correct", module(init, begin + in_place + "        return self.h\n")}},
           {"in_a_buffer.py",
            {"correct", module(kLayer + "        self.register_buffer('h', torch.zeros(8, 16), "
                                        "persistent=False)\n",
                               in_place + "        return self.h\n")}},
           {"ignored.py",
            {"mismatch state_not_kept", module(kLayer, "        return torch.tanh(self.l(x))\n")}},
           {"half_kept.py",
            {"mismatch state_not_kept",
             module(init, begin + "        self.h = torch.tanh(self.l(x + 0.5 * self.h))\n"
                                  "        return self.h\n")}},
           {"wrong_at_once.py",
            {"mismatch wrong_values",
             module(init, begin + "        self.h = torch.tanh(self.l(x + self.h)) + 0.1\n"
                                  "        return self.h\n")}},
           {"kernel.cu",
            {"unsupported stateful_reference",
             "//@ dims x[M, N]\n//@ out y like x\n"
             "//@ f<<<1, 128>>>(x, y, M * N)\n" +
                 kernel}},
           {"extension.cu",
            {"unsupported stateful_reference",
             "#include <torch/extension.h>\n" + kernel +
                 "torch::Tensor forward(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n"
                 "  f<<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());\n"
                 "  return y;\n}\n"}}},
          ""};
}

Case buffer() {
  const std::string init = kLayer + "        self.register_buffer('h', torch.zeros(8, 16))\n";
  const std::string forward =
      "        self.h = torch.tanh(self.l(x + self.h))\n        return self.h * 2\n";
  return {file_of(class_of("Model", init, forward)),
          {{"same.py", {"correct", file_of(class_of("ModelNew", init, forward))}},
           {"frozen.py",
            {"mismatch state_not_kept",
             file_of(class_of("ModelNew", init,
                              "        return torch.tanh(self.l(x + self.h)) * 2\n"))}}},
          "self.h"};
}

Case counter() {
  const std::string init = "        self.calls = 0\n";
  const std::string count = "        self.calls += 1\n";
  return {
      file_of(class_of("Model", init, count + "        return x * self.calls\n")),
      {{"same.py",
        {"correct",
         file_of(class_of("ModelNew", init, count + "        return x * self.calls\n"))}},
       {"once.py",
        {"mismatch state_not_kept", file_of(class_of("ModelNew", init, "        return x * 1\n"))}},
       // Its counter counts the calls of all models together.
       {"of_the_file.py",
        {"nondeterministic repeated_call",
         file_of(class_of("ModelNew", "",
                          "        global calls\n        calls += 1\n        return x * calls\n"),
                 "calls = 0\n")}}}};
}

Case past_inputs() {
  const std::string init = "        self.past = []\n";
  const std::string keep = "        self.past.append(x)\n";
  const std::string mean = "        return torch.stack(self.past).mean(0)\n";
  return {
      file_of(class_of("Model", init, keep + mean)),
      {{"same.py", {"correct", file_of(class_of("ModelNew", init, keep + mean))}},
       {"sum.py",
        {"correct", file_of(class_of("ModelNew", "        self.sum, self.n = 0, 0\n",
                                     "        self.sum = self.sum + x\n        self.n += 1\n"
                                     "        return self.sum / self.n\n"))}},
       // With equal inputs in all calls it would be right.
       {"last.py",
        {"mismatch state_not_kept", file_of(class_of("ModelNew", "", "        return x + 0\n"))}}},
      "self.past"};
}

/// With equal inputs in all calls, the state would not change the answer.
Case largest() {
  const std::string init = "        self.most = None\n";
  const std::string forward =
      "        most = x.abs().max()\n"
      "        self.most = most if self.most is None else torch.maximum(self.most, most)\n"
      "        return x / self.most\n";
  return {file_of(class_of("Model", init, forward)),
          {{"same.py", {"correct", file_of(class_of("ModelNew", init, forward))}},
           {"own.py",
            {"mismatch state_not_kept",
             file_of(class_of("ModelNew", "", "        return x / x.abs().max()\n"))}}},
          "self.most"};
}

/// The same with a registered buffer, which kbench keeps for every problem.
Case largest_of_a_buffer() {
  const std::string init = "        self.register_buffer('most', torch.zeros(()))\n";
  const std::string forward =
      "        self.most.copy_(torch.maximum(self.most, x.abs().max()))\n"
      "        return x / self.most\n";
  return {file_of(class_of("Model", init, forward)),
          {{"same.py", {"correct", file_of(class_of("ModelNew", init, forward))}}}};
}

/// A cached tensor or a note in an attribute does not make a reference stateful, so a kernel can
/// answer it.
Case remembers() {
  const std::string kernel =
      "//@ dims x[M, N]\n//@ out y like x\n//@ twice<<<1, 128>>>(x, y, M * N)\n"
      "__global__ void twice(const float* x, float* y, int n) {\n"
      "  int i = threadIdx.x; if (i < n) y[i] = 2.0f * x[i];\n}\n";
  return {file_of(class_of("Model", "        self.two = None\n",
                           "        if self.two is None: self.two = torch.full_like(x, 2)\n"
                           "        self.noted = x * self.two\n"
                           "        return self.noted\n")),
          {{"kernel.cu", {"correct", kernel}}}};
}

/// Problems that kbench cannot judge.
void add_failures(std::map<std::string, Case>& cases) {
  const std::string same = file_of(class_of("ModelNew", "", "        return x * 2\n"));
  cases["7_Random"] = {file_of(class_of("Model", "", "        return x + torch.rand_like(x)\n")),
                       {{"a.py", {"problem_failure random_reference", same}}},
                       "random reference"};
  cases["8_OfTheFile"] = {
      file_of(class_of("Model", "",
                       "        global calls\n        calls += 1\n        return x * calls\n"),
              "calls = 0\n"),
      {{"a.py", {"problem_failure stateful_reference", same}}},
      "(calls)"};
  cases["9_OfTheClass"] = {
      file_of(class_of("Model", "        self.l = None\n\n    calls = 0\n",
                       "        Model.calls += 1\n        return x * Model.calls\n")),
      {{"a.py", {"problem_failure stateful_reference", same}}},
      "(Model.calls)"};
  cases["10_Generator"] = {
      file_of(class_of("Model", "        self.rows = (row for row in range(1, 10**6))\n",
                       "        return x * next(self.rows)\n")),
      {{"a.py", {"problem_failure stateful_reference", same}}},
      "kbench cannot restore its state"};
}

/// The cases by the names of their problems.
const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> kCases = [] {
    std::map<std::string, Case> cases{{"1_Tensor", tensor()},
                                      {"2_Buffer", buffer()},
                                      {"3_Counter", counter()},
                                      {"4_PastInputs", past_inputs()},
                                      {"5_Largest", largest()},
                                      {"6_Remembers", remembers()},
                                      {"11_OfABuffer", largest_of_a_buffer()}};
    add_failures(cases);
    return cases;
  }();
  return kCases;
}

/// The records of one run over all cases, by candidate id.
const std::map<std::string, Record>& records() {
  static const std::map<std::string, Record> kRecords = [] {
    const TempFolder folder;
    for (const auto& [name, one] : cases()) {
      folder.write(fmt::format("set/level1/{}.py", name), one.problem);
      for (const auto& [file, answer] : one.answers)
        folder.write(fmt::format("candidates/me/{}/{}", name, file), answer.second);
    }
    return judge_folder(folder, {}, KBENCH_TEST_DEVICE);
  }();
  return kRecords;
}

void expect_outcomes(const std::string& name) {
  const Case& one = cases().at(name);
  std::size_t judged = 0;
  for (const auto& [id, record] : records()) {
    const std::filesystem::path path(id);
    if (path.parent_path().filename() != name) continue;
    ++judged;
    const auto& expected = one.answers.at(path.filename().string()).first;
    const std::string cause = expected.find(' ') == std::string::npos ? "" : " " + record.cause;
    EXPECT_EQ(std::string(to_string(record.outcome)) + cause, expected)
        << id << ": " << record.message;
    if (expected != "correct") {
      EXPECT_THAT(record.message, HasSubstr(one.message)) << id;
    }
  }
  EXPECT_EQ(judged, one.answers.size());
}

TEST_F(Stateful, ATensorThatEachCallReplaces) { expect_outcomes("1_Tensor"); }

TEST_F(Stateful, ABufferThatEachCallReplaces) { expect_outcomes("2_Buffer"); }

TEST_F(Stateful, ACounter) { expect_outcomes("3_Counter"); }

TEST_F(Stateful, AListOfPastInputs) { expect_outcomes("4_PastInputs"); }

TEST_F(Stateful, WhatOtherInputsAloneShow) { expect_outcomes("5_Largest"); }

TEST_F(Stateful, ARegisteredBuffer) { expect_outcomes("11_OfABuffer"); }

TEST_F(Stateful, NotWhatOnlyRemembers) { expect_outcomes("6_Remembers"); }

TEST_F(Stateful, WhatCannotBeJudgedSaysWhy) {
  for (const char* name : {"7_Random", "8_OfTheFile", "9_OfTheClass", "10_Generator"})
    expect_outcomes(name);
}

/// Outputs of timed calls are compared, too. A module that ignores restored state in them is
/// caught.
TEST_F(Stateful, TimedCallsAreNoOther) {
  const std::string init = kLayer + "        self.h = None\n";
  const std::string begin = "        if self.h is None: self.h = torch.zeros_like(x)\n";
  const std::string forward =
      begin + "        self.h = torch.tanh(self.l(x + self.h))\n        return self.h\n";
  const TempFolder folder;
  folder.write("set/level1/1_Kept.py", file_of(class_of("Model", init, forward)));
  // After ten calls the trials are over.
  folder.write("candidates/me/1_Kept/late.py",
               file_of(class_of("ModelNew", init,
                                "        COUNT.append(1)\n"
                                "        if len(COUNT) > 10: return LAST[0].clone()\n" +
                                    begin +
                                    "        self.h = torch.tanh(self.l(x + self.h))\n"
                                    "        LAST[:] = [self.h]\n        return self.h\n"),
                       "COUNT, LAST = [], []\n"));
  for (const auto& [id, record] :
       judge_folder(folder, {"--trials", "2", "--no-distributions"}, KBENCH_TEST_DEVICE))
    EXPECT_NE(record.outcome, Outcome::kCorrect) << id;
}

}  // namespace
}  // namespace kbench::test
