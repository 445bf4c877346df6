// SPDX-License-Identifier: MIT
#include "worker/device/kernel_trace.hpp"

#include <gtest/gtest.h>

namespace kbench::worker {
namespace {

TEST(KernelTrace, NamesTellLibraries) {
  for (const char* name :
       {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_cublas",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT",
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_",
        "_ZN5cudnn3cnn17conv2d_grouped_directE", "triton_poi_fused_add_0"})
    EXPECT_TRUE(is_library_kernel(name)) << name;
  for (const char* name :
       {"_Z7softmaxPKfPfi", "swish", "_softmax_looped", "_Z4gemmPKfS0_Pfiii", "triton_kernel", ""})
    EXPECT_FALSE(is_library_kernel(name)) << name;
}

TEST(KernelTrace, WhatFlushesTheL2IsNobodysWork) {
  EXPECT_TRUE(is_library_kernel("kbench_flush_l2"));
  EXPECT_TRUE(computes_nothing("kbench_flush_l2"));
  EXPECT_FALSE(computes_nothing("_Z15kbench_flush_l2PKfPf"));
}

TEST(KernelTrace, FillsAndCopiesOfTorchComputeNothing) {
  EXPECT_TRUE(computes_nothing(
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEEEEviT0_T1_"));
  EXPECT_TRUE(
      computes_nothing("_ZN2at6native18elementwise_kernelIZNS0_23direct_copy_kernel_cudaE"));
  EXPECT_TRUE(computes_nothing(
      "_ZN2at6native40_GLOBAL__N__00a8a2d3_8_Shape_cu_49f7391c35CatArrayBatchedCopy_aligned16_"
      "contigINS1_10OpaqueTypeILj4EEEjLi2ELi128ELi1EEEvPT_"));
  EXPECT_FALSE(computes_nothing("_ZN2at6native13reduce_kernelILi512ELi1EEEvT1_"));
  EXPECT_FALSE(computes_nothing("_Z11copy_kernelPKfPf")) << "its own";
}

TEST(KernelTrace, ThereIsNoneWithoutAGpuOrItIsWhole) {
  const auto trace = KernelTrace::open();
  if (!trace) return;
  trace->start();
  const TraceEntry entry = trace->stop();
  EXPECT_EQ(entry.own + entry.library, 0u);
}

}  // namespace
}  // namespace kbench::worker
