// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/run_file.hpp"

namespace kbench {

struct ExportOptions {
  std::filesystem::path out;  ///< the folder to write into
  std::vector<int> k{1};      ///< k of pass@k
};

/// The files for another program; write_export() writes them.
struct Export {
  std::vector<std::pair<std::filesystem::path, std::string>> files;  ///< relative path and content
  std::vector<std::string> summary;  ///< lines: what was exported and how to read it
  std::vector<std::string> notes;    ///< lines: what was left out, or does not fit the format
};

/// One program's files. To add one: the function, and a row in export_formats().
struct ExportFormat {
  std::string_view name, meaning;
  /// Throws UsageError if nothing of the run fits this format.
  Export (*make)(const RunFile& run, const ExportOptions& options);
};
std::span<const ExportFormat> export_formats();
/// The format of that name; if there is none, throws UsageError that lists the names.
const ExportFormat& export_format(std::string_view name);

/// Writes the files and makes their folders. If a file already exists, throws UsageError before it
/// writes anything. Throws kbench::Error if a file cannot be written.
void write_export(const Export& made, const ExportOptions& options);

}  // namespace kbench
