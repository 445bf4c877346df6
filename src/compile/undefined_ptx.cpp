// SPDX-License-Identifier: MIT
#include "compile/undefined_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kbench {
namespace {

bool is_word(char c) { return is_word_char(c) || c == '$'; }

/// Replaces comments and debug directives by blanks, so offsets stay the same.
std::string without_remarks(std::string_view ptx) {
  std::string text(ptx);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    if (line.starts_with(".loc") || line.starts_with(".file")) blank(at, end);
    at = end + 1;
  }
  for (std::size_t at = 0; (at = text.find('/', at)) != std::string::npos; ++at) {
    if (text.compare(at, 2, "//") == 0) {
      blank(at, text.find('\n', at));
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at + 2);
      blank(at, end == std::string::npos ? end : end + 2);
    }
  }
  return text;
}

/// Registers of one declaration: `%r<20>` are %r0 to %r19.
struct RegisterFile {
  std::string type;
  std::size_t first = 0, count = 0;
};

class Registers {
 public:
  /// Declares "%r<20>". Ignores names without a number, such as "%SP", because the compiler sets
  /// those.
  void declare(std::string_view type, std::string_view name) {
    const std::size_t open = name.find('<');
    if (open == std::string_view::npos) return;
    std::size_t count = 0;
    for (const char c : name.substr(open + 1)) {
      if (!is_digit(c)) break;
      count = count * 10 + static_cast<std::size_t>(c - '0');
    }
    files_[std::string(name.substr(0, open))] = {std::string(type), size_, count};
    size_ += count;
  }
  std::size_t size() const { return size_; }

  template <typename Take>
  void each_in(std::string_view text, Take take) const {
    for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos;) {
      std::size_t end = at + 1;
      while (end < text.size() && is_word(text[end])) ++end;
      if (const auto found = index_of(text.substr(at, end - at))) take(*found);
      at = end;
    }
  }

  /// The instruction that fills a register with garbage: NaN as a float or as two 16-bit floats,
  /// and a large integer. `extreme`: the max or min instruction that reads the register, or "". For
  /// these the garbage is an infinity, because they ignore NaN.
  std::string fill(std::size_t index, std::string_view extreme) const {
    for (const auto& [prefix, file] : files_) {
      if (index < file.first || index >= file.first + file.count) continue;
      const std::string name = fmt::format("{}{}", prefix, index - file.first);
      if (file.type == ".pred") return fmt::format("\tmov.pred \t{}, -1;\n", name);
      const std::string_view sign = extreme.starts_with("min") ? "F" : "7";
      if (extreme.ends_with(".f32"))
        return fmt::format("\tmov.b32 \t{}, 0x{}F800000;\n", name, sign);
      if (extreme.ends_with(".f64"))
        return fmt::format("\tmov.b64 \t{}, 0x{}FF0000000000000;\n", name, sign);
      if (file.type.ends_with("16")) return fmt::format("\tmov.b16 \t{}, 0x7FFF;\n", name);
      if (file.type.ends_with("64"))
        return fmt::format("\tmov.b64 \t{}, 0x7FFF7FFF7FFF7FFF;\n", name);
      if (file.type.ends_with("32") || file.type.ends_with("x2"))
        return fmt::format("\tmov.b32 \t{}, 0x7FFF7FFF;\n", name);
    }
    return {};
  }

 private:
  std::optional<std::size_t> index_of(std::string_view name) const {
    std::size_t digits = name.size();
    while (digits > 0 && is_digit(name[digits - 1])) --digits;
    const auto found = files_.find(name.substr(0, digits));
    if (found == files_.end() || digits == name.size()) return std::nullopt;
    std::size_t number = 0;
    for (const char c : name.substr(digits))
      number = number * 10 + static_cast<std::size_t>(c - '0');
    if (number >= found->second.count) return std::nullopt;
    return found->second.first + number;
  }

  std::map<std::string, RegisterFile, std::less<>> files_;
  std::size_t size_ = 0;
};

/// Selects the late warps, in one of eight blocks; more blocks would only take longer. The first
/// delay is as long as other warps need for their next step. Each later delay is half as long,
/// because a loop may have a thousand barriers.
constexpr int kFirstLate_ns = 16384, kLeastLate_ns = 512;
constexpr std::string_view kWarps =
    "\t.reg .pred \t%kbench_late<2>;\n\t.reg .b32 \t%kbench_ns;\n"
    "\t{\n\t.reg .b32 \t%kbench<5>;\n"
    "\tmov.u32 \t%kbench0, %tid.z;\n\tmov.u32 \t%kbench1, %ntid.y;\n"
    "\tmov.u32 \t%kbench2, %tid.y;\n\tmad.lo.u32 \t%kbench0, %kbench0, %kbench1, %kbench2;\n"
    "\tmov.u32 \t%kbench1, %ntid.x;\n\tmov.u32 \t%kbench2, %tid.x;\n"
    "\tmad.lo.u32 \t%kbench0, %kbench0, %kbench1, %kbench2;\n"
    "\tand.b32 \t%kbench0, %kbench0, 32;\n"
    "\tmov.u32 \t%kbench1, %ctaid.x;\n\tand.b32 \t%kbench1, %kbench1, 7;\n"
    "\tor.b32 \t%kbench2, %kbench0, %kbench1;\n"
    "\tsetp.eq.u32 \t%kbench_late0, %kbench2, 0;\n"
    "\tsetp.eq.u32 \t%kbench_late1, %kbench2, 32;\n\t}\n";

