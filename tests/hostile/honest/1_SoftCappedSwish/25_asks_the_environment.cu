// SPDX-License-Identifier: MIT
// Reads the environment and writes a small file in a temporary folder of its own, which it removes.
#include <torch/extension.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

__global__ void swish(const float* x, float* y, float alpha, float cap, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}

static int threads() {
  const char* value = std::getenv("SWISH_THREADS");  // to try other sizes by hand
  return value ? std::atoi(value) : 256;
}

static void note(const std::string& text) {
  const char* const folder = std::getenv("TMPDIR");
  std::string name = std::string(folder ? folder : "/tmp") + "/swish-XXXXXX";
  if (!mkdtemp(name.data())) return;
  std::ofstream(name + "/note.txt") << text;
  unlink((name + "/note.txt").c_str());
  rmdir(name.c_str());
}

torch::Tensor forward(torch::Tensor x, double alpha) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  static const bool noted = (note("first call"), true);
  TORCH_CHECK(noted && threads() == 256);
  swish<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), alpha, 2.5f, n);
  return y;
}
