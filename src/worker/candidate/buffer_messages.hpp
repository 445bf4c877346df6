// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "protocol/protocol.hpp"
#include "worker/device/device.hpp"

namespace kbench::worker {

/// Packs buffers into messages to a candidate's process: as few messages as the limit of
/// descriptors allows.
class BufferMessages {
 public:
  struct Batch {
    std::string body;  ///< BufferEntry[]
    std::vector<int> fds;
  };

  void add(std::size_t set, std::size_t tensor, const SharedBuffer& buffer,
           protocol::BufferRole role) {
    if (batches_.empty()) batches_.emplace_back();
    std::size_t descriptor = index_of(buffer.fd());
    if (descriptor == protocol::kMaxFds) {
      batches_.emplace_back();
      descriptor = 0;
    }
    Batch& batch = batches_.back();
    if (descriptor == batch.fds.size()) batch.fds.push_back(buffer.fd());
    const BufferLayout& layout = buffer.layout();
    const protocol::BufferEntry entry{static_cast<std::uint32_t>(set),
                                      static_cast<std::uint32_t>(tensor),
                                      static_cast<std::uint32_t>(role),
                                      role == protocol::BufferRole::kWork,
                                      layout.mapped_bytes,
                                      layout.data_offset,
                                      layout.data_bytes,
                                      layout.red_before,
                                      layout.red_after,
                                      static_cast<std::uint32_t>(descriptor)};
    batch.body.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }
  const std::vector<Batch>& batches() const { return batches_; }

 private:
  /// Index of the descriptor in the last message. If the message lacks it: its number of
  /// descriptors.
  std::size_t index_of(int fd) const {
    const auto& fds = batches_.back().fds;
    return static_cast<std::size_t>(std::ranges::find(fds, fd) - fds.begin());
  }

  std::vector<Batch> batches_;
};

}  // namespace kbench::worker
