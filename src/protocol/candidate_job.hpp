// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "kbench/candidate.hpp"
#include "kbench/plan.hpp"
#include "kbench/problem.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// The input of a module's or extension's process, besides its tensors.
struct ModuleJob {
  std::string file_name;  ///< as users see it, for tracebacks and #line
  std::string source;
  std::string folder;  ///< private: where the source becomes a file
  /// Accompanying files: name → text. The process that makes `folder` writes them there; they are
  /// not part of the packed job.
  std::map<std::string, std::string> files;
  std::string entry;  ///< the function of an extension to call; empty: its bindings decide
  /// The problem. Packed only by KernelBench's rules, which let the candidate's file use the
  /// problem file's definitions. Otherwise the process gets only `problem_values`.
  std::string problem_path, problem_source;
  Sizes sizes;
  /// The values that a candidate may read of its problem, as problem_values.py packs them. They do
  /// not contain the file's text.
  std::string problem_values;
  std::string precision = "native";
  /// Arguments of forward: the index of a tensor in the plan, or a plain value.
  std::vector<std::variant<std::size_t, Value>> arguments;
  bool returns_sequence = false;  ///< as in the signature: the candidate must return a sequence
  bool dry_import = false;        ///< dry import: imports, requests builds, and ends
  bool eval_mode = false;         ///< puts its model in eval mode, like the reference's
};

/// The input of a candidate's process. The process reads it once from a sealed descriptor, before
/// any of the candidate's code runs.
struct CandidateJob {
  CandidateKind kind = CandidateKind::kKernel;
  std::string device;  ///< "cpu" or "cuda:0": the process's own name for it
  /// The only GPU that the process sees, as in GpuInfo; empty: the run's first. Not in the packed
  /// job, because it must be set before the process reads the job.
  std::string visible_gpu;
  LaunchPlan plan;                ///< for a module: its tensors, no launches
  ModuleJob module;               ///< for modules and extensions
  std::string image;              ///< cubin or PTX
  std::string undefined_ptx;      ///< Artifact::undefined_ptx
  std::string timing_image;       ///< cubin of kbench's kernels for timed calls on a GPU, or empty
  bool sources_writable = false;  ///< in a second run, which finds the input that a kernel writes
  /// The nonce of the channel to the judge. It keeps out other processes. The candidate's code can
  /// read it, so it does not make messages trustworthy.
  std::uint64_t nonce = 0;
  std::string sanitize = "none";       ///< a row of `--sanitize`; only for the CPU executor
  std::uint64_t max_instructions = 0;  ///< warp instructions of a launch on the CPU; 0: no limit
};

/// Packs a job into one descriptor (a sealed memfd), and unpacks it. Both throw kbench::Error.
Fd pack_job(const CandidateJob& job);
CandidateJob unpack_job(int fd);

}  // namespace kbench
