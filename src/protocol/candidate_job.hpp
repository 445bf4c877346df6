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

/// What the process of a module or an extension needs besides its tensors.
struct ModuleJob {
  std::string file_name;  ///< as people know it, for tracebacks and #line
  std::string source;
  std::string folder;  ///< private: where the source becomes a file
  /// Put into `folder` by who makes it, with the name that each has there; not part of the packed
  /// job.
  std::map<std::string, std::string> files;
  std::string entry;  ///< of an extension: the function to call; empty: as its bindings say
  /// The problem. Part of the packed job only by KernelBench's rules, where the candidate's file
  /// finds what the problem's defines; else its process gets `problem_values` alone.
  std::string problem_path, problem_source;
  Sizes sizes;
  /// What a candidate may know of its problem, as problem_values.py packs it: no text of the file.
  std::string problem_values;
  std::string precision = "native";
  /// Arguments of forward: the index of a tensor in the plan, or a plain value.
  std::vector<std::variant<std::size_t, Value>> arguments;
  bool returns_sequence = false;  ///< as in the signature: what the candidate is to return
  bool scout = false;             ///< imports, asks for what is to be compiled, and ends
  bool eval_mode = false;         ///< its model is put in eval mode, as the reference's is
};

/// What a candidate's process is given: read once from a sealed descriptor, before anything runs.
struct CandidateJob {
  CandidateKind kind = CandidateKind::kKernel;
  std::string device;  ///< "cpu" or "cuda:0", as its process calls it
  /// The only GPU that its process sees, as in GpuInfo; empty: the run's first. Not part of the
  /// packed job: a process sees one from its first moment.
  std::string visible_gpu;
  LaunchPlan plan;                ///< of a module: its tensors, and no launches
  ModuleJob module;               ///< where it is none of plain kernels
  std::string image;              ///< cubin or PTX
  std::string undefined_ptx;      ///< Artifact::undefined_ptx
  std::string timing_image;       ///< cubin of what runs before timed calls on a GPU, or empty
  bool sources_writable = false;  ///< a second run that finds out which input a kernel wrote to
  /// Of the channel to the judge. It keeps strangers out; the process that gets the job, and so the
  /// candidate's code in it, can read it: the judge trusts no message because of it.
  std::uint64_t nonce = 0;
  std::string sanitize = "none";       ///< a row of `--sanitize`; looked at where the CPU executes
  std::uint64_t max_instructions = 0;  ///< warp instructions of a launch on the CPU; 0: no bound
};

/// The job as one descriptor (a sealed memfd), and back. Both throw kbench::Error.
Fd pack_job(const CandidateJob& job);
CandidateJob unpack_job(int fd);

}  // namespace kbench
