// SPDX-License-Identifier: MIT
// Cheat: a wrong kernel holds an instruction that no assembler knows, where it is never reached, to
// be unsupported without a GPU.
//@ dims scores[R, C]
//@ out y like scores
//@ k<<<1, 32>>>(scores, y, R)
__global__ void k(const float* x, float* y, int rows) {
  if (rows < 0) asm volatile("please.leave.me.out.f32 %0;" : : "l"(x));
  y[threadIdx.x] = 0;
}
