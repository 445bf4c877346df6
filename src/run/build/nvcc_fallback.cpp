// SPDX-License-Identifier: MIT
#include "run/build/nvcc_fallback.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace kbench::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibraries[] = {"std",
                                           "cuda",
                                           "cub",
                                           "thrust",
                                           "at",
                                           "c10",
                                           "torch",
                                           "cutlass",
                                           "cute",
                                           "nvcuda",
                                           "cooperative_groups"};

constexpr std::size_t kMaxFileBytes = 4096;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The file that the first error line names: "file(12): error ...", "file:12:3: error ...".
std::string_view file_of_error(std::string_view log) {
  while (!log.empty()) {
    const std::string_view line = next_line(log);
    const std::size_t error = std::min(line.find(": error"), line.find(": fatal error"));
    const std::size_t other = line.find(": catastrophic error");
    if (error == std::string_view::npos && other == std::string_view::npos) continue;
    std::string_view place = line.substr(0, std::min(error, other));
    place = place.substr(0, place.find_last_not_of("0123456789:()") + 1);
    // The caller compares it with the names of all sources, so its length is limited.
    return place.size() > kMaxFileBytes ? std::string_view() : place;
  }
  return {};
}

bool is_in_header(const SplitFailure& failure) {
  const std::string_view file = file_of_error(failure.log);
  // Diagnostics may name a source by a shorter name.
  const bool is_own = std::ranges::any_of(failure.own_names, [&](const std::string& name) {
    return contains(name, file) || contains(file, name);
  });
  return file.starts_with('/') && !is_own;
}

/// True if the error is about a device header that a host compiler cannot read, or about its
/// symbols.
bool is_of_device_library(const SplitFailure& failure) {
  const std::string_view file = file_of_error(failure.log);
  const bool header =
      is_in_header(failure) &&
      std::ranges::any_of(std::initializer_list<std::string_view>{"/cccl/", "/cub/", "/thrust/",
                                                                  "/cutlass/", "/cute/"},
                          [&](std::string_view part) { return contains(file, part); });
  return header || std::ranges::any_of(
                       std::initializer_list<std::string_view>{
                           "thrust", "cub::", "'cub'", "cutlass", "cute::", "'cute'", "nvcuda"},
                       [&](std::string_view part) { return contains(failure.message, part); });
}

/// Matches "identifier "std::vector" is undefined", "namespace "cub" has no member ...".
bool names_library_symbol(const SplitFailure& failure) {
  return std::ranges::any_of(kLibraries, [&](std::string_view library) {
    return contains(failure.message, fmt::format("\"{}::", library)) ||
           contains(failure.message, fmt::format("namespace \"{}", library));
  });
}

bool names_what_was_left_out(const SplitFailure& failure) {
  return std::ranges::any_of(failure.host_only, [&](const std::string& name) {
    return contains(failure.message, fmt::format("\"{}\"", name));
  });
}

/// True if two files define the same name, as static functions may. That is an error only because
/// the files are joined.
bool is_defined_twice(const SplitFailure& failure) {
  return failure.several_files && contains(failure.message, "already been");
}

bool device_code_may_do(const SplitFailure& failure) {
  return is_in_header(failure) || names_library_symbol(failure) || names_what_was_left_out(failure);
}

/// The name of the header in "cannot open source file "x.h"", "'x.h' file not found" or "x.h: No
/// such file".
std::string missing_header(std::string_view message) {
  for (const auto& [before, after] :
       {std::pair<std::string_view, std::string_view>{"source file \"", "\""},
        {"'", "' file not found"}}) {
    const std::size_t end_mark = message.find(after, message.find(before) + before.size());
    const std::size_t begin = message.find(before);
    if (begin == std::string_view::npos || end_mark == std::string_view::npos) continue;
    const std::size_t from = begin + before.size();
    return std::string(message.substr(from, end_mark - from));
  }
  const std::size_t end = message.find(": No such file");
  if (end == std::string_view::npos) return {};
  const std::size_t from = message.rfind(' ', end == 0 ? 0 : end - 1);
  return std::string(message.substr(from == std::string_view::npos ? 0 : from + 1,
                                    end - (from == std::string_view::npos ? 0 : from + 1)));
}

/// True if nvcc would find the missing header in one of its folders.
bool header_exists(const SplitFailure& failure) {
  const fs::path header = missing_header(failure.message);
  if (header.empty() || header.is_absolute()) return false;
  return std::ranges::any_of(failure.header_folders, [&](const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / header, ignored);
  });
}

bool is_linked(const SplitFailure& failure) { return failure.names_libraries; }

constexpr std::string_view kForm = "nvcc accepts forms that the source splitter does not";
constexpr std::string_view kLibrary = "nvcc compiles a library's host and device code together";

constexpr FallbackRule kRules[] = {
    {SplitPart::kSplit, "device_lambda", nullptr, kForm},
    {SplitPart::kSplit, "unknown_launch", nullptr, kForm},
    {SplitPart::kSplit, "conditional_parameters", nullptr, kForm},
    {SplitPart::kSplit, "conditional_brackets", nullptr, kForm},
    {SplitPart::kSplit, "managed_variable", nullptr, "nvcc registers managed variables"},
    {SplitPart::kSplit, "thrust", nullptr, kLibrary},
    {SplitPart::kSplit, "cub_device", nullptr, kLibrary},
    {SplitPart::kSplit, "cutlass", nullptr, kLibrary},
    {SplitPart::kHost, "syntax_error", is_of_device_library, kLibrary, false},
    {SplitPart::kHost, "missing_include", header_exists, "nvcc finds the header"},
    {SplitPart::kHost, "undefined_function", is_linked,
     "nvcc's object is linked with the libraries", false},
    {SplitPart::kDevice, "missing_include", header_exists, "nvcc finds the header"},
    {SplitPart::kDevice, "unknown_kernel", nullptr, "nvcc does not need the kernels' names", false},
    {SplitPart::kDevice, "syntax_error", is_defined_twice,
     "nvcc compiles each file on its own, so two files may define the same name"},
    {SplitPart::kDevice, "syntax_error", device_code_may_do,
     "nvcc has headers, symbols or declarations that NVRTC lacks", false},
};

}  // namespace

std::span<const FallbackRule> fallback_rules() { return kRules; }

const FallbackRule* find_fallback(const SplitFailure& failure) {
  const auto* row = std::ranges::find_if(kRules, [&](const FallbackRule& rule) {
    return rule.part == failure.part && rule.cause == failure.cause &&
           (rule.applies == nullptr || rule.applies(failure));
  });
  return row == std::end(kRules) ? nullptr : row;
}

}  // namespace kbench::run
