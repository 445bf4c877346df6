// SPDX-License-Identifier: MIT
#include "worker/candidate/judged_candidate.hpp"

namespace kbench::worker {

void queue_behind_gate(Device& device, void* stream, const protocol::QueueBody& body,
                       const std::function<void(std::size_t)>& call) {
  const std::uint32_t last =
      body.block + (body.stepped != 0 && body.calls > 0 ? body.calls - 1 : 0);
  try {
    for (std::uint32_t block = body.block; block <= last; ++block) {
      device.queue_gate(block, stream);
      if (body.stepped == 0)
        for (std::uint32_t i = 0; i < body.calls; ++i) call(i);
      else if (body.calls > 0)
        call(block - body.block);
      device.queue_done(block, stream);
    }
  } catch (...) {
    device.queue_done(last, stream);
    throw;
  }
}

}  // namespace kbench::worker
