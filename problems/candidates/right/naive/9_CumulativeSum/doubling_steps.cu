// SPDX-License-Identifier: MIT
// A launch for each power of two adds what stands that far to the left; two buffers take turns.
//@ dims x[R, C]
//@ tmp even: float32[R, C]
//@ tmp odd: float32[R, C]
//@ out y like x
//@ for step in 0..30 {
//@   if (pow(2, step) < C || step == 0) {
//@     add_left<<<(cdiv(C, 256), R), 256>>>(step == 0 ? x : (step % 2 == 0 ? odd : even),
//@         pow(2, step + 1) >= C ? y : (step % 2 == 0 ? even : odd), step, C)
//@   }
//@ }

__global__ void add_left(const float* from, float* to, int step, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  size_t at = (size_t)blockIdx.y * cols + c;
  int distance = 1 << step;
  to[at] = c >= distance ? from[at] + from[at - distance] : from[at];
}
