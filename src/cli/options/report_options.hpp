// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"
#include "report/gate/gate.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library has that name
class App;
}

namespace kbench::cli {

/// The content of a report, its files, and its gates. For `eval` and `report`.
struct ReportArguments {
  std::vector<std::string> formats, gates, fail_on, selections;
  std::string expect, against;
  ReportOptions options;
  bool only_files = false;  ///< nothing may go to stdout, which carries records

  /// True if a report or a gate is asked for.
  bool any() const { return !formats.empty() || has_gate(); }
  bool has_gate() const { return !gates.empty() || !fail_on.empty() || !expect.empty(); }
};

/// Adds the options of reports and gates; `quiet` is what `--quiet` does.
void add_report_options(CLI::App& app, ReportArguments& arguments, const char* quiet);

/// Adds `--select`, for every command that reads run files, to the current group.
void add_select_option(CLI::App& app, std::vector<std::string>& selections);

/// The conditions of `--select`; throws UsageError.
Selection selection_of(const std::vector<std::string>& arguments);

/// The conditions of `--fail-on`; throws UsageError.
FailOn fail_on_of(const ReportArguments& arguments);

/// Checks the arguments before long files are read or a long run starts. Throws UsageError.
void check_words(const ReportArguments& arguments);

/// Writes the report and prints unmet gates on stderr. Returns 0, or 3 if there are any.
int report_on(RunFile run, const ReportArguments& arguments,
              const std::optional<AuditFile>& audits);

}  // namespace kbench::cli
