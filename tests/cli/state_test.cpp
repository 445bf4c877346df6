// SPDX-License-Identifier: MIT
// State after a call. Other values than the reference's, as in running statistics, raise a flag.
// Candidates may write inputs that the reference writes.
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

/// A module with the reference's layer under another name, and this forward.
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

TEST(Inputs, MayBeWrittenWhereTheReferenceWritesThem) {
  const std::string module = "\n\nclass %s(nn.Module):\n    def forward(self, x, y):\n";
  const auto named = [&](const char* name, const std::string& forward) {
    std::string text = kImports + module + forward;
    return text.replace(text.find("%s"), 2, name);
  };
  const TempFolder folder;
  folder.write("set/level1/1_AddOnce.py",
               named("Model", "        x.add_(1)\n        return x * y\n") +
                   "\n\ndef get_inputs():\n"
                   "    return [torch.randn(64, 16), torch.randn(64, 16)]\n"
                   "\n\ndef get_init_inputs():\n    return []\n");
  const std::map<std::string, std::pair<std::string, std::string>> candidates{
      {"as_it_does.py", {"", named("ModelNew", "        x.add_(1)\n        return x * y\n")}},
      {"without.py", {"", named("ModelNew", "        return x * y + y\n")}},
      {"too_much.py", {"mismatch", named("ModelNew", "        x.add_(2)\n        return x * y\n")}},
      {"not_that_one.py",
       {"illegal_write",
        named("ModelNew", "        z = x * y + y\n        y.add_(1)\n        return z\n")}},
      {"kernel.cu",
       {"",
        "#include <torch/extension.h>\n"
        "__global__ void add_one(float* x, int n) {\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) x[i] += 1.0f;\n"
        "}\n"
        "torch::Tensor forward(torch::Tensor x, torch::Tensor y) {\n"
        "  add_one<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), x.numel());\n"
        "  return x * y;\n"
        "}\n"}}};
  for (const auto& [name, candidate] : candidates)
    folder.write("candidates/me/1_AddOnce/" + name, candidate.second);
  const auto records = judge_folder(folder);
  EXPECT_EQ(records.size(), candidates.size());
  for (const auto& [id, record] : records) {
    const std::string& expected =
        candidates.at(std::filesystem::path(id).filename().string()).first;
    EXPECT_EQ(to_string(record.outcome), expected.empty() ? "correct" : expected)
        << id << ": " << record.message;
  }
}

/// Memory has fewer input sets than there are trials, so later trials use the memory of earlier
/// ones.
TEST(Trials, ThatFollowInTheSameMemoryAreAskedAnew) {
  const std::string model = std::string(kImports) + R"(

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(16))

    def forward(self, x, y):
        y.add_(1)
        return x * self.scale + y
)";
  const auto module_that = [&](const std::string& does) {
    return "KEPT = {}\n" + model + "\n\nclass ModelNew(Model):\n    def forward(self, x, y):\n" +
           does;
  };
  const std::string kernel =
      "__global__ void scaled(const float* x, const float* s, float* y, float* z, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) z[i] = x[i] * s[i % 16] + (y[i] += 1.0f);\n"
      "}\n";
  // An extension that packs the weights again if a condition holds.
  const auto packing = [&](const std::string& is_other) {
    return "#include <torch/extension.h>\n" + kernel +
           "static torch::Tensor packed;\n"
           "static void* packed_of = nullptr;\n"
           "static long version = -1;\n"
           "torch::Tensor forward(torch::Tensor x, torch::Tensor y, torch::Tensor scale) {\n"
           "  if (" +
           is_other +
           ") packed = scale.clone();\n"
           "  packed_of = scale.data_ptr();\n"
           "  version = scale._version();\n"
           "  auto z = torch::empty_like(x);\n"
           "  scaled<<<4, 256>>>(x.data_ptr<float>(), packed.data_ptr<float>(),\n"
           "                     y.data_ptr<float>(), z.data_ptr<float>(), 1024);\n"
           "  return z;\n"
           "}\n";
  };
  const TempFolder folder;
  folder.write("set/level1/1_Scaled.py",
               model +
                   "\n\ndef get_inputs():\n"
                   "    return [torch.randn(64, 16), torch.randn(64, 16)]\n"
                   "\n\ndef get_init_inputs():\n    return []\n");
  const std::map<std::string, std::pair<std::string, std::string>> candidates{
      {"plain.py", {"correct", module_that("        return super().forward(x, y)\n")}},
      // Other inputs come to the same address. The kept answer belongs to the earlier inputs.
      {"kept.py",
       {"cheat", module_that("        z = super().forward(x, y)\n"
                             "        return KEPT.setdefault(x.data_ptr(), z.clone())\n")}},
      {"kernel.cu",
       {"correct",
        "//@ dims x[M, N]\n//@ inout y\n//@ out z like x\n"
        "//@ scaled<<<cdiv(M * N, 256), 256>>>(x, scale, y, z, M * N)\n" +
            kernel}},
      // Weights that change in place keep their address and get another version.
      {"packed.cu", {"mismatch", packing("scale.data_ptr() != packed_of")}},
      {"packed_by_version.cu",
       {"correct", packing("scale.data_ptr() != packed_of || scale._version() != version")}}};
  for (const auto& [name, candidate] : candidates)
    folder.write("candidates/me/1_Scaled/" + name, candidate.second);
  const auto records = judge_folder(folder, {"--trials", "20"});
  EXPECT_EQ(records.size(), candidates.size());
  for (const auto& [id, record] : records)
    EXPECT_EQ(to_string(record.outcome),
              candidates.at(std::filesystem::path(id).filename().string()).first)
        << id << ": " << record.message;
}

}  // namespace
}  // namespace kbench::test
