// SPDX-License-Identifier: MIT
#pragma once

#include <thread>

#include "base/fd.hpp"

namespace kbench::run {

class ExtensionBuilder;

/// Cancels a builder's builds as soon as `cancel_fd` is readable. Otherwise a cancelled run would
/// wait for each candidate's builds in turn.
class CancelledBuilds {
 public:
  /// The builder must outlive this object.
  CancelledBuilds(ExtensionBuilder& builder, int cancel_fd);
  ~CancelledBuilds();
  CancelledBuilds(const CancelledBuilds&) = delete;
  CancelledBuilds& operator=(const CancelledBuilds&) = delete;

 private:
  Fd end_;  ///< readable when this object is destroyed
  std::thread thread_;
};

}  // namespace kbench::run
