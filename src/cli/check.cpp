// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "candidate/file.hpp"
#include "cli/check_text.hpp"
#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/list_table.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/format_option.hpp"
#include "cli/options/hidden_folders.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/problem_set.hpp"
#include "cli/options/reduce_sizes_option.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::cli {
namespace {

namespace fs = std::filesystem;

struct CheckArguments {
  std::string problem_set;  ///< --problems
  std::vector<std::string> files, problems, settings;
  std::string reduce_sizes = "auto";
  EvalOptions options;
  bool json = false;
};

/// The problem that a .py file without ModelNew defines; none if the file is not a problem.
std::vector<Problem> problem_in(const std::string& file) {
  if (!file.ends_with(".py") || !fs::is_regular_file(file)) return {};
  const ExtractedCode code = extract_code(read_candidate(file).source);
  if (code.block && code.kind == CandidateKind::kModule) return {};
  try {
    return find_problems({file}, {});
  } catch (const UsageError&) {
    return {};  // the file is a faulty candidate
  }
}

/// True if a file is a candidate regardless of its content: its folder is named after a problem, or
/// all files are for one named problem and this is not that problem's file.
bool stands_as_candidate(const std::string& file, const std::vector<Problem>& problems,
                         bool one_is_named) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(file, ignored);
  if (one_is_named) return !fs::equivalent(path, problems.front().path, ignored);
  const std::string folder = path.parent_path().filename().string();
  return std::ranges::any_of(problems, [&](const Problem& problem) {
    return fs::path(problem.key).filename().string() == folder;
  });
}

/// The problems that files may belong to.
struct KnownProblems {
  std::vector<Problem> problems;  ///< named ones, else shipped ones; then files to check
  bool one_is_named = false;      ///< all files are for the first problem
  bool set_is_named = false;      ///< numbers in file names mean these problems
};

KnownProblems known_problems(const CheckArguments& arguments, const Installation& installation) {
  std::vector<Problem> problems =
      find_problems(arguments.problems, problem_sets(arguments.problem_set, installation));
  const bool one_is_named = !arguments.problems.empty() && problems.size() == 1;
  const bool set_is_named =
      is_set_named(arguments.problem_set, arguments.problems, problems, installation);
  const std::size_t named = problems.size();
  std::map<std::string, fs::path> asked;
  for (const std::string& file : arguments.files) {
    if (stands_as_candidate(
            file, {problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(named)},
            one_is_named))
      continue;
    for (Problem& problem : problem_in(file)) {
      std::error_code ignored;
      const auto [other, is_first] = asked.emplace(problem.key, problem.path);
      if (!is_first && !fs::equivalent(other->second, problem.path, ignored))
        throw UsageError(fmt::format("{} and {} are both problem {}: check one after the other",
                                     other->second.string(), problem.path.string(), problem.key));
      const auto known = std::ranges::find(problems, problem.key, &Problem::key);
      // The given file replaces another one with its key.
      if (known != problems.end())
        *known = std::move(problem);
      else
        problems.push_back(std::move(problem));
    }
  }
  return {std::move(problems), one_is_named, set_is_named};
}

CheckedFile read_file_to_check(const std::string& path, const KnownProblems& known) {
  CheckedFile file;
  file.path = path;
  const bool is_candidate = stands_as_candidate(path, known.problems, known.one_is_named);
  if (const auto itself = is_candidate ? std::vector<Problem>{} : problem_in(path);
      !itself.empty()) {
    file.problem.emplace().key = itself.front().key;
    return file;
  }
  // As in `eval --candidate FILE --problem P`.
  if (known.one_is_named) {
    file.candidate = load_candidate(path, known.problems.front(), "candidate", 0);
    return file;
  }
  if (!known.set_is_named && has_numbers_only(path)) {
    file.candidate = read_candidate(path);
    file.unplaced = "its name has only numbers of KernelBench's: name the set with --problem";
    return file;
  }
  file.candidate = read_candidate(path, known.problems, &file.unplaced);
  return file;
}

void describe(CheckedFile::ProblemFile& file, const std::vector<Problem>& problems, EvalRun& run) {
  const Problem& problem = *std::ranges::find(problems, file.key, &Problem::key);
  file.record = run.blank_record(Candidate(), problem);
  const auto& found = run.signature(problem);
  if (const auto* failure = std::get_if<std::string>(&found)) {
    file.failure = *failure;
    return;
  }
  const auto& signature = std::get<Signature>(found);
  file.inputs = inputs_text(signature);
  for (const TensorInfo& output : signature.outputs)
    file.outputs += (file.outputs.empty() ? "" : ", ") + kbench::describe(output);
}

