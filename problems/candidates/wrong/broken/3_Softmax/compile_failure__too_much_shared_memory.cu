// SPDX-License-Identifier: MIT
// Wrong: requests eight times the shared memory that a block can have.
//@ dims scores[R, C]
//@ out y like scores
//@ softmax<<<R, 256, 8 * device.smem>>>(scores, y, C)

__global__ void softmax(const float* scores, float* y, int cols) {
  extern __shared__ float exponentials[];
  __shared__ float sum;
  const float* row = scores + (size_t)blockIdx.x * cols;
  if (threadIdx.x == 0) sum = 0.0f;
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    exponentials[c] = expf(row[c]);
    atomicAdd(&sum, exponentials[c]);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    y[(size_t)blockIdx.x * cols + c] = exponentials[c] / sum;
  }
}
