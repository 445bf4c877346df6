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
  std::filesystem::path out;  ///< the folder that files are written below
  std::vector<int> k{1};      ///< k of pass@k
};

/// What another program is to find below ExportOptions::out; nothing has been written yet.
struct Export {
  std::vector<std::pair<std::filesystem::path, std::string>> files;  ///< relative path and content
  std::vector<std::string> summary;  ///< what there is and how to read it, a line each
  std::vector<std::string> notes;    ///< what the format cannot hold or was left out
};

/// One program's files. To add one: the function, and a row in export_formats().
struct ExportFormat {
  std::string_view name, meaning;
  /// Throws UsageError where nothing of the run can be told in this format.
  Export (*make)(const RunFile& run, const ExportOptions& options);
};
std::span<const ExportFormat> export_formats();
/// The format of that name; throws UsageError naming the ones there are.
const ExportFormat& export_format(std::string_view name);

/// Writes the files, making folders as needed. Throws UsageError where one exists already, before
/// anything is written, and kbench::Error where one cannot be written.
void write_export(const Export& made, const ExportOptions& options);

}  // namespace kbench
