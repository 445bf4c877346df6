// SPDX-License-Identifier: MIT
// Returned constants on a real GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/gpu_fixture.hpp"
#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

/// 256 MB of output, more than any L2 holds.
constexpr const char* kLarge = "torch.randn(8192, 8192)";
constexpr const char* kConstant =
    "import torch\n\nclass ModelNew(torch.nn.Module):\n    kept = None\n\n"
    "    def forward(self, x):\n        if self.kept is None:\n"
    "            self.kept = torch.zeros_like(x)\n        return self.kept\n";
constexpr const char* kConstantOfCpp =
    "#include <torch/extension.h>\ntorch::Tensor forward(torch::Tensor x) {\n"
    "  static torch::Tensor kept = torch::zeros_like(x);\n  return kept;\n}\n";
constexpr const char* kFill =
    "//@ dims x[N, D]\n//@ out y like x\n//@ fill<<<cdiv(N * D, 256), 256>>>(y, N * D)\n"
    "__global__ void fill(float* y, long long n) {\n"
    "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n  if (i < n) y[i] = 0.0f;\n}\n";
/// Honest: returns a buffer of its own after it has written all of it.
constexpr const char* kWrites =
    "import torch\n\nclass ModelNew(torch.nn.Module):\n    kept = None\n\n"
    "    def forward(self, x):\n        if self.kept is None:\n"
    "            self.kept = torch.empty_like(x)\n"
    "        return torch.clamp(x, min=0.0, out=self.kept)\n";

class GpuDegenerate : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    std::filesystem::remove_all(folder_.path() / "set");
    std::filesystem::remove_all(folder_.path() / "candidates");
  }
  void add(const std::string& problem, const std::string& source) const {
    folder_.write("set/level1/" + problem + ".py", source);
  }
  void add(const std::string& problem, const std::string& name, const std::string& source) const {
    folder_.write("candidates/me/" + problem + "/" + name, source);
  }
  std::map<std::string, Record> judged() const {
    const auto result = run_kbench(arguments({}));
    EXPECT_EQ(result.status.code, 0) << result.error;
    std::map<std::string, Record> records;
    for (const auto& [id, record] : records_by_candidate(out()))
      records.emplace(std::filesystem::path(id).filename().string(), record);
    return records;
  }
};

TEST_F(GpuDegenerate, AConstantIsSeenOnEveryPath) {
  add("1_BelowAndAbove", problem_of("x.clamp(max=0.0).clamp(0.0, 1.0)", kLarge));
  add("1_BelowAndAbove", "0.py", kConstant);
  add("1_BelowAndAbove", "1.cu", kConstantOfCpp);
  add("1_BelowAndAbove", "2.cu", kFill);
  for (const auto& [name, record] : judged()) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_THAT(record.degenerate_problem, Optional(Contains("zeros")));
    if (name == "2.cu") {  // this module writes its output
      EXPECT_EQ(record.outcome, Outcome::kCorrect);
      EXPECT_THAT(record.flags, Not(Contains("faster_than_memory")));
    } else if (record.outcome == Outcome::kCheat) {
      EXPECT_EQ(record.cause, "faster_than_memory");
    } else {
      // Its time includes a copy of the constant (reuses_output).
      EXPECT_EQ(record.outcome, Outcome::kCorrect);
      EXPECT_EQ(record.kernel_class, "none");
      EXPECT_THAT(record.flags, Contains("no_kernels"));
    }
  }
  const auto report = run_kbench({"report", out().string()});
  EXPECT_THAT(report.output, HasSubstr("degenerate problem"));
}

TEST_F(GpuDegenerate, HonestOnesAreNotFlagged) {
  add("1_Relu", problem_of("x.clamp(min=0.0)", kLarge));
  add("1_Relu", "writes.py", kWrites);
  // The output fits into L2.
  add("2_Small", problem_of("x.clamp(min=0.0)", "torch.randn(64, 64)"));
  add("2_Small", "small.py", kWrites);
  // The reference writes nothing.
  add("3_View", problem_of("x.view(-1)", kLarge));
  add("3_View", "view.py",
      "import torch\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
      "        return x.view(-1)\n");
  for (const auto& [name, record] : judged()) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(record.outcome, Outcome::kCorrect);
    EXPECT_THAT(record.flags, Not(Contains("faster_than_memory")));
    EXPECT_THAT(record.flags, Not(Contains("baseline_faster_than_memory")));
    EXPECT_THAT(record.flags, Not(Contains("no_kernels")));
    if (name != "view.py") {
      EXPECT_THAT(record.degenerate_problem, Optional(IsEmpty()));
    }
  }
}

TEST_F(GpuDegenerate, AConstantOfOneElementEarnsNoSpeedup) {
  add("1_SoftmaxOfOne", problem_of("torch.softmax(x, 1)", "torch.randn(4096, 1)"));
  add("1_SoftmaxOfOne", "ones.py",
      "import torch\n\nclass ModelNew(torch.nn.Module):\n    kept = None\n\n"
      "    def forward(self, x):\n        if self.kept is None:\n"
      "            self.kept = torch.ones_like(x)\n        return self.kept\n");
  const auto records = judged();
  EXPECT_EQ(records.at("ones.py").outcome, Outcome::kCorrect) << records.at("ones.py").message;
  EXPECT_EQ(records.at("ones.py").kernel_class, "none");
  EXPECT_THAT(records.at("ones.py").flags, Contains("no_kernels"));
  const auto gate = [&](const std::string& metric) {
    return run_kbench({"report", out().string(), "--include-degenerate", "--fail-under", metric})
        .status.code;
  };
  EXPECT_EQ(gate("fast_0=1"), 0);
  EXPECT_EQ(gate("fast_0.5=0.5"), 3);
}

}  // namespace
}  // namespace kbench::test
