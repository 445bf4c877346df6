// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kbench/candidate_kind.hpp"

namespace kbench {

/// Where in an answer the code stands that counts. Lines count from 1, fences excluded.
struct CodeBlock {
  std::size_t first_line = 1, last_line = 0;
  std::string language;  ///< as the fence says it, whether true or not; "" where it says nothing
  bool fenced = false;   ///< false: an answer without fences is code as a whole
  bool operator==(const CodeBlock&) const = default;
};

/// What extract_code found in an answer.
struct ExtractedCode {
  /// The code with an empty line in place of each line before it, so that line numbers of errors
  /// are those of the answer; "" where none counts.
  std::string source;
  CandidateKind kind = CandidateKind::kKernel;
  std::optional<CodeBlock> block;
  std::size_t blocks = 0;  ///< fenced blocks outside of thinking, nested ones included
  /// Fenced blocks or thinking, and not code as it is that has fences in its comments.
  bool is_answer = false;
  /// Where none counts, why: the cause slug "no_code_block", "no_candidate_block", "hidden_code" or
  /// "truncated", and one sentence.
  std::string cause, message;
};

/// Finds the code that a model's answer (Markdown, or plain text) gives. What a block is follows
/// from its content; the language that its fence names is not believed.
///  1. <think>…</think> and its like never count; where only the end is there, nor does what stands
///     before it. An end that never comes is "truncated".
///  2. Of blocks that define ModelNew the last one counts; where there is none, of those with a
///     plan and a kernel the last; else of those with a kernel and a torch::Tensor, or with a
///     PYBIND11_MODULE, the last. Blocks are never joined.
///  3. Fences are those of CommonMark (``` or ~~~, three or more), at any indentation, in lists,
///  and
///     after tags like <answer>. A fence with a language inside of a block opens a nested block,
///     whose lines are not the outer block's: an answer wrapped in ```markdown is read through, and
///     an example in a docstring is part of its code only.
///  4. A block that counts and has no closing fence is "truncated"; so is an answer in which no
///     block counts and one has none.
///  5. Without a block that counts, the text is code as a whole, where what stands outside of
///  blocks
///     would count (as an extension: where there are no blocks).
///  6. What a rendered page does not show (HTML comments, hidden elements) never counts;
///     an unfenced answer with such a part is "hidden_code".
/// Takes time and memory linear in the text, whatever it holds.
ExtractedCode extract_code(std::string_view answer);

}  // namespace kbench
