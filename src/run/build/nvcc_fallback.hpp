// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::run {

/// The step of a build without nvcc that failed.
enum class SplitPart : std::uint8_t { kSplit, kHost, kDevice };

/// The failure, and the properties of the extension that decide if nvcc may succeed.
struct SplitFailure {
  SplitPart part = SplitPart::kSplit;
  std::string cause, message, log;
  std::vector<std::string> own_names;                 ///< the sources, as diagnostics call them
  std::vector<std::string> host_only;                 ///< SplitSource::host_only of all sources
  std::vector<std::filesystem::path> header_folders;  ///< the folders that nvcc searches
  bool several_files = false;                         ///< load with more than one CUDA file
  bool names_libraries = false;                       ///< extra_ldflags has a -l
};

/// A class of failures that may be the source splitter's fault and not the candidate's. To add one:
/// a row in fallback_rules(), with a function if the cause alone does not decide.
struct FallbackRule {
  SplitPart part;
  std::string_view cause;
  bool (*applies)(const SplitFailure&);  ///< null: always
  std::string_view why;                  ///< for people: why nvcc may succeed
  /// True if the failure is certainly the splitter's fault.
  bool is_certain = true;
};
std::span<const FallbackRule> fallback_rules();

/// The rule by which nvcc is used, or null if the failure is final. nvcc takes about a minute of a
/// core, so it is not used for ordinary errors in a candidate's own lines.
const FallbackRule* find_fallback(const SplitFailure& failure);

}  // namespace kbench::run
