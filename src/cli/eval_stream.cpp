// SPDX-License-Identifier: MIT
#include "cli/eval_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "cli/options/hidden_folders.hpp"
#include "cli/options/kb_compat.hpp"
#include "cli/options/out_file.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/stream.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "record/run_details.hpp"
#include "report/text/workflow_commands.hpp"
#include "run/prepare/other_sizes.hpp"

namespace kbench::cli {
namespace {

/// The verdicts of the run that `--resume` continues.
class KnownVerdicts {
 public:
  explicit KnownVerdicts(RunFile run)
      : run_(std::move(run)), keys_(resumable_keys(run_)), lines_(run_) {}

  const RunFile& run() const { return run_; }

  /// The record's line for a candidate that has its verdict, under the candidate's id; else null.
  nlohmann::json find(const Candidate& candidate, const Record& blank) const {
    // The key does not cover the reason why a candidate has no code, nor its kind.
    if (!candidate.reject_cause.empty()) return {};
    const auto found = keys_.find(record_key(blank));
    if (found == keys_.end() || run_.records[found->second].kind != candidate.kind) return {};
    nlohmann::json line = lines_.line(run_.records[found->second]);
    if (!line.is_null()) line["candidate"] = candidate.id;
    return line;
  }

 private:
  RunFile run_;
  std::unordered_map<std::string, std::size_t> keys_;
  RunDetails lines_;
};

/// Reads candidates and writes an answer for each; for several threads.
class Stream {
 public:
  /// `writer` and `known` may be null.
  Stream(const std::vector<Problem>& problems, EvalRun& run, const EvalOptions& options,
         RunWriter* writer, const KnownVerdicts* known, int cancel_fd)
      : problems_(problems),
        run_(run),
        options_(options),
        writer_(writer),
        known_(known),
        lines_(cancel_fd) {}

  bool is_malformed() const { return is_malformed_; }
  bool is_faulty() const { return is_faulty_; }

  /// The next candidate that has to be judged; nothing at the end of the input.
  std::optional<Candidate> next() {
    while (auto line = lines_.next()) {
      ++number_;
      if (line->find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        Candidate candidate = candidate_from_line(*line, problems_, number_);
        check_rules_know(candidate, options_);
        numbers_.give(candidate);
        if (!is_known(candidate)) return candidate;
      } catch (const UsageError& error) {
        refuse(error, *line);
      }
    }
    return std::nullopt;
  }

  void take(Record record, const nlohmann::json& details) {
    const std::lock_guard lock(output_);
    is_faulty_ = is_faulty_ || record.outcome == Outcome::kHarnessFault;
    answer(writer_ != nullptr ? nlohmann::json::parse(writer_->write(std::move(record), details))
                              : to_json(record));
  }

 private:
  /// Answers a candidate that has its verdict; plans any other.
  bool is_known(const Candidate& candidate) {
    if (writer_ == nullptr) return false;
    const auto problem = std::ranges::find(problems_, candidate.problem, &Problem::key);
    const Record blank = run_.blank_record(candidate, *problem);
    const nlohmann::json line =
        known_ != nullptr ? known_->find(candidate, blank) : nlohmann::json();
    const std::lock_guard lock(output_);
    if (!line.is_null()) {
      answer(line);
      return true;
    }
    writer_->write(manifest_of({candidate}, problems_));
    if (!candidate.source.empty()) writer_->keep_source(blank.candidate_hash, candidate.source);
    return false;
  }

  void refuse(const UsageError& error, const std::string& line) {
    const std::lock_guard lock(output_);
    is_malformed_ = true;
    const std::string message = fmt::format("line {}: {}", number_, error.what());
    tell("kbench: standard input, {}\n", message);
    nlohmann::json said{{"type", "error"}, {"line", number_}, {"message", message}};
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_object() && object.contains("id")) said["id"] = object["id"];
    answer(said);
  }

  static void answer(const nlohmann::json& line) {
    std::cout << report::json_without_commands(dumped(line)) << std::endl;
    if (!std::cout)
      throw Error("standard output was closed, so the records go nowhere: the run stops");
  }

  const std::vector<Problem>& problems_;
  EvalRun& run_;
  const EvalOptions& options_;
  RunWriter* writer_;
  const KnownVerdicts* known_;
  LineReader lines_;
  std::mutex output_;
  SampleNumbers numbers_;
  bool is_malformed_ = false, is_faulty_ = false;
  std::size_t number_ = 0;
};

}  // namespace

int run_stream(const EvalArguments& arguments, const Installation& installation, int cancel_fd) {
  const auto problems = find_eval_problems(arguments.input, installation);
  EvalOptions options = arguments.options;
  options.overrides = parse_overrides(arguments.judging.settings, problems);
  run::check_size_names(options.other_sizes, problems);
  std::filesystem::path out = arguments.out;
  if (out.empty() && arguments.report.any()) out = choose_out("", "run", false);
  hide_folders(options, problems, {}, {}, out);
  Progress progress(true);
  EvalRun run(installation, options, progress, cancel_fd);
  check_before_run(arguments, problems, run);
  std::optional<KnownVerdicts> known;
  if (auto before = earlier_run(arguments, out, run)) known.emplace(std::move(*before));
  std::optional<RunWriter> writer;
  if (!out.empty()) {
    writer.emplace(out, arguments.resume);
    writer->write(run.header(arguments.command_line, problem_set_hash(problems)));
    if (known) writer->take_sources(known->run());
  }
  Stream stream(problems, run, options, writer ? &*writer : nullptr, known ? &*known : nullptr,
                cancel_fd);
  const bool finished = run.run_stream(
                            problems, [&] { return stream.next(); },
                            [&](Record record, const nlohmann::json& details) {
                              stream.take(std::move(record), details);
                            }) &&
                        !cancelled();
  if (!finished) return interrupted(progress.done_count(), "candidate", out);
  int gate = 0;
  if (writer) writer->write_end(run.secret(), !stream.is_faulty());
  if (arguments.report.any()) gate = report_on(read_run(out), arguments.report, std::nullopt);
  if (arguments.out.empty() && writer) tell("records: {}\n", out.string());
  return stream.is_faulty() ? kFault : stream.is_malformed() ? kUsage : gate;
}

}  // namespace kbench::cli
