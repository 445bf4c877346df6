// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace kbench::run {

/// A memory cgroup. The kernel counts all memory of its processes, even memory that none has mapped
/// (memory files, descriptors in flight), and kills the processes at the limit. Most users may not
/// make cgroups.
class MemoryGroup {
 public:
  /// Null if this process may not make one.
  static std::unique_ptr<MemoryGroup> make(std::size_t limit_bytes);
  /// Call it when the processes have ended or are about to. If one is left, the next make() removes
  /// the folder.
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  /// Moves processes into the group; their later memory and children count. They must not share
  /// memory with a process outside, because the kernel would kill that process, too.
  bool add(const std::vector<pid_t>& pids) const;
  const std::filesystem::path& folder() const { return folder_; }
  /// True if the kernel killed a process of the group for its memory.
  bool is_over() const;

 private:
  MemoryGroup(std::filesystem::path folder, bool unified)
      : folder_(std::move(folder)), unified_(unified) {}

  std::filesystem::path folder_;
  bool unified_;  ///< cgroup v2
};

}  // namespace kbench::run
