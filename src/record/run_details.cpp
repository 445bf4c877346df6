// SPDX-License-Identifier: MIT
#include "record/run_details.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json/view.hpp"
#include "kbench/error.hpp"
#include "record/from_view.hpp"
#include "record/run_lines.hpp"

namespace kbench {
namespace {

/// Reads that part of the file; false if the file is too short.
bool read_part(const Fd& file, std::uint64_t offset, std::uint64_t length, std::string& into) {
  into.resize(length);
  return read_at(file.value(), offset, into.data(), length) == length;
}

/// Parses `text`; nothing if it is not an object. Valid until this thread's next call.
std::optional<JsonView> parsed(std::string_view text) {
  thread_local JsonReader reader;
  if (!reader.parse(text) || !reader.root().is_object()) return std::nullopt;
  return reader.root();
}

/// The index after the string that begins at `at`. A plain loop, because most strings are short.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

/// Characters that change the nesting within an array or object; all others are skipped.
constexpr std::array<bool, 256> nesting_characters() {
  std::array<bool, 256> matters{};
  for (const char c : {'"', '{', '}', '[', ']'}) matters[static_cast<unsigned char>(c)] = true;
  return matters;
}

/// The index after the value that begins at `at`.
std::size_t behind_value(std::string_view text, std::size_t at) {
  static constexpr std::array<bool, 256> kMatters = nesting_characters();
  if (text[at] == '"') return behind_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    while (at < text.size() && text[at] != ',' && text[at] != '}' && text[at] != ' ') ++at;
    return at;
  }
  for (std::size_t depth = 0; at < text.size();) {
    const char c = text[at];
    if (!kMatters[static_cast<unsigned char>(c)]) {
      ++at;
    } else if (c == '"') {
      at = behind_string(text, at);
    } else {
      ++at;
      depth = c == '{' || c == '[' ? depth + 1 : depth - 1;
      if (depth == 0) return at;
    }
  }
  return text.size();
}

/// Calls `take` for each field of the JSON object `line`, until it returns false. Does not parse
/// the values.
template <typename Take>
void each_field(std::string_view line, Take take) {
  for (std::size_t at = 1; (at = line.find('"', at)) != std::string_view::npos;) {
    const std::size_t behind = behind_string(line, at);
    const std::string_view name = line.substr(at + 1, behind - at - 2);
    at = behind;
    while (at < line.size() && (line[at] == ':' || line[at] == ' ')) ++at;
    if (at == line.size()) return;
    const std::size_t end = behind_value(line, at);
    if (!take(name, line.substr(at, end - at))) return;
    at = end;
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

bool RunDetails::is_from_file(const Record& record) const {
  return record.place.length > 0 && record.place.file < files_.size();
}

/// The record's line, valid until this thread's next call. Empty if the record does not come from a
/// file, or the file has changed.
std::string_view RunDetails::line_text(const Record& record) const {
  thread_local std::string text;
  const RecordPlace& place = record.place;
  if (!is_from_file(record)) return {};
  const Fd& file = opened(files_[place.file]);
  if (!file || !read_part(file, place.offset, place.length, text)) return {};
  return text;
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
    return record;  // the file has changed
  }
}

std::vector<std::string> RunDetails::fields(const Record& record,
                                            std::span<const std::string_view> names) const {
  std::vector<std::string> texts(names.size(), "null");
  const std::string_view line = line_text(record);
  if (!line.starts_with('{') || !line.ends_with('}')) return texts;
  std::size_t missing = names.size();
  each_field(line, [&](std::string_view name, std::string_view value) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return true;
    texts[static_cast<std::size_t>(found - names.begin())] = value;
    return --missing > 0;
  });
  return texts;
}

nlohmann::json RunDetails::object_at(const Record& record, const DetailsRef& place,
                                     std::string& why_none, std::uint64_t at_most) const {
  const auto& [offset, length] = place;
  const std::filesystem::path path = details_path(files_[record.place.file]);
  const Fd& file = opened(path);
  if (!file) {
    why_none = fmt::format("{} does not exist", path.string());
    return {};
  }
  // The length comes from a file and may be wrong: check it before allocating.
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
  std::string text;
  nlohmann::json object = read_part(file, offset, length, text)
                              ? nlohmann::json::parse(text, nullptr, false)
                              : nlohmann::json::object();
  if (object.is_object()) return object;
  why_none = fmt::format("{} contains other data in their place", path.string());
  return {};
}

nlohmann::json RunDetails::details(const Record& record, std::string& why_none,
                                   std::uint64_t at_most) const {
  why_none.clear();
  if (!record.details || !is_from_file(record)) return {};
  return object_at(record, *record.details, why_none, at_most);
}

std::string RunDetails::source(const Record& record, std::string& why_none) const {
  why_none.clear();
  if (!record.source || !is_from_file(record)) return {};
  const nlohmann::json kept = object_at(record, *record.source, why_none, UINT64_MAX);
  const auto found = kept.is_object() ? kept.find("source") : kept.end();
  if (found != kept.end() && found->is_string()) return found->get<std::string>();
  why_none = fmt::format("{} does not have it", details_path(files_[record.place.file]).string());
  return {};
}

}  // namespace kbench
