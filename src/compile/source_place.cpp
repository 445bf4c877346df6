// SPDX-License-Identifier: MIT
#include "compile/source_place.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace kbench {
namespace {

/// Lines that are in both places once, at least; and of those of the text that are not blank.
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

/// Without what indents it: dedent() may have been there.
std::string_view stripped(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin);
}

/// With each of the characters that stands there twice once: escapes of literals and of f-strings.
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

/// {line: where it stands}, of a text; one that stands in two places is in none.
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
    // Parts from several places have no one line to begin with.
    if (there < at || (before && *before != there - at)) return std::nullopt;
    before = there - at;
    ++alike;
  }
  if (alike < kFewestAlike || alike * kAlikeShare < written) return std::nullopt;
  return before;
}

}  // namespace kbench
