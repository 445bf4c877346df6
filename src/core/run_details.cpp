// SPDX-License-Identifier: MIT
#include "kbench/run_details.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

namespace kbench {
namespace {

/// That part of the file; nothing where it does not hold so much.
std::optional<std::string> part_of(const Fd& file, std::uint64_t offset, std::uint64_t length) {
  std::string text(length, '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t n = ::pread(file.value(), text.data() + got, text.size() - got,
                              static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    got += static_cast<std::size_t>(n);
  }
  return text;
}

}  // namespace

RunDetails::RunDetails(const RunFile& run) : files_(run.files) {}

const Fd& RunDetails::opened(const std::filesystem::path& path) const {
  const auto found = open_.find(path);
  if (found != open_.end()) return found->second;
  return open_.emplace(path, Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC))).first->second;
}

nlohmann::json RunDetails::line(const Record& record) const {
  const RecordPlace& place = record.place;
  if (place.length == 0 || place.file >= files_.size()) return {};
  const Fd& file = opened(files_[place.file]);
  const auto text = file ? part_of(file, place.offset, place.length) : std::nullopt;
  if (!text) return {};
  nlohmann::json line = nlohmann::json::parse(*text, nullptr, false);
  return line.is_object() ? std::move(line) : nlohmann::json();
}

nlohmann::json RunDetails::details(const Record& record, std::string& why_none,
                                   std::uint64_t at_most) const {
  why_none.clear();
  if (!record.details || record.place.length == 0 || record.place.file >= files_.size()) return {};
  const auto& [offset, length] = *record.details;
  const std::filesystem::path path = details_path(files_[record.place.file]);
  const Fd& file = opened(path);
  if (!file) {
    why_none = fmt::format("{} is not there", path.string());
    return {};
  }
  // A length that is no file's is as wrong as one beyond its end, and no reason to allocate it.
  const off_t size = ::lseek(file.value(), 0, SEEK_END);
  if (size < 0 || length > static_cast<std::uint64_t>(size) ||
      offset > static_cast<std::uint64_t>(size) - length) {
    why_none = fmt::format("{} is shorter than when they were written", path.string());
    return {};
  }
  if (length > at_most) {
    why_none = fmt::format("they are {:.1f} MB long, in {} from byte {}",
                           static_cast<double>(length) / 1e6, path.string(), offset);
    return {};
  }
  const auto text = part_of(file, offset, length);
  nlohmann::json details =
      text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json::object();
  if (details.is_object()) return details;
  why_none = fmt::format("{} holds something else in their place", path.string());
  return {};
}

}  // namespace kbench
