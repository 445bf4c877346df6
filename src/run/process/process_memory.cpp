// SPDX-License-Identifier: MIT
#include "run/process/process_memory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "os/sandbox/sandbox.hpp"

namespace kbench::run {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

struct Resident {
  std::size_t all = 0, own = 0;  ///< in bytes; `own` without files and shared memory
};

Resident resident_of(pid_t pid) {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid));
  std::size_t total = 0;
  std::size_t resident = 0;
  std::size_t shared = 0;
  if (!(statm >> total >> resident >> shared)) return {};
  return {resident * page_bytes(), (resident - std::min(resident, shared)) * page_bytes()};
}

/// How /proc names a descriptor of memfd_create.
constexpr std::string_view kMemoryFile = "/memfd:";

/// A process's proportional set size: the kernel divides each page by the number of processes that
/// map it. Leaves out the files in `counted`.
std::size_t proportional_bytes(pid_t pid, const MemoryFiles& counted) {
  constexpr std::size_t kKilobyte = 1024;
  std::ifstream maps(fmt::format("/proc/{}/smaps", pid));
  bool is_counted = false;
  bool found = false;
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long inode = 0;
    std::size_t kilobytes = 0;
    // start-end rights offset device inode name
    if (std::sscanf(line.c_str(), "%*x-%*x %*s %*x %*x:%*x %llu", &inode) == 1) {
      is_counted = counted.contains(inode) && line.find(kMemoryFile) != std::string::npos;
    } else if (std::sscanf(line.c_str(), "Pss: %zu kB", &kilobytes) == 1) {
      found = true;
      if (!is_counted) bytes += kilobytes * kKilobyte;
    }
  }
  return found ? bytes : resident_of(pid).own;  // if the kernel does not report proportional sizes
}

}  // namespace

std::size_t own_files_bytes(pid_t pid) {
  constexpr long kInMemory = 0x01021994;  // TMPFS_MAGIC
  std::size_t bytes = 0;
  std::vector<const char*> folders(temporary_folders().begin(), temporary_folders().end());
  folders.push_back("/dev/shm");
  for (const char* folder : folders) {
    const std::string path = fmt::format("/proc/{}/root{}", pid, folder);
    struct stat ours {};
    struct stat theirs {};
    struct statfs system {};
    if (::stat(folder, &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
        ours.st_dev != theirs.st_dev && ::statfs(path.c_str(), &system) == 0 &&
        system.f_type == kInMemory)
      bytes += (system.f_blocks - system.f_bfree) * static_cast<std::size_t>(system.f_bsize);
  }
  return bytes;
}

std::vector<pid_t> family_of(const std::vector<ProcessFacts>& all, pid_t root, pid_t forker) {
  std::set<pid_t> family{root};
  for (const auto& process : all)
    if (process.pid == root && process.parent > 1 && process.parent != forker)
      family.insert(process.parent);
  for (bool grew = true; grew;) {
    const auto before = family.size();
    for (const auto& process : all)
      if (process.session == root || family.contains(process.parent)) family.insert(process.pid);
    grew = family.size() > before;
  }
  return {family.begin(), family.end()};
}

MemoryFiles memory_files_of(const std::vector<pid_t>& pids) {
  constexpr std::size_t kBlockBytes = 512;
  // A candidate decides how many descriptors there are, and reading them takes time. A check stops
  // at this limit; the next check starts at another process.
  constexpr std::size_t kMostDescriptors = 20'000;
  static std::atomic<std::size_t> turn{0};
  const std::size_t first = pids.empty() ? 0 : turn++ % pids.size();
  std::size_t looked_at = 0;
  MemoryFiles files;
  for (std::size_t i = 0; i < pids.size() && looked_at < kMostDescriptors; ++i) {
    const pid_t pid = pids[(first + i) % pids.size()];
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), ignored)) {
      ++looked_at;
      char name[kMemoryFile.size() + 1] = {};
      struct stat status {};
      if (::readlink(entry.path().c_str(), name, kMemoryFile.size()) > 0 && name == kMemoryFile &&
          ::stat(entry.path().c_str(), &status) == 0)
        files[status.st_ino] = static_cast<std::size_t>(status.st_blocks) * kBlockBytes;
    }
  }
  return files;
}

bool have_more_memory(const std::vector<pid_t>& pids, std::size_t limit_bytes,
                      const MemoryFiles& files) {
  std::size_t in_files = 0;
  for (const auto& [inode, bytes] : files) in_files += bytes;
  if (in_files > limit_bytes) return true;
  limit_bytes -= in_files;
  std::size_t resident = 0;
  for (const pid_t pid : pids) {
    const Resident each = resident_of(pid);
    if (each.own > limit_bytes) return true;
    resident += each.all;
  }
  if (resident <= limit_bytes) return false;
  std::size_t shares = 0;
  for (const pid_t pid : pids) shares += proportional_bytes(pid, files);
  return shares > limit_bytes;
}

void let_go_first(const std::vector<pid_t>& pids) {
  constexpr int kFirst = 1000;
  for (const pid_t pid : pids) {
    const std::string file = fmt::format("/proc/{}/oom_score_adj", pid);
    int now = kFirst;
    if (std::ifstream(file) >> now && now < kFirst) std::ofstream(file) << kFirst << std::flush;
  }
}

}  // namespace kbench::run
