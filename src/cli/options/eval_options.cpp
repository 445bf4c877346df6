// SPDX-License-Identifier: MIT
#include "cli/options/eval_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/help/option_groups.hpp"
#include "cli/options/option_checks.hpp"
#include "kbench/profile.hpp"

namespace kbench::cli {
namespace {

/// Adds the options that say how candidates are judged and timed, and where records go.
void add_run_options(CLI::App& app, EvalArguments& a) {
  add_judging_options(app, a.judging, a.options);
  app.option_defaults()->group(group::kJudged);
  app.add_option(
         "--sizes", a.options.other_sizes,
         "names of further sizes in sizes.json; kbench also checks right candidates at these "
         "sizes, without timing")
      ->type_name("NAME[,…]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.option_defaults()->group(group::kOutput);
  app.add_option(
         "--out", a.out,
         "run file (default: run.jsonl, or run-N.jsonl; with --candidates - none, unless a report "
         "or a gate needs it)")
      ->type_name("FILE");
  app.add_flag("--resume", a.resume, "continue a run file: skip candidates that have a verdict");
  app.add_option("--reuse-from", a.reuse_from,
                 "older run file (of the main branch): copy its verdicts on equal code for equal "
                 "problems, options and devices")
      ->type_name("FILE");
  app.option_defaults()->group(group::kTiming);
  add_baseline_option(app, a.options, BaselineCandidates::kAllowed);
  app.add_option(
         "--baseline-file", a.options.baseline_files,
         "run file (of kbench baseline or any other) that has times of baselines; kbench then "
         "does not measure them; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_timing_options(app, a.options, a.l2, "candidate");
  app.option_defaults()->group(group::kJudging);
  app.add_flag("--all-trials", a.options.all_trials,
               "run all trials even after an error above 1e-2; after smaller errors all trials run "
               "anyway, to find the precision at which the candidate is right");
  app.add_flag("!--no-reuse", a.options.reuse,
               "judge equal code for a problem again instead of copying its verdict");
  app.add_flag("!--no-sandbox", a.options.sandbox,
               "run candidates without the sandbox; only for code that you trust")
      ->configurable(false);  // a kbench.toml may come with the candidates
  app.add_option("--entry", a.options.entry,
                 "function of extensions to call (default: forward, or the only one bound)")
      ->type_name("NAME")
      ->check(function_name());
  app.add_option(
         "--require", a.requirements,
         "clean: reject candidates that raise a sanitizer flag or read a clock; own-kernels: "
         "reject candidates that use kernels of torch or another library; may be repeated")
      ->type_name("RULE")
      ->check(one_of({"clean", "own-kernels"}))
      ->allow_extra_args(false);
}

/// Adds limits of time, and of what runs at once.
void add_limit_options(CLI::App& app, EvalArguments& a) {
  app.option_defaults()->group(group::kLimits);
  app.add_option("--timeout", a.options.call_limit_s,
                 "seconds per call (default: 2 s, or 50 times the reference; more on the CPU)")
      ->type_name("SECONDS")
      ->check(above_zero());
  add_compile_timeout(app, a.options.compile_limit_s);
  app.add_option("--nvcc-timeout", a.options.nvcc_limit_s,
                 "seconds of processor time for each source of an extension that only nvcc can "
                 "compile")
      ->type_name("SECONDS")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--load-timeout", a.options.load_limit_s, "seconds to load a candidate")
      ->type_name("SECONDS")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--queues", a.options.device_queues,
                 "candidates judged at once on a GPU, 1 to 8; kbench times them one by one (not "
                 "with --candidates - or --kb-compat)")
      ->type_name("N")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.add_option("--jobs", a.options.jobs, "compilers at once (default: one per core)")
      ->type_name("N");
}

/// Adds the options of the CPU executor, and of profiling.
void add_executor_options(CLI::App& app, EvalArguments& a) {
  app.option_defaults()->group(group::kCpu);
  app.add_option(
         "--sanitize", a.options.sanitize,
         "what the CPU executor checks: none (only bounds), memory, all (memory and races). "
         "In a run on a GPU it checks all, or nothing with none")
      ->type_name("CHECKS")
      ->check(one_of({"none", "memory", "all"}))
      ->capture_default_str();
  app.add_option(
         "--max-instructions", a.options.max_instructions,
         "limit of warp instructions for a launch in the CPU executor (default: only --timeout)")
      ->type_name("N")
      ->check(above_zero());
  app.option_defaults()->group(group::kTiming);
  // command_words() joins `--profile` with its value. A problem that follows it is thus not
  // mistaken for the value.
  app.add_option(
         "--profile", a.profile,
         "one more call per candidate: on the CPU it counts instructions, on a GPU it records the "
         "time, registers, shared memory and occupancy of each launch; ncu: also run Nsight "
         "Compute")
      ->type_name("[=ncu]")
      ->expected(0, 1)
      ->default_str("")
      ->check(one_of({kKernelsProfile, kNcuProfile}));
  app.add_option("--estimate-for", a.options.estimate_for, "GPU that --profile estimates times for")
      ->type_name("GPU")
      ->check(one_of(names_of(gpu_models())))
      ->capture_default_str();
}

}  // namespace

void add_eval_options(CLI::App& app, EvalArguments& arguments) {
  add_run_options(app, arguments);
  add_limit_options(app, arguments);
  add_executor_options(app, arguments);
  add_report_options(app, arguments.report,
                     "no progress; on the console, only the summary and the "
                     "number of failures by cause");
}

}  // namespace kbench::cli
