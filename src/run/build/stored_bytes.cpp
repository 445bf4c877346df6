// SPDX-License-Identifier: MIT
#include "run/build/stored_bytes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>

#include "kbench/error.hpp"

namespace kbench::run {
namespace fs = std::filesystem;
namespace {

fs::path next_file(const fs::path& folder) {
  static std::atomic<std::uint64_t> number{0};
  return folder / fmt::format("{}-{}", ::getpid(), number++);
}

}  // namespace

StoredBytes::StoredBytes(std::string_view bytes, const fs::path& folder) : size_(bytes.size()) {
  if (bytes.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  file_ =
      std::shared_ptr<const fs::path>(new fs::path(next_file(folder)), [](const fs::path* path) {
        std::error_code gone;
        fs::remove(*path, gone);
        delete path;
      });
  std::ofstream out(*file_, std::ios::binary | std::ios::trunc);
  if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    throw Error(fmt::format("cannot write {} bytes to {}: make room there, or set KBENCH_HOME",
                            bytes.size(), file_->string()));
}

std::string StoredBytes::read() const {
  if (!file_) return {};
  std::string bytes(size_, '\0');
  std::ifstream in(*file_, std::ios::binary);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size_)))
    throw Error(
        fmt::format("{} has changed since kbench wrote it; start the run again", file_->string()));
  return bytes;
}

void remove_stored_bytes(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    const bool is_ours = error == std::errc() && pid > 0 && *end == '-';
    if (is_ours && ::kill(pid, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
  }
}

}  // namespace kbench::run
