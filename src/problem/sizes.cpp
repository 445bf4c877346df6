// SPDX-License-Identifier: MIT
#include "problem/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file_tree.hpp"
#include "kbench/error.hpp"
#include "problem/files.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSizesBytes = 16u << 20;

/// Reads one sizes.json. `where`: the path through the JSON, for errors.
class Reader {
 public:
  explicit Reader(fs::path file) : file_(std::move(file)) {}

  std::map<std::string, SizesEntry> read(const json& document) const {
    require(document.is_object(), "it", "an object of problems");
    std::map<std::string, SizesEntry> entries;
    for (const auto& [key, value] : document.items()) {
      require(value.is_object(), quoted(key), "an object of sizes");
      check_problem(key);
      entries.emplace(key, entry(key, value));
    }
    return entries;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", file_.string(), what));
  }

  void require(bool holds, const std::string& where, std::string_view form) const {
    if (!holds) fail(fmt::format("{} has to be {}", where, form));
  }

  static std::string quoted(std::string_view key) { return fmt::format("\"{}\"", key); }

  SizesEntry entry(const std::string& key, const json& value) const {
    SizesEntry entry;
    for (const auto& [name, content] : value.items()) {
      const std::string where = fmt::format("\"{}\": \"{}\"", key, name);
      if (name == "tags") {
        require(content.is_array(), where, "a list of strings");
        for (const json& tag : content) {
          require(tag.is_string(), where, "a list of strings");
          entry.tags.push_back(tag.get<std::string>());
        }
        continue;
      }
      if (name == "distributions_off") {
        require(content.is_object(), where, "an object of reasons");
        for (const auto& [distribution, reason] : content.items()) {
          require(reason.is_string() && !reason.get_ref<const std::string&>().empty(),
                  fmt::format("{}: \"{}\"", where, distribution), "a reason");
          entry.distributions_off[distribution] = reason.get<std::string>();
        }
        continue;
      }
      require(content.is_object(), where, "an object of constants");
      Sizes& sizes = entry.named_sizes[name];
      for (const auto& [constant, literal] : content.items()) {
        sizes[constant] = python(literal, fmt::format("{}: \"{}\"", where, constant));
      }
    }
    return entry;
  }

  /// A value as a Python literal; a string already is one.
  std::string python(const json& value, const std::string& where) const {
    switch (value.type()) {
      case json::value_t::null:
        return "None";
      case json::value_t::boolean:
        return value.get<bool>() ? "True" : "False";
      case json::value_t::number_integer:
      case json::value_t::number_unsigned:
      case json::value_t::number_float:
        return value.dump();
      case json::value_t::string:
        require(!value.get_ref<const std::string&>().empty(), where, "a Python literal");
        return value.get<std::string>();
      case json::value_t::array: {
        std::string list = "[";
        for (const json& element : value) {
          if (list.size() > 1) list += ", ";
          list += python(element, where);
        }
        return list + "]";
      }
      default:
        fail(fmt::format("{} has to be a number, a string or a list", where));
    }
  }

  /// Throws UsageError for an unknown problem. Otherwise a problem with a misspelt key would
  /// silently keep the sizes of another device.
  void check_problem(const std::string& key) const {
    const fs::path set = file_.parent_path();
    std::error_code error;
    if (fs::exists(set / (key + ".py"), error)) return;
    const std::size_t slash = key.find('/');
    const auto level = level_of_folder(std::string_view(key).substr(0, slash));
    if (level && slash != std::string::npos) {
      const std::string other = fmt::format("level_{}/{}.py", *level, key.substr(slash + 1));
      if (fs::exists(set / other, error)) return;
    }
    std::string hint;
    for (const std::string& name : nearest_names(key, spellings(problem_files(set)), 1)) {
      hint = fmt::format("; did you mean \"{}\"?", name);
    }
    fail(fmt::format("there is no problem \"{}\" next to this file{}", key, hint));
  }

  fs::path file_;
};

/// The Python name at the front of `text`, "" if there is none.
std::string_view leading_name(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_name_char(text[length])) ++length;
  if (length > 0 && text[0] >= '0' && text[0] <= '9') return {};
  return text.substr(0, length);
}

