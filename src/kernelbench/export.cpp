// SPDX-License-Identifier: MIT
#include "kernelbench/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "kbench/error.hpp"
#include "kernelbench/export_kernelbench.hpp"

namespace kbench {
namespace fs = std::filesystem;

std::span<const ExportFormat> export_formats() {
  static constexpr ExportFormat kFormats[] = {
      {"kernelbench",
       "KernelBench's run folders and baseline times, one folder for each model and level",
       report::export_kernelbench},
  };
  return kFormats;
}

const ExportFormat& export_format(std::string_view name) {
  const auto formats = export_formats();
  const auto found = std::ranges::find(formats, name, &ExportFormat::name);
  if (found != formats.end()) return *found;
  std::vector<std::string_view> names;
  for (const ExportFormat& format : formats) names.push_back(format.name);
  throw UsageError(
      fmt::format("there is no export to \"{}\"; there is {}", name, fmt::join(names, ", ")));
}

void write_export(const Export& made, const ExportOptions& options) {
  std::error_code error;
  for (const auto& [path, content] : made.files) {
    if (fs::exists(options.out / path, error)) {
      throw UsageError(
          fmt::format("{} exists, and kbench does not replace it: name another folder with --out",
                      (options.out / path).string()));
    }
  }
  for (const auto& [path, content] : made.files) {
    const fs::path file = options.out / path;
    fs::create_directories(file.parent_path(), error);
    errno = 0;
    std::ofstream out(file, std::ios::binary);
    out << content;
    out.close();
    if (!out) {
      throw Error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
    }
  }
}

}  // namespace kbench
