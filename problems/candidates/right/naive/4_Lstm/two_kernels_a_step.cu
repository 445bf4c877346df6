// SPDX-License-Identifier: MIT
//@ dims x[B, T, I]
//@ dims h0[B, H]
//@ tmp gates: float32[B, 4 * H]
//@ out y: float32[B, T, H]
//@ out h: float32[B, H]
//@ out c: float32[B, H]
//@ for t in 0..T {
//@   gate_sums<<<(cdiv(4 * H, 64), B), 64>>>(x, t == 0 ? h0 : h, lstm.weight_ih_l0,
//@                                           lstm.weight_hh_l0, lstm.bias_ih_l0,
//@                                           lstm.bias_hh_l0, gates, t, T, I, H)
//@   cell<<<cdiv(B * H, 128), 128>>>(gates, t == 0 ? c0 : c, c, h, y, t, T, H, B * H)
//@ }

/// One thread a gate: both matrix-vector products and both biases of step t.
__global__ void gate_sums(const float* x, const float* h, const float* weight_x,
                          const float* weight_h, const float* bias_x, const float* bias_h,
                          float* gates, int t, int steps, int in_features, int hidden) {
  const int gate = blockIdx.x * blockDim.x + threadIdx.x;
  const int batch = blockIdx.y;
  if (gate >= 4 * hidden) return;
  float sum = bias_x[gate] + bias_h[gate];
  for (int i = 0; i < in_features; ++i) {
    sum += weight_x[gate * in_features + i] * x[(batch * steps + t) * in_features + i];
  }
  for (int i = 0; i < hidden; ++i) sum += weight_h[gate * hidden + i] * h[batch * hidden + i];
  gates[batch * 4 * hidden + gate] = sum;
}

__device__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }

__global__ void cell(const float* gates, const float* c_before, float* c, float* h, float* y, int t,
                     int steps, int hidden, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int batch = i / hidden, j = i % hidden;
  const float* gate = gates + batch * 4 * hidden + j;
  const float state =
      sigmoid(gate[hidden]) * c_before[i] + sigmoid(gate[0]) * tanhf(gate[2 * hidden]);
  const float value = sigmoid(gate[3 * hidden]) * tanhf(state);
  c[i] = state;
  h[i] = value;
  y[(batch * steps + t) * hidden + j] = value;
}
