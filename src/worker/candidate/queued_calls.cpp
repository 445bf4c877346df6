// SPDX-License-Identifier: MIT
#include "worker/candidate/judged_candidate.hpp"

namespace kbench::worker {

void queue_behind_gate(Device& device, void* stream, const protocol::QueueBody& body,
                       const std::function<void(std::size_t)>& call) {
  device.queue_gate(body.block, stream);
  try {
    if (body.spin_ms > 0) device.spin(body.spin_ms, stream);
    for (std::uint32_t i = 0; i < body.calls; ++i) call(i);
  } catch (...) {
    device.queue_done(body.block, stream);
    throw;
  }
  device.queue_done(body.block, stream);
}

}  // namespace kbench::worker
