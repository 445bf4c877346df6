// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace kbench::cli {

/// Values of eval's `--profile`: the kernels that ran (the default), or these with Nsight Compute's
/// measurements.
inline constexpr const char* kKernelsProfile = "kernels";
inline constexpr const char* kNcuProfile = "ncu";

/// One subcommand. `app` holds its options; `run` does the work and returns the exit code.
struct Subcommand {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

/// Each function registers its subcommand on `app`. It is defined in the file of that name.
Subcommand add_eval(CLI::App& app);
Subcommand add_check(CLI::App& app);
Subcommand add_list(CLI::App& app);
Subcommand add_audit(CLI::App& app);
Subcommand add_report(CLI::App& app);
Subcommand add_show(CLI::App& app);
Subcommand add_watch(CLI::App& app);
Subcommand add_compare(CLI::App& app);
Subcommand add_baseline(CLI::App& app);
Subcommand add_import(CLI::App& app);
Subcommand add_export(CLI::App& app);
Subcommand add_doctor(CLI::App& app);
Subcommand add_completion(CLI::App& app);

}  // namespace kbench::cli
