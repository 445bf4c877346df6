// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/paint.hpp"

namespace kbench::report {

/// Writes text for people to a terminal of some width, line by line.
class ConsoleLines {
 public:
  /// `width` in columns; below 60 it is taken for 60.
  ConsoleLines(std::ostream& out, bool color, int width);

  std::size_t width() const { return width_; }
  std::string painted(Tone tone, std::string_view text) const;
  /// A line without spaces at its end.
  void line(std::string text);
  /// `text` in as many lines as it needs, after `label` and below its own beginning.
  void labelled(std::string_view label, std::size_t indent, std::string_view text);
  /// An empty line and `text` in bold.
  void heading(std::string_view text);
  /// Rows of cells, as wide as their widest, the first at the left and the others at the right;
  /// the first row stands for the columns' names.
  void table(const std::vector<std::vector<std::string>>& rows, std::size_t indent);

 private:
  std::ostream& out_;
  bool color_;
  std::size_t width_;
};

}  // namespace kbench::report
