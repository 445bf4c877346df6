// SPDX-License-Identifier: MIT
#include "candidate/generation_config.hpp"

#include <fmt/format.h>

#include "base/file_tree.hpp"
#include "base/text.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxConfigBytes = 1u << 20;

/// The value of the quoted YAML scalar at the start of `text`. In double quotes a backslash escapes
/// the next character; in single quotes '' stands for one.
std::string unquoted(std::string_view text) {
  const char quote = text[0];
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool escapes = quote == '"' ? text[i] == '\\' : text[i] == quote;
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (escapes && (quote == '"' ? next != '\0' : next == quote)) {
      ++i;
    } else if (text[i] == quote) {
      break;
    }
    value += text[i];
  }
  return value;
}

std::string scalar(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text[0] == '"' || text[0] == '\'')) return unquoted(text);
  text = trimmed(text.substr(0, text.find(" #")));
  return text == "null" || text == "~" ? "" : std::string(text);
}

std::string in_quotes(std::string_view text) {
  std::string value = "'";
  for (const char c : text) value += c == '\'' ? std::string("''") : std::string(1, c);
  return value + "'";
}

}  // namespace

GenerationConfig read_generation_config(const fs::path& folder) {
  GenerationConfig config;
  const FileBytes file = read_file(folder / "generation_config.yaml", kMaxConfigBytes);
  Lines lines(file.bytes);
  for (std::string_view line; lines.next(line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string value = scalar(line.substr(colon + 1));
    if (key == "model_name") {
      config.model = value;
    } else if (key == "precision") {
      config.precision = value;
    } else if (key == "level") {
      if (const auto level = to_number<int>(value); level && *level >= 0) config.level = level;
    }
  }
  return config;
}

std::string generation_config_text(const GenerationConfig& config, std::string_view run) {
  std::string text;
  if (config.level) text += fmt::format("level: {}\n", *config.level);
  text += fmt::format("model_name: {}\n", in_quotes(config.model));
  text += fmt::format("precision: {}\n", config.precision);
  text += fmt::format("run_name: {}\n", in_quotes(run));
  return text;
}

}  // namespace kbench
