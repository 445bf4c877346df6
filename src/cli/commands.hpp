// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace kbench::cli {

/// `--profile` of eval: of the kernels that ran; and what Nsight Compute says of them.
inline constexpr const char* kKernelsProfile = "kernels";
inline constexpr const char* kNcuProfile = "ncu";

/// One subcommand: its options are registered on `app`, `run` does the work and gives the exit
/// code.
struct Subcommand {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

/// Each lives in the file of its name and registers itself below `app`.
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