/// The names that a line of a file assigns ("a = b = 3", "n: int = 4"), and the text on the right.
std::pair<std::vector<std::string_view>, std::string_view> assignment(std::string_view line) {
  std::vector<std::string_view> names;
  for (;;) {
    const std::string_view name = leading_name(line);
    std::string_view rest = trimmed(line.substr(name.size()));
    if (names.empty() && rest.starts_with(':')) {
      rest.remove_prefix(std::min(rest.find('='), rest.size()));  // the annotation
    }
    if (name.empty() || !rest.starts_with('=') || rest.starts_with("==")) {
      return {std::move(names), line};
    }
    names.push_back(name);
    line = trimmed(rest.substr(1));
  }
}

/// The parts of "a, (b, c), d", without brackets around all of them.
std::vector<std::string_view> tuple_elements(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && (text.front() == '(' || text.front() == '[')) {
    text = text.substr(1, text.size() - 2);
  }
  std::vector<std::string_view> elements;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth != 0) continue;
    elements.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty()) elements.push_back(last);
  return elements;
}

/// The constants of a line "depth, height, width = (16, 32, 32)"; none for other lines.
std::vector<std::pair<std::string, std::string>> unpacked(std::string_view line) {
  const std::string_view left = trimmed(line.substr(0, line.find('=')));
  if (left.size() == line.size() || left.find(',') == std::string_view::npos) return {};
  const std::vector<std::string_view> names = tuple_elements(left);
  const std::string_view right = line.substr(line.find('=') + 1);
  const std::vector<std::string_view> literals =
      tuple_elements(trimmed(right.substr(0, right.find('#'))));
  if (names.size() != literals.size()) return {};
  std::vector<std::pair<std::string, std::string>> constants;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || leading_name(names[i]) != names[i]) return {};
    constants.emplace_back(names[i], literals[i]);
  }
  return constants;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> problem_constants(const Problem& problem) {
  std::vector<std::pair<std::string, std::string>> constants;
  Lines lines(problem.source);
  for (std::string_view line; lines.next(line);) {
    const auto [names, text] = assignment(line);
    const std::string_view literal = trimmed(text.substr(0, text.find('#')));
    for (const std::string_view name : names) constants.emplace_back(name, literal);
    if (!names.empty()) continue;
    for (auto& constant : unpacked(line)) constants.push_back(std::move(constant));
  }
  return constants;
}

Sizes parse_overrides(const std::vector<std::string>& settings,
                      const std::vector<Problem>& problems) {
  std::vector<Spelled> known;
  if (!settings.empty()) {
    for (const Problem& problem : problems) {
      for (const auto& [name, literal] : problem_constants(problem))
        known.push_back({name, {name}});
    }
  }
  Sizes overrides;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name(trimmed(std::string_view(setting).substr(0, equals)));
    const std::string value(
        equals == std::string::npos ? "" : trimmed(std::string_view(setting).substr(equals + 1)));
    if (name.empty() || leading_name(name) != name || value.empty()) {
      throw UsageError(fmt::format("--set {}: it takes NAME=VALUE, as in batch_size=4", setting));
    }
    const auto is_it = [&](const Spelled& constant) { return constant.name == name; };
    if (!problems.empty() && std::none_of(known.begin(), known.end(), is_it)) {
      std::string hint;
      for (const std::string& near : nearest_names(name, known, 1)) {
        hint = fmt::format("; did you mean {}?", near);
      }
      throw UsageError(fmt::format(
          "--set {}: {} module-level constant {}{}", setting,
          problems.size() == 1 ? problems[0].key + " has no" : "none of the problems has a", name,
          hint));
    }
    overrides[name] = value;
  }
  return overrides;
}

Sizes sizes_for(const Problem& problem, std::string_view device_class, const Sizes& overrides) {
  Sizes sizes;
  const auto named = problem.named_sizes.find(std::string(device_class));
  if (named != problem.named_sizes.end()) sizes = named->second;
  if (overrides.empty()) return sizes;
  for (const auto& [name, literal] : problem_constants(problem)) {
    const auto override = overrides.find(name);
    if (override != overrides.end()) sizes[name] = override->second;
  }
  return sizes;
}

std::map<std::string, SizesEntry> read_sizes(const fs::path& set) {
  const fs::path path = set / "sizes.json";
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const FileBytes file = read_file(path, kMaxSizesBytes);
  if (!file.error.empty()) {
    throw UsageError(fmt::format("cannot read {}: {}", path.string(), file.error));
  }
  json document;
  try {
    document = json::parse(file.bytes);
  } catch (const json::parse_error& wrong) {
    const std::string_view before = std::string_view(file.bytes).substr(0, wrong.byte);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    throw UsageError(fmt::format("{}:{}: this is not JSON", path.string(), line));
  }
  return Reader(path).read(document);
}

}  // namespace kbench
