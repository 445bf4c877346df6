// SPDX-License-Identifier: MIT
#include "compile/host/unsupported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file_tree.hpp"
#include "base/text.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kCudaFolders = {"ATen/cuda", "c10/cuda", "ATen/cudnn"};
constexpr std::array<std::string_view, 2> kSpaces = {"at::cuda", "c10::cuda"};

/// True if torch's CUDA headers contain the word.
bool is_torchs(std::string_view word, const std::vector<fs::path>& includes) {
  for (const auto& include : includes) {
    for (const std::string_view folder : kCudaFolders) {
      std::error_code absent;
      for (const auto& entry : fs::directory_iterator(include / folder, absent)) {
        if (!entry.is_regular_file(absent)) continue;
        if (holds_word(file_text(entry.path()), word)) return true;
      }
    }
  }
  return false;
}

std::string_view first_error_line(std::string_view log) {
  while (!log.empty()) {
    const std::string_view line = next_line(log);
    if (line.find(": error: ") != std::string_view::npos ||
        line.find(": fatal error: ") != std::string_view::npos)
      return line;
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

/// The part of the log about the first error: up to the second error.
std::string_view about_first(std::string_view log) {
  const std::size_t first = log.find(" error: ");
  return log.substr(0, first == std::string_view::npos ? first : log.find(" error: ", first + 1));
}

/// The header of torch for CUDA that the error is in, such as "ATen/cuda/CUDASparse.h". Empty if it
/// is in another file, or if a template instantiation led there.
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
    if (starts_with_any(name, kCudaFolders)) return std::string(name);
  }
  return {};
}

}  // namespace

std::string unsupported_on_cpu(std::string_view log, const std::vector<fs::path>& includes) {
  const std::string_view line = first_error_line(log);
  if (auto header = header_of(line, log, includes); !header.empty()) return header;
  const auto words = quoted(line);
  if (words.size() < 2) return {};
  const auto space = std::ranges::find(kSpaces, words[1]);
  if (space == kSpaces.end() || !is_torchs(words[0], includes)) return {};
  return fmt::format("{}::{}", *space, words[0]);
}

}  // namespace kbench
