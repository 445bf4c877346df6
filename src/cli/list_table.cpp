// SPDX-License-Identifier: MIT
#include "cli/list_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "cli/terminal/text_table.hpp"

namespace kbench::cli {
namespace {

/// A wider cell shifts only its own line.
constexpr std::size_t kWidestCell = 40;
/// Longer constants are expressions or tables, which are not useful in a table cell.
constexpr std::size_t kMaxLiteral = 24;

std::string bytes_text(std::size_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::size_t state_bytes(const Signature& signature) {
  std::size_t total = 0;
  for (const StateInfo& entry : signature.state) total += entry.tensor.bytes();
  return total;
}

std::string sizes_text(const ListedProblem& listed) {
  std::string text;
  for (const auto& [name, literal] : effective_sizes(listed)) {
    if (literal.size() > kMaxLiteral) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, literal);
  }
  return text.empty() ? "-" : text;
}

/// The signature's cell, or "-" if there is none.
template <typename Cell>
std::string of_signature(const ListedProblem& listed, Cell cell) {
  const auto* signature = std::get_if<Signature>(&listed.found);
  return signature == nullptr ? "-" : cell(*signature);
}

/// One column of the table.
struct Column {
  std::string_view header;
  bool right;  ///< numbers
  std::string (*cell)(const ListedProblem&);
};

constexpr std::array<Column, 7> kColumns = {{
    {"id", true, [](const ListedProblem& listed) { return listed.problem.id; }},
    {"name", false, [](const ListedProblem& listed) { return listed.problem.name; }},
    {"level", true,
     [](const ListedProblem& listed) { return fmt::format("{}", listed.problem.level); }},
    {"parameters", true,
     [](const ListedProblem& listed) {
       return of_signature(
           listed, [](const Signature& it) { return fmt::format("{}", it.parameter_count()); });
     }},
    {"bytes", true,
     [](const ListedProblem& listed) {
       return of_signature(listed, [](const Signature& it) {
         return bytes_text(it.input_bytes() + state_bytes(it) + it.output_bytes());
       });
     }},
    {"sizes", false, sizes_text},
    {"inputs", false,
     [](const ListedProblem& listed) {
       const auto* failure = std::get_if<std::string>(&listed.found);
       return failure != nullptr ? "problem_failure: " + *failure
                                 : inputs_text(std::get<Signature>(listed.found));
     }},
}};

nlohmann::json input_json(const InputInfo& input) {
  if (const auto* tensor = std::get_if<TensorInfo>(&input.value)) {
    nlohmann::json json = to_json(*tensor);
    json["name"] = input.name;
    return json;
  }
  return {{"name", input.name}, {"value", to_json(std::get<Value>(input.value))}};
}

void add_signature(nlohmann::json& json, const Signature& signature) {
  json["inputs"] = nlohmann::json::array();
  for (const InputInfo& input : signature.inputs) json["inputs"].push_back(input_json(input));
  json["outputs"] = nlohmann::json::array();
  for (const TensorInfo& output : signature.outputs) json["outputs"].push_back(to_json(output));
  json["parameters"] = signature.parameter_count();
  json["input_bytes"] = signature.input_bytes();
  json["state_bytes"] = state_bytes(signature);
  json["output_bytes"] = signature.output_bytes();
}

/// A skeleton of a plan. A `//@ problem` line names only problems of the sets, so for any other
/// file there is a comment in its place.
std::string skeleton_of(const ListedProblem& listed, const Signature& signature) {
  std::string text = plan_skeleton(signature);
  const std::string line = fmt::format("//@ problem {}\n", signature.problem);
  const std::size_t at = text.find(line);
  if (listed.problem.argument != listed.problem.key && at != std::string::npos)
    text.replace(at, line.size(),
                 fmt::format("// kbench check FILE --problem {}\n", listed.problem.argument));
  return text;
}

}  // namespace

std::string inputs_text(const Signature& signature) {
  std::string text;
  for (const InputInfo& input : signature.inputs) {
    if (!text.empty()) text += ", ";
    if (const auto* tensor = std::get_if<TensorInfo>(&input.value)) {
      text += fmt::format("{}: {}", input.name, describe(*tensor));
    } else {
      text += fmt::format("{} = {}", input.name, describe(std::get<Value>(input.value)));
    }
  }
  return text.empty() ? "none" : text;
}

std::vector<std::pair<std::string, std::string>> effective_sizes(const ListedProblem& listed) {
  std::vector<std::pair<std::string, std::string>> sizes;
  Sizes rest = listed.sizes;
  for (auto& [name, literal] : problem_constants(listed.problem)) {
    if (const auto set = listed.sizes.find(name); set != listed.sizes.end()) literal = set->second;
    rest.erase(name);
    sizes.emplace_back(std::move(name), std::move(literal));
  }
  for (const auto& [name, literal] : rest) sizes.emplace_back(name, literal);
  return sizes;
}

std::string list_text(std::span<const ListedProblem> problems, std::string_view device_class,
                      std::size_t width) {
  std::vector<std::vector<std::string>> rows(1);
  std::set<std::size_t> right;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    rows[0].emplace_back(kColumns[i].header);
    if (kColumns[i].right) right.insert(i);
  }
  for (const ListedProblem& listed : problems) {
    auto& row = rows.emplace_back();
    for (const Column& column : kColumns) row.push_back(column.cell(listed));
  }
  std::string text = table_text(rows, right, kWidestCell, width);
  text += fmt::format("{} problem{}, sizes for {}; bytes are those of inputs, state and outputs\n",
                      problems.size(), problems.size() == 1 ? "" : "s", device_class);
  std::map<std::string, ReducedSizes> reduced_sizes;
  for (const ListedProblem& listed : problems)
    if (listed.reduced_sizes) reduced_sizes.emplace(listed.problem.key, *listed.reduced_sizes);
  return reduced_sizes.empty() ? text : text + reduced_sizes_text(reduced_sizes) + "\n";
}

