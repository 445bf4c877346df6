// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "cli/commands.hpp"
#include "cli/eval_arguments.hpp"
#include "cli/eval_stream.hpp"
#include "cli/options/baseline_candidates.hpp"
#include "cli/options/baseline_files.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/hidden_folders.hpp"
#include "cli/options/kb_compat.hpp"
#include "cli/options/option_checks.hpp"
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
#include "run/prepare/other_sizes.hpp"
#include "run/schedule/ncu.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

int run_batch(const EvalArguments& arguments, const Installation& installation, int cancel_fd) {
  EvalInput input = find_eval_input(arguments.input, installation);
  for (const auto& note : input.notes) tell("kbench: {}\n", note);
  for (auto& candidate : input.candidates) check_rules_know(candidate, arguments.options);
  for (auto& candidate : input.shard) check_rules_know(candidate, arguments.options);
  EvalOptions options = arguments.options;
  options.overrides = parse_overrides(arguments.judging.settings, input.problems);
  run::check_size_names(options.other_sizes, input.problems);
  const std::vector<BaselineCandidate> baseline_candidates =
      find_baseline_candidates(options, input.problems);
  for (const BaselineCandidate& one : baseline_candidates)
    options.times_hash = sha256_hex(options.times_hash + one.baseline + one.candidate.source);
  const auto out = choose_out(arguments.out, "run", arguments.resume);
  hide_folders(options, input.problems, input.candidates, baseline_candidates, out);
  Progress progress(arguments.quiet);
  EvalRun run(installation, options, progress, cancel_fd);
  check_before_run(arguments, input.problems, run);
  std::unordered_map<std::string, std::size_t> known;
  if (const auto before = earlier_run(arguments, out, run)) known = resumable_keys(*before);
  RunWriter writer(out, arguments.resume);
  RunHeader header = run.header(arguments.command_line, problem_set_hash(input.problems));
  header.left_out = input.left_out;
  writer.write(header);
  writer.write(manifest_of(input.candidates, input.problems));
  std::vector<Candidate> todo;
  for (const auto& candidate : input.shard) {
    const auto problem = std::ranges::find(input.problems, candidate.problem, &Problem::key);
    if (!known.contains(record_key(run.blank_record(candidate, *problem))))
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

void add_run_options(CLI::App& app, EvalArguments& a) {
  add_judging_options(app, a.judging, a.options);
  app.add_option(
      "--out", a.out,
      "run file (default: run.jsonl, or run-N.jsonl; with --candidates - none, unless a report or "
      "a gate needs it)");
  app.add_flag("--resume", a.resume, "continue a run file: skip candidates that have a verdict");
  add_baseline_option(app, a.options, BaselineCandidates::kAllowed);
  app.add_option(
         "--baseline-file", a.options.baseline_files,
         "run file (of kbench baseline or any other) that has times of baselines; kbench then "
         "does not measure them; may be repeated")
      ->allow_extra_args(false);
  add_timing_options(app, a.options);
  app.add_option("--l2", a.l2, "cache before each timed call: cold or warm")
      ->check(one_of({"cold", "warm"}))
      ->capture_default_str();
  app.add_flag("--all-trials", a.options.all_trials,
               "run all trials even after an error above 1e-2; after smaller errors all trials run "
               "anyway, to find the precision at which the candidate is right");
  app.add_option(
         "--sizes", a.options.other_sizes,
         "names of further sizes in sizes.json; kbench also checks right candidates at these "
         "sizes, without timing")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--timeout", a.options.call_limit_s,
                 "seconds per call (default: 2 s, or 50 times the reference; more on the CPU)")
      ->check(above_zero());
  add_compile_timeout(app, a.options.compile_limit_s);
  app.add_option("--nvcc-timeout", a.options.nvcc_limit_s,
                 "seconds of processor time for each source of an extension that only nvcc can "
                 "compile")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--load-timeout", a.options.load_limit_s, "seconds to load a candidate")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--timing-budget", a.options.timing_budget_s, "seconds of measuring per candidate")
      ->check(above_zero())
      ->capture_default_str();
  app.add_flag("!--no-reuse", a.options.reuse,
               "judge equal code for a problem again instead of copying its verdict");
  app.add_flag("!--no-sandbox", a.options.sandbox,
               "run candidates without the sandbox; only for code that you trust")
      ->configurable(false);  // a kbench.toml may come with the candidates
  app.add_option("--entry", a.options.entry,
                 "function of extensions to call (default: forward, or the only one bound)")
      ->check(function_name());
  app.add_option("--queues", a.options.device_queues,
                 "candidates judged at once on a GPU; kbench times them one by one (not with "
                 "--candidates - or --kb-compat)")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--jobs", a.options.jobs, "compilers at once (default: one per core)");
}