std::vector<CheckedFile> checked_files(const CheckArguments& arguments) {
  const Installation installation = find_installation();
  const KnownProblems known = known_problems(arguments, installation);
  const std::vector<Problem>& problems = known.problems;
  std::vector<CheckedFile> files;
  for (const std::string& path : arguments.files) {
    // A pattern such as answers/* also finds a run's other files.
    if (arguments.files.size() > 1 && !is_code_file(path) && !is_response_file(path) &&
        std::filesystem::is_regular_file(path)) {
      tell("kbench: skipped {}, which is not a .cu, .py, .md or .txt file\n", path);
      continue;
    }
    files.push_back(read_file_to_check(path, known));
  }
  if (files.empty()) throw UsageError("none of these files is a problem or a candidate");
  EvalOptions options = arguments.options;
  options.overrides = parse_overrides(arguments.settings, problems);
  options.reduce_sizes = parse_reduce_sizes(arguments.reduce_sizes);
  std::vector<Candidate> candidates;
  for (const CheckedFile& file : files)
    if (!file.problem) candidates.push_back(file.candidate);
  hide_folders(options, problems, candidates, {}, {});
  Progress progress(false);
  EvalRun run(installation, options, progress, install_cancel());
  for (CheckedFile& file : files) {
    if (file.problem) describe(*file.problem, problems, run);
  }
  auto checked = run.check(problems, candidates);
  std::size_t next = 0;
  for (CheckedFile& file : files)
    if (!file.problem) file.checked = std::move(checked.at(next++));
  return files;
}

int check(const CheckArguments& arguments) {
  const auto files = checked_files(arguments);
  if (arguments.json) {
    std::cout << report::json_without_commands(dumped(check_json(files), 2)) << '\n';
  } else {
    std::cout << check_text(files);
  }
  std::cout.flush();
  return std::ranges::all_of(files, &CheckedFile::would_be_scored) ? 0 : kGate;
}

}  // namespace

Subcommand add_check(CLI::App& app) {
  auto arguments = std::make_shared<CheckArguments>();
  arguments->options.device = "cpu";
  CLI::App* command = app.add_subcommand(
      "check", "Report what each file is, if it compiles and loads, and what is wrong with it");
  command->option_defaults()->group(group::kJudged);
  add_problem_set_option(*command, arguments->problem_set);
  command->add_option("FILE", arguments->files, "problems, candidates, or models' answers")
      ->required();
  command
      ->add_option("--problem", arguments->problems,
                   "the problem of the files, or a set (default: the shipped ones); may be "
                   "repeated")
      ->type_name("PROBLEM")
      ->allow_extra_args(false);
  command
      ->add_option("--set", arguments->settings,
                   "override a constant of the problems; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->option_defaults()->group(group::kJudging);
  command
      ->add_option("--device", arguments->options.device,
                   "auto, cpu, cuda, or cuda:0,1: bind plans to its limits, at its sizes")
      ->type_name("DEVICE")
      ->capture_default_str();
  add_reduce_sizes_option(*command, arguments->reduce_sizes);
  command
      ->add_option("--entry", arguments->options.entry,
                   "function of extensions to call (default: forward, or the only one bound)")
      ->type_name("NAME")
      ->check(function_name());
  command
      ->add_option("--arch", arguments->options.kernel_arch,
                   "GPU architecture to compile kernels for: sm_80, sm_90a, … (default: the "
                   "device's; sm_90a for cpu)")
      ->type_name("ARCH");
  add_compile_timeout(*command, arguments->options.compile_limit_s);
  command->add_option("--load-timeout", arguments->options.load_limit_s, "seconds to load a module")
      ->type_name("SECONDS")
      ->check(above_zero())
      ->capture_default_str();
  command->option_defaults()->group(group::kOutput);
  add_format_option(*command, arguments->json);
  command->footer("Exit codes: 0 all files are fine; 3 a file would not be scored; 2 usage.");
  return {command, [arguments] {
            if (arguments->options.kernel_arch.empty() && arguments->options.device == "cpu")
              arguments->options.kernel_arch = "sm_90a";
            return check(*arguments);
          }};
}

}  // namespace kbench::cli
