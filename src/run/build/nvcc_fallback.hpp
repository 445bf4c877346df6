// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::run {

/// Where the way without nvcc ended.
enum class SplitPart : std::uint8_t { kSplit, kHost, kDevice };

/// What ended there, and what of the extension decides whether nvcc might do better.
struct SplitFailure {
  SplitPart part = SplitPart::kSplit;
  std::string cause, message, log;
  std::vector<std::string> own_names;                 ///< the sources, as diagnostics call them
  std::vector<std::string> host_only;                 ///< SplitSource::host_only of all sources
  std::vector<std::filesystem::path> header_folders;  ///< all in which nvcc looks
  bool several_files = false;                         ///< load with more than one CUDA file
  bool names_libraries = false;                       ///< extra_ldflags has a -l
};

/// One class of failures that are the split's and not surely the candidate's. To add one: a row in
/// fallback_rules(), with a function where the cause alone does not tell.
struct FallbackRule {
  SplitPart part;
  std::string_view cause;
  bool (*applies)(const SplitFailure&);  ///< null: always
  std::string_view why;                  ///< for people: what nvcc may do better
  /// That it is the split's failure is certain, not only possible.
  bool is_certain = true;
};
std::span<const FallbackRule> fallback_rules();

/// The rule by which nvcc is to be asked, or null where the candidate is told what was found. An
/// nvcc costs a minute of a core, so an ordinary error in a candidate's own lines is none.
const FallbackRule* find_fallback(const SplitFailure& failure);

}  // namespace kbench::run
