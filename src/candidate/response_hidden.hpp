// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// Finds the lines of an answer, outside of its code blocks, that a rendered page does not show:
/// HTML comments, declarations, scripts, styles and templates, and elements that are `hidden` or
/// `display: none`. As in CommonMark, such a part begins with the line that its mark begins
/// (markers of lists and quotations do not count). A comment ends with the line that holds its end.
/// A hidden element ends with the answer, because its end tag could be code in Markdown; so does a
/// comment that begins behind other markup.
class HiddenParts {
 public:
  /// True if the next line belongs to such a part. Call it for each line in order.
  bool covers(std::string_view line);

 private:
  std::optional<std::string> end_;  ///< what ends the part that is open, in lower case
};

/// Removes the marker of a list item or a quotation ("-", "2.", ">") from the front of a trimmed
/// line.
bool take_marker(std::string_view& text);

}  // namespace kbench
