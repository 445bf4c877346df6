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

/// Adds all of a request that decides what comes of it, but for its device.
void add(Sha256& hash, const HostRequest& request);

/// What compilers of host code made, by content: good results and bad ones.
class HostCache {
 public:
  explicit HostCache(std::filesystem::path folder) : cache_(std::move(folder)) {}
  /// Shrinks the folder where something was added to it.
  ~HostCache();
  HostCache(const HostCache&) = delete;
  HostCache& operator=(const HostCache&) = delete;

  /// The result kept under `key`.
  std::optional<HostResult> load(const std::string& key) const;
  /// Keeps it, unless it says something about this moment instead of the source.
  void store(const std::string& key, const HostResult& result);

 private:
  ContentCache cache_;
  std::atomic<bool> stored_ = false;
};

}  // namespace kbench