bool is_barrier(std::string_view opcode) {
  return (opcode.starts_with("bar.") || opcode.starts_with("barrier.")) &&
         opcode.find("cluster") == std::string_view::npos &&
         opcode.find("arrive") == std::string_view::npos;
}

struct Statement {
  std::vector<std::size_t> reads, writes;
  std::string_view target;  ///< label of a branch
  bool falls_through = true;
  bool goes_anywhere = false;  ///< to any label
  bool is_label = false;       ///< `target` is its name
};

/// One function's body, which begins after its opening brace.
class Body {
 public:
  Body(std::string_view text, std::size_t begin) {
    // Braces between statements are scopes; braces within a statement are vectors.
    std::size_t from = begin, depth = 1, vector = 0, at = begin;
    for (; at < text.size() && depth > 0; ++at) {
      const char c = text[at];
      if (c == '{' && is_between_statements(text.substr(from, at - from))) {
        statement(text.substr(from, at - from), depth, at + 1);
        ++depth;
        from = at + 1;
      } else if (c == '{') {
        ++vector;
      } else if (c == '}' && vector > 0) {
        --vector;
      } else if (c == '}') {
        --depth;
        from = at + 1;
      } else if (c == ';' && vector == 0) {
        statement(text.substr(from, at - from), depth, at + 1);
        from = at + 1;
      }
    }
    end_ = at;
  }

  std::size_t end() const { return end_; }
  /// Offsets in ascending order, and the text to insert at each.
  std::vector<std::pair<std::size_t, std::string>> insertions() const {
    if (behind_declarations_ == 0) return {};
    std::string start;
    for (const std::size_t index : undefined()) {
      const auto extreme = extremes_.find(index);
      start += registers_.fill(index, extreme == extremes_.end() ? "" : extreme->second);
    }
    if (shares_)
      start += fmt::format("{}\tmov.u32 \t%kbench_ns, {};\n{}", kWarps, kFirstLate_ns, late(1));
    std::vector<std::pair<std::size_t, std::string>> all;
    if (!start.empty()) all.emplace_back(behind_declarations_, "\n" + start);
    for (std::size_t i = 0; i < barriers_.size(); ++i)
      all.emplace_back(barriers_[i], "\n" + late(i % 2));
    return all;
  }
  /// Code that delays half 0 or 1 of the warps, and halves their next delay.
  static std::string late(std::size_t half) {
    return fmt::format(
        "\t@%kbench_late{0} nanosleep.u32 \t%kbench_ns;\n"
        "\t@%kbench_late{0} shr.u32 \t%kbench_ns, %kbench_ns, 1;\n"
        "\t@%kbench_late{0} max.u32 \t%kbench_ns, %kbench_ns, {1};\n",
        half, kLeastLate_ns);
  }

 private:
  using Set = std::vector<bool>;

  /// True if `text` is empty or ends with a label.
  static bool is_between_statements(std::string_view text) {
    text = trimmed(text);
    return text.empty() || text.ends_with(':');
  }

  void statement(std::string_view text, std::size_t depth, std::size_t behind) {
    text = trimmed(text);
    while (const std::size_t length = label_length(text)) {
      statements_.push_back({});
      statements_.back().is_label = true;
      statements_.back().target = text.substr(0, length);
      text = trimmed(text.substr(text.find(':') + 1));
    }
    if (text.empty()) return;
    if (text.front() != '.') return instruction(text, behind);
    if (depth == 1 && text.starts_with(".reg")) declaration(trimmed(text.substr(4)));
    if (depth == 1 && statements_.empty()) behind_declarations_ = behind;
  }

