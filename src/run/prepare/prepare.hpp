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

/// What a module's import ordered, ahead of the device, and how it ended; nothing where it did not.
struct Scouted {
  BuildSummary builds;
  std::optional<ScoutEnd> end;
  bool timed_out = false;
};

/// A candidate on its way: its record so far, and what is still needed to run it.
struct Prepared {
  const Candidate* candidate = nullptr;
  const Problem* problem = nullptr;
  Sizes sizes;  ///< that the problem runs with
  Record record;
  bool decided = false;           ///< the record is final; nothing has to run
  bool timed = true;              ///< once it is right
  bool later = false;             ///< not prepared: equal code has been or will be judged before it
  std::vector<Prepared*> copies;  ///< with equal code, which wait for its verdict
  /// The same candidate at the sizes of `--sizes`, by their names.
  std::vector<std::pair<std::string, std::unique_ptr<Prepared>>> at_other_sizes;
  std::string log;  ///< for the details: compiler's log, problem's traceback
  std::optional<BoundPlan> bound;
  std::shared_future<CompileResult> compiled;
  std::optional<CandidateJob> module;   ///< of a module or an extension
  std::shared_future<Scouted> scouted;  ///< of a module that has been sent ahead
  double call_limit_s = 0;
  std::size_t needed_bytes = 0;   ///< of the device's memory, by one input set of the problem
  std::optional<LeastWork> work;  ///< of the reference
  std::size_t output_bytes = 0;   ///< likewise
};

/// Ends a candidate's way: sets outcome, stage, cause and message.
void decide(Prepared& prepared, Outcome outcome, Stage stage, std::string_view cause,
            std::string message);

/// The same for a faulty plan.
void decide(Prepared& prepared, const PlanError& error);
/// Decides on what is no code; false where it is.
bool decide_rejected(Prepared& prepared);

/// Of the device's memory, by one input set of the problem.
std::size_t needed_bytes(const Signature& signature);

/// Why a problem of these sizes is not opened on a device: a cause and a sentence.
struct Unfit {
  std::string_view cause;
  std::string message;
};
/// Nothing where it may be. `shrunk` is what became of its sizes under `shrink`.
std::optional<Unfit> unfit(const Signature& signature, const LaneDevice& device,
                           const std::optional<Shrunk>& shrunk, const ShrinkOptions& shrink);

/// Parses and binds the candidate's plan and asks for its code: all that can be done ahead of the
/// device. `record` is the candidate's blank record.
void prepare(Prepared& prepared, const Signature& signature, const DeviceLimits& limits,
             const std::string& arch, double call_limit_s, CompilePool& pool);

/// Of a module or an extension, what needs no signature: enough to send it ahead. `entry` is the
/// function of an extension to call; empty: as its bindings say.
/// `precision` is the row's name.
void begin_module(Prepared& prepared, const std::string& entry, const std::string& precision);

/// The rest, after begin_module() or with it: the job of its process, but for device and nonce.
void prepare_module(Prepared& prepared, const Signature& signature, const std::string& entry,
                    double call_limit_s);

/// Finishes what prepare() began, waiting for the compiler: the launch plan and image, or nothing
/// where the record is decided now.
struct ReadyCode {
  LaunchPlan plan;
  std::string image;
  CandidateKind kind = CandidateKind::kKernel;
  ModuleJob module;
  std::string undefined_ptx;  ///< Artifact::undefined_ptx
};
/// Whether finish_compile() would not have to wait.
bool is_compiled(const Prepared& prepared);
std::optional<ReadyCode> finish_compile(Prepared& prepared, int cancel_fd);

}  // namespace kbench::run
