// SPDX-License-Identifier: MIT
#include "compile/split/items.hpp"

#include <algorithm>
#include <utility>

#include "compile/split/item_names.hpp"

namespace kbench {
namespace {

using Kind = SourceItem::Kind;

constexpr int kMaxNesting = 64;

class ItemParser {
 public:
  explicit ItemParser(const SourceText& text) : text_(text) {}
  std::vector<SourceItem> items(std::size_t begin, std::size_t end, bool in_class);

 private:
  SourceItem item(std::size_t begin, std::size_t end, bool in_class);
  SourceItem namespace_item(std::size_t begin, std::size_t at);
  SourceItem declaration(std::size_t begin, std::size_t end);
  void head(SourceItem& made, std::size_t end);
  std::size_t template_head(SourceItem& made, std::size_t at, std::size_t end);
  std::size_t constraint(std::size_t at, std::size_t end);
  void simple(SourceItem& made, Kind kind, std::size_t end);
  void scan(SourceItem& made, std::size_t end);
  void classify(SourceItem& made) const;
  std::size_t bracket(SourceItem& made, std::size_t at);
  std::size_t brace(SourceItem& made, std::size_t at, bool& finished);
  std::size_t word(SourceItem& made, std::size_t at, std::size_t end);
  std::size_t operator_name(SourceItem& made, std::size_t at, std::size_t end);
  std::size_t initializer_list(std::size_t at, std::size_t end);
  bool is_parameter_list(std::size_t open) const;
  std::size_t statement_end(std::size_t at, std::size_t end) const;

