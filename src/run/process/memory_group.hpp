// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace kbench::run {

/// A memory cgroup: the kernel counts all memory of what is in it, also what no process has mapped
/// (files in memory, descriptors in flight), and ends its processes at the limit. Most users of a
/// machine may make none.
class MemoryGroup {
 public:
  /// Null where this process may make none.
  static std::unique_ptr<MemoryGroup> make(std::size_t limit_bytes);
  /// Its processes have ended, or end soon: then its folder goes, else with the next one's.
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  /// Moves processes into it: what they get from now on counts, and all that they start. None may
  /// share its memory with a process outside, which the kernel would end with it.
  bool add(const std::vector<pid_t>& pids) const;
  const std::filesystem::path& folder() const { return folder_; }
  /// Whether the kernel has ended a process of it for want of memory.
  bool is_over() const;

 private:
  MemoryGroup(std::filesystem::path folder, bool unified)
      : folder_(std::move(folder)), unified_(unified) {}

  std::filesystem::path folder_;
  bool unified_;  ///< cgroup v2
};

}  // namespace kbench::run
