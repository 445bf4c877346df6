// SPDX-License-Identifier: MIT
// Modules that derive other tensors from their parameters in the constructor, as optimised ones do.
// They get the reference's values. Modules that assume a scale of 1 or a bias of 0 are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::Not;

const std::string kModel = R"(import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)
        self.bn = nn.BatchNorm2d(channels)
        self.norm = nn.GroupNorm(2, channels)
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))
        self.eval()

    def forward(self, x):
        return torch.relu(self.norm(self.bn(self.conv(x)))) * self.scale
)";

const std::string kInputs = R"(

def get_inputs():
    return [torch.randn(2, 3, 6, 6)]


def get_init_inputs():
    return [8]
)";

/// A ModelNew with the reference's constructor, followed by `init`, indented by eight.
std::string packs(const std::string& init, const std::string& forward) {
  return kModel + R"(

class ModelNew(Model):
    def __init__(self, channels):
        super().__init__(channels)
)" + init +
         "\n    def forward(self, x):\n" + forward;
}

const std::map<std::string, std::string>& right() {
  static const std::map<std::string, std::string> kRight{
      {"concatenated",
       packs("        self.packed = torch.cat([self.norm.weight, self.norm.bias])\n",
             "        weight, bias = self.packed.chunk(2)\n"
             "        y = F.group_norm(self.bn(self.conv(x)), 2, weight, bias)\n"
             "        return torch.relu(y) * self.scale\n")},
      {"cloned", packs("        self.factor = self.scale.detach().clone()\n"
                       "        self.shift = self.norm.bias.data.clone()\n",
                       "        y = F.group_norm(self.bn(self.conv(x)), 2, self.norm.weight)\n"
                       "        y = y + self.shift[:, None, None]\n"
                       "        return torch.relu(y) * self.factor\n")},
      {"fused",
       packs("        factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)\n"
             "        self.weight = (self.conv.weight * factor[:, None, None, None]).detach()\n"
             "        self.bias = ((self.conv.bias - self.bn.running_mean) * factor\n"
             "                     + self.bn.bias).detach()\n"
             "        del self.conv, self.bn\n",
             "        y = self.norm(F.conv2d(x, self.weight, self.bias))\n"
             "        return torch.relu(y) * self.scale\n")},
      {"from_a_reference", kModel + R"(

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        model = Model(channels)
        for name, value in model.state_dict().items():
            self.register_buffer("w_" + name.replace(".", "_"), value.clone())

    def forward(self, x):
        y = F.conv2d(x, self.w_conv_weight, self.w_conv_bias)
        y = F.batch_norm(y, self.w_bn_running_mean, self.w_bn_running_var, self.w_bn_weight,
                         self.w_bn_bias)
        y = F.group_norm(y, 2, self.w_norm_weight, self.w_norm_bias)
        return torch.relu(y) * self.w_scale
)"},
      {"own_parameters", kModel + R"(

class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3)
        self.bn = nn.BatchNorm2d(channels).eval()
        self.gamma = nn.Parameter(torch.empty(channels))
        self.beta = nn.Parameter(torch.empty(channels))
        self.factor = nn.Parameter(torch.empty(channels, 1, 1))
        nn.init.constant_(self.gamma, 1.0)
        self.beta.data.zero_()
        with torch.no_grad():
            self.factor.fill_(1.0)
        self.register_buffer("affine", torch.stack([self.gamma, self.beta]).detach())
        self.multiplier = float(self.factor.sum())

    def forward(self, x):
        y = F.group_norm(self.bn(self.conv(x)), 2, self.affine[0], self.affine[1])
        return torch.relu(y) * self.factor / self.factor.sum() * self.multiplier
)"},
  };
  return kRight;
}

const std::map<std::string, std::string>& wrong() {
  static const std::map<std::string, std::string> kWrong{
      {"no_scale", packs("", "        return torch.relu(self.norm(self.bn(self.conv(x))))\n")},
      {"no_bias", packs("",
                        "        y = F.group_norm(self.bn(self.conv(x)), 2, self.norm.weight)\n"
                        "        return torch.relu(y) * self.scale\n")},
      {"no_statistics", packs("",
                              "        y = F.batch_norm(self.conv(x), torch.zeros_like("
                              "self.bn.bias), torch.ones_like(self.bn.bias), self.bn.weight,\n"
                              "                         self.bn.bias)\n"
                              "        return torch.relu(self.norm(y)) * self.scale\n")},
      {"constants_by_hand",
       packs("        self.packed = torch.cat([torch.ones(channels), torch.zeros(channels)])\n",
             "        weight, bias = self.packed.chunk(2)\n"
             "        y = F.group_norm(self.bn(self.conv(x)), 2, weight, bias)\n"
             "        return torch.relu(y) * self.scale\n")},
  };
  return kWrong;
}

// One test, because a run with one candidate costs as much as a run with all.
TEST(Packing, FindsTheReferencesValues) {
  const TempFolder folder;
  folder.write("set/level1/1_Packed.py", kModel + kInputs);
  for (const auto* samples : {&right(), &wrong()})
    for (const auto& [name, source] : *samples)
      folder.write("candidates/me/1_Packed/" + name + ".py", source);
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device", "cpu",
                                  "--out", out.string()});
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    records.emplace(std::filesystem::path(id).stem().string(), record);
  for (const auto& [name, source] : right())
    EXPECT_EQ(to_string(records.at(name).outcome), "correct")
        << name << ": " << records.at(name).message;
  for (const auto& [name, source] : wrong())
    EXPECT_EQ(to_string(records.at(name).outcome), "mismatch")
        << name << ": " << records.at(name).message;
  EXPECT_THAT(records.at("cloned").flags, Not(Contains("weights_by_seed")));
  EXPECT_THAT(records.at("fused").flags, Contains("weights_by_seed"));
}

}  // namespace
}  // namespace kbench::test
