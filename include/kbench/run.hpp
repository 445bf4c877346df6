// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/problem.hpp"
#include "kbench/profile.hpp"
#include "kbench/run_file.hpp"

namespace kbench {

class StoredBaselines;
struct Installation;
struct QueueDevice;

/// One precision; `--precision` takes its name.
struct Precision {
  std::string_view name;
  std::string_view meaning;
};
std::span<const Precision> precisions();

/// One value of `--timing`.
struct TimingChoice {
  std::string_view name;
  std::string_view meaning;
};
/// The values of `--timing`; the first is the default.
std::span<const TimingChoice> timing_choices();

/// The options of `kbench eval`, besides problems and candidates.
struct EvalOptions {
  std::string device = "auto";                    ///< auto, cpu, cuda, cuda:0,1
  std::string precision = "native";               ///< a row of precisions(), or KernelBench's
  std::vector<std::string> baselines{"eager"};    ///< names of baselines() and of stored ones
  std::vector<std::string> baseline_files;        ///< from `--baseline-file`
  std::shared_ptr<const StoredBaselines> stored;  ///< stored times; null: none
  std::string times_hash;  ///< hash of the stored times; --resume needs the same ones
  int trials = 5;
  bool distributions = true;  ///< `--no-distributions`: only inputs that the problem draws
  bool all_trials = false;    ///< run all trials even after a clear failure
  bool cold_cache = true;
  bool eval_mode = false;                ///< `--eval-mode`: all models in eval mode
  std::optional<std::uint64_t> seed;     ///< none: a random secret of this run
  Sizes overrides;                       ///< --set
  std::vector<std::string> other_sizes;  ///< `--sizes`: names in sizes.json, checked last
  ReduceSizesOptions reduce_sizes;
  double compile_limit_s = 30;
  double nvcc_limit_s = 180;  ///< for an extension that needs nvcc
  double load_limit_s = 120;
  double call_limit_s = 0;             ///< 0: max(2 s, 50 × reference), more on the CPU
  std::string timing = "auto";         ///< a row of timing_choices()
  double timing_budget_s = 0.5;        ///< for timing, per candidate
  unsigned jobs = 0;                   ///< compilers in parallel; 0: one per core
  unsigned device_queues = 1;          ///< candidates in parallel on a GPU
  std::string sanitize = "memory";     ///< none, memory, all: checks of the CPU executor
  std::uint64_t max_instructions = 0;  ///< CPU: warp instructions per launch; 0: no limit
  bool require_clean = false;          ///< `--require clean`
  bool require_own = false;            ///< `--require own-kernels`
  std::string kernel_arch;             ///< compile target of kernels; "": the device
  std::string entry;                   ///< extensions: function to call (MODULES.md)
  bool profile = false;                ///< one more call, counted or traced
  std::filesystem::path ncu;           ///< Nsight Compute; empty: not used
  std::string estimate_for = "H200";   ///< a row of gpu_models()
  bool sandbox = true;                 ///< run candidates in a sandbox
  bool reuse = true;                   ///< reuse the verdict of equal code
  /// Absolute folders of candidates, problems and results. No candidate can read them, even if they
  /// are on Python's or the loader's path.
  std::vector<std::filesystem::path> hidden = {};
};

/// True unless the run only checks correctness (`--timing none`).
bool is_timed(const EvalOptions& options);

/// Receives the progress of a run. Called from several threads, one at a time.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Reports the number of candidates in the run, and how many were judged earlier (`--resume`).
  virtual void planned(std::size_t total, std::size_t resumed) = 0;
  /// A candidate is judged from now on; `record` is still blank.
  virtual void started(const Record& record) { (void)record; }
  virtual void finished(const Record& record) = 0;
  /// Reports a message for a waiting user ("importing torch …").
  virtual void note(std::string_view text) = 0;
};

/// The result of a check of one candidate without a device.
struct CheckedCandidate {
  Record record;      ///< if it fails: outcome, stage, cause and message, as from `eval`
  bool fine = false;  ///< true if it can be judged
  std::size_t tensors = 0, launches = 0;   ///< of a kernel's plan, bound to its problem
  std::size_t builds = 0;                  ///< builds that a module or an extension requests
  std::vector<std::string> ignored_flags;  ///< flags that kbench's compilers do not know
  std::string log;
};

/// One run: drives compilers, judges and candidates, and appends a record for each candidate.
class EvalRun {
 public:
  /// If `cancel_fd` becomes readable, the run stops: children die, finished records stay. Throws
  /// UsageError (a missing or busy device) or kbench::Error.
  EvalRun(Installation installation, EvalOptions options, Observer& observer, int cancel_fd);
  /// For programs that link kbench. `programs` is the folder of kbench's programs (lib/kbench of an
  /// installed package).
  EvalRun(const std::filesystem::path& programs, EvalOptions options, Observer& observer,
          int cancel_fd);
  ~EvalRun();

  /// The `run` line: options and environment.
  RunHeader header(std::vector<std::string> arguments, std::string problem_set_hash);
  const std::vector<QueueDevice>& devices() const;
  /// The secret that inputs are drawn from.
  const std::string& secret() const;
  /// Sets stored times of baselines for later candidates (EvalOptions::stored).
  void take_times(std::shared_ptr<const StoredBaselines> times);
  /// The record of a candidate before it is judged. Finds the problem's sizes if needed; the
  /// record's key decides what --resume skips. Throws run::Cancelled.
  Record blank_record(const Candidate& candidate, const Problem& problem) const;

  /// Parses, binds, compiles and loads candidates in their order, but does not run them. A
  /// candidate with an empty `problem` is checked as far as possible. Throws run::Cancelled.
  std::vector<CheckedCandidate> check(const std::vector<Problem>& problems,
                                      const std::vector<Candidate>& candidates);
  /// A problem's signature, or the message of its failure.
  const std::variant<Signature, std::string>& signature(const Problem& problem);

  /// Receives each record with its details (log, raw measurements); called by one thread at a time.
  using Sink = std::function<void(Record, nlohmann::json)>;

  /// Judges all candidates, grouped by problem. Returns false if it was cancelled.
  bool run(const std::vector<Problem>& problems, const std::vector<Candidate>& candidates,
           const Sink& sink);
  /// Judges candidates as `next` returns them (nullopt: no more), and keeps references warm.
  bool run_stream(const std::vector<Problem>& problems,
                  const std::function<std::optional<Candidate>()>& next, const Sink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
