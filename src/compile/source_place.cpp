// SPDX-License-Identifier: MIT
#include "compile/source_place.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace kbench {
namespace {

/// Lines that occur once in both file and text: at least kFewestAlike of them, and at least
/// 1/kAlikeShare of the text's non-blank lines.
constexpr std::size_t kFewestAlike = 2;
constexpr std::size_t kAlikeShare = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Removes the indentation, because the Python code may have called dedent().
std::string_view stripped(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin);
}

/// Replaces each doubled character of `characters` by one, which undoes escapes of literals and
/// f-strings.
std::string halved(std::string_view line, std::string_view characters) {
  std::string half;
  for (std::size_t i = 0; i < line.size(); ++i) {
    half += line[i];
    if (characters.find(line[i]) != std::string_view::npos && i + 1 < line.size() &&
        line[i + 1] == line[i])
      ++i;
  }
  return half;
}

/// Maps each line of a text to its place; a line that occurs twice maps to kNowhere.
class Places {
 public:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  void add(std::string line, std::size_t place) {
    if (line.empty()) return;
    const auto [at, is_new] = places_.emplace(std::move(line), place);
    if (!is_new && at->second != place) at->second = kNowhere;
  }
  std::size_t find(const std::string& line) const {
    const auto at = places_.find(line);
    return at == places_.end() ? kNowhere : at->second;
  }
  const auto& all() const { return places_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::optional<std::size_t> lines_before(std::string_view file, std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (const std::size_t found = file.find(text); found != std::string_view::npos)
    return static_cast<std::size_t>(std::ranges::count(file.substr(0, found), '\n'));
  Places in_file;
  std::size_t place = 0;
  for (const auto line : lines_of(file)) {
    const auto bare = stripped(line);
    for (const std::string_view twice : {"", "\\", "{}", "\\{}"})
      in_file.add(halved(bare, twice), place);
    ++place;
  }
  Places in_text;
  std::size_t written = 0;
  place = 0;
  for (const auto line : lines_of(text)) {
    const auto bare = stripped(line);
    if (!bare.empty()) ++written;
    in_text.add(std::string(bare), place++);
  }
  std::size_t alike = 0;
  std::optional<std::size_t> before;
  for (const auto& [line, at] : in_text.all()) {
    const std::size_t there = in_file.find(line);
    if (at == Places::kNowhere || there == Places::kNowhere) continue;
    // The text was joined from several places, so it has no single first line.
    if (there < at || (before && *before != there - at)) return std::nullopt;
    before = there - at;
    ++alike;
  }
  if (alike < kFewestAlike || alike * kAlikeShare < written) return std::nullopt;
  return before;
}

}  // namespace kbench
