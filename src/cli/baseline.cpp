// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/judging_options.hpp"
#include "cli/options/out_file.hpp"
#include "cli/options/problem_set.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/tell.hpp"
#include "cli/terminal/terminal.hpp"
#include "cli/terminal/text_table.hpp"
#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "record/stored_baselines.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

constexpr std::size_t kWidestName = 60;

struct BaselineArguments {
  std::string problem_set;  ///< --problems
  std::vector<std::string> problems;
  JudgingArguments judging;
  EvalOptions options;
  std::string out, l2 = "cold";
  bool resume = false, quiet = false;
};

/// The reference as a candidate. It is judged like any candidate, so kbench checks that its problem
/// is sound and measures the baselines alongside it.
Candidate reference_of(const Problem& problem) {
  Candidate candidate;
  candidate.id = fmt::format("reference of {}", problem.key);
  candidate.model = kReferenceModel;
  candidate.problem = problem.key;
  candidate.kind = CandidateKind::kModule;
  candidate.source = problem.source + "\n\nclass ModelNew(Model):\n    pass\n";
  return candidate;
}

/// "10.0 µs ±0.4%".
std::string time_text(const std::optional<Measured>& time) {
  if (!time) return "–";
  std::string text = time->value < 1 ? fmt::format("{:.4g} µs", time->value * 1e3)
                                     : fmt::format("{:.4g} ms", time->value);
  if (!time->hi) return text;
  return fmt::format("{} ±{:.1f}%", text,
                     std::max(*time->hi / time->value - 1, 1 - *time->lo / time->value) * 100);
}

/// Prints a row per problem with the times that --baseline-file would take from the file.
void print_times(const RunFile& run, const std::filesystem::path& file,
                 const EvalOptions& options) {
  const std::vector<std::string>& baselines = options.baselines;
  StoredBaselines stored;
  stored.add(run, file, options.cold_cache ? "cold" : "warm");
  std::vector<std::vector<std::string>> rows = {{"Problem"}};
  std::set<std::size_t> right;
  for (const std::string& name : baselines) {
    right.insert(rows[0].size());
    rows[0].push_back(name);
  }
  for (const Record& record : run.records) {
    rows.push_back({record.problem.str()});
    for (const std::string& name : baselines)
      rows.back().push_back(time_text(stored.time_of(record, name)));
    if (!record.timing) rows.back().push_back(record.message);
  }
  std::cout << table_text(rows, right, kWidestName, output_width());
  std::cout.flush();
}

int measure(const BaselineArguments& arguments, int cancel_fd) {
  const Installation installation = find_installation();
  const auto problems =
      find_problems(arguments.problems, problem_sets(arguments.problem_set, installation));
  EvalOptions options = arguments.options;
  options.overrides = parse_overrides(arguments.judging.settings, problems);
  const auto out = choose_out(arguments.out, "baseline", arguments.resume);
  Progress progress(arguments.quiet);
  EvalRun run(installation, options, progress, cancel_fd);
  check_baselines(options);
  std::vector<Candidate> candidates, todo;
  std::vector<ManifestEntry> manifest;
  for (const Problem& problem : problems) {
    candidates.push_back(reference_of(problem));
    manifest.push_back({problem.key, problem.level, kReferenceModel, 0, problem.tags});
  }
  std::unordered_map<std::string, std::size_t> known;
  if (arguments.resume && std::filesystem::exists(out)) {
    const RunFile before = read_run(out);
    for (const RunHeader& header : before.headers)
      if (const std::string then = header.options.value("l2", arguments.l2); then != arguments.l2)
        throw UsageError(
            fmt::format("{} holds times measured with --l2 {}, and this run has {}: name another "
                        "file with --out",
                        out.string(), then, arguments.l2));
    known = resumable_keys(before);
  }
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (!known.contains(record_key(run.blank_record(candidates[i], problems[i]))))
      todo.push_back(candidates[i]);
  RunWriter writer(out, arguments.resume);
  writer.write(run.header(own_command_line(), problem_set_hash(problems)));
  writer.write(manifest);
  progress.planned(todo.size(), candidates.size() - todo.size());
  bool faulty = false;
  const bool finished = run.run(problems, todo, [&](Record record, const nlohmann::json& details) {
    faulty = faulty || record.outcome == Outcome::kHarnessFault;
    writer.write(std::move(record), details);
  });
  if (!finished) return interrupted(progress.done_count(), "problem", out);
  writer.write_end(run.secret(), !faulty);
  progress.end();
  print_times(read_run(out), out, options);
  tell("times: {}; kbench eval --baseline-file {} uses them\n", out.string(), out.string());
  return faulty ? kFault : 0;
}

}  // namespace

Subcommand add_baseline(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "baseline",
      "Measure baselines of problems, for kbench eval --baseline-file on the same kind of machine");
  auto arguments = std::make_shared<BaselineArguments>();
  command->option_defaults()->group(group::kJudged);
  add_problem_set_option(*command, arguments->problem_set);
  command->add_option("PROBLEM", arguments->problems,
                      "a file, a folder, a glob, or a name in a set; none: all of the default set");
  add_judging_options(*command, arguments->judging, arguments->options);
  add_baseline_option(*command, arguments->options, BaselineCandidates::kRefused);
  add_timing_options(*command, arguments->options, arguments->l2, "problem");
  command->option_defaults()->group(group::kOutput);
  command
      ->add_option("--out", arguments->out,
                   "run file (default: baseline.jsonl, or baseline-N.jsonl)")
      ->type_name("FILE");
  command->add_flag("--resume", arguments->resume,
                    "continue a run file: skip problems that it has");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  const auto run_it = [arguments, command] {
    arguments->options.cold_cache = arguments->l2 == "cold";
    take_judging_options(*command, arguments->judging, arguments->options);
    if (!is_timed(arguments->options))
      throw UsageError("kbench baseline measures times and cannot be combined with --timing none");
    if (kernelbench_row(arguments->options.precision) != nullptr)
      throw UsageError("--kb-compat has no baseline times: import KernelBench's times instead");
    return measure(*arguments, install_cancel());
  };
  return {command, run_it};
}

}  // namespace kbench::cli