  const SourceText& text_;
  std::size_t type_word_ = kNoToken;  ///< class, struct, union or enum of the current declaration
  bool initialized_ = false;
  int depth_ = 0;
};

/// The index after the ; that ends the statement at `at`.
std::size_t ItemParser::statement_end(std::size_t at, std::size_t end) const {
  while (at < end && !text_.is(at, ";")) {
    const bool opens = text_.is(at, "(") || text_.is(at, "[") || text_.is(at, "{");
    at = opens ? text_.after_group(at) : at + 1;
  }
  return std::min(at + 1, end);
}

std::vector<SourceItem> ItemParser::items(std::size_t begin, std::size_t end, bool in_class) {
  std::vector<SourceItem> made;
  if (++depth_ > kMaxNesting) {
    throw SplitRefusal{"too_large", "namespaces and classes are nested too deep",
                       text_[begin].line};
  }
  for (std::size_t at = begin; at < end && text_[at].kind != SourceKind::kEnd;) {
    made.push_back(item(at, end, in_class));
    at = made.back().end;
  }
  --depth_;
  return made;
}

SourceItem ItemParser::item(std::size_t begin, std::size_t end, bool in_class) {
  SourceItem made;
  made.begin = made.specifiers = begin;
  made.end = begin + 1;
  if (text_[begin].is_directive()) {
    made.kind = Kind::kDirective;
    return made;
  }
  if (text_.is(begin, ";")) return made;
  const bool is_label = in_class && text_[begin].is_identifier() && text_.is(begin + 1, ":");
  if (is_label) {
    made.end = begin + 2;
    return made;
  }
  const std::size_t at = text_.is(begin, "inline") ? begin + 1 : begin;
  if (text_.is(at, "namespace")) return namespace_item(begin, at);
  if (text_.is(begin, "extern") && text_[begin + 1].kind == SourceKind::kString &&
      text_.is(begin + 2, "{")) {
    made.kind = Kind::kLinkage;
    made.body = begin + 2;
    made.end = text_.after_group(made.body);
    made.body_end = made.end - 1;
    made.members = items(made.body + 1, made.body_end, false);
    return made;
  }
  return declaration(begin, end);
}

SourceItem ItemParser::namespace_item(std::size_t begin, std::size_t at) {
  SourceItem made;
  made.begin = begin;
  made.specifiers = at;
  std::size_t name = after_attributes(text_, at + 1);
  for (; text_[name].is_identifier() || text_.is(name, "::"); ++name) made.name += text_[name].text;
  if (text_.is(name, "=")) {
    made.kind = Kind::kAlias;
    made.names = {made.name};
    made.end = statement_end(name, text_.tokens.size());
    return made;
  }
  if (!text_.is(name, "{")) {
    throw SplitRefusal{"syntax_error", "a namespace without a body", text_[begin].line};
  }
  made.kind = Kind::kNamespace;
  made.body = name;
  made.end = text_.after_group(name);
  made.body_end = made.end - 1;
  made.members = items(made.body + 1, made.body_end, false);
  return made;
}

/// The index after the requires clause at `at`.
std::size_t ItemParser::constraint(std::size_t at, std::size_t end) {
  for (++at; at < end;) {
    if (text_.is(at, "(")) {
      at = text_.after_group(at);
    } else {
      while (text_[at].is_identifier() || text_.is(at, "::")) {
        const bool more = text_.is(at, "::") || text_.is(at + 1, "::") || text_.is(at + 1, "<");
        ++at;
        if (!more) break;
        if (!text_.is(at, "<")) continue;
        const std::size_t close = text_.closing_angle(at, end);
        at = close == kNoToken ? at + 1 : close + 1;
        if (!text_.is(at, "::")) break;
      }
    }
    if (!text_.is(at, "&&") && !text_.is(at, "||")) return at;
    ++at;
  }
  return at;
}

std::size_t ItemParser::template_head(SourceItem& made, std::size_t at, std::size_t end) {
  while (text_.is(at, "template")) {
    if (!text_.is(at + 1, "<")) {
      made.is_instance = true;
      return at + 1;
    }
    const std::size_t close = text_.closing_angle(at + 1, end);
    if (close == kNoToken) {
      throw SplitRefusal{"syntax_error", "the template parameters are not closed", text_[at].line};
    }
    made.is_template = true;
    made.is_special = close == at + 2;
    at = close + 1;
    if (text_.is(at, "requires")) at = constraint(at, end);
  }
  return at;
}

SourceItem ItemParser::declaration(std::size_t begin, std::size_t end) {
  SourceItem made;
  made.begin = begin;
  const bool outer_initialized = std::exchange(initialized_, false);
  const std::size_t outer_type = std::exchange(type_word_, kNoToken);
  head(made, end);
  initialized_ = outer_initialized;
  type_word_ = outer_type;
  return made;
}

void ItemParser::head(SourceItem& made, std::size_t end) {
  std::size_t at = template_head(made, made.begin, end);
  if (text_.is(at, "extern") && text_[at + 1].kind == SourceKind::kString) at += 2;
  while (text_.is(at, "[") && text_.is(at + 1, "[")) at = text_.after_group(at);
  made.specifiers = at;
  const std::string_view first = text_[at].text;
  if (first == "using") {
    const bool is_alias =
        text_[at + 1].is_identifier() && (text_.is(at + 2, "=") || text_.is(at + 2, "["));
    if (is_alias) made.names = {text_[at + 1].text};
    return simple(made, is_alias ? Kind::kAlias : Kind::kUsing, end);
  }
  if (first == "concept") {
    made.names = {text_[at + 1].text};
    return simple(made, Kind::kAlias, end);
  }
  if (first == "typedef") return simple(made, Kind::kAlias, end);
  if (first == "static_assert") return simple(made, Kind::kOther, end);
  scan(made, end);
}

/// Reads a declaration up to its semicolon; only its names matter.
void ItemParser::simple(SourceItem& made, Kind kind, std::size_t end) {
  made.kind = kind;
  made.end = statement_end(made.specifiers, end);
  if (kind == Kind::kUsing && !text_.is(made.specifiers + 1, "namespace")) {
    // using a::b; declares b.
    if (made.end >= 2) made.names = {text_[made.end - 2].text};
  }
  if (text_.is(made.specifiers, "typedef")) {
    for (std::size_t i = made.specifiers + 1; i + 1 < made.end; ++i) {
      const bool is_pointer = text_.is(i, "(") && text_.is(i + 1, "*");
      if (is_pointer && text_[i + 2].is_identifier()) made.names.push_back(text_[i + 2].text);
      const bool ends = text_.is(i + 1, ";") || text_.is(i + 1, "[") || text_.is(i + 1, ",");
      if (text_[i].is_identifier() && ends) made.names.push_back(text_[i].text);
    }
  }
  if (!made.names.empty()) made.name = made.names.front();
}

/// Reads one declaration token by token, up to its body or semicolon.
void ItemParser::scan(SourceItem& made, std::size_t end) {
  bool finished = false;
  std::size_t at = made.specifiers;
  while (at < end && !finished) {
    const SourceToken& token = text_[at];
    if (token.is("(")) {
      at = bracket(made, at);
    } else if (token.is("[")) {
      at = text_.after_group(at);
    } else if (token.is("{")) {
      at = brace(made, at, finished);
    } else if (token.is("<") && at > made.begin && text_[at - 1].is_identifier()) {
      const std::size_t close = text_.closing_angle(at, end);
      at = close == kNoToken ? at + 1 : close + 1;
    } else if (token.is("=")) {
      if (made.open == kNoToken && made.initializer == kNoToken) made.initializer = at;
      initialized_ = true;
      ++at;
    } else if (token.is(":") && made.open != kNoToken) {
      made.initializer = at;
      at = initializer_list(at + 1, end);
    } else if (token.is(";")) {
      finished = true;
      ++at;
    } else {
      at = word(made, at, end);
    }
  }
  made.end = at;
  classify(made);
}

/// Sets the kind of a declaration by the parts that scan() found.
void ItemParser::classify(SourceItem& made) const {
  const bool is_declared_only = type_word_ != kNoToken && made.initializer == kNoToken &&
                                text_.is(after_attributes(text_, type_word_ + 1) + 1, ";");
  if (made.open != kNoToken) {
    made.kind = Kind::kFunction;
  } else if (made.body != kNoToken || is_declared_only) {
    made.kind = Kind::kType;
    name_type(text_, made, type_word_);
  } else if (made.is_instance && type_word_ != kNoToken) {
    made.kind = Kind::kOther;
  } else {
    made.kind = Kind::kVariable;
    name_variables(text_, made);
  }
}

/// Reads a ( of the declaration itself; returns the index after its group.
std::size_t ItemParser::bracket(SourceItem& made, std::size_t at) {
  const std::size_t after = text_.after_group(at);
  if (made.open != kNoToken || initialized_) return after;
  if (is_parameter_list(at)) {
    made.open = at;
    made.close = after - 1;
    if (made.name.empty()) name_function(text_, made);
  } else {
    for (std::size_t i = at + 1; i + 1 < after; ++i) {
      if (text_[i].is_identifier() && made.name.empty()) made.name = text_[i].text;
    }
    if (!made.name.empty()) made.names = {made.name};
    // A pointer to a function: skip the parameters of that function.
    if (text_.is(after, "(")) return text_.after_group(after);
  }
  return after;
}

bool ItemParser::is_parameter_list(std::size_t open) const {
  const SourceToken& before = text_[open - 1];
  if (!before.is_identifier() && !before.is(">")) return false;
  if (is_type_word(before.text)) return false;
  const bool is_declarator = text_.is(open + 1, "*") || text_.is(open + 1, "&");
  return !is_declarator || !text_.is(text_.after_group(open), "(");
}

std::size_t ItemParser::brace(SourceItem& made, std::size_t at, bool& finished) {
  const std::size_t after = text_.after_group(at);
  if (made.open != kNoToken) {
    made.body = at;
    made.body_end = after - 1;
    finished = true;
  } else if (type_word_ != kNoToken && !initialized_ && made.body == kNoToken) {
    made.body = at;
    made.body_end = after - 1;
    if (!text_.is(type_word_, "enum")) made.members = items(at + 1, after - 1, true);
  } else if (made.initializer == kNoToken) {
    made.initializer = at;
  }
  return after;
}

/// The index of a constructor's body, after its member initialisers.
std::size_t ItemParser::initializer_list(std::size_t at, std::size_t end) {
  while (at < end && !text_.is(at, "{")) {
    while (at < end && !text_.is(at, "(") && !text_.is(at, "{") && !text_.is(at, ";")) {
      if (text_.is(at, "<")) {
        const std::size_t close = text_.closing_angle(at, end);
        if (close != kNoToken) at = close;
      }
      ++at;
    }
    if (at >= end || text_.is(at, ";")) return at;
    at = text_.after_group(at);
    if (text_.is(at, "...")) ++at;
    if (text_.is(at, ",")) ++at;
  }
  return at;
}

/// The index after the parameters of the operator at `at`, or of the ; that ends it.
std::size_t ItemParser::operator_name(SourceItem& made, std::size_t at, std::size_t end) {
  std::size_t open = at + 1;
  if (text_.is(open, "(")) open += 2;
  while (open < end && !text_.is(open, "(") && !text_.is(open, ";")) ++open;
  if (open >= end) {
    throw SplitRefusal{"syntax_error", "an operator without parameters", text_[at].line};
  }
  for (std::size_t i = at; i < open; ++i) made.name += text_[i].text;
  made.names = {made.name};
  if (!text_.is(open, "(")) return open;
  made.open = open;
  made.close = text_.after_group(open) - 1;
  return made.close + 1;
}

std::size_t ItemParser::word(SourceItem& made, std::size_t at, std::size_t end) {
  const std::string_view word = text_[at].text;
  if (word == "__global__") made.is_global = true;
  if (word == "__device__") made.is_device = true;
  if (word == "__host__") made.is_host = true;
  if (word == "__constant__") made.is_constant = true;
  if (word == "__managed__") made.is_managed = true;
  if (word == "__shared__") made.is_shared = true;
  if (made.initializer == kNoToken && made.open == kNoToken) {
    made.is_static |= word == "static";
    made.is_constexpr |= word == "constexpr" || word == "consteval";
    made.is_extern |= word == "extern";
    const bool is_type = word == "class" || word == "struct" || word == "union" || word == "enum";
    if (is_type && type_word_ == kNoToken) type_word_ = at;
  }
  if (word == "operator" && made.open == kNoToken) return operator_name(made, at, end);
  if (takes_arguments(word) && text_.is(at + 1, "(")) {
    return text_.after_group(at + 1);
  }
  return at + 1;
}

}  // namespace

std::vector<SourceItem> source_items(const SourceText& text) {
  return ItemParser(text).items(0, text.tokens.size(), false);
}

}  // namespace kbench
