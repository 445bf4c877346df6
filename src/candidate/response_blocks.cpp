// SPDX-License-Identifier: MIT
#include "candidate/response_blocks.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "candidate/file.hpp"
#include "candidate/response_hidden.hpp"

namespace kbench {
namespace {

/// Limit of nested blocks; it bounds the search at each fence.
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxLanguage = 20;
/// A closing fence may be indented by this much more than the opening one (CommonMark's number).
constexpr std::size_t kFenceSlack = 3;

/// Tags around a model's thinking before its answer. To add one: a row.
constexpr std::array<std::string_view, 5> kThinkingTags = {"think", "thinking", "thought",
                                                           "reasoning", "scratchpad"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool holds(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

/// Removes one tag ("<answer>") from the front.
bool take_tag(std::string_view& text) {
  if (!text.starts_with('<')) return false;
  std::size_t end = 1;
  while (end < text.size() && (is_word(text[end]) || text[end] == '_' || text[end] == '/')) ++end;
  if (end == 1 || end == text.size() || text[end] != '>') return false;
  text = trimmed(text.substr(end + 1));
  return true;
}

/// A line that may open or close a block.
struct Fence {
  char mark = '`';
  std::size_t length = 0, indent = 0;
  std::string_view info;
  bool names_language() const { return !info.empty() && (is_word(info[0]) || info[0] == '{'); }
};

std::optional<Fence> fence_of(std::string_view line, bool inside) {
  Fence fence;
  fence.indent = indentation(line);
  std::string_view text = trimmed(line);
  while (!inside && (take_tag(text) || take_marker(text))) {
  }
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return std::nullopt;
  fence.mark = text[0];
  fence.length = std::min(text.find_first_not_of(fence.mark), text.size());
  if (fence.length < 3) return std::nullopt;
  fence.info = trimmed(text.substr(fence.length));
  if (fence.mark == '`' && holds(fence.info, "`")) return std::nullopt;
  return fence;
}

std::string language_of(std::string_view info) {
  std::string language;
  for (const char c : info) {
    if (c == '{' || c == '.') continue;
    if (!is_word(c) && c != '+' && c != '-' && c != '_') break;
    if (language.size() < kMaxLanguage) language += c;
  }
  return language;
}

class Reader {
 public:
  ResponseParts read(std::string_view answer) {
    Lines lines(answer);
    for (std::string_view line; lines.next(line);) {
      ++parts_.lines;
      read_line(line);
    }
    for (const Open& open : open_) parts_.blocks[open.block].last_line = parts_.lines;
    return std::move(parts_);
  }

 private:
  struct Open {
    std::size_t block;
    Fence fence;  // its `info` is left empty
  };

  void read_line(std::string_view line) {
    if (parts_.thinking_is_open) {
      end_thinking(line);
    } else if (open_.empty()) {
      outside(line);
    } else {
      inside(line);
    }
  }

  /// The index after the tag that ends thinking, if `line` has it.
  static std::optional<std::size_t> thinking_end(std::string_view line, bool whole_line) {
    if (!holds(line, "</")) return std::nullopt;
    const std::string lower = lowercase(line);
    for (const std::string_view tag : kThinkingTags) {
      const std::string end = "</" + std::string(tag) + ">";
      const std::size_t at = lower.find(end);
      if (at == std::string::npos) continue;
      if (!whole_line || trimmed(lower) == end) return at + end.size();
    }
    return std::nullopt;
  }

  static bool thinking_begins(std::string_view line) {
    const std::string_view text = trimmed(line);
    const std::size_t end = text.find('>');
    if (!text.starts_with('<') || end == std::string_view::npos) return false;
    const std::string word = lowercase(text.substr(1, end - 1));
    return std::ranges::find(kThinkingTags, word) != kThinkingTags.end();
  }

  void end_thinking(std::string_view line) {
    const auto end = thinking_end(line, false);
    if (!end) return;
    forget(line.substr(*end));
  }

  /// Discards all lines so far as thinking; `rest` of this line belongs to the answer.
  void forget(std::string_view rest) {
    parts_.thinking_is_open = false;
    parts_.has_thinking = true;
    parts_.blocks.clear();
    parts_.outside = {};
    parts_.has_hidden = false;
    parts_.answer_begins = parts_.lines + 1;
    open_.clear();
    answer(rest);
  }

  void outside(std::string_view line) {
    if (hidden_.covers(line)) {
      parts_.has_hidden = true;
      return;
    }
    if (thinking_begins(line)) {
      parts_.has_thinking = parts_.thinking_is_open = true;
      return end_thinking(line);
    }
    // An end tag without a start tag: the start was part of the prompt.
    const std::string_view text = trimmed(line);
    if (text.starts_with("</") || text.ends_with('>')) {
      if (const auto end = thinking_end(line, false)) return forget(line.substr(*end));
    }
    answer(line);
  }

  /// Reads a line, or the rest of one, outside of blocks and of thinking.
  void answer(std::string_view line) {
    const auto fence = fence_of(line, false);
    if (fence && (fence->info.empty() || fence->names_language())) {
      open(*fence);
    } else if (!fence) {
      parts_.outside.note(line);
    }
  }

  void inside(std::string_view line) {
    if (thinking_end(line, true)) return forget({});
    const auto fence = fence_of(line, true);
    if (fence && opens_nested(*fence)) return open(*fence);
    if (fence && !fence->names_language() && close(*fence)) return;
    parts_.blocks[open_.back().block].traits.note(line);
  }

  bool opens_nested(const Fence& fence) const {
    if (open_.size() >= kMaxDepth) return false;
    // "~~~x" is hardly ever code, but "~~~x + y" may be.
    if (fence.names_language()) return fence.mark == '`' || !holds(fence.info, " ");
    return fence.info.empty() && !closed_by(fence) && fence.mark == open_.back().fence.mark &&
           fence.length < open_.back().fence.length;
  }

  /// The open block that a fence closes: the innermost with a fence of equal length, else with a
  /// shorter one.
  std::optional<std::size_t> closed_by(const Fence& fence) const {
    for (const bool exact : {true, false}) {
      for (std::size_t i = open_.size(); i-- > 0;) {
        const Fence& open = open_[i].fence;
        if (open.mark != fence.mark || fence.indent > open.indent + kFenceSlack) continue;
        if (exact ? open.length == fence.length : open.length < fence.length) return i;
      }
    }
    return std::nullopt;
  }

  bool close(const Fence& fence) {
    const auto closed = closed_by(fence);
    if (!closed) return false;
    while (open_.size() > *closed) {
      ResponseBlock& block = parts_.blocks[open_.back().block];
      block.last_line = parts_.lines - 1;
      block.closed = true;
      open_.pop_back();
    }
    return true;
  }

  void open(const Fence& fence) {
    open_.push_back({parts_.blocks.size(), {fence.mark, fence.length, fence.indent, {}}});
    ResponseBlock block;
    block.first_line = parts_.lines + 1;
    block.language = language_of(fence.info);
    parts_.blocks.push_back(std::move(block));
  }

  ResponseParts parts_;
  HiddenParts hidden_;
  std::vector<Open> open_;
};

}  // namespace

void CodeTraits::note(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return;
  for (const std::string_view start : {"class ModelNew", "ModelNew"}) {
    if (!text.starts_with(start)) continue;
    std::string_view rest = text.substr(start.size());
    if (!rest.empty() && is_name_char(rest[0])) continue;
    rest = trimmed(rest);
    const bool assigned = rest.starts_with('=') && !rest.starts_with("==");
    defines_model_ = defines_model_ || start.starts_with("class") || assigned;
  }
  has_plan_ = has_plan_ || is_plan_line(text);
  has_kernel_ = has_kernel_ || holds(text, "__global__");
  has_tensor_ = has_tensor_ || holds(text, "torch::Tensor") || holds(text, "at::Tensor");
  has_binding_ = has_binding_ || holds(text, "PYBIND11_MODULE");
  is_python_ = is_python_ || text.starts_with("import torch") || text.starts_with("from torch") ||
               holds(text, "\"\"\"") || holds(text, "'''") ||
               (text.starts_with("def ") && text.ends_with(':'));
}

std::optional<CandidateKind> CodeTraits::kind() const {
  if (defines_model_) return CandidateKind::kModule;
  if (is_python_) return std::nullopt;
  if (has_plan_ && has_kernel_) return CandidateKind::kKernel;
  if (has_binding_ || (has_kernel_ && has_tensor_)) return CandidateKind::kExtension;
  return std::nullopt;
}

ResponseParts response_parts(std::string_view answer) { return Reader().read(answer); }

}  // namespace kbench
