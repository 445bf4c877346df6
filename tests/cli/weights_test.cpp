// SPDX-License-Identifier: MIT
// How modules get the reference's weights: right modules that fold, transpose, rename or reorder
// them, and wrong modules that no rule makes right.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const std::string kHead =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n";

std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text += "        " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

/// A class without init arguments. `init` and `forward` are lines of code.
std::string class_of(const std::string& name, const std::string& init, const std::string& forward) {
  return "class " + name + "(nn.Module):\n    def __init__(self):\n        super().__init__()\n" +
         indented(init) + "\n    def forward(self, x):\n" + indented(forward);
}

std::string candidate(const std::string& init, const std::string& forward,
                      const std::string& before = {}) {
  return kHead + before + class_of("ModelNew", init, forward);
}

std::string problem(const std::string& init, const std::string& forward, const std::string& input) {
  return kHead + class_of("Model", init, forward) + "\n\ndef get_inputs():\n    return [" + input +
         "]\n\n\ndef get_init_inputs():\n    return []\n";
}

struct Sample {
  std::string outcome;
  std::string weights;  ///< of the record; empty: any
  std::string source;
};
using Samples = std::map<std::string, Sample>;

/// A problem and its modules.
struct Question {
  std::string problem;
  Samples samples;
};
/// By the problem's name, with which the names of its candidates' files begin.
using Questions = std::map<std::string, Question>;

JudgedRun run_of(const Questions& questions, const std::vector<std::string>& options = {}) {
  std::map<std::string, std::string> files;
  for (const auto& [problem, question] : questions) {
    files["set/level1/" + problem + ".py"] = question.problem;
    for (const auto& [name, sample] : question.samples)
      files["candidates/me/" + problem + "/" + problem + "_" + name + ".py"] = sample.source;
  }
  return JudgedRun(files, options);
}

/// The records of one problem's candidates, by name, after a check of their outcomes.
std::map<std::string, Record> judged(const JudgedRun& run, const std::string& problem,
                                     const Samples& samples) {
  std::map<std::string, Record> records;
  for (const auto& [name, sample] : samples) {
    const Record& record = run.of(problem + "_" + name + ".py");
    EXPECT_EQ(to_string(record.outcome), sample.outcome)
        << name << ": " << record.cause.str() << ": " << record.message;
    if (!sample.weights.empty()) {
      EXPECT_EQ(record.weights.str(), sample.weights) << name;
    }
    records.emplace(name, record);
  }
  return records;
}

const std::string kHalvedInit = "self.linear = nn.Linear(64, 64)\n";
const std::string kHalved =
    problem(kHalvedInit, "return self.linear(x) / 2.0\n", "torch.randn(32, 64)");
const std::string kFold =
    "with torch.no_grad():\n"
    "    self.linear.weight.div_(2.0)\n"
    "    self.linear.bias.div_(2.0)\n";
const std::string kTransposed =
    "l = nn.Linear(64, 64)\n"
    "self.wt = nn.Parameter(l.weight.detach().t().contiguous())\n"
    "self.b = nn.Parameter(l.bias.detach().clone())\n";

