// SPDX-License-Identifier: MIT
// What a call leaves in a model's state, as running statistics: other than the reference's, a flag.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

constexpr const char* kImports =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n";
constexpr const char* kProblem = R"(

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(64, 16)]


def get_init_inputs():
    return []
)";

/// A module whose layer has another name, and which calls it so.
std::string module_that(const std::string& forward) {
  return std::string(kImports) +
         "\n\nclass ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.bn = nn.BatchNorm1d(16)\n\n    def forward(self, x):\n        bn = "
         "self.bn\n" +
         forward;
}

TEST(State, AFlagTellsWhoDoesNotChangeItAsTheReferenceDoes) {
  const TempFolder folder;
  folder.write("set/level1/1_Norm.py", std::string(kImports) + kProblem);
  const std::string normed =
      "        return F.batch_norm(x, None, None, bn.weight, bn.bias, training=True)\n";
  const std::map<std::string, std::pair<std::string, std::string>> candidates{
      {"by_the_layer", {"", "        return bn(x)\n"}},
      {"in_steps",
       {"",
        "        bn.running_mean.lerp_(x.mean(0), 0.1)\n"
        "        bn.running_var.lerp_(x.var(0), 0.1)\n" +
            normed}},
      {"left_alone", {"state_not_updated", normed}},
      {"made_up", {"state_not_updated", "        bn.running_mean.add_(0.01)\n" + normed}},
      {"biased_variance",
       {"state_not_updated",
        "        bn.running_mean.lerp_(x.mean(0), 0.1)\n"
        "        bn.running_var.lerp_(x.var(0, correction=0), 0.1)\n" +
            normed}}};
  for (const auto& [name, candidate] : candidates)
    folder.write("candidates/me/1_Norm/" + name + ".py", module_that(candidate.second));
  const auto records = judge_folder(folder);
  EXPECT_EQ(records.size(), candidates.size());
  for (const auto& [id, record] : records) {
    const auto name = std::filesystem::path(id).stem().string();
    EXPECT_EQ(to_string(record.outcome), "correct") << name << ": " << record.message;
    EXPECT_EQ(fmt::format("{}", fmt::join(record.flags, " ")), candidates.at(name).first) << name;
  }
}

}  // namespace
}  // namespace kbench::test
