// SPDX-License-Identifier: MIT
#include "compile/ptx_names.hpp"

#include <algorithm>

namespace kbench {

void name_in_ptx(std::string& ptx, std::string_view known, std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '"' || c == '\\' || (c >= 0 && c < ' '); }, '_');
  // Must take linear time, because a kernel's inline assembly may contain any number of these
  // words, on lines of any length.
  constexpr std::string_view kFile = ".file";
  const std::string_view text = ptx;
  std::string made;
  std::size_t done = 0, at = 0, line_end = 0;
  while ((at = text.find(kFile, at)) != std::string_view::npos) {
    if (at >= line_end) line_end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(0, line_end);
    const std::size_t begin = line.find('"', at) + 1;
    const std::size_t end = begin == 0 ? std::string_view::npos : line.find('"', begin);
    at = end == std::string_view::npos ? line_end : end;
    if (end == std::string_view::npos) continue;
    const std::size_t found = line.substr(0, end).find(known, begin);
    if (found == std::string_view::npos) continue;
    made.append(text, done, begin - done).append(name);
    done = found + known.size();
  }
  if (done > 0) ptx = made.append(text, done);
}

}  // namespace kbench
