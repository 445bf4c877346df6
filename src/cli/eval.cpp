// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "cli/commands.hpp"
#include "cli/eval_arguments.hpp"
#include "cli/eval_stream.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/baseline_candidates.hpp"
#include "cli/options/baseline_files.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/hidden_folders.hpp"
#include "cli/options/kb_compat.hpp"
#include "cli/options/out_file.hpp"
#include "cli/options/problem_set.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "kbench/profile.hpp"
#include "kbench/report.hpp"
#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "record/stored_baselines.hpp"
#include "run/eval/earlier_verdicts.hpp"
#include "run/prepare/other_sizes.hpp"
#include "run/schedule/ncu.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

/// Writes the verdict of the earlier run on equal code. Returns false if it has none.
bool write_earlier(const std::optional<run::EarlierVerdicts>& earlier, const Candidate& candidate,
                   const Record& blank, RunWriter& writer) {
  if (!earlier || !candidate.reject_cause.empty()) return false;
  auto found = earlier->find(blank);
  if (!found) return false;
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  found->record.ended_at = now.count();
  writer.write(std::move(found->record), found->details);
  return true;
}

int run_batch(const EvalArguments& arguments, const Installation& installation, int cancel_fd) {
  EvalInput input = find_eval_input(arguments.input, installation);
  for (const auto& note : input.notes) tell("kbench: {}\n", note);
  if (input.candidates.empty()) return 0;  // none has changed, as the note says
  for (auto& candidate : input.candidates) check_rules_know(candidate, arguments.options);
  for (auto& candidate : input.shard) check_rules_know(candidate, arguments.options);
  EvalOptions options = arguments.options;
  options.overrides = parse_overrides(arguments.judging.settings, input.problems);
  run::check_size_names(options.other_sizes, input.problems);
  const std::vector<BaselineCandidate> baseline_candidates =
      find_baseline_candidates(options, input.problems);
  for (const BaselineCandidate& one : baseline_candidates)
    options.times_hash = sha256_hex(options.times_hash + one.baseline + one.candidate.source);
  std::optional<run::EarlierVerdicts> earlier;
  if (!arguments.reuse_from.empty()) earlier.emplace(arguments.reuse_from);
  const auto out = choose_out(arguments.out, "run", arguments.resume);
  hide_folders(options, input.problems, input.candidates, baseline_candidates, out);
  Progress progress(arguments.report.options.quiet);
  EvalRun run(installation, options, progress, cancel_fd);
  check_before_run(arguments, input.problems, run);
  std::unordered_map<std::string, std::size_t> known;
  if (const auto before = earlier_run(arguments, out, run)) known = resumable_keys(*before);
  RunWriter writer(out, arguments.resume);
  RunHeader header = run.header(arguments.command_line, problem_set_hash(input.problems));
  header.left_out = input.left_out;
  header.options["narrowed"] =
      !arguments.input.problems.empty() || !arguments.input.candidate.empty();
  if (!arguments.input.changed_since.empty()) header.options["unchanged"] = input.unchanged;
  writer.write(header);
  writer.write(manifest_of(input.candidates, input.problems));
  std::vector<Candidate> todo;
  for (const auto& candidate : input.shard) {
    const auto problem = std::ranges::find(input.problems, candidate.problem, &Problem::key);
    const Record blank = run.blank_record(candidate, *problem);
    if (!known.contains(record_key(blank)) && !write_earlier(earlier, candidate, blank, writer))
      todo.push_back(candidate);
  }
  progress.planned(todo.size() + baseline_candidates.size(), input.shard.size() - todo.size());
  bool faulty = false;
  const auto sink = [&](Record record, const nlohmann::json& details) {
    faulty = faulty || record.outcome == Outcome::kHarnessFault;
    writer.write(std::move(record), details);
  };
  const bool finished =
      judge_baseline_candidates(run, options, input.problems, baseline_candidates) &&
      run.run(input.problems, todo, sink) && !cancelled();
  if (!finished) return interrupted(progress.done_count(), "candidate", out);
  writer.write_end(run.secret(), !faulty);
  progress.end();
  const int gate = report_on(read_run(out), arguments.report, std::nullopt);
  tell("records: {}\n", out.string());
  return faulty ? kFault : gate;
}

/// Takes the value of `--profile`. Throws UsageError if Nsight Compute is needed but not found.
void take_profile(const std::string& asked, EvalOptions& options) {
  options.profile = !asked.empty();
  if (asked != kNcuProfile) return;
  const auto ncu = run::find_ncu();
  if (!ncu)
    throw UsageError(
        "--profile ncu needs Nsight Compute: no ncu is on PATH or in /usr/local/cuda/bin; name one "
        "in KBENCH_NCU");
  options.ncu = *ncu;
}

}  // namespace

Subcommand add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eval", "Compile, check and time candidates (without arguments: the shipped ones)");
  auto arguments = std::make_shared<EvalArguments>();
  EvalInputArguments& input = arguments->input;
  command->option_defaults()->group(group::kJudged);
  add_problem_set_option(*command, input.problem_set);
  command->add_option("PROBLEM", input.problems, "a file, a folder, a glob, or a name in a set");
  command
      ->add_option(
          "--candidates", input.candidates,
          "a file or folder of candidates, or - to read one JSON object per line from standard "
          "input; may be repeated")
      ->type_name("[MODEL=]PATH")
      ->allow_extra_args(false);
  command->add_option("--candidate", input.candidate, "one candidate file")->type_name("FILE");
  command
      ->add_option("--problem", input.problem,
                   "the problem of --candidate (default: the one that its path or its //@ problem "
                   "line names)")
      ->type_name("PROBLEM");
  command->add_option("--shard", input.shard, "every n-th problem, from the i-th (0 is first)")
      ->type_name("i/n");
  command
      ->add_option("--changed-since", input.changed_since,
                   "only candidates whose files, or problem, differ from this commit or branch of "
                   "git")
      ->type_name("COMMIT");
  add_eval_options(*command, *arguments);
  const auto run = [arguments, command] {
    arguments->options.cold_cache = arguments->l2 == "cold";
    const auto required = [&](const char* name) {
      return std::ranges::find(arguments->requirements, name) != arguments->requirements.end();
    };
    arguments->options.require_clean = required("clean");
    arguments->options.require_own = required("own-kernels");
    take_judging_options(*command, arguments->judging, arguments->options);
    take_baseline_files(arguments->options);
    take_profile(arguments->profile, arguments->options);
    arguments->command_line = own_command_line();
    const bool stream =
        std::ranges::find(arguments->input.candidates, "-") != arguments->input.candidates.end();
    arguments->report.only_files = stream;
    check_words(arguments->report);
    if (stream && std::ranges::any_of(arguments->options.baselines, is_baseline_candidate))
      throw UsageError("--baseline candidate:PATH cannot be combined with --candidates -");
    if (stream && !(arguments->reuse_from + arguments->input.changed_since).empty())
      throw UsageError("--reuse-from and --changed-since cannot be combined with --candidates -");
    if (stream && arguments->input.candidates.size() > 1)
      throw UsageError("--candidates - cannot be combined with other --candidates");
    if (stream && arguments->resume && arguments->out.empty())
      throw UsageError("--resume with --candidates - needs the run file: name it with --out");
    const Installation installation = find_installation();
    return (stream ? run_stream : run_batch)(*arguments, installation, install_cancel());
  };
  return {command, run};
}

}  // namespace kbench::cli