Question halved() {
  const std::string seeded =
      "torch.manual_seed(1234)\n"
      "self.linear = nn.Linear(64, 64)\n" +
      kFold;
  const std::string lazy = kHalvedInit +
                           "self.register_buffer('wt', torch.zeros(64, 64))\n"
                           "self.is_packed = False\n";
  const std::string packs =
      "if not self.is_packed:\n"
      "    self.wt.copy_(self.linear.weight.t())\n"
      "    self.is_packed = True\n";
  const std::string keeps = kHalvedInit +
                            "self.register_buffer('kept', torch.zeros(32, 64))\n"
                            "self.known = None\n";
  const Samples samples{
      {"same", {"correct", "as_built", candidate(kHalvedInit, "return self.linear(x) / 2.0\n")}},
      {"folded",
       {"correct", "as_built", candidate(kHalvedInit + kFold, "return self.linear(x)\n")}},
      {"transposed",
       {"correct", "as_built",
        candidate(kTransposed, "return torch.addmm(self.b, x, self.wt) / 2.0\n")}},
      {"transposed_and_folded",
       {"correct", "as_built",
        candidate(kTransposed + "self.wt.data /= 2\nself.b.data /= 2\n",
                  "return torch.addmm(self.b, x, self.wt)\n")}},
      {"renamed",
       {"correct", "as_built",
        candidate("self.fc = nn.Linear(64, 64)\n", "return self.fc(x) / 2.0\n")}},
      {"draws_first",
       {"correct", "by_name",
        candidate("self.noise = torch.randn(3)\n" + kHalvedInit, "return self.linear(x) / 2.0\n")}},
      {"draws_first_renamed",
       {"correct", "by_order",
        candidate("self.noise = torch.randn(3)\nself.fc = nn.Linear(64, 64)\n",
                  "return self.fc(x) / 2.0\n")}},
      {"packed_in_first_call",
       {"correct", "as_built",
        candidate(lazy, packs + "return torch.addmm(self.linear.bias, x, self.wt) / 2.0\n")}},
      {"packed_at_import_of_a_buffer",
       {"correct", "as_built",
        candidate("l = nn.Linear(64, 64)\n"
                  "self.register_buffer('wt', l.weight.detach().t() / 2.0, persistent=False)\n"
                  "self.register_buffer('b', l.bias.detach() / 2.0, persistent=False)\n",
                  "return torch.addmm(self.b, x, self.wt)\n")}},
      {"plain_tensors",
       {"correct", "as_built",
        candidate("l = nn.Linear(64, 64)\nself.wt = [l.weight.detach().t() / 2.0]\n"
                  "self.b = l.bias.detach() / 2.0\n",
                  "return torch.addmm(self.b, x, self.wt[0])\n")}},
      {"on_the_device",
       {"correct", "as_built",
        candidate("l = nn.Linear(64, 64).cuda()\nself.wt = l.weight.detach().t() / 2.0\n"
                  "self.b = l.bias.detach() / 2.0\n",
                  "return torch.addmm(self.b, x, self.wt)\n")}},
      {"folded_by_another_factor",
       {"mismatch", "",
        candidate(kHalvedInit + "with torch.no_grad():\n    self.linear.weight.div_(2.5)\n"
                                "    self.linear.bias.div_(2.0)\n",
                  "return self.linear(x)\n")}},
      {"bias_left_out",
       {"mismatch", "", candidate(kTransposed + "self.wt.data /= 2\n", "return x @ self.wt\n")}},
      {"of_a_seed_of_its_own", {"mismatch", "", candidate(seeded, "return self.linear(x)\n")}},
      {"baked_in",
       {"mismatch", "",
        candidate("global wt, b\nl = nn.Linear(64, 64)\nif wt is None:\n"
                  "    wt, b = l.weight.detach().t() / 2.0, l.bias.detach() / 2.0\n",
                  "return torch.addmm(b.to(x.device), x, wt.to(x.device))\n",
                  "wt = b = None\n\n\n")}},
      {"answer_kept_in_a_buffer",
       {"cheat", "",
        candidate(keeps,
                  "if self.known != x.data_ptr():\n    self.known = x.data_ptr()\n"
                  "    self.kept.copy_(self.linear(x) / 2.0)\nreturn self.kept\n")}},
  };
  return {kHalved, samples};
}

Question three_layers() {
  const std::string layers =
      "self.a = nn.Linear(48, 48, bias=False)\nself.b = nn.Linear(48, 48, bias=False)\n"
      "self.c = nn.Linear(48, 48, bias=False)\n";
  const std::string reversed =
      "self.c = nn.Linear(48, 48, bias=False)\nself.b = nn.Linear(48, 48, bias=False)\n"
      "self.a = nn.Linear(48, 48, bias=False)\n";
  const std::string forward = "return self.c(torch.relu(self.b(torch.relu(self.a(x)))))\n";
  const std::string transposed =
      "a, b, c = (nn.Linear(48, 48, bias=False) for _ in range(3))\n"
      "for name, l in (('u', c), ('v', b), ('w', a)):\n"
      "    setattr(self, name, nn.Parameter(l.weight.detach().t().contiguous()))\n";
  const std::string products = "return torch.relu(torch.relu(x @ self.w) @ self.v) @ self.u\n";
  const Samples samples{
      {"reversed", {"correct", "by_name", candidate(reversed, forward)}},
      {"transposed", {"correct", "as_built", candidate(transposed, products)}},
      {"one_of_them_first",
       {"correct", "by_order",
        candidate("torch.rand(1)\nself.x, self.y, self.z = (nn.Linear(48, 48, bias=False) "
                  "for _ in range(3))\n",
                  "return self.z(torch.relu(self.y(torch.relu(self.x(x)))))\n")}},
      {"exchanged",
       {"mismatch", "",
        candidate(transposed, "return torch.relu(torch.relu(x @ self.v) @ self.w) @ self.u\n")}},
  };
  return {problem(layers, forward, "torch.randn(16, 48)"), samples};
}