/// Adds the options of the CPU executor and of profiling.
void add_executor_options(CLI::App& app, EvalArguments& a) {
  app.add_option("--sanitize", a.options.sanitize,
                 "what the CPU executor checks: none (only bounds), memory, all (memory and races)")
      ->check(one_of({"none", "memory", "all"}))
      ->capture_default_str();
  app.add_option(
         "--require", a.requirements,
         "clean: reject candidates that raise a sanitizer flag or read a clock; own-kernels: "
         "reject candidates that use kernels of torch or another library; may be repeated")
      ->check(one_of({"clean", "own-kernels"}))
      ->allow_extra_args(false);
  app.add_option(
         "--max-instructions", a.options.max_instructions,
         "limit of warp instructions for a launch in the CPU executor (default: only --timeout)")
      ->check(above_zero());
  // command_words() joins `--profile` with its value, so a problem may follow it.
  app.add_option(
         "--profile", a.profile,
         "one more call per candidate: on the CPU it counts instructions, on a GPU it records the "
         "time, registers, shared memory and occupancy of each launch; ncu: also run Nsight "
         "Compute")
      ->expected(0, 1)
      ->default_str("")
      ->check(one_of({kKernelsProfile, kNcuProfile}));
  app.add_option("--estimate-for", a.options.estimate_for, "GPU that --profile estimates times for")
      ->check(one_of(names_of(gpu_models())))
      ->capture_default_str();
}

}  // namespace

Subcommand add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eval", "Compile, check and time candidates (without arguments: the shipped ones)");
  auto arguments = std::make_shared<EvalArguments>();
  EvalInputArguments& input = arguments->input;
  add_problem_set_option(*command, input.problem_set);
  command->add_option("PROBLEM", input.problems, "a file, a folder, a glob, or a name in a set");
  command
      ->add_option("--candidates", input.candidates,
                   "[MODEL=]PATH, or - to read one JSON object per line from standard input")
      ->allow_extra_args(false);
  command->add_option("--candidate", input.candidate, "one candidate file");
  command->add_option(
      "--problem", input.problem,
      "the problem of --candidate (default: the one that its path or its //@ problem line "
      "names)");
  command->add_option("--shard", input.shard,
                      "i/n: every n-th problem, from the i-th (0 is first)");
  add_run_options(*command, *arguments);
  add_executor_options(*command, *arguments);
  add_report_options(*command, arguments->report, "--report");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  const auto run = [arguments, command] {
    arguments->options.cold_cache = arguments->l2 == "cold";
    const auto required = [&](const char* name) {
      return std::ranges::find(arguments->requirements, name) != arguments->requirements.end();
    };
    arguments->options.require_clean = required("clean");
    arguments->options.require_own = required("own-kernels");
    take_judging_options(*command, arguments->judging, arguments->options);
    arguments->sanitize_given = command->count("--sanitize") > 0;
    take_baseline_files(arguments->options);
    check_score(arguments->options);
    take_profile(arguments->profile, arguments->options);
    arguments->command_line = own_command_line();
    const bool stream =
        std::ranges::find(arguments->input.candidates, "-") != arguments->input.candidates.end();
    arguments->report.only_files = stream;
    check_words(arguments->report);
    if (stream && std::ranges::any_of(arguments->options.baselines, is_baseline_candidate))
      throw UsageError("--baseline candidate:PATH cannot be combined with --candidates -");
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
