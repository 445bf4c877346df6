// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/json/dumped.hpp"
#include "cli/commands.hpp"
#include "cli/options/baseline_candidates.hpp"
#include "cli/options/baseline_files.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/hidden_folders.hpp"
#include "cli/options/judging_options.hpp"
#include "cli/options/kb_compat.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/out_file.hpp"
#include "cli/options/report_options.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/stream.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "kbench/profile.hpp"
#include "kbench/report.hpp"
#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "protocol/timing_method.hpp"
#include "record/stored_baselines.hpp"
#include "report/gate/gate.hpp"
#include "report/text/workflow_commands.hpp"
#include "run/devices.hpp"
#include "run/prepare/other_sizes.hpp"
#include "run/schedule/ncu.hpp"
#include "score/kernelbench.hpp"

namespace kbench::cli {
namespace {

struct EvalArguments {
  EvalInputArguments input;
  JudgingArguments judging;
  EvalOptions options;
  std::string out, l2 = "cold", profile;
  bool resume = false, quiet = false;
  bool sanitize_given = false;
  std::vector<std::string> requirements;
  ReportArguments report;
  std::vector<std::string> command_line;
};

std::vector<ManifestEntry> manifest_of(const std::vector<Candidate>& candidates,
                                       const std::vector<Problem>& problems) {
  std::vector<ManifestEntry> manifest;
  for (const auto& candidate : candidates) {
    const auto problem = std::ranges::find(problems, candidate.problem, &Problem::key);
    manifest.push_back(
        {candidate.problem, problem->level, candidate.model, candidate.sample, problem->tags});
  }
  return manifest;
}

/// Throws UsageError for GPU timing options, because the CPU has one timing method.
void check_gpu_timing(const EvalOptions& options) {
  if (!options.ncu.empty())
    throw UsageError("--profile ncu profiles kernels on a GPU, and this run is on the CPU");
  const bool by_gpu = find_timing_method(options.timing)->by_gpu;
  if (by_gpu || options.score != kSpanScore)
    throw UsageError(fmt::format("{} chooses among times of a GPU, and this run is on the CPU",
                                 by_gpu ? fmt::format("--timing {}", options.timing) : "--score"));
}

/// On a GPU, rejects options that need the CPU executor, before anything runs.
void check_watching(const EvalOptions& options, bool sanitize_given, const EvalRun& run) {
  if (options.require_clean && options.sanitize == "none")
    throw UsageError("--require clean needs a sanitizer: give --sanitize memory or --sanitize all");
  const QueueDevice& device = run.devices().front();
  if (!device.gpu) return check_gpu_timing(options);
  if (options.require_clean)
    throw UsageError(fmt::format(
        "--require clean needs the sanitizers of the CPU executor, and this run is on {}: give "
        "--device cpu",
        device.name));
  if (sanitize_given)
    fmt::print(stderr, "kbench: --sanitize applies only to the CPU executor and is ignored on {}\n",
               device.name);
}

/// Throws UsageError before the run if the file has records of the other device class. One report
/// cannot have both.
void check_resumed(const RunFile& before, const std::filesystem::path& out, const EvalRun& run) {
  const QueueDevice& device = run.devices().front();
  for (const Record& record : before.records) {
    if ((record.device == "cpu") == !device.gpu) continue;
    throw UsageError(fmt::format(
        "{} holds records of {}, and this run is on {}; one report cannot hold both: name another "
        "file with --out",
        out.string(), record.device, device.model));
  }
}

/// Throws UsageError before the run if a gate can never be met on this device.
void check_gates(const EvalArguments& arguments, const EvalRun& run) {
  const bool is_timed = find_timing_method(arguments.options.timing)->timed;
  if (!run.devices().front().gpu) check_on_cpu(fail_on_of(arguments.report));
  if (run.devices().front().gpu && is_timed) return;
  for (const auto& argument : arguments.report.gates) {
    const Metric metric = parse_gate(argument).metric;
    if (metric.needs_speedup())
      throw UsageError(fmt::format(
          "--fail-under {}: {} needs the times of a GPU, and this run {}: gate on correct, fast_0 "
          "or pass@1",
          argument, metric.name(), is_timed ? "is on the CPU" : "takes none (--timing none)"));
  }
}

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
  check_watching(options, arguments.sanitize_given, run);
  check_baselines(arguments.options, run);
  check_gates(arguments, run);
  std::unordered_set<std::string> known;
  if (arguments.resume && std::filesystem::exists(out)) {
    const RunFile before = read_run(out);
    check_resumed(before, out, run);
    known = resumable_keys(before);
  }
  RunWriter writer(out, arguments.resume);
  writer.write(run.header(arguments.command_line, problem_set_hash(input.problems)));
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
  const int gate = report_on(read_run(out), arguments.report, std::nullopt);
  tell("records: {}\n", out.string());
  return faulty ? kFault : gate;
}

int run_stream(const EvalArguments& arguments, const Installation& installation, int cancel_fd) {
  const auto problems = find_eval_problems(arguments.input, installation);
  EvalOptions options = arguments.options;
  options.overrides = parse_overrides(arguments.judging.settings, problems);
  run::check_size_names(options.other_sizes, problems);
  hide_folders(options, problems, {}, {}, arguments.out);
  Progress progress(true);
  EvalRun run(installation, options, progress, cancel_fd);
  check_watching(options, arguments.sanitize_given, run);
  check_baselines(options, run);
  std::unique_ptr<RunWriter> writer;
  if (!arguments.out.empty()) {
    writer = std::make_unique<RunWriter>(arguments.out, arguments.resume);
    writer->write(run.header(arguments.command_line, problem_set_hash(problems)));
  }
  LineReader lines(cancel_fd);
  std::mutex output;
  bool malformed = false;
  bool faulty = false;
  std::size_t number = 0;
  const auto next = [&]() -> std::optional<Candidate> {
    while (auto line = lines.next()) {
      ++number;
      if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        Candidate candidate = candidate_from_line(*line, problems, number);
        check_rules_know(candidate, options);
        const std::lock_guard lock(output);
        if (writer) writer->write(manifest_of({candidate}, problems));
        return candidate;
      } catch (const UsageError& error) {
        const std::lock_guard lock(output);
        malformed = true;
        const std::string message = fmt::format("line {}: {}", number, error.what());
        tell("kbench: standard input, {}\n", message);
        std::cout << report::json_without_commands(nlohmann::json{
                         {"type", "error"},
                         {"line", number},
                         {"message", message}}.dump())
                  << std::endl;
      }
    }
    return std::nullopt;
  };
  const auto sink = [&](Record record, const nlohmann::json& details) {
    const std::lock_guard lock(output);
    faulty = faulty || record.outcome == Outcome::kHarnessFault;
    auto line = to_json(record);
    if (writer) line = nlohmann::json::parse(writer->write(std::move(record), details));
    std::cout << report::json_without_commands(dumped(line)) << std::endl;
  };
  if (!run.run_stream(problems, next, sink) || cancelled()) return kInterrupted;
  if (writer) writer->write_end(run.secret(), !faulty);
  return faulty ? kFault : malformed ? kUsage : 0;
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
  app.add_option("--out", a.out, "run file (default: run.jsonl, or run-N.jsonl)");
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
               "run candidates without the sandbox; only for code that you trust");
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
  command->add_option("PROBLEM", input.problems, "a file, a folder, a glob, or a name in a set");
  command
      ->add_option("--candidates", input.candidates,
                   "[MODEL=]PATH, or - to read one JSON object per line from standard input")
      ->allow_extra_args(false);
  command->add_option("--candidate", input.candidate, "one candidate file; needs --problem");
  command->add_option("--problem", input.problem, "the problem of --candidate");
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
    check_words(arguments->report);
    const bool stream =
        std::ranges::find(arguments->input.candidates, "-") != arguments->input.candidates.end();
    if (stream && std::ranges::any_of(arguments->options.baselines, is_baseline_candidate))
      throw UsageError("--baseline candidate:PATH cannot be combined with --candidates -");
    if (stream && arguments->input.candidates.size() > 1)
      throw UsageError("--candidates - cannot be combined with other --candidates");
    const Installation installation = find_installation();
    return (stream ? run_stream : run_batch)(*arguments, installation, install_cancel());
  };
  return {command, run};
}

}  // namespace kbench::cli
