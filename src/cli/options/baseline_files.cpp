// SPDX-License-Identifier: MIT
#include "cli/options/baseline_files.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/stored_baselines.hpp"
#include "run/environment.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

/// Warns about times that cannot be read, because measuring them again takes time.
void tell_unreadable(const RunFile& run, const std::string& file) {
  std::string what;
  if (!run.bad_lines.empty())
    what = fmt::format(
        "{}{}", run.bad_lines.front(),
        run.bad_lines.size() > 1 ? fmt::format(", and {} more", run.bad_lines.size() - 1) : "");
  if (run.torn) what += what.empty() ? "its last line is cut off" : "; its last line is cut off";
  if (what.empty()) return;
  tell(
      "kbench: --baseline-file {}: some lines cannot be read ({}); times that it lacks are "
      "measured\n",
      file, what);
}

}  // namespace

void take_baseline_files(EvalOptions& options) {
  if (options.baseline_files.empty()) return;
  if (!is_timed(options))
    throw UsageError(
        "--baseline-file cannot be combined with --timing none, which measures no times");
  if (kernelbench_row(options.precision) != nullptr)
    throw UsageError(
        "--baseline-file cannot be combined with --kb-compat, which measures the baseline itself");
  StoredBaselines stored;
  Sha256 hash;
  const std::string driver = options.device == "cpu" ? "" : run::driver_version();
  for (const std::string& file : options.baseline_files) {
    const RunFile run = read_run(file);
    tell_unreadable(run, file);
    if (!stored.add(run, file, options.cold_cache ? "cold" : "warm", driver))
      fmt::print(stderr,
                 "kbench: --baseline-file {}: its times are of another driver than {}, so they "
                 "are measured again\n",
                 file, driver);
    for (const RunHeader& header : run.headers) hash.field(header.run_id);
    for (const Record& record : run.records)
      hash.field(record.timing ? to_json(record).dump() : "");
  }
  options.times_hash = hash.hex();
  options.stored = std::make_shared<const StoredBaselines>(std::move(stored));
}

}  // namespace kbench::cli
