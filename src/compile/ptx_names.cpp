// SPDX-License-Identifier: MIT
#include "compile/ptx_names.hpp"

#include <algorithm>

namespace kbench {

void name_in_ptx(std::string& ptx, std::string_view known, std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '"' || c == '\\' || (c >= 0 && c < ' '); }, '_');
  for (std::size_t at = ptx.find(".file"); at != std::string::npos;
       at = ptx.find(".file", at + 1)) {
    const std::size_t line_end = std::min(ptx.find('\n', at), ptx.size());
    const std::size_t begin = ptx.find('"', at) + 1;
    if (begin == 0 || begin > line_end) continue;
    const std::size_t end = ptx.find('"', begin);
    const std::size_t found = ptx.find(known, begin);
    if (end > line_end || found == std::string::npos || found + known.size() > end) continue;
    ptx.replace(begin, found + known.size() - begin, name);
  }
}

}  // namespace kbench
