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
#include "os/sandbox/sandbox.hpp"

namespace kbench::cli {

/// One GPU as the driver describes it.
struct GpuFacts {
  std::string name;
  std::uint64_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  int compute_mode = 0;          ///< 0 default, 2 prohibited, 3 exclusive process
  bool pageable_access = false;  ///< HMM: kernels can read the host's memory
};

/// Answers of the CUDA driver library, which doctor asks in a separate process.
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

/// Everything that doctor inspects, gathered once as input of the checks.
struct Machine {
  std::optional<Installation> installation;
  std::string installation_error;
  std::vector<std::filesystem::path> gone;  ///< named by the installation, but missing
  bool compiler_exists = false, worker_exists = false;
  std::string kernel_driver;  ///< version of the kernel module, "580.159.03"; empty: not loaded
  DriverFacts driver;
  std::vector<std::filesystem::path> locked_devices;  ///< /dev/nvidia* that cannot be opened
  std::string nvrtc_version, nvrtc_error;
  std::filesystem::path cupti;  ///< the library; empty: not found
  std::vector<std::string> missing_headers;
  std::vector<ProgramFacts> host_compilers;              ///< the first compiles host code
  std::optional<HostHeaders> headers_cuda, headers_cpu;  ///< none: no compiler or no torch
  NvccSearch nvcc;
  std::filesystem::path ncu;                           ///< Nsight Compute; empty: none was found
  std::string torch_version, torch_cuda, torch_error;  ///< as the Python reports them
  SandboxParts sandbox;                                ///< sandbox parts that this machine has
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

/// What a check found, and what to do about it (empty if there is nothing to do).
struct Finding {
  Level level = Level::kOk;
  std::string found, advice;
};

/// What cannot run if a check's level is kMissing.
enum class Needed : std::uint8_t { kEverything, kGpu, kNothing };

/// One check of doctor. To add one: the function, and a row in doctor_checks().
struct Check {
  std::string_view name;
  Needed needed;
  Finding (*judge)(const Machine&);
};
std::span<const Check> doctor_checks();

/// Inspects this machine. Drivers and compilers are asked in processes that are killed after a time
/// limit. Broken or absent parts do not throw. `self`: the kbench binary.
Machine look_at_machine(const std::filesystem::path& self);

/// The devices that kbench can run on, according to the checks.
struct Verdict {
  bool cpu = true, gpu = true;
};
Verdict verdict(const Machine& machine);

/// Answers `kbench doctor --probe WHAT`, which runs in a separate process. `what`: "driver" or
/// "nvrtc:PATH". Returns one JSON object.
nlohmann::json probe(std::string_view what);

/// {"can_run": {"cpu": …, "gpu": …}, "checks": [{"name", "level", "found", "advice"}]}.
nlohmann::json doctor_json(const Machine& machine);
/// The same as a table for people.
std::string doctor_text(const Machine& machine);

}  // namespace kbench::cli