  /// Length of the label at the start of `text`; 0 if there is none.
  static std::size_t label_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_word(text[length])) ++length;
    const std::string_view rest = trimmed(text.substr(length));
    return rest.starts_with(':') && !rest.starts_with("::") ? length : 0;
  }

  void declaration(std::string_view text) {
    const std::size_t space = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view type = text.substr(0, space);
    std::string_view names = text.substr(space);
    while (!names.empty()) {
      const std::size_t comma = std::min(names.find(','), names.size());
      registers_.declare(type, trimmed(names.substr(0, comma)));
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
  }

  void instruction(std::string_view text, std::size_t behind) {
    Statement statement;
    const auto read = [&](std::size_t index) { statement.reads.push_back(index); };
    bool is_guarded = false;
    if (text.front() == '@') {
      const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
      registers_.each_in(text.substr(0, end), read);
      is_guarded = true;
      text = trimmed(text.substr(end));
    }
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view opcode = text.substr(0, end);
    std::string_view rest = trimmed(text.substr(end));
    const std::size_t first_length = first_operand(rest);
    const std::string_view first = rest.substr(0, first_length);
    // An instruction writes its first operand, unless that is a memory address. wgmma.mma adds to
    // it, so it also reads it. For an instruction that writes nothing, an undefined value in the
    // first operand goes unnoticed.
    const bool adds = opcode.starts_with("wgmma.mma");
    if (first.starts_with('[') || adds) registers_.each_in(first, read);
    if (!first.starts_with('[') && !is_guarded)
      registers_.each_in(first, [&](std::size_t i) { statement.writes.push_back(i); });
    registers_.each_in(rest.substr(first_length), read);
    if ((opcode.starts_with("max.") || opcode.starts_with("min.")) &&
        opcode.find(".NaN") == std::string_view::npos)
      registers_.each_in(rest.substr(first_length),
                         [&](std::size_t i) { extremes_.emplace(i, opcode); });
    if (opcode.starts_with("brx")) {
      statement.goes_anywhere = true;
      statement.falls_through = is_guarded;
    } else if (opcode.starts_with("bra")) {
      statement.target = first;
      statement.falls_through = is_guarded;
    } else if (opcode.starts_with("ret") || opcode == "exit" || opcode == "trap") {
      statement.falls_through = is_guarded;
    }
    if (is_barrier(opcode)) barriers_.push_back(behind);
    shares_ = shares_ || is_barrier(opcode) || opcode.starts_with("st.shared");
    statements_.push_back(std::move(statement));
  }

  static std::size_t first_operand(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '{' || text[i] == '[' || text[i] == '(') ++depth;
      if (text[i] == '}' || text[i] == ']' || text[i] == ')') --depth;
      if (text[i] == ',' && depth == 0) return i;
    }
    return text.size();
  }

  /// Registers that are read although some path has not written them. The analysis first assumes
  /// that all registers are set at a label. It drops those that a path to the label leaves unset.
  std::vector<std::size_t> undefined() const {
    std::multimap<std::string_view, std::size_t> labels;
    for (std::size_t i = 0; i < statements_.size(); ++i)
      if (statements_[i].is_label) labels.emplace(statements_[i].target, i);
    // Sets are kept only at labels, because paths meet there.
    std::map<std::size_t, Set> at_label;
    Set found(registers_.size());
    bool changed = true;
    const auto meet = [&](std::size_t label, const Set& set) {
      const auto [known, is_new] = at_label.try_emplace(label, set);
      changed = changed || is_new;
      if (is_new) return;
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (!known->second[i] || set[i]) continue;
        known->second[i] = false;
        changed = true;
      }
    };
    while (std::exchange(changed, false)) {
      std::optional<Set> set(std::in_place, registers_.size());
      for (std::size_t i = 0; i < statements_.size(); ++i) {
        const Statement& statement = statements_[i];
        if (statement.is_label) {
          if (set) meet(i, *set);
          const auto known = at_label.find(i);
          set = known != at_label.end() ? std::optional(known->second) : std::nullopt;
          continue;
        }
        if (!set) continue;
        for (const std::size_t index : statement.reads)
          if (!(*set)[index]) found[index] = true;
        for (const std::size_t index : statement.writes) (*set)[index] = true;
        if (statement.goes_anywhere)
          for (const auto& [name, label] : labels) meet(label, *set);
        const auto [begin, end] = labels.equal_range(statement.target);
        for (auto label = begin; label != end; ++label) meet(label->second, *set);
        if (!statement.falls_through) set.reset();
      }
    }
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i]) indices.push_back(i);
    return indices;
  }

  Registers registers_;
  std::vector<Statement> statements_;
  std::vector<std::size_t> barriers_;                 ///< offset after each
  std::map<std::size_t, std::string_view> extremes_;  ///< the max or min that reads a register
  bool shares_ = false;                               ///< uses shared memory or barriers
  std::size_t behind_declarations_ = 0, end_ = 0;
};

}  // namespace

std::string with_undefined_shown(std::string_view ptx) {
  const std::string text = without_remarks(ptx);
  std::string changed;
  std::size_t copied = 0;
  // A body's braces are on lines of their own; those of an initialiser are not.
  for (std::size_t at = 0; (at = text.find("\n{", at)) != std::string::npos;) {
    const Body body(text, at + 2);
    for (const auto& [place, inserted] : body.insertions()) {
      changed.append(ptx.substr(copied, place - copied)).append(inserted);
      copied = place;
    }
    at = body.end();
  }
  return changed.empty() ? changed : changed.append(ptx.substr(copied));
}

}  // namespace kbench