Question norm() {
  const std::string layers =
      "self.conv = nn.Conv2d(3, 8, 3)\nself.bn = nn.BatchNorm2d(8)\nself.eval()\n";
  const std::string fold =
      "factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)\n"
      "with torch.no_grad():\n"
      "    self.conv.weight.mul_(factor[:, None, None, None])\n"
      "    self.conv.bias.copy_((self.conv.bias - self.bn.running_mean) * factor "
      "+ self.bn.bias)\n";
  const std::string own =
      "conv, bn = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)\n"
      "factor = bn.weight / torch.sqrt(bn.running_var + bn.eps)\n"
      "self.weight = nn.Parameter((conv.weight * factor[:, None, None, None]).detach())\n"
      "self.bias = nn.Parameter(((conv.bias - bn.running_mean) * factor + bn.bias).detach())\n";
  const Samples samples{
      {"in_place", {"correct", "as_built", candidate(layers + fold, "return self.conv(x)\n")}},
      {"without_the_norm",
       {"correct", "as_built",
        candidate(layers + fold + "self.bn = nn.Identity()\n", "return self.bn(self.conv(x))\n")}},
      {"own_parameters",
       {"correct", "as_built", candidate(own, "return F.conv2d(x, self.weight, self.bias)\n")}},
      {"norm_first",
       {"correct", "by_name",
        candidate("self.other = nn.Conv2d(3, 8, 1)\n" + layers, "return self.bn(self.conv(x))\n")}},
      {"mean_left_out",
       {"mismatch", "",
        candidate(own + "self.bias = nn.Parameter((conv.bias * factor + bn.bias).detach())\n",
                  "return F.conv2d(x, self.weight, self.bias)\n")}},
      {"norm_left_out", {"mismatch", "", candidate(layers, "return self.conv(x)\n")}},
  };
  return {problem(layers, "return self.bn(self.conv(x))\n", "torch.randn(2, 3, 6, 6)"), samples};
}

Question tensors() {
  const std::string init =
      "self.weight = nn.Parameter(torch.Tensor(24, 40))\n"
      "nn.init.normal_(self.weight)\n"
      "self.shift = nn.Parameter(torch.Tensor(24).uniform_() + torch.rand(24))\n";
  return {
      problem(init, "return F.linear(x, self.weight, self.shift)\n", "torch.randn(8, 40)"),
      {{"same",
        {"correct", "as_built", candidate(init, "return F.linear(x, self.weight, self.shift)\n")}},
       {"other_names",
        {"correct", "as_built",
         candidate("self.w = nn.Parameter(torch.Tensor(24, 40).normal_().t().contiguous())\n"
                   "self.b = nn.Parameter(torch.Tensor(24).uniform_() + torch.rand(24))\n",
                   "return x @ self.w + self.b\n")}}}};
}

Question softmax() {
  const std::string forward = "return torch.softmax(self.linear(x).mean(-1, keepdim=True), -1)\n";
  return {problem(kHalvedInit, forward, "torch.randn(32, 64)"),
          {{"same", {"correct", "as_built", candidate(kHalvedInit, forward)}},
           {"other", {"correct", "by_name", candidate(kHalvedInit + kFold, forward)}}}};
}

/// In half precision the answer is also right if `a` and `b` are exchanged, because it hardly
/// depends on their difference. Tiny inputs show the difference.
Question nearly_equal() {
  const std::string a = "self.a = nn.Parameter(torch.rand(1).half() / 5 + 1)\n";
  const std::string b = "self.b = nn.Parameter(torch.rand(1).half() / 5 + 1)\n";
  const std::string forward = "return x * (self.a + self.b) + 0.05 * (self.a - self.b)\n";
  return {problem(a + b, forward, "torch.randn(64, 64).half()"),
          {{"same", {"correct", "as_built", candidate(a + b, forward)}},
           {"reversed", {"correct", "by_name", candidate(b + a, forward)}}}};
}

/// The same for a problem of the common run.
std::map<std::string, Record> judged(const std::string& problem) {
  static const Questions kQuestions{{"1_Halved", halved()},   {"2_ThreeLayers", three_layers()},
                                    {"3_Norm", norm()},       {"4_Tensors", tensors()},
                                    {"5_Softmax", softmax()}, {"6_NearlyEqual", nearly_equal()}};
  static const JudgedRun kRun = run_of(kQuestions);
  return judged(kRun, problem, kQuestions.at(problem).samples);
}

