// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "report/text/paint.hpp"
#include "report/text/table.hpp"

namespace kbench::report {

/// Writes text to a terminal of a given width, line by line.
class ConsoleLines {
 public:
  /// `width` in columns, at least 24.
  ConsoleLines(std::ostream& out, bool color, int width);

  std::size_t width() const { return width_; }
  std::string painted(Tone tone, std::string_view text) const;
  /// Writes a line; spaces at its end are removed.
  void line(std::string text);
  /// Writes `label`, then `text` from column `indent` on, in as many lines as it needs.
  void labelled(std::string_view label, std::size_t indent, std::string_view text);
  /// Writes an empty line and `text` in bold, in as many lines as it needs.
  void heading(std::string_view text);
  /// Writes `text` in a tone, in as many lines as it needs.
  void toned(Tone tone, std::string_view text);
  /// Writes a table, or stacks its rows if they do not fit. The first column is aligned to the
  /// left, the others to the right.
  void table(const TextRows& rows, std::size_t indent);
  /// True if the terminal is too narrow for tables with several columns of numbers.
  bool is_narrow() const { return width_ < kNarrowTerminal; }

 private:
  std::ostream& out_;
  bool color_;
  std::size_t width_;
};

}  // namespace kbench::report
