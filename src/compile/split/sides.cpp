// SPDX-License-Identifier: MIT
#include "compile/split/sides.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "compile/split/lambda.hpp"
#include "compile/split/names.hpp"
#include "compile/split/start.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

using Kind = SourceItem::Kind;
using Names = std::set<std::string, std::less<>>;

constexpr int kMaxPasses = 32;
constexpr std::size_t kMaxMentions = 2'000'000;

/// Facts about one declaration, which decide where it is placed.
struct Traits {
  Names mentions;       ///< identifiers anywhere in it and in its macros
  Names calls;          ///< identifiers followed by arguments or template arguments
  Names host_mentions;  ///< identifiers of the part that host code would have
  bool is_device_code = false;
  bool names_host = false;
  bool names_device = false;
  std::size_t size() const { return mentions.size() + calls.size() + host_mentions.size(); }
};

void flatten(const std::vector<SourceItem>& items, const std::string& scope,
             std::vector<PlacedItem>& placed) {
  for (const SourceItem& item : items) {
    spend_bytes(scope.size());
    if (item.is(Kind::kNamespace)) {
      flatten(item.members, item.name.empty() ? scope : scope + item.name + "::", placed);
    } else if (item.is(Kind::kLinkage)) {
      flatten(item.members, scope, placed);
    } else if (!item.is(Kind::kDirective)) {
      placed.push_back({&item, scope, false, false});
    }
  }
}

bool has_device_member(const SourceItem& type) {
  return std::ranges::any_of(type.members, [](const SourceItem& member) {
    return member.has_space() || has_device_member(member);
  });
}

/// The name that decides: a member defined outside its class goes where the class goes.
std::string declared_name(const std::string& name) {
  const std::size_t colon = name.find("::");
  return colon == std::string::npos ? name : name.substr(0, colon);
}

class Placement {
 public:
  explicit Placement(const SourceUnit& unit) : unit_(unit) {}
  std::vector<PlacedItem> placed();

 private:
  void mention(std::size_t begin, std::size_t end, Names& names) const;
  void host_mention(const SourceItem& item, Names& names) const;
  void call(const SourceItem& item, Names& names) const;
  bool type_names_host(const SourceItem& type) const;
  bool names_host_by_macro(std::string_view name) const;
  Traits traits(const SourceItem& item) const;
  void index_names();
  bool may_be_shared(std::size_t at) const;
  void close_over_device(std::vector<std::size_t> found);
  std::vector<bool> named_by_device_lambdas() const;
  void drop_what_runs_at_load();
  void place_in_device();
  void set_in_device(std::size_t at, bool in_device);
  bool drop_what_needs_host();
  bool drop_if_it_needs_host(std::size_t at);
  void mark_device_types();
  bool is_host_root(std::size_t at) const;
  void place_in_host();

  const SourceUnit& unit_;
  std::vector<PlacedItem> items_;
  std::vector<Traits> traits_;
  std::vector<bool> needed_;  ///< by device code
  Names named_, called_;      ///< by device code
  /// All declarations of one name, and how many of them are in device code.
  struct Declared {
    std::vector<std::size_t> items;
    std::size_t in_device = 0;
    bool all_constexpr = true;  ///< all are constexpr, and none of them names host code
  };
  std::map<std::string, Declared, std::less<>> declared_;
};

void Placement::mention(std::size_t begin, std::size_t end, Names& names) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (!unit_.text[i].is_identifier()) continue;
    spend_steps(kLookupSteps);
    if (!names.insert(unit_.text[i].text).second) continue;
    const auto& more = unit_.macros.identifiers(unit_.text[i].text);
    spend_steps(kLookupSteps * more.size());
    names.insert(more.begin(), more.end());
  }
}

void Placement::call(const SourceItem& item, Names& names) const {
  std::set<std::string_view> expanded;
  for (std::size_t i = item.begin; i < item.end; ++i) {
    if (!unit_.text[i].is_identifier()) continue;
    spend_steps(kLookupSteps);
    if (expanded.insert(unit_.text[i].text).second) {
      const auto& more = unit_.macros.identifiers(unit_.text[i].text);
      spend_steps(kLookupSteps * more.size());
      names.insert(more.begin(), more.end());
    }
    const bool is_member = i > 0 && (unit_.text.is(i - 1, ".") || unit_.text.is(i - 1, "->"));
    const bool has_arguments = unit_.text.is(i + 1, "(") || unit_.text.is(i + 1, "<");
    // A function's name alone may be a template argument.
    const bool is_argument = (unit_.text.is(i + 1, ">") || unit_.text.is(i + 1, ",") ||
                              unit_.text.is(i + 1, ")") || unit_.text.is(i + 1, "::")) &&
                             unit_.text.is(i - 1, "<");
    if (!is_member && (has_arguments || is_argument)) names.insert(unit_.text[i].text);
  }
}

