// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/candidate.hpp"

namespace kbench {

/// What the lines of a piece of code say about what it is; nested blocks' lines are not its own.
class CodeTraits {
 public:
  void note(std::string_view line);
  /// What the code is as a candidate; nothing where it is a part of one, or none.
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

/// An answer taken apart.
struct ResponseParts {
  std::vector<ResponseBlock> blocks;  ///< in the order in which they begin
  bool has_thinking = false;
  bool thinking_is_open = false;  ///< the text ends inside of it
  std::size_t answer_begins = 1;  ///< the first line after all thinking
  std::size_t lines = 0;
  bool has_hidden = false;  ///< lines outside of blocks that a rendered page does not show
  CodeTraits outside;       ///< of the lines outside of blocks and of thinking that it shows
};

/// Takes an answer apart; the rules stand in kbench/response.hpp.
ResponseParts response_parts(std::string_view answer);

}  // namespace kbench
