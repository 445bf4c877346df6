// SPDX-License-Identifier: MIT
#include "kernelbench/import.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/judging_options.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {
namespace {

struct ImportArguments {
  std::filesystem::path folder, out = "run.jsonl";
  std::vector<std::string> problems;
  int level = 0;
  ImportOptions options;
};

int import(const ImportArguments& arguments) {
  ImportOptions options = arguments.options;
  if (arguments.level > 0) options.level = arguments.level;
  if (!arguments.problems.empty()) options.problems = find_problems(arguments.problems, {});
  if (std::filesystem::exists(arguments.out)) {
    throw UsageError(
        fmt::format("{} exists: name another file with --out", arguments.out.string()));
  }
  ImportedRun run = import_kernelbench(arguments.folder, options);
  run.header.kbench_version = kVersion;
  run.header.arguments = own_command_line();
  if (!options.problems.empty()) run.header.problem_set_hash = problem_set_hash(options.problems);
  for (const std::string& note : run.notes) tell("kbench: {}\n", note);
  RunWriter writer(arguments.out, false);
  writer.write(run.header);
  writer.write(run.manifest);
  std::size_t correct = 0;
  for (auto& [record, details] : run.records) {
    correct += record.outcome == Outcome::kCorrect ? 1 : 0;
    writer.write(std::move(record), details);
  }
  writer.write_end("", run.complete);
  fmt::print("{} of {} samples imported, {} correct; for more: kbench report {}\n",
             run.records.size(), run.manifest.size(), correct, arguments.out.string());
  return 0;
}

}  // namespace

Subcommand add_import(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "import", "Convert a KernelBench run folder to a run file, with KernelBench's own verdicts");
  auto arguments = std::make_shared<ImportArguments>();
  ImportOptions& options = arguments->options;
  command->option_defaults()->group(group::kInput);
  command->add_option("FOLDER", arguments->folder, "the folder with eval_results.json")->required();
  command
      ->add_option("--baseline-file", options.timing,
                   "baseline times for speedups: a file of results/timing/HARDWARE, or that folder "
                   "for all of its files; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--problem", arguments->problems,
                   "the problem files or folder (KernelBench/level1), which give the names and the "
                   "number of problems; may be repeated")
      ->type_name("PROBLEM")
      ->allow_extra_args(false);
  command
      ->add_option("--model", options.model,
                   "author of the kernels (default: from generation_config.yaml, else the folder)")
      ->type_name("MODEL");
  command
      ->add_option("--level", arguments->level, "level of the problems (default: from the folder)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option(
          "--precision", options.precision,
          "precision of KernelBench's run (default: from generation_config.yaml, else native)")
      ->type_name("PRECISION")
      ->check(one_of(names_of(precisions())));
  command
      ->add_option("--hardware", options.hardware,
                   "GPU of the results and baseline times; replaces the GPU that they name")
      ->type_name("NAME");
  command->option_defaults()->group(group::kOutput);
  command->add_option("--out", arguments->out, "run file to write")
      ->type_name("FILE")
      ->capture_default_str();
  return {command, [arguments] { return import(*arguments); }};
}

}  // namespace kbench::cli
