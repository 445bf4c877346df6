// SPDX-License-Identifier: MIT
#include "core/problem_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/file_tree.hpp"
#include "core/problem_files.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSizesBytes = 16u << 20;

/// Reads one sizes.json; `where` in its errors is the path through the JSON.
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
      require(content.is_object(), where, "an object of constants");
      Sizes& sizes = entry.named_sizes[name];
      for (const auto& [constant, literal] : content.items()) {
        sizes[constant] = python(literal, fmt::format("{}: \"{}\"", where, constant));
      }
    }
    return entry;
  }

  /// The Python literal that a value stands for: a string is one already.
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

  /// A misspelt key would leave a problem at the sizes of another device without a word.
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
    fail(fmt::format("there is no problem \"{}\" beside it{}", key, hint));
  }

  fs::path file_;
};

}  // namespace

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
    throw UsageError(fmt::format("{}:{}: this is no JSON", path.string(), line));
  }
  return Reader(path).read(document);
}

}  // namespace kbench
