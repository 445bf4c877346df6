// SPDX-License-Identifier: MIT
#include "cli/options/kb_compat.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kbench/error.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

/// Options that KernelBench's rules decide, or that add checks to those rules.
constexpr const char* kDecided[] = {"--seed",    "--l2",    "--timing-budget", "--require",
                                    "--profile", "--sizes", "--eval-mode"};

}  // namespace

void choose_kernelbench_rules(const CLI::App& command, EvalOptions& options) {
  for (const char* option : kDecided)
    if (const auto* given = command.get_option_no_throw(option);
        given != nullptr && given->count() > 0)
      throw UsageError(
          fmt::format("{} cannot be combined with --kb-compat: KernelBench's rules leave no choice "
                      "there",
                      option));
  const auto* row =
      std::ranges::find(kKernelbenchRows, options.precision, &KernelbenchRow::precision);
  if (row == kKernelbenchRows.end())
    throw UsageError(
        fmt::format("KernelBench has no precision {}: with --kb-compat it is native (which means "
                    "fp32), fp16 or bf16",
                    options.precision));
  options.precision = row->name;
}

void check_rules_know(Candidate& candidate, const EvalOptions& options) {
  const bool is_code = candidate.reject_cause.empty();
  if (kernelbench_row(options.precision) == nullptr || !is_code ||
      candidate.kind == CandidateKind::kModule)
    return;
  if (candidate.path.extension() != ".cu") {
    candidate.reject_cause = "not_a_module";
    candidate.reject_message =
        "The code is not a module: like KernelBench, --kb-compat judges only a class ModelNew.";
    return;
  }
  throw UsageError(fmt::format(
      "{} is not a module: like KernelBench, --kb-compat judges only a .py with ModelNew",
      candidate.id));
}

}  // namespace kbench::cli
