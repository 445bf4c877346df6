// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/candidate.hpp"

namespace kbench {

/// Decides from a block's lines which kind of candidate it is. Lines of nested blocks are left out.
class CodeTraits {
 public:
  void note(std::string_view line);
  /// The kind of candidate; nothing if the code is not a whole candidate.
  std::optional<CandidateKind> kind() const;

 private:
  bool defines_model_ = false, has_plan_ = false, has_kernel_ = false, has_tensor_ = false,
       has_binding_ = false, is_python_ = false;
};

/// A fenced block of an answer.
struct ResponseBlock {
  std::size_t first_line = 1, last_line = 0;  ///< from 1, without the fences
  std::string language;
  bool closed = false;
  CodeTraits traits;
};

/// The parts of an answer.
struct ResponseParts {
  std::vector<ResponseBlock> blocks;  ///< by their first line
  bool has_thinking = false;
  bool thinking_is_open = false;  ///< the text ends within thinking
  std::size_t answer_begins = 1;  ///< the first line after all thinking
  std::size_t lines = 0;
  bool has_hidden = false;  ///< lines outside of blocks that a rendered page does not show
  CodeTraits outside;       ///< of the visible lines outside of blocks and thinking
};

/// Splits an answer into its parts; extract_code() states the rules.
ResponseParts response_parts(std::string_view answer);

}  // namespace kbench
