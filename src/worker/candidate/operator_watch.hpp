// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace kbench::worker {

/// Notes whether an operator of torch computes anything while this lives, whoever calls it, from
/// Python or C++, in any thread. Allocating, filling, copying, casting, concatenating and looking
/// from another angle is no computing; hidden memory (HiddenMemory) is open to these. One at a
/// time.
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
