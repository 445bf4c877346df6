// SPDX-License-Identifier: MIT
// Honest: sends itself a message over a socket pair of its own (host threads of libraries do), and
// leaves all other descriptors alone.
#include <sys/socket.h>
#include <torch/extension.h>
#include <unistd.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  int ends[2], cols = 0;
  const int sent = x.size(1);
  TORCH_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no socket pair");
  TORCH_CHECK(send(ends[0], &sent, sizeof sent, 0) == sizeof sent, "not sent");
  TORCH_CHECK(recv(ends[1], &cols, sizeof cols, 0) == sizeof cols, "not received");
  close(ends[0]);
  close(ends[1]);
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  return y;
}
