// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.hpp"
#include "kbench/run.hpp"
#include "protocol/candidate_job.hpp"
#include "run/build/compile_service.hpp"
#include "run/devices.hpp"

namespace kbench::run {

/// The result of a module's dry import: the builds it requested and how it ended; no `end` if it
/// did not end.
struct DryImported {
  BuildSummary builds;
  std::optional<DryImportEnd> end;
  bool timed_out = false;
  double limit_s = 0;  ///< of its time
};

/// A candidate in progress: its record so far, and everything needed to run it.
struct Prepared {
  const Candidate* candidate = nullptr;
  const Problem* problem = nullptr;
  Sizes sizes;  ///< of the problem
  Record record;
  bool decided = false;           ///< the record is final; nothing has to run
  bool timed = true;              ///< time it if it is correct
  bool later = false;             ///< not prepared yet: equal code is judged first
  std::vector<Prepared*> copies;  ///< candidates with equal code, which wait for its verdict
  /// The same candidate at the sizes of `--sizes`, by their names.
  std::vector<std::pair<std::string, std::unique_ptr<Prepared>>> at_other_sizes;
  std::string log;  ///< for the details: compiler's log, problem's traceback
  std::optional<BoundPlan> bound;
  std::shared_future<CompileResult> compiled;
  std::optional<CandidateJob> module;            ///< for a module or an extension
  std::shared_future<DryImported> dry_imported;  ///< for a module with a dry import
  double call_limit_s = 0;
  std::size_t needed_bytes = 0;   ///< device memory for one input set of the problem
  std::optional<LeastWork> work;  ///< of the reference
  std::size_t output_bytes = 0;   ///< of the reference
};

/// Decides a candidate's record: sets outcome, stage, cause and message.
void decide(Prepared& prepared, Outcome outcome, Stage stage, std::string_view cause,
            std::string message);

/// The same for a faulty plan.
void decide(Prepared& prepared, const PlanError& error);
/// Decides the record of a rejected candidate; false if the candidate has code.
bool decide_rejected(Prepared& prepared);

/// Bytes of device memory for one input set of the problem.
std::size_t needed_bytes(const Signature& signature);

/// Why a problem cannot be opened at its sizes on a device: a cause and a message.
struct Unfit {
  std::string_view cause;
  std::string message;
};
/// Nothing if the problem may be opened. `reduced_sizes`: the result of the options `reduce_sizes`,
/// if there is one.
std::optional<Unfit> unfit(const Signature& signature, const QueueDevice& device,
                           const std::optional<ReducedSizes>& reduced_sizes,
                           const ReduceSizesOptions& reduce_sizes);

/// Does everything that needs no device: parses and binds the candidate's plan, and starts to
/// compile its code. `record` must be the candidate's blank record.
void prepare(Prepared& prepared, const Signature& signature, const DeviceLimits& limits,
             const std::string& arch, double call_limit_s, CompilePool& pool);

/// Prepares the part of a module or an extension that needs no signature, which suffices for a dry
/// import. `entry`: the function of an extension to call; empty: its bindings decide. `precision`:
/// the name of the precision row.
void begin_module(Prepared& prepared, const std::string& entry, const std::string& precision);

/// Completes the job of a module's process, except device and nonce. Calls begin_module() if
/// needed.
void prepare_module(Prepared& prepared, const Signature& signature, const std::string& entry,
                    double call_limit_s);

/// A candidate's launch plan and code, ready to run.
struct ReadyCode {
  LaunchPlan plan;
  std::string image;
  CandidateKind kind = CandidateKind::kKernel;
  ModuleJob module;
  std::string undefined_ptx;  ///< Artifact::undefined_ptx
};
/// True if finish_compile() would not wait.
bool is_compiled(const Prepared& prepared);
std::optional<ReadyCode> finish_compile(Prepared& prepared, int cancel_fd);

}  // namespace kbench::run