void Placement::host_mention(const SourceItem& item, Names& names) const {
  const bool only_head = item.is(Kind::kFunction) && (item.is_global || is_device_only(item));
  if (only_head && item.body != kNoToken) {
    mention(item.begin, item.close, names);
  } else if (item.is(Kind::kType) && !item.members.empty()) {
    mention(item.begin, item.body, names);
    for (const SourceItem& member : item.members) host_mention(member, names);
  } else {
    mention(item.begin, item.end, names);
  }
}

bool Placement::type_names_host(const SourceItem& type) const {
  if (type.members.empty()) return names_host(unit_.text, type.begin, type.end);
  if (names_host(unit_.text, type.begin, type.body)) return true;
  return std::any_of(type.members.begin(), type.members.end(), [this](const SourceItem& member) {
    if (member.is(Kind::kFunction)) return false;  // such functions are left out of device code
    return member.is(Kind::kType) ? type_names_host(member)
                                  : names_host(unit_.text, member.begin, member.end);
  });
}

bool Placement::names_host_by_macro(std::string_view name) const {
  const auto& words = unit_.macros.identifiers(name);
  spend_steps(kLookupSteps * (1 + words.size()));
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return is_host_word(word); });
}

Traits Placement::traits(const SourceItem& item) const {
  Traits traits;
  mention(item.begin, item.end, traits.mentions);
  host_mention(item, traits.host_mentions);
  call(item, traits.calls);
  traits.is_device_code = item.has_space() || has_device_member(item);
  traits.names_host =
      item.is(Kind::kType) ? type_names_host(item) : names_host(unit_.text, item.begin, item.end);
  for (const std::string& name : traits.mentions) {
    traits.names_host |= item.is(Kind::kVariable) && names_host_by_macro(name);
  }
  traits.names_device = names_device_library(unit_.text, item.begin, item.end);
  return traits;
}

void Placement::index_names() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (const std::string& name : items_[i].item->names) {
      Declared& declared = declared_[declared_name(name)];
      declared.items.push_back(i);
      declared.all_constexpr &= items_[i].item->is_constexpr && !traits_[i].names_host;
    }
  }
}

void Placement::set_in_device(std::size_t at, bool in_device) {
  if (items_[at].in_device == in_device) return;
  items_[at].in_device = in_device;
  spend_steps(kLookupSteps * (1 + items_[at].item->names.size()));
  for (const std::string& name : items_[at].item->names) {
    Declared& declared = declared_.find(declared_name(name))->second;
    declared.in_device = in_device ? declared.in_device + 1 : declared.in_device - 1;
  }
}

/// True if both device code and host code may have it, unless it mentions a host declaration.
bool Placement::may_be_shared(std::size_t at) const {
  const SourceItem& item = *items_[at].item;
  if (traits_[at].names_host || item.is_host) return false;
  if (item.is(Kind::kFunction)) return false;
  return !item.is(Kind::kVariable) || item.is_const || item.is_constexpr;
}

/// Adds everything that `found` mentions, directly or not, to device code.
void Placement::close_over_device(std::vector<std::size_t> found) {
  while (!found.empty()) {
    const std::size_t at = found.back();
    found.pop_back();
    spend_steps(kLookupSteps * traits_[at].mentions.size());
    for (const std::string& name : traits_[at].mentions) {
      const auto declared = declared_.find(name);
      const bool is_called = traits_[at].calls.contains(name);
      if (declared == declared_.end() || !(is_called ? called_ : named_).insert(name).second) {
        continue;
      }
      for (const std::size_t other : declared->second.items) {
        const SourceItem& item = *items_[other].item;
        if (needed_[other] || traits_[other].is_device_code) continue;
        const bool is_helper =
            item.is(Kind::kFunction) && !item.is_host && !traits_[other].names_host;
        if (!is_helper && !may_be_shared(other)) continue;
        needed_[other] = true;
        set_in_device(other, true);
        found.push_back(other);
      }
    }
  }
}

/// The declarations that device lambdas in host functions name, directly or not. They are not in
/// `needed_`, because their functions are host code.
std::vector<bool> Placement::named_by_device_lambdas() const {
  std::vector<bool> named(items_.size());
  std::vector<std::size_t> found;
  Names seen;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const SourceItem& item = *items_[i].item;
    if (find_device_lambda(unit_.text, item.begin, item.end) != kNoToken) found.push_back(i);
  }
  while (!found.empty()) {
    const std::size_t at = found.back();
    found.pop_back();
    for (const std::string& name : traits_[at].mentions) {
      const auto declared = declared_.find(name);
      if (declared == declared_.end() || !seen.insert(name).second) continue;
      for (const std::size_t other : declared->second.items) {
        if (named[other]) continue;
        named[other] = true;
        found.push_back(other);
      }
    }
  }
  return named;
}

/// Removes constants from device code if device code does not name them and their initialisers run
/// at load time. Device code lacks the functions that such initialisers call.
void Placement::drop_what_runs_at_load() {
  const std::vector<bool> named = named_by_device_lambdas();
  LoadTime load_time(unit_, [this](std::string_view name) { return declared_.contains(name); });
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const SourceItem& item = *items_[i].item;
    if (!item.is(Kind::kVariable) || item.is_constexpr || !items_[i].in_device) continue;
    if (needed_[i] || named[i] || traits_[i].is_device_code) continue;
    if (load_time.runs(item, traits_[i].mentions)) set_in_device(i, false);
  }
}

