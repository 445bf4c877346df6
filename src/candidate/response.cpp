// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "candidate/response_blocks.hpp"
#include "kbench/candidate.hpp"

namespace kbench {
namespace {

/// Blocks are searched for these kinds in this order.
constexpr std::array kOrder = {CandidateKind::kModule, CandidateKind::kKernel,
                               CandidateKind::kExtension};

const ResponseBlock* block_that_counts(const ResponseParts& parts) {
  for (const CandidateKind kind : kOrder) {
    for (auto block = parts.blocks.rbegin(); block != parts.blocks.rend(); ++block) {
      if (block->traits.kind() == kind) return &*block;
    }
  }
  return nullptr;
}

std::string_view common_start(std::string_view a, std::string_view b) {
  std::size_t length = 0;
  while (length < std::min(a.size(), b.size()) && a[length] == b[length]) ++length;
  return a.substr(0, length);
}

/// Lines `first` to `last`, after an empty line for each line before them. A module's lines lose
/// the first line's indentation, because a block in a list is indented and Python would reject
/// that.
std::string source_of(std::string_view answer, std::size_t first, std::size_t last,
                      CandidateKind kind) {
  std::string source(first - 1, '\n');
  std::optional<std::string_view> margin;
  if (kind != CandidateKind::kModule) margin = "";
  Lines lines(answer);
  std::string_view line;
  for (std::size_t number = 1; number <= last && lines.next(line); ++number) {
    if (number < first) continue;
    if (!margin && !trimmed(line).empty()) {
      margin = line.substr(0, line.find_first_not_of(" \t"));
    }
    if (margin) line.remove_prefix(common_start(line, *margin).size());
    source.append(line).push_back('\n');
  }
  return source;
}

ExtractedCode without_code(ExtractedCode found, std::string cause, std::string message) {
  found.cause = std::move(cause);
  found.message = std::move(message);
  return found;
}

ExtractedCode truncated(ExtractedCode found, std::size_t line) {
  return without_code(std::move(found), "truncated",
                      fmt::format("The answer breaks off: the code block that begins at line {} "
                                  "has no closing fence.",
                                  line));
}

}  // namespace

ExtractedCode extract_code(std::string_view answer) {
  const ResponseParts parts = response_parts(answer);
  ExtractedCode found;
  found.blocks = parts.blocks.size();
  const ResponseBlock* block = block_that_counts(parts);
  const auto outside = parts.outside.kind();
  found.is_answer = parts.has_thinking || block != nullptr || (found.blocks > 0 && !outside);
  if (parts.thinking_is_open) {
    return without_code(std::move(found), "truncated",
                        "The answer breaks off while the model is still thinking.");
  }
  if (block != nullptr) {
    if (!block->closed) return truncated(std::move(found), block->first_line);
    found.kind = *block->traits.kind();
    found.block = {block->first_line, block->last_line, block->language, true};
  } else if (outside && (parts.blocks.empty() || outside != CandidateKind::kExtension)) {
    // The text may be code whose comments contain fences. This excludes extensions, because prose
    // may contain all words that mark an extension.
    if (parts.has_hidden)
      return without_code(std::move(found), "hidden_code",
                          "The answer has no code block that counts, and it contains lines that a "
                          "rendered page hides, such as an HTML comment.");
    found.kind = *outside;
    found.block = {parts.answer_begins, parts.lines, "", false};
  } else if (parts.blocks.empty()) {
    return without_code(std::move(found), "no_code_block", "The answer contains no code block.");
  } else if (const auto open = std::ranges::find(parts.blocks, false, &ResponseBlock::closed);
             open != parts.blocks.end()) {
    return truncated(std::move(found), open->first_line);
  } else {
    return without_code(
        std::move(found), "no_candidate_block",
        fmt::format("None of the answer's code blocks ({}) defines ModelNew, or contains a kernel "
                    "with a plan or with its host code.",
                    parts.blocks.size()));
  }
  found.source = source_of(answer, found.block->first_line, found.block->last_line, found.kind);
  return found;
}

}  // namespace kbench
