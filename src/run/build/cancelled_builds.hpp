// SPDX-License-Identifier: MIT
#pragma once

#include <thread>

#include "base/fd.hpp"

namespace kbench::run {

class ExtensionBuilder;

/// Cancels a builder's builds as soon as `cancel_fd` is readable. A run that was cancelled lets go
/// of candidates one by one, and each would wait for what it has ordered.
class CancelledBuilds {
 public:
  /// The builder has to outlive this.
  CancelledBuilds(ExtensionBuilder& builder, int cancel_fd);
  ~CancelledBuilds();
  CancelledBuilds(const CancelledBuilds&) = delete;
  CancelledBuilds& operator=(const CancelledBuilds&) = delete;

 private:
  Fd end_;  ///< readable when this ends
  std::thread thread_;
};

}  // namespace kbench::run
