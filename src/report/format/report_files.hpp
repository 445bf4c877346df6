// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench::report {

/// Writes a temporary file next to the target, then renames it, so no reader sees half a file.
/// `is_colored`: `write` makes colour sequences, which are removed. Throws kbench::Error.
void write_file(const std::filesystem::path& file, bool is_colored,
                const std::function<void(std::ostream&)>& write);
/// Flushes standard output; throws kbench::Error if that fails.
void flush_output(std::ostream& out);

/// The format of that name; if there is none, throws UsageError that lists the names.
template <typename Format>
const Format& format_of_name(std::span<const Format> formats, std::string_view name) {
  std::vector<std::string> known;
  for (const Format& format : formats) {
    if (format.name == name) return format;
    known.emplace_back(format.name);
  }
  throw UsageError(fmt::format("there is no report format \"{}\"; there are {}{}", name,
                               fmt::join(known, ", "), did_you_mean(name, known)));
}

/// Throws UsageError if the file's folder does not exist or cannot be written to.
void check_folder_of(const std::filesystem::path& file);

/// Parses "FORMAT" or "FORMAT=FILE"; throws UsageError.
template <typename ReportFile, typename Format>
ReportFile parse_report_file(std::span<const Format> formats, std::string_view argument) {
  const std::size_t equals = argument.find('=');
  ReportFile report_file{.format = &format_of_name(formats, argument.substr(0, equals)),
                         .file = {}};
  if (equals != std::string_view::npos) {
    report_file.file = argument.substr(equals + 1);
    if (report_file.file.empty())
      throw UsageError(fmt::format("\"{}\" names no file after \"=\"", argument));
    // "charts/" means the folder "charts".
    if (!report_file.file.has_filename()) report_file.file = report_file.file.parent_path();
    bool takes_folder = false;
    if constexpr (requires { report_file.format->write_folder; })
      takes_folder = report_file.format->write_folder != nullptr;
    std::error_code ignored;
    if (!takes_folder && std::filesystem::is_directory(report_file.file, ignored))
      throw UsageError(fmt::format("\"{}\" names a folder, not a file", argument));
    check_folder_of(report_file.file);
  }
  return report_file;
}

/// Writes the model to each target; a target without a file goes to `out`. Without targets, writes
/// the `first` format to `out`. If a file cannot be written, writes the others before it throws the
/// error.
template <typename Model, typename ReportFile, typename Format>
void write_report_files(const Model& model, std::span<const ReportFile> report_files,
                        const Format& first, std::ostream& out) {
  if (report_files.empty()) first.write(model, out);
  std::exception_ptr failure;
  for (const ReportFile& report_file : report_files) {
    if (report_file.file.empty()) {
      report_file.format->write(model, out);
      continue;
    }
    try {
      if constexpr (requires { report_file.format->write_folder; }) {
        if (report_file.format->write_folder != nullptr) {
          report_file.format->write_folder(model, report_file.file);
          continue;
        }
      }
      write_file(report_file.file, model.options.color,
                 [&](std::ostream& file) { report_file.format->write(model, file); });
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
  }
  flush_output(out);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kbench::report