nlohmann::json list_json(std::span<const ListedProblem> problems, std::string_view device_class) {
  nlohmann::json list = nlohmann::json::array();
  for (const ListedProblem& listed : problems) {
    const Problem& problem = listed.problem;
    nlohmann::json sizes = nlohmann::json::object(), named = nlohmann::json::array();
    for (const auto& [name, literal] : effective_sizes(listed)) sizes[name] = literal;
    for (const auto& [name, constants] : problem.named_sizes) named.push_back(name);
    nlohmann::json json = {{"key", problem.key},
                           {"id", problem.id},
                           {"name", problem.name},
                           {"level", problem.level},
                           {"path", problem.path.string()},
                           {"tags", problem.tags},
                           {"sizes", std::move(sizes)},
                           {"named_sizes", std::move(named)}};
    if (listed.reduced_sizes) json["reduced_sizes"] = to_json(*listed.reduced_sizes);
    if (const auto* signature = std::get_if<Signature>(&listed.found)) {
      add_signature(json, *signature);
    } else {
      json["failure"] = std::get<std::string>(listed.found);
    }
    list.push_back(std::move(json));
  }
  return {{"device", device_class}, {"precision", "native"}, {"problems", std::move(list)}};
}

std::string names_text(const ListedProblem& listed, const DeviceLimits& limits) {
  const bool reduced = listed.reduced_sizes && listed.reduced_sizes->reduced();
  std::string text =
      fmt::format("# {}{}\n", listed.problem.key,
                  reduced ? ", at reduced sizes (--full-sizes shows those of the file)" : "");
  if (const auto* signature = std::get_if<Signature>(&listed.found)) {
    return text + plan_names(*signature, limits) + "\n" + skeleton_of(listed, *signature);
  }
  return text + fmt::format("problem_failure: {}\n", std::get<std::string>(listed.found));
}

}  // namespace kbench::cli
