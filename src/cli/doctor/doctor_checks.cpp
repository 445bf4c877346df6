// SPDX-License-Identifier: MIT
// The checks of a machine: one function and one table row for each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/doctor/doctor.hpp"
#include "os/installation.hpp"

namespace kbench::cli {
namespace {

constexpr const char* kSetUp = "run `scripts/kbench setup`";

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

/// 13 for "13.0"; 0 if there is no number.
int major_of(const std::string& version) { return std::atoi(version.c_str()); }

Finding judge_installation(const Machine& machine) {
  if (!machine.installation) {
    return {Level::kMissing, machine.installation_error, kSetUp};
  }
  if (!machine.gone.empty()) {
    return {Level::kMissing, fmt::format("{} is gone", machine.gone.front().string()), kSetUp};
  }
  if (!machine.compiler_exists || !machine.worker_exists) {
    return {Level::kMissing,
            fmt::format("{} is not built", machine.compiler_exists ? "kbench-worker" : "kbench-cc"),
            kSetUp};
  }
  return {Level::kOk, machine.installation->bin.string(), ""};
}

Finding judge_problems(const Machine& machine) {
  if (machine.problems == 0) {
    return {Level::kNote, "the shipped problem set is empty",
            "name problems on the command line, or check out kbench again"};
  }
  return {Level::kOk,
          fmt::format("{} files in {}", machine.problems, machine.installation->problems.string()),
          ""};
}

Finding judge_python(const Machine& machine) {
  if (!machine.installation) {
    return {Level::kMissing, "none known", kSetUp};
  }
  const Installation& built = *machine.installation;
  if (!machine.torch_error.empty()) {
    return {Level::kMissing, machine.torch_error,
            fmt::format("{}, or name a Python that imports torch in KBENCH_PYTHON", kSetUp)};
  }
  if (machine.torch_version != built.torch_version) {
    return {Level::kMissing,
            fmt::format("torch {}, and kbench-worker was built for {}", machine.torch_version,
                        built.torch_version),
            kSetUp};
  }
  return {Level::kOk,
          fmt::format("Python {}, torch {} ({}), {}", built.python_version, machine.torch_version,
                      machine.torch_cuda.empty() ? "CPU only" : "CUDA " + machine.torch_cuda,
                      built.python.string()),
          ""};
}

Finding judge_nvrtc(const Machine& machine) {
  if (!machine.installation || machine.installation->nvrtc.empty()) {
    return {Level::kMissing, "libnvrtc was not found",
            fmt::format("{}, which installs it, or install a CUDA toolkit", kSetUp)};
  }
  const std::string path = machine.installation->nvrtc.string();
  if (!machine.nvrtc_error.empty()) {
    return {Level::kMissing, fmt::format("{}: {}", path, machine.nvrtc_error), kSetUp};
  }
  const std::string& torch = machine.torch_cuda;
  if (!torch.empty() && major_of(torch) != major_of(machine.nvrtc_version)) {
    return {Level::kNote,
            fmt::format("NVRTC {}, but torch is for CUDA {}", machine.nvrtc_version, torch),
            fmt::format("{} with a Python that has nvidia-cuda-nvrtc of CUDA {}", kSetUp, torch)};
  }
  return {Level::kOk, fmt::format("NVRTC {}, {}", machine.nvrtc_version, path), ""};
}

Finding judge_headers(const Machine& machine) {
  if (!machine.installation) {
    return {Level::kMissing, "none known", kSetUp};
  }
  const auto& missing = machine.missing_headers;
  if (!missing.empty()) {
    const bool basic = std::find(missing.begin(), missing.end(), "cuda_fp16.h") != missing.end();
    return {basic ? Level::kMissing : Level::kNote,
            fmt::format("not found: {}", fmt::join(missing, ", ")),
            fmt::format("{} (nvidia-cuda-crt has mma.h, nvidia-cuda-cccl has cooperative_groups.h "
                        "and cub), or install a CUDA toolkit",
                        kSetUp)};
  }
  return {Level::kOk, machine.installation->cuda_includes.front().string(), ""};
}

std::string age_of(std::chrono::seconds age) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(age).count();
  if (hours >= 48) return fmt::format("{} days", hours / 24);
  return hours >= 2 ? fmt::format("{} hours", hours) : fmt::format("{} minutes", age.count() / 60);
}

std::string headers_text(std::string_view device, const std::optional<HostHeaders>& headers) {
  if (!headers || !headers->built) return fmt::format("{} not yet", device);
  return fmt::format("{} {} MB, {} old", device, headers->bytes / 1'000'000, age_of(headers->age));
}

Finding judge_host_compiler(const Machine& machine) {
  if (machine.host_compilers.empty()) {
    return {Level::kNote, "no clang++ (14 or newer) and no g++ (10 or newer)",
            "install clang or g++: candidates with host code need one"};
  }
  const auto& [path, version] = machine.host_compilers.front();
  const std::string text = fmt::format("{}, {}; precompiled header: {}, {}", version, path.string(),
                                       headers_text("cuda", machine.headers_cuda),
                                       headers_text("cpu", machine.headers_cpu));
  if (!version.starts_with("clang")) {
    return {Level::kNote, text, "install clang: it compiles host code about seven times as fast"};
  }
  return {Level::kOk, text, ""};
}

/// A missing ncu is only a note, because only `--profile ncu` needs it.
Finding judge_ncu(const Machine& machine) {
  if (machine.ncu.empty())
    return {Level::kNote, "no ncu on PATH or in /usr/local/cuda/bin",
            "only --profile ncu needs it: install Nsight Compute, or name its ncu in KBENCH_NCU"};
  return {Level::kOk, fmt::format("{}: for --profile ncu", machine.ncu.string()), ""};
}

Finding judge_nvcc(const Machine& machine) {
  if (machine.nvcc.found) {
    return {Level::kOk,
            fmt::format("nvcc {}, {}: compiles sources that kbench cannot split",
                        machine.nvcc.found->version, machine.nvcc.found->path.string()),
            ""};
  }
  const std::string cuda = machine.installation ? machine.installation->cuda_version : "";
  const std::string advice = fmt::format(
      "few candidates need it: install a CUDA {0} toolkit, or "
      "`{1} -m pip install 'nvidia-cuda-nvcc=={0}.*' 'nvidia-nvvm=={0}.*'` (100 MB), or "
      "name an nvcc in KBENCH_NVCC",
      cuda.empty() ? "13.0" : cuda,
      machine.installation ? machine.installation->python.string() : "python");
  return {Level::kNote,
          fmt::format("{}: a source that kbench cannot split is a compile_failure",
                      machine.nvcc.absence.empty() ? "none" : machine.nvcc.absence),
          advice};
}

Finding judge_driver(const Machine& machine) {
  const std::string& module = machine.kernel_driver;
  if (!machine.driver.error.empty()) {
    const bool none = module.empty();
    return {
        Level::kMissing,
        fmt::format("{}{}", none ? "" : fmt::format("kernel module {}, but ", module),
                    machine.driver.error),
        none ? "--device cpu does not need it; for a GPU install NVIDIA's driver 580 or newer, and "
               "start containers with --gpus all"
             : "run nvidia-smi to see the error: often the libraries and the kernel module differ "
               "in version until a restart"};
  }
  const int version = machine.driver.cuda_version;
  const std::string found =
      fmt::format("driver {}, for CUDA up to {}.{}", module.empty() ? "of unknown version" : module,
                  version / 1000, version % 1000 / 10);
  if (machine.torch_cuda.empty() && machine.torch_error.empty()) {
    return {Level::kMissing, fmt::format("{}, but torch has no CUDA", found),
            "name a Python with a CUDA build of torch in KBENCH_PYTHON"};
  }
  if (version < major_of(machine.torch_cuda) * 1000) {
    return {Level::kMissing, fmt::format("{}, but torch needs CUDA {}", found, machine.torch_cuda),
            "update the driver (CUDA 13 needs 580 or newer), or name a Python with a torch for "
            "CUDA 12 in KBENCH_PYTHON"};
  }
  return {Level::kOk, found, ""};
}

Finding judge_gpu(const Machine& machine) {
  if (machine.driver.gpus.empty()) {
    return {Level::kMissing, "the driver shows no GPU",
            "--device cpu does not need one; for a GPU check nvidia-smi and CUDA_VISIBLE_DEVICES"};
  }
  std::vector<std::string> names;
  for (const GpuFacts& gpu : machine.driver.gpus) {
    names.push_back(fmt::format("{} (sm_{}{}, {})", gpu.name, gpu.compute_major, gpu.compute_minor,
                                gigabytes(gpu.memory_bytes)));
  }
  return {Level::kOk, fmt::format("{}", fmt::join(names, ", ")), ""};
}

Finding judge_device_files(const Machine& machine) {
  if (!machine.locked_devices.empty()) {
    return {Level::kMissing,
            fmt::format("this user may not open {}", machine.locked_devices.front().string()),
            "add the user to the group that owns it (ls -l /dev/nvidia*), often video or render"};
  }
  return {Level::kOk, "this user may open every /dev/nvidia*", ""};
}

Finding judge_compute_mode(const Machine& machine) {
  for (const GpuFacts& gpu : machine.driver.gpus) {
    if (gpu.compute_mode == 2) {
      return {Level::kMissing, fmt::format("{} prohibits compute", gpu.name),
              "sudo nvidia-smi -c DEFAULT"};
    }
    if (gpu.compute_mode == 3) {
      return {Level::kMissing,
              fmt::format("{} is in exclusive-process mode, and kbench needs two processes on it",
                          gpu.name),
              "sudo nvidia-smi -c DEFAULT"};
    }
  }
  return {Level::kOk, machine.driver.gpus.empty() ? "no GPU" : "default", ""};
}

Finding judge_mps(const Machine& machine) {
  if (machine.mps) {
    return {
        Level::kNote,
        "an MPS control daemon runs: a fault of one candidate affects others, and times are bounds",
        "echo quit | nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY"};
  }
  return {Level::kOk, "off", ""};
}

Finding judge_cupti(const Machine& machine) {
  if (machine.cupti.empty())
    return {Level::kNote,
            "libcupti was not found: kbench cannot see whose kernels a module runs on a GPU, and "
            "has no span and busy times",
            fmt::format("{} with a Python that has nvidia-cuda-cupti", kSetUp)};
  return {Level::kOk, fmt::format("{}: shows whose kernels run, and when", machine.cupti.string()),
          ""};
}

Finding judge_hmm(const Machine& machine) {
  for (const GpuFacts& gpu : machine.driver.gpus) {
    if (gpu.pageable_access) {
      return {Level::kNote, "on: kernels can read the memory of the process that launches them",
              "nothing to do: kbench keeps no secret in a candidate's process"};
    }
  }
  return {Level::kOk, machine.driver.gpus.empty() ? "no GPU" : "off", ""};
}

Finding judge_sandbox(const Machine& machine) {
  std::string lacks;
  std::string advice;
  for (const auto& row : sandbox_parts()) {
    if (machine.sandbox.has(row.part)) continue;
    lacks += fmt::format("{}{}", lacks.empty() ? "" : ", ", row.name);
    if (!row.advice.empty() && advice.find(row.advice) == std::string::npos)
      advice += fmt::format("{}{}", advice.empty() ? "" : "; ", row.advice);
  }
  // In a PID namespace, even a process that loses its parent can be found, because it cannot leave.
  const std::string_view memory =
      machine.sandbox.has(SandboxPart::kPidNamespace)
          ? "one memory limit holds for all processes of a candidate"
          : "one memory limit holds for all processes of a candidate, except detached ones";
  if (lacks.empty())
    return {Level::kOk, fmt::format("candidates run in the complete sandbox; {}", memory), ""};
  return {
      Level::kNote, fmt::format("candidates run in a sandbox without {}; {}", lacks, memory),
      advice.empty() ? "run candidates in a separate container or on a separate machine" : advice};
}

Finding judge_memory(const Machine& machine) {
  constexpr std::uint64_t kEnough = 4'000'000'000;
  const std::string found =
      fmt::format("{} cores, {} of {} free", machine.cores, gigabytes(machine.available_bytes),
                  gigabytes(machine.memory_bytes));
  if (machine.available_bytes < kEnough) {
    return {
        Level::kNote, found,
        "free some memory, or lower --jobs: torch, a reference and a candidate take about 4 GB"};
  }
  return {Level::kOk, found, ""};
}

Finding judge_shared_memory(const Machine& machine) {
  constexpr std::uint64_t kEnough = 1'000'000'000;
  if (machine.shm_bytes < kEnough) {
    return {Level::kNote, fmt::format("/dev/shm has {} free", gigabytes(machine.shm_bytes)),
            "start the container with --shm-size=2g: modules that use worker processes need it"};
  }
  return {Level::kOk, fmt::format("/dev/shm has {} free", gigabytes(machine.shm_bytes)), ""};
}

Finding judge_cache(const Machine& machine) {
  constexpr std::uint64_t kEnough = 1'000'000'000;
  const std::string found =
      fmt::format("{}: {} used, {} free on its disk", machine.cache.string(),
                  gigabytes(machine.cache_bytes), gigabytes(machine.cache_free_bytes));
  if (!machine.cache_writable) {
    return {Level::kMissing, fmt::format("{} cannot be written", machine.cache.string()),
            "set KBENCH_HOME to a writable folder"};
  }
  if (machine.cache_free_bytes < kEnough) {
    return {Level::kNote, found,
            "free space on the disk, or set KBENCH_HOME to a folder on another disk"};
  }
  return {Level::kOk, found, ""};
}

constexpr std::array kChecks{
    Check{"installation", Needed::kEverything, judge_installation},
    Check{"problems", Needed::kNothing, judge_problems},
    Check{"python", Needed::kEverything, judge_python},
    Check{"nvrtc", Needed::kEverything, judge_nvrtc},
    Check{"headers", Needed::kEverything, judge_headers},
    Check{"host compiler", Needed::kNothing, judge_host_compiler},
    Check{"nvcc", Needed::kNothing, judge_nvcc},
    Check{"ncu", Needed::kNothing, judge_ncu},
    Check{"driver", Needed::kGpu, judge_driver},
    Check{"gpu", Needed::kGpu, judge_gpu},
    Check{"cupti", Needed::kNothing, judge_cupti},
    Check{"device files", Needed::kGpu, judge_device_files},
    Check{"compute mode", Needed::kGpu, judge_compute_mode},
    Check{"mps", Needed::kNothing, judge_mps},
    Check{"hmm", Needed::kNothing, judge_hmm},
    Check{"sandbox", Needed::kNothing, judge_sandbox},
    Check{"memory", Needed::kNothing, judge_memory},
    Check{"shared memory", Needed::kNothing, judge_shared_memory},
    Check{"cache", Needed::kEverything, judge_cache},
};

}  // namespace

std::span<const Check> doctor_checks() { return kChecks; }

Verdict verdict(const Machine& machine) {
  Verdict can;
  for (const Check& check : kChecks) {
    if (check.needed == Needed::kNothing || check.judge(machine).level != Level::kMissing) {
      continue;
    }
    can.gpu = false;
    can.cpu = can.cpu && check.needed != Needed::kEverything;
  }
  return can;
}

}  // namespace kbench::cli
