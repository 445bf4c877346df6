// SPDX-License-Identifier: MIT
#include "compile/host/unsupported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kFolders = {"ATen/cuda", "c10/cuda", "ATen/cudnn"};
constexpr std::array<std::string_view, 2> kSpaces = {"at::cuda", "c10::cuda"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    if (begins && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

/// Whether torch's headers for CUDA hold the word.
bool is_torchs(std::string_view word, const std::vector<fs::path>& includes) {
  for (const auto& include : includes) {
    for (const std::string_view folder : kFolders) {
      std::error_code absent;
      for (const auto& entry : fs::directory_iterator(include / folder, absent)) {
        if (!entry.is_regular_file(absent)) continue;
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        if (holds_word(text, word)) return true;
      }
    }
  }
  return false;
}

std::string_view first_error(std::string_view log) {
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    if (line.find(": error: ") != std::string_view::npos ||
        line.find(": fatal error: ") != std::string_view::npos)
      return line;
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return {};
}

/// The words in quotes: "no member named 'x' in namespace 'at::cuda'", "'x' is not a member of
/// 'at::cuda'".
std::vector<std::string_view> quoted(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t open = line.find('\''); open != std::string_view::npos;) {
    const std::size_t close = line.find('\'', open + 1);
    if (close == std::string_view::npos) break;
    words.push_back(line.substr(open + 1, close - open - 1));
    open = line.find('\'', close + 1);
  }
  return words;
}

/// What is said of the first error: the log up to the second.
std::string_view about_first(std::string_view log) {
  const std::size_t first = log.find(" error: ");
  return log.substr(0, first == std::string_view::npos ? first : log.find(" error: ", first + 1));
}

/// "ATen/cuda/CUDASparse.h", where the error stands in such a header of one of the folders and no
/// instance of a template led there.
std::string header_of(std::string_view line, std::string_view log,
                      const std::vector<fs::path>& includes) {
  const std::string_view file = line.substr(0, line.find(':'));
  const std::string_view said = about_first(log);
  if (said.find("requested here") != std::string_view::npos ||
      said.find("required from") != std::string_view::npos)
    return {};
  for (const auto& include : includes) {
    const std::string root = include.string() + "/";
    if (!file.starts_with(root)) continue;
    const std::string_view name = file.substr(root.size());
    const bool torchs = std::ranges::any_of(
        kFolders, [&](std::string_view folder) { return name.starts_with(folder); });
    if (torchs) return std::string(name);
  }
  return {};
}

}  // namespace

std::string unsupported_on_cpu(std::string_view log, const std::vector<fs::path>& includes) {
  const std::string_view line = first_error(log);
  if (auto header = header_of(line, log, includes); !header.empty()) return header;
  const auto words = quoted(line);
  if (words.size() < 2) return {};
  const auto space = std::ranges::find(kSpaces, words[1]);
  if (space == kSpaces.end() || !is_torchs(words[0], includes)) return {};
  return fmt::format("{}::{}", *space, words[0]);
}

}  // namespace kbench
