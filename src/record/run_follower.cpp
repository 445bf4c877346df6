// SPDX-License-Identifier: MIT
#include "record/run_follower.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/json/view.hpp"
#include "kbench/error.hpp"
#include "record/run_blocks.hpp"
#include "record/run_lines.hpp"

namespace kbench {
namespace {

/// Limit of bytes per poll(), because records take more memory than their lines.
constexpr std::size_t kMostBytes = 16u << 20;

void add_to_update(RunUpdate& update, std::string_view text, JsonReader& reader) {
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
  try {
    if (!reader.parse(text)) throw Error("is not JSON");
    RunLine line = run_line_from(reader.root(), Trials::kShown);
    if (auto* record = std::get_if<Record>(&line)) {
      update.records.push_back(std::move(*record));
    } else if (auto* manifest = std::get_if<std::vector<ManifestEntry>>(&line)) {
      std::ranges::move(*manifest, std::back_inserter(update.manifest));
    } else if (auto* header = std::get_if<RunHeader>(&line)) {
      update.headers.push_back(std::move(*header));
      update.ended = false;
    } else if (std::holds_alternative<RunEnd>(line)) {
      update.ended = true;
    }
  } catch (const Error&) {
    ++update.bad_lines;
  }
}

}  // namespace

RunFollower::RunFollower(std::filesystem::path path)
    : path_(std::move(path)), file_(open_run_file(path_)) {}

RunUpdate RunFollower::poll() {
  struct stat status {};
  if (::fstat(file_.value(), &status) != 0 || static_cast<std::uint64_t>(status.st_size) < offset_)
    throw UsageError(
        fmt::format("{} became shorter: another run is writing to it", path_.string()));
  RunUpdate update;
  JsonReader reader;
  std::string part(1u << 20, '\0');
  const std::uint64_t most = offset_ + kMostBytes;
  while (true) {
    update.more = offset_ >= most;
    if (update.more) return update;
    const ssize_t n = retry_on_signal([&] {
      return ::pread(file_.value(), part.data(), part.size(), static_cast<off_t>(offset_));
    });
    if (n < 0) throw Error(fmt::format("cannot read {}: {}", path_.string(), std::strerror(errno)));
    if (n == 0) return update;
    offset_ += static_cast<std::uint64_t>(n);
    std::string_view text(part.data(), static_cast<std::size_t>(n));
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      rest_ += text.substr(0, end);
      try {
        add_to_update(update, rest_, reader);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("{} {}", path_.string(), error.what()));
      }
      rest_.clear();
      text.remove_prefix(end + 1);
    }
    rest_ += text;
  }
}

bool RunFollower::is_written() const {
  // Reads /proc/locks. Taking the lock for an instant could fail a run that is just starting.
  struct stat status {};
  if (::fstat(file_.value(), &status) != 0) return false;
  const std::string place =
      fmt::format("{:02x}:{:02x}:{} ", major(status.st_dev), minor(status.st_dev), status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);)
    if (line.find(" FLOCK ") != std::string::npos && line.find(place) != std::string::npos)
      return true;
  return false;
}

}  // namespace kbench
