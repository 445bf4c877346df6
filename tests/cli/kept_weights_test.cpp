// SPDX-License-Identifier: MIT
// Kernels and extensions that keep weights from call to call, and others that follow each change.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

const std::string kProblem = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(48, 40))
        self.register_buffer("mask", torch.arange(40.0) % 2)

    def forward(self, x):
        return x @ self.weight * self.mask


def get_inputs():
    return [torch.randn(32, 48)]


def get_init_inputs():
    return []
)";

/// A kernel candidate. `pack` decides if a call copies the weights.
std::string kernel(const std::string& pack) {
  return R"(//@ dims x[M, K]
//@ let N = numel(mask)
//@ out y: float32[M, N]
//@ pack<<<1, 64>>>(weight, N * K)
//@ multiply<<<cdiv(M * N, 64), 64>>>(x, mask, y, M, N, K)
__device__ float packed[48 * 40];
__device__ const float* from;
__device__ float sample;
__global__ void pack(const float* weight, int count) {
)" + pack +
         R"(
  for (int i = threadIdx.x; i < count; i += 64) packed[i] = weight[i];
  __syncthreads();
  from = weight;
  sample = weight[7];
}
__global__ void multiply(const float* x, const float* mask, float* y, int m, int n, int k) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum += x[i / n * k + j] * packed[j * n + i % n];
  y[i] = sum * mask[i % n];
}
)";
}

/// An extension. `pack` sets `packed`, which persists.
std::string extension(const std::string& pack) {
  return R"(#include <torch/extension.h>
__global__ void multiply(const float* x, const float* packed, const float* mask, float* y, int m,
                         int n, int k) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum += x[i / n * k + j] * packed[j * n + i % n];
  y[i] = sum * mask[i % n];
}
torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor mask) {
  static auto& packed = *new torch::Tensor();
  static const void* address = nullptr;
  static int64_t version = -1;
  static float sample = 0;
  const float now = weight[0][7].item<float>();
)" + pack +
         R"(
  version = weight._version();
  address = weight.data_ptr();
  sample = now;
  const int m = x.size(0), k = x.size(1), n = weight.size(1);
  auto y = torch::empty({m, n}, x.options());
  multiply<<<(m * n + 63) / 64, 64>>>(x.data_ptr<float>(), packed.data_ptr<float>(),
                                      mask.data_ptr<float>(), y.data_ptr<float>(), m, n, k);
  return y;
}
)";
}

TEST(KeptWeights, AreNotThoseOfTheCall) {
  const TempFolder folder;
  folder.write("set/level1/1_Masked.py", kProblem);
  const auto write = [&](const std::string& name, const std::string& text) {
    folder.write("candidates/me/1_Masked/" + name + ".cu", text);
  };
  write("kernel_keeps", kernel("  if (from == weight && sample == weight[7]) return;"));
  write("kernel_packs", kernel(""));
  write("extension_keeps", extension("  if (address != weight.data_ptr() || sample != now)\n"
                                     "    packed = weight.clone();\n"));
  write("extension_packs", extension("  packed = weight.clone();\n"));
  write("extension_follows",
        extension("  if (address != weight.data_ptr() || version != weight._version())\n"
                  "    packed = weight.clone();\n"));
  const auto records = judge_folder(folder);
  EXPECT_EQ(records.size(), 5u);
  for (const auto& [id, record] : records) {
    SCOPED_TRACE(id + ": " + record.message);
    if (id.find("keeps") == std::string::npos) {
      EXPECT_EQ(to_string(record.outcome), "correct");
    } else if (record.outcome == Outcome::kCorrect) {
      // The changed elements were in its sample each time.
      ADD_FAILURE() << "it is to be found in at least one of several calls";
    } else {
      EXPECT_EQ(to_string(record.outcome), "mismatch");
    }
  }
}

}  // namespace
}  // namespace kbench::test
