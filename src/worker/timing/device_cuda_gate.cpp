// SPDX-License-Identifier: MIT
#include <sys/mman.h>

#include <atomic>
#include <cstddef>

#include "kbench/error.hpp"
#include "protocol/protocol.hpp"
#include "worker/device/device_cuda.hpp"

// The GPU's work on the words of the gate, queued by the candidate's process. TIMING.md describes
// the gate.
namespace kbench::worker {

bool CudaDevice::use_gate(Fd page) {
  void* words =
      mmap(nullptr, protocol::kGatePageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, page.value(), 0);
  if (words == MAP_FAILED) throw Error("the page of the gate cannot be mapped");
  gate_words_ = static_cast<protocol::GateWords*>(words);
  has_gate_ =
      cuda_.cuCtxRecordEvent != nullptr && empty_kernel_ != nullptr &&
      cuda_.cuMemHostRegister(words, protocol::kGatePageBytes, CU_MEMHOSTREGISTER_DEVICEMAP) ==
          CUDA_SUCCESS &&
      cuda_.cuMemHostGetDevicePointer(&gate_, words, 0) == CUDA_SUCCESS &&
      cuda_.cuEventCreate(&all_done_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
      // The driver refuses an event of the whole context if the context shares its resources.
      cuda_.cuCtxRecordEvent(context_, all_done_) == CUDA_SUCCESS;
  return has_gate_;
}

void CudaDevice::queue_gate(std::uint32_t block, void* stream) {
  using protocol::GateWords;
  if (!has_gate_) return;
  auto* on = static_cast<CUstream>(stream);
  const auto wait = [&](std::size_t word) {
    check(cuda_.cuStreamWaitValue32(on, gate_ + word, block, CU_STREAM_WAIT_VALUE_GEQ),
          "waiting for the gate");
  };
  // The first work behind a wait includes the change of contexts. The empty kernel is this work, so
  // the change ends before the clock starts.
  wait(offsetof(GateWords, open));
  launch_thread(empty_kernel_, nullptr, "launching nothing", on);
  check(cuda_.cuStreamWriteValue32(on, gate_ + offsetof(GateWords, ready), block,
                                   CU_STREAM_WRITE_VALUE_DEFAULT),
        "writing to the gate");
  wait(offsetof(GateWords, start));
}

void CudaDevice::queue_done(std::uint32_t block, void* stream) {
  if (!has_gate_) {
    synchronize();
    std::atomic_ref(gate_words_->done).store(block, std::memory_order_release);
    return;
  }
  auto* on = static_cast<CUstream>(stream);
  check(cuda_.cuCtxRecordEvent(context_, all_done_), "recording the end of all work");
  check(cuda_.cuStreamWaitEvent(on, all_done_, 0), "waiting for the end of all work");
  check(cuda_.cuStreamWriteValue32(on, gate_ + offsetof(protocol::GateWords, done), block,
                                   CU_STREAM_WRITE_VALUE_DEFAULT),
        "writing to the gate");
}

}  // namespace kbench::worker
