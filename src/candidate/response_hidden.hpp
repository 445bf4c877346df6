// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench {

/// Finds the lines of an answer, outside of its code blocks, that a rendered page does not show:
/// HTML comments, declarations, scripts, styles and templates, and elements that are `hidden` or
/// `display: none`. As in CommonMark, such a part must begin at the start of a line, or after
/// markers of lists and quotations. A comment ends with the line of its end tag. A hidden element
/// lasts to the end of the answer, because its end tag could be code in Markdown. So does a comment
/// after other markup.
class HiddenParts {
 public:
  /// True if the next line belongs to such a part. Call it for each line in order.
  bool covers(std::string_view line);

 private:
  std::optional<std::string> end_;  ///< the text that ends the open part, in lower case
};

/// Removes the marker of a list item or a quotation ("-", "2.", ">") from the front of a trimmed
/// line.
bool take_marker(std::string_view& text);

}  // namespace kbench
