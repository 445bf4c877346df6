// SPDX-License-Identifier: MIT
// Any of several equal elements may be chosen, and a different one in each call.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

const std::string kProblem = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        values, places = x.topk(3, dim=1)
        return values, places, x.argmin(1)


def get_inputs():
    return [torch.randn(40, 50).round()]


def get_init_inputs():
    return []
)";

std::string answers(const std::string& forward) {
  return "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"
         "    def forward(self, x):\n" +
         forward;
}

TEST(Ties, AreAcceptedWhereTheValuesAgree) {
  const TempFolder folder;
  folder.write("set/level1/1_Top.py", kProblem);
  const std::map<std::string, std::pair<std::string, std::string>> candidates{
      {"same", {"correct", "        return (*x.topk(3, dim=1), x.argmin(1))\n"}},
      {"last_ones",
       {"correct",
        "        values, places = x.flip(1).topk(3, dim=1)\n"
        "        return values, 49 - places, 49 - x.flip(1).argmin(1)\n"}},
      {"another_each_time",
       {"correct",
        "        order = torch.randperm(50, device=x.device)\n"
        "        values, places = x[:, order].topk(3, dim=1)\n"
        "        return values, order[places], order[x[:, order].argmin(1)]\n"}},
      {"one_place_for_all",
       {"mismatch",
        "        values, places = x.topk(3, dim=1)\n"
        "        return values, places[:, :1].repeat(1, 3), x.argmin(1)\n"}},
      {"wrong_in_one_row",
       {"mismatch",
        "        least = x.argmin(1)\n"
        "        least[7] = x[7].argmax()\n"
        "        return (*x.topk(3, dim=1), least)\n"}},
      {"past_the_end", {"mismatch", "        return (*x.topk(3, dim=1), x.argmin(1) + 50)\n"}}};
  for (const auto& [name, candidate] : candidates)
    folder.write("candidates/me/1_Top/" + name + ".py", answers(candidate.second));
  const auto records = judge_folder(folder);
  ASSERT_EQ(records.size(), candidates.size());
  for (const auto& [id, record] : records) {
    const auto name = std::filesystem::path(id).stem().string();
    EXPECT_EQ(to_string(record.outcome), candidates.at(name).first)
        << name << ": " << record.message;
    if (record.outcome != Outcome::kCorrect) continue;
    const auto& flags = record.flags;
    EXPECT_EQ(std::ranges::count(flags, "other_ties"), name == "same" ? 0 : 1) << name;
  }
}

}  // namespace
}  // namespace kbench::test
