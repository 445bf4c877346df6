// SPDX-License-Identifier: MIT
#include "compile/split/split.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "compile/split/halves.hpp"
#include "compile/split/lambda.hpp"
#include "compile/split/launch.hpp"
#include "compile/split/names.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

using Kind = SourceItem::Kind;

/// A candidate has at most a megabyte, plus at most as many line ends before its text.
constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;

std::string with_plain_line_ends(std::string_view source) {
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);
  std::string made;
  made.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool is_pair = source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
    if (!is_pair) made += source[i];
  }
  return made;
}

std::string escaped(std::string_view name) {
  std::string made;
  for (const char c : name) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made;
}

SourceUnit read_unit(std::string_view source, std::string_view file_name) {
  if (source.size() > kMaxSourceBytes) {
    throw SplitRefusal{"too_large",
                       fmt::format("the source has more than {} bytes", kMaxSourceBytes), 1};
  }
  const SourceTokens tokens = source_tokens(with_plain_line_ends(source));
  SourceMacros macros(tokens);
  SourceText text(expand_macros(tokens, macros));
  std::vector<SourceItem> items = source_items(text);
  return {std::move(text), std::move(macros), std::move(items), escaped(file_name)};
}

/// Throws SplitRefusal if only nvcc can compile the item: a __managed__ variable, device code that
/// launches, or host code that uses certain libraries.
void check(const SourceUnit& unit, const PlacedItem& placed) {
  const SourceItem& item = *placed.item;
  const int line = unit.text[item.begin].line;
  if (item.is_managed) {
    throw SplitRefusal{"managed_variable", "a __managed__ variable needs nvcc", line};
  }
  if (item.is(Kind::kFunction) && item.has_space()) {
    if (has_launch(unit.text, item.begin, item.end)) {
      throw SplitRefusal{"device_launch",
                         fmt::format("{} launches a kernel from device code", item.name), line};
    }
    return;
  }
  for (std::size_t i = item.begin; i < item.end; ++i) {
    const HostLibrary library = unsplittable_library(unit.text, i);
    if (library.cause.empty() || !placed.in_host || !item.is(Kind::kFunction)) continue;
    throw SplitRefusal{std::string(library.cause), std::string(library.message), unit.text[i].line};
  }
}

/// For each kernel's name: its index, and if it was defined.
using KnownKernels = std::map<std::string, std::pair<std::size_t, bool>>;

/// Adds a kernel or a device variable to `made`.
void list(const SourceUnit& unit, const PlacedItem& placed, KnownKernels& known,
          SplitSource& made) {
  const SourceItem& item = *placed.item;
  const int line = unit.text[item.begin].line;
  const std::string name = placed.scope + item.name;
  if (item.is(Kind::kFunction) && item.is_global && !item.is_special && !item.is_instance) {
    const bool is_definition = item.body != kNoToken;
    const auto [place, is_new] = known.try_emplace(name, made.kernels.size(), is_definition);
    if (is_new) {
      made.kernels.push_back({name, item.is_template, line, false});
    } else if (is_definition && place->second.second) {
      made.kernels[place->second.first].is_overloaded = true;
    } else if (is_definition) {
      made.kernels[place->second.first].line = line;  // declared earlier
      place->second.second = true;
    }
  }
  if (item.is(Kind::kVariable) && (item.is_constant || item.is_device)) {
    for (const std::string& each : item.names)
      made.variables.push_back({placed.scope + each, line});
  }
}

/// True for a declaration that only host code has and that device code may name.
bool is_host_only(const PlacedItem& placed) {
  const SourceItem& item = *placed.item;
  const bool is_data = item.is(Kind::kVariable) || item.is(Kind::kType) || item.is(Kind::kAlias);
  return is_data && placed.in_host && !placed.in_device && !item.has_space();
}

/// Refuses device lambdas in member functions: their class cannot be put before the function.
void refuse_member_lambdas(const SourceUnit& unit, const SourceItem& type) {
  for (const SourceItem& member : type.members) {
    if (member.is(Kind::kType)) refuse_member_lambdas(unit, member);
    if (!member.is(Kind::kFunction) || member.has_space()) continue;
    const std::size_t lambda = find_device_lambda(unit.text, member.begin, member.end);
    if (lambda == kNoToken) continue;
    throw SplitRefusal{"device_lambda", "a device lambda is in a member function",
                       unit.text[lambda].line};
  }
}

SplitSource halves_of(std::string_view source, std::string_view file_name) {
  const SourceUnit unit = read_unit(source, file_name);
  const std::vector<PlacedItem> items = place_items(unit);
  Rewriter device(unit.text.tokens), host(unit.text.tokens);
  SplitSource made;
  int lambdas = 0;
  KnownKernels known;
  for (const PlacedItem& placed : items) {
    check(unit, placed);
    list(unit, placed, known, made);
    if (is_host_only(placed)) {
      made.host_only.insert(made.host_only.end(), placed.item->names.begin(),
                            placed.item->names.end());
    }
    const SourceItem& item = *placed.item;
    if (item.is(Kind::kFunction) && !item.has_space()) {
      rewrite_lambdas(unit, item, device, host, lambdas);
    } else if (item.is(Kind::kType)) {
      refuse_member_lambdas(unit, item);
    }
  }
  made.device = device_code(unit, items, device);
  made.host = host_code(unit, items, host);
  return made;
}

}  // namespace

std::string first_line_directive(const SourceUnit& unit) {
  return fmt::format("#line 1 \"{}\"\n", unit.file_name);
}

std::variant<SplitSource, SplitRefusal> split_source(std::string_view source,
                                                     std::string_view file_name) {
  const SplitWork work;
  try {
    return halves_of(source, file_name);
  } catch (const SplitRefusal& refusal) {
    return refusal;
  }
}

}  // namespace kbench
