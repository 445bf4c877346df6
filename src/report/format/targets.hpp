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
template <typename Target, typename Format>
Target parse_target(std::span<const Format> formats, std::string_view argument) {
  const std::size_t equals = argument.find('=');
  Target target{.format = &format_of_name(formats, argument.substr(0, equals)), .file = {}};
  if (equals != std::string_view::npos) {
    target.file = argument.substr(equals + 1);
    if (target.file.empty())
      throw UsageError(fmt::format("\"{}\" names no file after \"=\"", argument));
    // "charts/" means the folder "charts".
    if (!target.file.has_filename()) target.file = target.file.parent_path();
    check_folder_of(target.file);
  }
  return target;
}

/// Writes the model to each target, those without a file to `out`. Without targets it writes the
/// `first` format to `out`. If a file cannot be written, the others are, then the error is thrown.
template <typename Model, typename Target, typename Format>
void write_targets(const Model& model, std::span<const Target> targets, const Format& first,
                   std::ostream& out) {
  if (targets.empty()) first.write(model, out);
  std::exception_ptr failure;
  for (const Target& target : targets) {
    if (target.file.empty()) {
      target.format->write(model, out);
      continue;
    }
    try {
      if constexpr (requires { target.format->write_folder; }) {
        if (target.format->write_folder != nullptr) {
          target.format->write_folder(model, target.file);
          continue;
        }
      }
      write_file(target.file, model.options.color,
                 [&](std::ostream& file) { target.format->write(model, file); });
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
  }
  flush_output(out);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kbench::report