TEST(Weights, OfALayerThatIsFoldedTransposedOrRenamed) {
  const auto records = judged("1_Halved");
  EXPECT_THAT(records.at("same").unplaced, IsEmpty());
  EXPECT_THAT(records.at("same").flags, Not(Contains("weights_by_seed")));
  EXPECT_THAT(records.at("transposed").flags, Not(Contains("weights_by_seed")));
  EXPECT_THAT(records.at("folded").unplaced, ElementsAre("linear.weight", "linear.bias"));
  EXPECT_THAT(records.at("folded").flags, Contains("weights_by_seed"));
  EXPECT_THAT(records.at("draws_first").flags, Not(Contains("weights_by_seed")));
  EXPECT_THAT(records.at("plain_tensors").flags, Contains("host_tensors_moved"));
  EXPECT_THAT(records.at("on_the_device").flags, Not(Contains("host_tensors_moved")));
  EXPECT_THAT(records.at("packed_in_first_call").flags, Not(Contains("nondeterministic_bits")));
}

TEST(Weights, OfSeveralLayersOfOneShape) { judged("2_ThreeLayers"); }

TEST(Weights, OfANormThatIsFoldedIntoAConvolution) {
  const auto records = judged("3_Norm");
  EXPECT_THAT(records.at("own_parameters").unplaced, Contains("bn.running_mean"));
  EXPECT_THAT(records.at("own_parameters").unplaced, Not(Contains("bn.num_batches_tracked")));
}

TEST(Weights, OfTensorsThatKnowNoDefaultDevice) { judged("4_Tensors"); }

TEST(Weights, AreChosenWhereTheAnswerDependsOnThemAlone) { judged("5_Softmax"); }

TEST(Weights, AreThoseWithTheSmallerErrorIfBothWaysAreRight) { judged("6_NearlyEqual"); }

/// Signs as weights: if both are equal in the first trial, an exchange shows in a later one.
TEST(Weights, AreGivenIfALaterTrialShowsThatTheyWereExchanged) {
  const std::string a = "self.a = nn.Parameter((torch.rand(1) > 0.5).float() * 2 - 1)\n";
  const std::string b = "self.b = nn.Parameter((torch.rand(1) > 0.5).float() * 2 - 1)\n";
  const std::string forward = "return x * (self.a + 3 * self.b)\n";
  const Question question{problem(a + b, forward, "torch.randn(64, 64)"),
                          {{"reversed", {"correct", "", candidate(b + a, forward)}},
                           {"other", {"mismatch", "", candidate(b + a, "return x * self.a\n")}}}};
  Questions questions;  // each problem has other signs
  for (int i = 1; i <= 8; ++i) questions[fmt::format("{}_Signs", i)] = question;
  const JudgedRun run = run_of(questions, {"--seed", "1", "--timing", "none"});
  std::size_t as_built = 0;
  for (const auto& [name, one] : questions)
    for (const auto& [sample, record] : judged(run, name, one.samples))
      as_built += record.weights.str() == "as_built" && sample == "reversed" ? 1 : 0;
  EXPECT_LT(as_built, questions.size());
}

/// A model that is right as built is built once in each trial. Otherwise it is built twice in the
/// first trial.
TEST(Weights, AreChosenOnce) {
  const std::string forward = "return self.linear(x) / 2.0\n";
  const auto counting = [&](int most, const std::string& init, const std::string& does) {
    return candidate("global built\nbuilt += 1\nif built > " + std::to_string(most) +
                         ":\n    raise RuntimeError('built %d times' % built)\n" + init,
                     does, "built = 0\n\n\n");
  };
  const Samples samples{
      {"as_built", {"correct", "as_built", counting(2, kHalvedInit, forward)}},
      {"folded",
       {"correct", "as_built", counting(2, kHalvedInit + kFold, "return self.linear(x)\n")}},
      {"given", {"correct", "by_name", counting(3, "torch.rand(1)\n" + kHalvedInit, forward)}},
      {"wrong",
       {"mismatch", "as_built", counting(1, kHalvedInit, "return self.linear(x) / 3.0\n")}}};
  judged(run_of({{"1_Halved", {kHalved, samples}}}, {"--trials", "2"}), "1_Halved", samples);
}

}  // namespace
}  // namespace kbench::test
