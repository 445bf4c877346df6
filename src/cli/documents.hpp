// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace kbench::cli {

/// A document of the source that the program holds, so that an installed kbench can print it.
struct Document {
  std::string_view name;  ///< the argument of `kbench help`
  std::string_view text;  ///< Markdown
};
std::span<const Document> documents();

}  // namespace kbench::cli
