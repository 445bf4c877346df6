// SPDX-License-Identifier: MIT
#include "kbench/run_details.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "from_view.hpp"
#include "json_tree.hpp"
#include "kbench/error.hpp"
#include "run_lines.hpp"

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

/// The object that `text` is; nothing where it is none. Good until this thread's next call.
std::optional<JsonView> parsed(std::string_view text) {
  thread_local JsonTree tree;
  if (!tree.parse(text) || !tree.root().is_object()) return std::nullopt;
  return tree.root();
}

/// Behind the string that begins at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; (at = text.find('"', at)) != std::string_view::npos; ++at) {
    std::size_t backslashes = 0;
    while (text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at + 1;
  }
  return text.size();
}

/// Goes over the fields of the JSON object that `line` is, without parsing their values.
template <typename Take>
void each_field(std::string_view line, Take take) {
  std::size_t depth = 0, begin = 0;
  std::string_view name, string;
  const auto end_field = [&](std::size_t at) {
    if (depth == 1 && begin != 0) take(name, line.substr(begin, at - begin));
    if (depth == 1) begin = 0;
  };
  for (std::size_t at = 0; at < line.size(); ++at) {
    switch (line[at]) {
      case '"': {
        const std::size_t end = behind_string(line, at);
        if (depth == 1) string = line.substr(at + 1, end - at - 2);
        at = end - 1;
        break;
      }
      case ':':
        if (depth != 1 || begin != 0) break;
        name = string;
        begin = std::min(line.find_first_not_of(' ', at + 1), line.size());
        at = begin - 1;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case ',':
        end_field(at);
        break;
      case '}':
      case ']':
        end_field(at);
        --depth;
        break;
      default:
        break;
    }
  }
}

}  // namespace

RunDetails::RunDetails(const RunFile& run) : files_(run.files) {}

const Fd& RunDetails::opened(const std::filesystem::path& path) const {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(path);
  if (found != open_.end()) return found->second;
  return open_.emplace(path, Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC))).first->second;
}

/// Empty where it was read from no file, or that is not as it was.
std::string RunDetails::line_text(const Record& record) const {
  const RecordPlace& place = record.place;
  if (place.length == 0 || place.file >= files_.size()) return {};
  const Fd& file = opened(files_[place.file]);
  return file ? part_of(file, place.offset, place.length).value_or("") : "";
}

nlohmann::json RunDetails::line(const Record& record) const {
  nlohmann::json line = nlohmann::json::parse(line_text(record), nullptr, false);
  return line.is_object() ? std::move(line) : nlohmann::json();
}

Record RunDetails::whole(const Record& record) const {
  const std::optional<JsonView> line = parsed(line_text(record));
  if (!line) return record;
  try {
    Record whole = record_from(*line, Trials::kAll);
    if (!same_key(whole, record)) return record;
    whole.place = record.place;
    return whole;
  } catch (const Error&) {
    return record;  // something else stands there by now
  }
}

std::vector<std::string> RunDetails::fields(const Record& record,
                                            std::span<const std::string_view> names) const {
  std::vector<std::string> texts(names.size(), "null");
  const std::string line = line_text(record);
  if (!line.starts_with('{') || !line.ends_with('}')) return texts;
  each_field(line, [&](std::string_view name, std::string_view value) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) texts[static_cast<std::size_t>(found - names.begin())] = value;
  });
  return texts;
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
