// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "base/hash.hpp"
#include "compile/content_cache.hpp"
#include "compile/host/host_compile.hpp"

namespace kbench {

/// Adds all fields of a request that affect the result, except its device and budget.
void add(Sha256& hash, const HostRequest& request);

/// A cache of host compiles by content: successes and errors.
class HostCache {
 public:
  explicit HostCache(std::filesystem::path folder) : cache_(std::move(folder)) {}
  /// Shrinks the folder if something was added to it.
  ~HostCache();
  HostCache(const HostCache&) = delete;
  HostCache& operator=(const HostCache&) = delete;

  /// The result kept under `key`, if any.
  std::optional<HostResult> load(const std::string& key) const;
  /// Keeps the result, unless it is an error that does not depend on the source alone.
  void store(const std::string& key, const HostResult& result);

 private:
  ContentCache cache_;
  std::atomic<bool> stored_ = false;
};

}  // namespace kbench
