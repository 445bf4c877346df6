// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/paint.hpp"

namespace kbench::report {

/// Writes text to a terminal of a given width, line by line.
class ConsoleLines {
 public:
  /// `width` in columns, at least 60.
  ConsoleLines(std::ostream& out, bool color, int width);

  std::size_t width() const { return width_; }
  std::string painted(Tone tone, std::string_view text) const;
  /// Writes a line; spaces at its end are removed.
  void line(std::string text);
  /// Writes `label`, then `text` from column `indent` on, in as many lines as it needs.
  void labelled(std::string_view label, std::size_t indent, std::string_view text);
  /// Writes an empty line and `text` in bold.
  void heading(std::string_view text);
  /// Writes a table, each column as wide as its widest cell; the first column is aligned to the
  /// left, the others to the right. The first row has the columns' names.
  void table(const std::vector<std::vector<std::string>>& rows, std::size_t indent);

 private:
  std::ostream& out_;
  bool color_;
  std::size_t width_;
};

}  // namespace kbench::report
