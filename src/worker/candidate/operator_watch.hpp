// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace kbench::worker {

/// Records whether any operator of torch computes something while this object exists. Operators in
/// all threads count, called from Python or C++. Allocating, filling, copying, casting,
/// concatenating and making views do not count. Operators that only do these may read hidden memory
/// (HiddenMemory). Only one such object may exist at a time.
class OperatorWatch {
 public:
  OperatorWatch();
  ~OperatorWatch();
  OperatorWatch(const OperatorWatch&) = delete;
  OperatorWatch& operator=(const OperatorWatch&) = delete;
  bool computed() const;

 private:
  std::uint64_t handle_;
};

}  // namespace kbench::worker
