// SPDX-License-Identifier: MIT
#include "compile/guard/confinement.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "os/sandbox/landlock.hpp"
#include "os/sandbox/seccomp.hpp"
#include "os/sandbox/steps.hpp"

namespace kbench {
namespace {

struct Confinement {
  std::vector<std::string> roots;
  std::atomic<bool> active = false;
  std::mutex mutex;
  std::optional<std::string> refused;
};

// Leaked, because NVRTC's threads may open files up to the end of the process.
Confinement& confinement() {
  static auto* const kInstance = new Confinement;
  return *kInstance;
}

bool is_below(const std::string& path, const std::string& root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

std::size_t resident_bytes(int statm) {
  char text[128] = {};
  if (::pread(statm, text, sizeof text - 1, 0) <= 0) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  if (std::sscanf(text, "%llu %llu", &total, &resident) != 2) return 0;
  return static_cast<std::size_t>(resident) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void put_on(const std::vector<FilePermission>& permissions, OwnNamespaces own) {
  limit_processes(own.pid, own.net);
  limit_files();
  drop_privileges();
  const bool held_back = landlock(permissions) && landlock_abi() >= kLandlockScopes;
  seccomp(own.pid || held_back ? SignalRule::kAny : SignalRule::kItself);
}

}  // namespace

void confine_reads(const std::vector<std::filesystem::path>& folders, OwnNamespaces own) {
  Confinement& state = confinement();
  for (const auto& folder : folders) {
    std::error_code ignored;
    auto root = std::filesystem::absolute(folder, ignored).lexically_normal().string();
    while (root.size() > 1 && root.back() == '/') root.pop_back();
    state.roots.push_back(root);
  }
  std::vector<FilePermission> permissions;
  for (const auto& root : state.roots) permissions.push_back({root, FileAccess::kRead});
  put_on(permissions, own);
  state.active = true;
}

void confine_program(const std::vector<std::filesystem::path>& read,
                     const std::vector<std::filesystem::path>& write, OwnNamespaces own) {
  std::vector<FilePermission> permissions;
  permissions.reserve(read.size() + write.size());
  for (const auto& path : read) permissions.push_back({path.string(), FileAccess::kReadExecute});
  for (const auto& path : write) permissions.push_back({path.string(), FileAccess::kWrite});
  put_on(permissions, own);
}

std::optional<std::string> refused_file() {
  const std::scoped_lock lock(confinement().mutex);
  return confinement().refused;
}

bool is_confined() { return confinement().active; }

bool may_open(const char* path) {
  Confinement& state = confinement();
  if (!state.active) return true;
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored).lexically_normal().string();
  const bool allowed = std::any_of(state.roots.begin(), state.roots.end(),
                                   [&](const auto& root) { return is_below(absolute, root); });
  struct stat status {};
  if (!allowed && ::stat(absolute.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    const std::scoped_lock lock(state.mutex);
    if (!state.refused) state.refused = absolute;
  }
  return allowed;
}

void watch_memory(std::size_t bytes, std::function<void()> exceeded) {
  const int statm = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (statm < 0 || bytes == 0) return;
  std::thread([statm, bytes, exceeded = std::move(exceeded)] {
    while (resident_bytes(statm) <= bytes)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    exceeded();
  }).detach();
}

}  // namespace kbench
