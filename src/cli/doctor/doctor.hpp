// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/host/host_compile.hpp"
#include "compile/nvcc/nvcc.hpp"
#include "os/installation.hpp"
#include "os/sandbox/cage.hpp"

namespace kbench::cli {

/// One GPU as the driver describes it.
struct GpuFacts {
  std::string name;
  std::uint64_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  int compute_mode = 0;          ///< 0 default, 2 prohibited, 3 exclusive process
  bool pageable_access = false;  ///< HMM: kernels can read the host's memory
};

/// What the CUDA driver library said, asked in a process of its own.
struct DriverFacts {
  std::string error;     ///< why there is no answer; empty: there is one
  int cuda_version = 0;  ///< newest CUDA that the driver runs, 13000 for 13.0
  std::vector<GpuFacts> gpus;
};

/// A program that was found, with the first line of its --version.
struct ProgramFacts {
  std::filesystem::path path;
  std::string version;
};

/// Everything that doctor looks at, gathered once; the checks only judge it.
struct Machine {
  std::optional<Installation> installation;
  std::string installation_error;
  std::vector<std::filesystem::path> gone;  ///< files that the installation names in vain
  bool compiler_exists = false, worker_exists = false;
  std::string kernel_driver;  ///< version of the kernel module, "580.159.03"; empty: not loaded
  DriverFacts driver;
  std::vector<std::filesystem::path> locked_devices;  ///< /dev/nvidia* that cannot be opened
  std::string nvrtc_version, nvrtc_error;
  std::filesystem::path cupti;  ///< the library; empty: not found
  std::vector<std::string> missing_headers;
  std::vector<ProgramFacts> host_compilers;  ///< the one that host halves are compiled with first
  std::optional<HostHeaders> headers_cuda, headers_cpu;  ///< none: no compiler or no torch
  NvccSearch nvcc;
  std::filesystem::path ncu;                           ///< Nsight Compute; empty: none was found
  std::string torch_version, torch_cuda, torch_error;  ///< as the Python says now
  CageParts cage;                                      ///< what candidates are caged with here
  unsigned cores = 1;
  std::uint64_t memory_bytes = 0, available_bytes = 0, shm_bytes = 0;
  std::filesystem::path cache;
  bool cache_writable = false;
  std::uint64_t cache_bytes = 0, cache_free_bytes = 0;
  bool mps = false;
  std::size_t problems = 0;  ///< shipped problem files
};

/// How bad a finding is.
enum class Level : std::uint8_t { kOk, kNote, kMissing };

/// What a check found, and what to do about it (empty where there is nothing to do).
struct Finding {
  Level level = Level::kOk;
  std::string found, advice;
};

/// What cannot run where a check says `missing`.
enum class Needed : std::uint8_t { kEverything, kGpu, kNothing };

/// One thing that doctor looks at. To add one: the function, and a row in doctor_checks().
struct Check {
  std::string_view name;
  Needed needed;
  Finding (*judge)(const Machine&);
};
std::span<const Check> doctor_checks();

/// Looks at this machine; asks drivers and compilers in killable processes, so it takes seconds at
/// the most, and throws nothing for what is broken or absent. `self` is the kbench binary.
Machine look_at_machine(const std::filesystem::path& self);

/// Whether kbench can run on the CPU, and on a GPU, as the checks see it.
struct Verdict {
  bool cpu = true, gpu = true;
};
Verdict verdict(const Machine& machine);

/// What `kbench doctor --probe WHAT` does in a process of its own: "driver" or
/// "nvrtc:PATH"; the answer is one JSON object.
nlohmann::json probe(std::string_view what);

/// {"can_run": {"cpu": …, "gpu": …}, "checks": [{"name", "level", "found", "advice"}]}.
nlohmann::json doctor_json(const Machine& machine);
/// The same as a table for people.
std::string doctor_text(const Machine& machine);

}  // namespace kbench::cli
