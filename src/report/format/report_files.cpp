// SPDX-License-Identifier: MIT
#include "report/format/report_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

namespace kbench::report {
namespace {

constexpr int kMostLinks = 40;  // the limit of the Linux kernel

/// `text` without colour sequences. There are no other escape sequences, because text from outside
/// has been made printable.
std::string without_color(std::string_view text) {
  std::string plain;
  for (std::size_t escape; (escape = text.find('\x1b')) != std::string_view::npos;) {
    plain += text.substr(0, escape);
    text.remove_prefix(std::min(text.size(), text.find('m', escape) + 1));
  }
  return plain.append(text);
}

}  // namespace

void check_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw UsageError(
        fmt::format("cannot write {}: there is no folder {}", file.string(), folder.string()));
  if (!std::filesystem::exists(file, ignored) && ::access(folder.c_str(), W_OK) != 0)
    throw UsageError(fmt::format("cannot write {}: the folder {} is not writable", file.string(),
                                 folder.string()));
}

void write_file(const std::filesystem::path& file, bool is_colored,
                const std::function<void(std::ostream&)>& write) {
  std::error_code failure, ignored;
  // A device or pipe (/dev/stdout) is written directly, never replaced. A symbolic link stays: its
  // target is replaced.
  std::filesystem::path report_file = file;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(report_file, ignored);
       ++links)
    report_file = report_file.parent_path() / std::filesystem::read_symlink(report_file, ignored);
  const bool is_whole =
      !file.string().starts_with("/dev/") &&
      (!std::filesystem::exists(file, ignored) || std::filesystem::is_regular_file(file, ignored));
  const std::filesystem::path unfinished =
      is_whole ? std::filesystem::path(report_file.string() + ".part") : file;
  {
    std::ofstream out(unfinished, std::ios::binary);
    if (is_colored) {
      std::ostringstream colored;
      write(colored);
      out << without_color(colored.str());
    } else {
      write(out);
    }
    out.close();
    if (!out) failure = std::make_error_code(std::errc::io_error);
  }
  if (!failure && is_whole) std::filesystem::rename(unfinished, report_file, failure);
  if (!failure) return;
  if (is_whole) std::filesystem::remove(unfinished, ignored);
  throw Error(
      fmt::format("cannot write the report {}: name a file in an existing, writable folder with "
                  "free space",
                  file.string()));
}

void flush_output(std::ostream& out) {
  out.flush();
  if (!out) throw Error("cannot write the report to standard output");
}

}  // namespace kbench::report
