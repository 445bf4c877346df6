// SPDX-License-Identifier: MIT
#include "run/process/memory_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace kbench::run {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "kbench-";

bool write_setting(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  return static_cast<bool>((out << text).flush());
}

/// The number after a word in a file of "word number" lines; 0 if the word is missing.
std::size_t number_behind(const fs::path& file, std::string_view word) {
  std::ifstream in(file);
  std::string name;
  std::size_t value = 0;
  while (in >> name >> value)
    if (name == word) return value;
  return 0;
}

bool has_word(const fs::path& file, std::string_view wanted) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (word == wanted) return true;
  return false;
}

struct Place {
  fs::path folder;  ///< where groups can be made
  bool unified;
};

/// The mount points of the cgroup file systems: of v2, and of v1's memory controller.
std::pair<fs::path, fs::path> mounts() {
  std::pair<fs::path, fs::path> found;
  std::ifstream mounts("/proc/self/mounts");
  std::string device, folder, type, options;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    if (!(words >> device >> folder >> type >> options)) continue;
    if (type == "cgroup2" && found.first.empty()) found.first = folder;
    if (type == "cgroup" && ("," + options + ",").find(",memory,") != std::string::npos)
      found.second = folder;
  }
  return found;
}

/// This process's own groups and, for v2, also the parent: below a v2 group with processes there
/// can be no groups with controllers.
std::vector<Place> places() {
  const auto [unified, memory] = mounts();
  std::vector<Place> found;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",," && !unified.empty()) {
      found.push_back({unified / fs::path(path).relative_path(), true});
      if (path != "/")
        found.push_back({unified / fs::path(path).parent_path().relative_path(), true});
    } else if (controllers.find(",memory,") != std::string::npos && !memory.empty()) {
      found.push_back({memory / fs::path(path).relative_path(), false});
    }
  }
  return found;
}

/// Groups of this run that still had a process when they were destroyed.
struct Abandoned {
  std::mutex mutex;
  std::vector<fs::path> folders;
};
Abandoned& abandoned() {
  static Abandoned kept;
  return kept;
}

void remove_given_up() {
  Abandoned& kept = abandoned();
  const std::lock_guard lock(kept.mutex);
  std::erase_if(kept.folders, [](const fs::path& folder) { return ::rmdir(folder.c_str()) == 0; });
}

/// Removes groups of killed runs. The kernel refuses to remove groups with processes.
void remove_abandoned(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    pid_t pid = 0;
    const auto error =
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), pid);
    if (error.ec == std::errc() && ::kill(pid, 0) != 0 && errno == ESRCH)
      ::rmdir(entry.path().c_str());
  }
}

std::optional<fs::path> made_in(const Place& place, std::size_t limit_bytes) {
  static std::atomic<unsigned> number{0};
  if (place.unified && !has_word(place.folder / "cgroup.subtree_control", "memory"))
    return std::nullopt;
  const fs::path folder = place.folder / fmt::format("{}{}-{}", kPrefix, ::getpid(), number++);
  std::error_code error;
  if (!fs::create_directory(folder, error) || error) return std::nullopt;
  const std::string limit = std::to_string(limit_bytes);
  const bool limited =
      write_setting(folder / (place.unified ? "memory.max" : "memory.limit_in_bytes"), limit);
  if (!limited) {
    ::rmdir(folder.c_str());
    return std::nullopt;
  }
  // No swap, if the kernel counts it. All processes of the group are killed together.
  if (place.unified) {
    write_setting(folder / "memory.swap.max", "0");
    write_setting(folder / "memory.oom.group", "1");
  } else {
    write_setting(folder / "memory.memsw.limit_in_bytes", limit);
  }
  return folder;
}

}  // namespace

std::unique_ptr<MemoryGroup> MemoryGroup::make(std::size_t limit_bytes) {
  static const std::vector<Place> all = [] {
    auto found = places();
    for (const Place& place : found) remove_abandoned(place.folder);
    return found;
  }();
  remove_given_up();
  for (const Place& place : all) {
    if (auto folder = made_in(place, limit_bytes))
      return std::unique_ptr<MemoryGroup>(new MemoryGroup(std::move(*folder), place.unified));
  }
  return nullptr;
}

MemoryGroup::~MemoryGroup() {
  if (::rmdir(folder_.c_str()) == 0) return;
  Abandoned& kept = abandoned();
  const std::lock_guard lock(kept.mutex);
  kept.folders.push_back(folder_);
}

bool MemoryGroup::add(const std::vector<pid_t>& pids) const {
  bool all = true;
  for (const pid_t pid : pids)
    all = write_setting(folder_ / "cgroup.procs", std::to_string(pid)) && all;
  return all;
}

bool MemoryGroup::is_over() const {
  return number_behind(folder_ / (unified_ ? "memory.events" : "memory.oom_control"), "oom_kill") >
         0;
}

}  // namespace kbench::run
