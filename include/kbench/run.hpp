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
struct LaneDevice;

/// One row per precision: `--precision` takes their names.
struct Precision {
  std::string_view name;
  std::string_view meaning;
};
std::span<const Precision> precisions();

/// `--score`: a call's time is from the first start of its work to the last end, while any of it
/// ran, or what a caller waits.
inline constexpr const char* kSpanScore = "span";
inline constexpr const char* kBusyScore = "busy";
inline constexpr const char* kWallScore = "wall";

/// What `kbench eval` was asked for, beyond problems and candidates.
struct EvalOptions {
  std::string device = "auto";       ///< auto, cpu, cuda, cuda:0,1
  std::string precision = "native";  ///< or, for KernelBench's rules, the name of a row of theirs
  std::vector<std::string> baselines{"eager"};  ///< rows of baselines(), and rivals
  std::vector<std::string> baseline_files;      ///< as named by `--baseline-file`
  bool beside_kernels = false;  ///< baselines of modules as they are timed beside kernels, too
  std::shared_ptr<const StoredBaselines> stored;  ///< what they hold, and rivals; null: nothing
  std::string times_hash;  ///< of what the files and rivals held, so that others are no resumption
  int trials = 5;
  bool families = true;     ///< `--no-families`: inputs as problems draw them alone
  bool all_trials = false;  ///< `--all-trials`: go on after a clear failure
  bool cold_cache = true;
  bool eval_mode = false;                ///< `--eval-mode`: models are in eval mode, on both sides
  std::optional<std::uint64_t> seed;     ///< none: a secret drawn for this run
  Sizes overrides;                       ///< --set
  std::vector<std::string> other_sizes;  ///< `--sizes`: names in sizes.json, asked afterwards
  ShrinkOptions shrink;
  double compile_limit_s = 30;
  double nvcc_limit_s = 180;  ///< of an extension that falls back to nvcc
  double load_limit_s = 120;
  double call_limit_s = 0;             ///< 0: max(2 s, 50 × reference), more on the CPU
  std::string timing = "auto";         ///< a row of timing_methods()
  std::string score = kSpanScore;      ///< or kBusyScore, kWallScore
  double timing_budget_s = 0.5;        ///< of measuring, per candidate
  unsigned jobs = 0;                   ///< compilers at once; 0: one per core
  unsigned lanes = 1;                  ///< candidates at once on a GPU
  std::string sanitize = "memory";     ///< none, memory, all: what the CPU executor looks for
  std::uint64_t max_instructions = 0;  ///< warp instructions of a launch there; 0: time alone
  bool require_clean = false;          ///< `--require clean`
  bool require_own = false;            ///< `--require own-kernels`
  std::string kernel_arch;             ///< that kernels are compiled for; "": the device's
  std::string entry;                   ///< of extensions: the function to call (MODULES.md)
  bool profile = false;                ///< one more call, counted, or seen by the GPU's records
  std::filesystem::path ncu;           ///< Nsight Compute, for what is right; empty: is not asked
  std::string estimate_for = "H200";   ///< a row of gpu_models()
  bool cage = true;                    ///< candidates run in a cage; off for one's own kernels
  bool reuse = true;                   ///< equal code for a problem gets the verdict it had
  /// Absolute folders of candidates, problems and results: nothing in them is shown to a candidate,
  /// even where Python or the loader is told to look there.
  std::vector<std::filesystem::path> hidden = {};
};

/// What the driver tells while a run goes on. Called from several threads, one at a time.
class Observer {
 public:
  virtual ~Observer() = default;
  /// How many candidates are to be judged, and how many were already (`--resume`).
  virtual void planned(std::size_t total, std::size_t resumed) = 0;
  virtual void finished(const Record& record) = 0;
  /// A sentence that a person who waits wants to know ("importing torch …").
  virtual void note(std::string_view text) = 0;
};

/// What is to be known of one candidate without running it on a device.
struct CheckedCandidate {
  Record record;      ///< outcome, stage, cause and message where it fails, as `eval` would say
  bool fine = false;  ///< nothing speaks against judging it
  std::size_t tensors = 0, launches = 0;   ///< of a kernel's plan, bound to its problem
  std::size_t builds = 0;                  ///< what a module or an extension had built
  std::vector<std::string> ignored_flags;  ///< that mean nothing to kbench's compilers
  std::string log;
};

/// One run: drives compilers, judges and candidates, and appends a record for each candidate.
class EvalRun {
 public:
  /// A readable `cancel_fd` stops the run: children die, finished records stay. Throws UsageError
  /// (a device that is not there or is in use) or kbench::Error.
  EvalRun(Installation installation, EvalOptions options, Observer& observer, int cancel_fd);
  /// For programs that link kbench: `programs` is the folder of kbench's own (lib/kbench of an
  /// installed package).
  EvalRun(const std::filesystem::path& programs, EvalOptions options, Observer& observer,
          int cancel_fd);
  ~EvalRun();

  /// The `run` line: options and environment.
  RunHeader header(std::vector<std::string> arguments, std::string problem_set_hash);
  const std::vector<LaneDevice>& devices() const;
  /// The secret that inputs are drawn from.
  const std::string& secret() const;
  /// Takes times of baselines for what is judged from now on (EvalOptions::stored).
  void take_times(std::shared_ptr<const StoredBaselines> times);
  /// The record of a candidate before anything is known of it but its problem's sizes, which may
  /// have to be found first; its key decides what --resume skips. Throws run::Cancelled.
  Record blank_record(const Candidate& candidate, const Problem& problem) const;

  /// Parses, binds, compiles and loads candidates, and runs none; in their order. One whose
  /// `problem` is empty is looked at as far as that goes. Throws run::Cancelled.
  std::vector<CheckedCandidate> check(const std::vector<Problem>& problems,
                                      const std::vector<Candidate>& candidates);
  /// A problem's signature, or the sentence of its failure.
  const std::variant<Signature, std::string>& signature(const Problem& problem);

  /// Receives each record with its details (log, raw measurements); called by one thread at a time.
  using Sink = std::function<void(Record, nlohmann::json)>;

  /// Judges all candidates, grouped by problem. Returns false where it was cancelled.
  bool run(const std::vector<Problem>& problems, const std::vector<Candidate>& candidates,
           const Sink& sink);
  /// Judges candidates as `next` delivers them (nullopt: no more), keeping references warm.
  bool run_stream(const std::vector<Problem>& problems,
                  const std::function<std::optional<Candidate>()>& next, const Sink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
