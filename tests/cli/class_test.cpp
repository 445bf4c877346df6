// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using testing::HasSubstr;

const std::string kProblem = problem_of("x.relu() + 1", "torch.randn(64, 64)");

/// An extension of two kernels: one computes the answer, one adds zero to what it gets; `body` is
/// that of forward.
std::string extension(const std::string& body) {
  return R"(#include <torch/extension.h>
#include <stdexcept>
__global__ void relu_plus_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f) + 1.0f;
}
__global__ void add_zero(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 0.0f;
}
__global__ void write_one(int* one) { *one = 1; }
torch::Tensor forward(torch::Tensor x) {
  const int n = x.numel();
)" + body +
         "  return y;\n}\n";
}

const std::string kLaunch =
    "  auto y = torch::empty_like(x);\n"
    "  relu_plus_one<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);\n";

class Class : public testing::Test {
 protected:
  Class() {
    folder_.write("set/level1/1_Relu.py", kProblem);
    write("own", extension(kLaunch));
    // Nobody computes for it but its kernels, and what it makes of their result ends its process.
    write("needs_them",
          extension("  auto one = torch::zeros({1}, x.options().dtype(torch::kInt));\n"
                    "  write_one<<<1, 1>>>(one.data_ptr<int>());\n"
                    "  if (one.cpu().item<int>() != 1) std::abort();\n" +
                    kLaunch));
    write("ghost", extension("  auto y = x.relu() + 1;\n"
                             "  add_zero<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);\n"));
    write("host", extension("  auto y = torch::empty_like(x);\n"
                            "  const auto from = x.cpu();\n"
                            "  auto to = torch::empty_like(from);\n"
                            "  for (int i = 0; i < n; ++i)\n"
                            "    to.data_ptr<float>()[i] = std::max(from.data_ptr<float>()[i], 0.f)"
                            " + 1;\n"
                            "  y.copy_(to);\n"
                            "  add_zero<<<(n + 255) / 256, 256>>>(y.data_ptr<float>(), n);\n"));
  }

  void write(const std::string& name, const std::string& text) const {
    folder_.write("candidates/me/1_Relu/" + name + ".cu", text);
  }

  std::map<std::string, Record> judged(const std::vector<std::string>& options = {}) const {
    std::map<std::string, Record> records;
    for (const auto& [id, record] : judge_folder(folder_, options))
      records.emplace(std::filesystem::path(id).stem().string(), record);
    return records;
  }

  TempFolder folder_;
};

TEST_F(Class, KernelsThatChangeNothingMakeNothingOwn) {
  const std::map<std::string, std::string> classes{
      {"own", "own"}, {"needs_them", "own"}, {"ghost", "library"}, {"host", "library"}};
  for (const auto& options : {std::vector<std::string>{}, {"--trials", "1", "--no-families"}}) {
    for (const auto& [name, record] : judged(options)) {
      SCOPED_TRACE(name + ": " + record.message);
      EXPECT_EQ(to_string(record.outcome), "correct");
      EXPECT_EQ(record.kernel_class, classes.at(name));
      const bool is_ghost = classes.at(name) == "library";
      EXPECT_EQ(std::ranges::count(record.flags, "ghost_kernels"), is_ghost ? 1 : 0);
      EXPECT_EQ(std::ranges::count(record.flags, "ghost_unchecked"), name == "needs_them" ? 1 : 0);
    }
  }
}

TEST_F(Class, WhoHasToComputeHimselfIsHeldToIt) {
  for (const auto& [name, record] : judged({"--require", "own-kernels"})) {
    SCOPED_TRACE(name + ": " + record.message);
    EXPECT_EQ(to_string(record.outcome),
              name == "own" || name == "needs_them" ? "correct" : "rejected");
    if (name == "host") {
      EXPECT_EQ(record.cause, "not_own_kernels");
      EXPECT_THAT(record.message, HasSubstr("without its own kernels"));
      EXPECT_FALSE(record.timing.has_value());
    }
  }
}

}  // namespace
}  // namespace kbench::test