/// Removes unneeded declarations that mention host declarations from device code; false if there
/// are none. Host declarations that are constexpr are added to device code instead.
bool Placement::drop_what_needs_host() {
  bool changed = false;
  for (std::size_t i = 0; i < items_.size(); ++i) changed |= drop_if_it_needs_host(i);
  for (std::size_t i = items_.size(); i > 0; --i) changed |= drop_if_it_needs_host(i - 1);
  return changed;
}

bool Placement::drop_if_it_needs_host(std::size_t at) {
  if (!items_[at].in_device || needed_[at] || traits_[at].is_device_code) return false;
  spend_steps(kLookupSteps * traits_[at].mentions.size());
  for (const std::string& name : traits_[at].mentions) {
    const auto declared = declared_.find(name);
    if (declared == declared_.end() || declared->second.in_device > 0) continue;
    if (declared->second.all_constexpr) {
      for (const std::size_t host : declared->second.items) {
        needed_[host] = true;
        set_in_device(host, true);
      }
      close_over_device(declared->second.items);
    } else {
      set_in_device(at, false);
    }
    return true;
  }
  return false;
}

void Placement::place_in_device() {
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    // An alias may name a namespace that only host code has (std::filesystem).
    const bool is_namespace = unit_.text.is(items_[i].item->specifiers, "namespace");
    set_in_device(i, traits_[i].is_device_code || (!is_namespace && may_be_shared(i)));
    if (traits_[i].is_device_code) roots.push_back(i);
  }
  close_over_device(roots);
  drop_what_runs_at_load();
  // A few passes are enough, because C++ declares a name before its use.
  for (int pass = 0; pass < kMaxPasses && drop_what_needs_host();) ++pass;
}

/// Marks types and aliases of device libraries, and declarations that use them.
void Placement::mark_device_types() {
  std::map<std::string_view, std::vector<std::size_t>> users;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].item->is(Kind::kFunction)) continue;
    for (const std::string& name : traits_[i].host_mentions) users[name].push_back(i);
    if (traits_[i].names_device) found.push_back(i);
  }
  while (!found.empty()) {
    const SourceItem& item = *items_[found.back()].item;
    found.pop_back();
    for (const std::string& name : item.names) {
      for (const std::size_t user : users[name]) {
        if (traits_[user].names_device) continue;
        traits_[user].names_device = true;
        found.push_back(user);
      }
    }
  }
}

bool Placement::is_host_root(std::size_t at) const {
  const SourceItem& item = *items_[at].item;
  if (item.is_shared) return false;
  if (item.is_global || item.is_constant || item.is_managed) return true;
  if (item.is(Kind::kVariable) && item.is_device) return true;
  if (item.is(Kind::kFunction)) {
    const bool is_operator = item.name.find("operator") != std::string::npos;
    return !item.is_device || (item.is_host && is_operator);
  }
  return !traits_[at].is_device_code && !traits_[at].names_device;
}

void Placement::place_in_host() {
  std::vector<std::size_t> found;
  Names seen;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items_[i].in_host = is_host_root(i);
    if (items_[i].in_host) found.push_back(i);
  }
  while (!found.empty()) {
    const std::size_t at = found.back();
    found.pop_back();
    for (const std::string& name : traits_[at].host_mentions) {
      const auto declared = declared_.find(name);
      if (declared == declared_.end() || !seen.insert(name).second) continue;
      for (const std::size_t other : declared->second.items) {
        const SourceItem& item = *items_[other].item;
        const bool is_member = item.is(Kind::kFunction) && is_device_only(item) &&
                               item.name.find("::") != std::string::npos;
        if (items_[other].in_host || item.is_shared || is_member) continue;
        if (item.is_instance && is_device_only(item)) continue;
        items_[other].in_host = true;
        found.push_back(other);
      }
    }
  }
}

std::vector<PlacedItem> Placement::placed() {
  flatten(unit_.items, "", items_);
  std::size_t total = 0;
  for (const PlacedItem& item : items_) {
    traits_.push_back(traits(*item.item));
    total += traits_.back().size();
    if (total <= kMaxMentions) continue;
    throw SplitRefusal{"too_large", "the declarations of the source contain too many names",
                       unit_.text[item.item->begin].line};
  }
  needed_.resize(items_.size());
  index_names();
  place_in_device();
  mark_device_types();
  place_in_host();
  return std::move(items_);
}

}  // namespace

bool is_device_only(const SourceItem& function) {
  return function.is_device && !function.is_host && !function.is_constexpr;
}

bool is_host_member(const SourceUnit& unit, const SourceItem& member) {
  if (!member.is(SourceItem::Kind::kFunction) || member.is_device || member.is_global) return false;
  return member.is_host || names_host(unit.text, member.begin, member.end);
}

std::vector<PlacedItem> place_items(const SourceUnit& unit) { return Placement(unit).placed(); }

}  // namespace kbench
