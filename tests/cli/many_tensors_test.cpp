// SPDX-License-Identifier: MIT
// Models with so many tensors that several share an allocation. Candidates get all of them, and
// kbench finds accesses next to a tensor.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

bool on_gpu() { return std::string_view(KBENCH_TEST_DEVICE) == "cuda"; }

/// 400 tensors, of which a call writes 240. One set has more tensors than the 320 descriptors that
/// a candidate's process may have.
std::string normed(const std::string& name) {
  return "import torch\nimport torch.nn as nn\n\n\nclass " + name +
         "(nn.Module):\n"
         "    def __init__(self):\n"
         "        super().__init__()\n"
         "        self.norms = nn.ModuleList([nn.BatchNorm1d(4) for _ in range(80)])\n\n"
         "    def forward(self, x):\n"
         "        for norm in self.norms[:-1]:\n"
         "            x = x + 0.1 * torch.tanh(norm(x))\n"
         "        return self.norms[-1](x)\n\n\n"
         "def get_inputs():\n    return [torch.randn(16, 4)]\n\n\n"
         "def get_init_inputs():\n    return []\n";
}

TEST(ManyTensors, ReachACandidateInFewDescriptors) {
  if (on_gpu() && !have_gpu()) GTEST_SKIP() << "no GPU on this machine";
  const TempFolder folder;
  folder.write("set/level1/1_Normed.py", normed("Model"));
  folder.write("candidates/me/1_Normed/same.py", normed("ModelNew"));
  std::string frozen = normed("ModelNew");
  const std::string call = "return self.norms[-1](x)";
  frozen.replace(frozen.find(call), call.size(),
                 "return self.norms[-1](x) * 1.01  # and so no answer");
  folder.write("candidates/me/1_Normed/wrong.py", frozen);
  const auto records = judge_folder(folder, {}, KBENCH_TEST_DEVICE);
  ASSERT_EQ(records.size(), 2u);
  for (const auto& [id, record] : records) {
    const bool is_same = id.find("same") != std::string::npos;
    EXPECT_EQ(to_string(record.outcome), is_same ? "correct" : "mismatch") << record.message;
    EXPECT_THAT(record.flags, testing::Not(testing::Contains("state_not_updated"))) << id;
  }
}

/// 100 parameters of five elements. `body` reads the 51st, or writes the 51st buffer.
std::string shifts(const std::string& body) {
  return "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n"
         "    def __init__(self):\n"
         "        super().__init__()\n"
         "        for i in range(100):\n"
         "            self.register_parameter(f'p{i}', nn.Parameter(torch.randn(5)))\n"
         "            self.register_buffer(f'b{i}', torch.randn(5))\n\n"
         "    def forward(self, x):\n" +
         body +
         "\n\ndef get_inputs():\n    return [torch.randn(16, 5)]\n\n\n"
         "def get_init_inputs():\n    return []\n";
}

std::string kernel(const std::string& index, const std::string& count) {
  return "//@ dims x[M, N]\n//@ inout b50\n//@ inout b51\n//@ out y like x\n"
         "//@ shift<<<1, 128>>>(x, p50, b50, b51, y, M * N)\n"
         "__global__ void shift(const float* x, const float* p, float* b, float* c, float* y,"
         " int n) {\n"
         "  int i = threadIdx.x;\n"
         "  if (i < n) y[i] = x[i] + p[" +
         index + "];\n  if (i < " + count +
         ") b[i] = b[i % 5] + 1.0f;\n  if (i < 5) c[i] += 2.0f;\n}\n";
}

TEST(ManyTensors, KeepTheirRedZones) {
  if (on_gpu() && !have_gpu()) GTEST_SKIP() << "no GPU on this machine";
  const TempFolder folder;
  folder.write("set/level1/1_Shift.py",
               shifts("        for i in range(100):\n"
                      "            getattr(self, f'b{i}').add_(2 if i == 51 else 1)\n"
                      "        return x + self.p50\n"));
  const std::map<std::string, std::pair<std::string, std::string>> candidates{
      {"right.cu", {"correct", kernel("i % 5", "5")}},
      {"reads_on.cu", {"crash out_of_bounds_read", kernel("i % 6", "5")}},
      {"reads_before.cu", {"crash out_of_bounds_read", kernel("i % 5 - 1", "5")}},
      {"writes_on.cu", {"illegal_write out_of_bounds_write", kernel("i % 5", "6")}}};
  // On a GPU, a read next to a tensor returns the canary: the answer is wrong, but nothing fails.
  for (const auto& [name, candidate] : candidates)
    folder.write("candidates/me/1_Shift/" + name, candidate.second);
  const auto records = judge_folder(folder, {}, KBENCH_TEST_DEVICE);
  EXPECT_EQ(records.size(), candidates.size());
  for (const auto& [id, record] : records) {
    auto expected = candidates.at(std::filesystem::path(id).filename().string()).first;
    if (on_gpu() && expected.starts_with("crash")) expected = "mismatch";
    const std::string cause = expected.find(' ') == std::string::npos ? "" : " " + record.cause;
    EXPECT_EQ(std::string(to_string(record.outcome)) + cause, expected)
        << id << ": " << record.message;
  }
}

}  // namespace
}  // namespace kbench::test
