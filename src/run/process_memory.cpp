// SPDX-License-Identifier: MIT
#include "run/process_memory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "kbench/cage.hpp"

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

/// Its share of what it has, by the kernel's count of who else maps each page.
std::size_t proportional_bytes(pid_t pid) {
  constexpr std::size_t kKilobyte = 1024;
  std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", pid));
  for (std::string line; std::getline(rollup, line);) {
    std::size_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "Pss: %zu kB", &kilobytes) == 1) return kilobytes * kKilobyte;
  }
  return resident_of(pid).own;  // where the kernel does not say
}

}  // namespace

std::vector<ProcessFacts> running_processes() {
  std::vector<ProcessFacts> processes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    ProcessFacts facts;
    const auto end = name.data() + name.size();
    if (std::from_chars(name.data(), end, facts.pid).ptr != end) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // The name before it may hold anything.
    const auto after = line.rfind(')');
    char state = 0;
    pid_t group = 0;
    if (after != std::string::npos && std::sscanf(line.c_str() + after + 1, " %c %d %d %d", &state,
                                                  &facts.parent, &group, &facts.session) == 4)
      processes.push_back(facts);
  }
  return processes;
}

std::size_t own_files_bytes(pid_t pid) {
  constexpr long kInMemory = 0x01021994;  // TMPFS_MAGIC
  std::size_t bytes = 0;
  for (const char* folder : temporary_folders()) {
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

bool have_more_memory(const std::vector<pid_t>& pids, std::size_t limit_bytes) {
  std::size_t resident = 0;
  for (const pid_t pid : pids) {
    const std::size_t bytes = resident_of(pid).all;
    if (bytes > limit_bytes) return true;
    resident += bytes;
  }
  if (resident <= limit_bytes) return false;
  std::size_t shares = 0;
  for (const pid_t pid : pids) shares += proportional_bytes(pid);
  return shares > limit_bytes;
}

}  // namespace kbench::run
