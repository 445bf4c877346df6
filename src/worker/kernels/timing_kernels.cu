// SPDX-License-Identifier: MIT
// Kernels that run before or after timed calls. Called by src/worker/timing/device_cuda_timing.cpp.
//
// kbench_flush_l2 makes the L2 cold by reading so much memory that no other data stays there. A
// memset of that size would leave lines to write back during the call, which takes 4 to 10 µs on an
// H200.
//
// kbench_encrypt encrypts the inputs of later calls; a second run decrypts them. It adds random bits
// of Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), computed
// from the offset in the buffer under the secret `key` and `nonce`. Code that knows some of the
// inputs cannot compute the others.
//
// kbench_watch detects that another context uses the device. It reads the clock for `span_ns` and
// writes the duration to `seen[0]` and the missed time to `seen[1]`, in microseconds. A gap of at least
// `least_ns` in the clock is missed time, because another context ran. If the kernel read the same
// time kFewLooks times or more in the gap, it does not count: then the clock just ticks rarely. It
// sets `seen[2]` when it begins, and ends early if the host sets `seen[3]`. It writes `seen[0]`
// last.

extern "C" __global__ void kbench_encrypt(uint4* data, unsigned long long count,
                                       unsigned long long key, unsigned long long nonce) {
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    uint4 c = make_uint4((unsigned)i, (unsigned)(i >> 32), (unsigned)nonce, (unsigned)(nonce >> 32));
    unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const unsigned high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
      const unsigned high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
      c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    uint4 v = data[i];
    v.x ^= c.x;
    v.y ^= c.y;
    v.z ^= c.z;
    v.w ^= c.w;
    data[i] = v;
  }
}

extern "C" __global__ void kbench_flush_l2(uint4* from, unsigned long long count) {
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  unsigned seen = 0;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = from[i];
    seen |= v.x | v.y | v.z | v.w;
  }
  // The buffer is all zeros, so nothing is written, but the compiler cannot know that and keeps the
  // reads.
  if (seen != 0) from->x = 0;
}

extern "C" __global__ void kbench_empty() {}

extern "C" __global__ void kbench_watch(volatile unsigned* seen, unsigned long long span_ns,
                                        unsigned long long least_ns) {
  constexpr unsigned kFewLooks = 1000, kLooksPerStop = 64;
  unsigned long long start, last, now, missed = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  seen[2] = 1;
  __threadfence_system();
  unsigned looks = 0, all = 0;
  for (last = now = start; now - start < span_ns;) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    ++looks;
    // Reading host memory takes a hundred times as long as reading the clock.
    if (++all % kLooksPerStop == 0 && seen[3] != 0) break;
    if (now == last) continue;
    if (now - last >= least_ns && looks < kFewLooks) missed += now - last;
    last = now;
    looks = 0;
  }
  seen[1] = (unsigned)(missed / 1000);
  __threadfence_system();
  seen[0] = 1 + (unsigned)((now - start) / 1000);
}
