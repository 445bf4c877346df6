// SPDX-License-Identifier: MIT
// Gathers the input of doctor's checks.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/file_tree.hpp"
#include "cli/doctor/doctor.hpp"
#include "compile/host/compilers.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "os/subprocess.hpp"
#include "run/schedule/ncu.hpp"

namespace kbench::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Runs `command` and returns its standard output. Throws kbench::Error if it fails or exceeds
/// `limit`.
std::string output_of(std::vector<std::string> command, std::chrono::milliseconds limit) {
  SpawnOptions options;
  options.command = std::move(command);
  const std::string program = options.command.front();
  const CommandResult result = run_command(options, limit);
  if (result.timed_out) {
    throw Error(fmt::format("{} did not answer within {} s", program, limit.count() / 1000));
  }
  if (!result.status.is_success()) {
    const std::string said = first_line(result.error);
    throw Error(fmt::format("{} ended with {} {}{}{}", program,
                            result.status.signaled ? "signal" : "exit code", result.status.code,
                            said.empty() ? "" : ": ", said));
  }
  return result.output;
}

/// The answer of `kbench doctor --probe WHAT`; {"error": …} if the probe hangs or crashes.
nlohmann::json ask_probe(const fs::path& self, const std::string& what) {
  try {
    return nlohmann::json::parse(output_of({self.string(), "doctor", "--probe", what}, 30s));
  } catch (const Error& error) {
    return {{"error", error.what()}};
  } catch (const nlohmann::json::exception& error) {
    return {{"error", fmt::format("cannot read the probe's answer: {}", error.what())}};
  }
}

/// Finds the version in the text "Kernel Module  580.159.03" of /proc/driver/nvidia/version.
std::string kernel_driver_version() {
  std::istringstream words(first_line(file_text("/proc/driver/nvidia/version")));
  for (std::string word; words >> word;) {
    const auto dots = std::count(word.begin(), word.end(), '.');
    const bool number = std::all_of(
        word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    if (number && dots >= 1) {
      return word;
    }
  }
  return "";
}

DriverFacts ask_driver(const fs::path& self) {
  const nlohmann::json answer = ask_probe(self, "driver");
  DriverFacts facts;
  facts.error = answer.value("error", "");
  facts.cuda_version = answer.value("cuda_version", 0);
  for (const auto& gpu : answer.value("gpus", nlohmann::json::array())) {
    facts.gpus.push_back({gpu.at("name"), gpu.at("memory_bytes"), gpu.at("compute_major"),
                          gpu.at("compute_minor"), gpu.at("compute_mode"),
                          gpu.at("pageable_access")});
  }
  return facts;
}

std::vector<fs::path> locked_devices() {
  std::vector<fs::path> locked;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_gpu = name.starts_with("nvidia") && name.size() > 6 && std::isdigit(name[6]) != 0;
    if ((is_gpu || name == "nvidiactl" || name == "nvidia-uvm") &&
        access(entry.path().c_str(), R_OK | W_OK) != 0) {
      locked.push_back(entry.path());
    }
  }
  return locked;
}

/// Headers that a kernel may include and that do not come with cuda_runtime.
constexpr std::array kHeaders{"cuda_fp16.h",
                              "cuda_bf16.h",
                              "mma.h",
                              "crt/mma.h",
                              "curand_kernel.h",
                              "cooperative_groups.h",
                              "cuda/std/type_traits",
                              "cub/block/block_reduce.cuh"};

std::vector<std::string> missing_headers(const std::vector<fs::path>& includes) {
  std::vector<std::string> missing;
  for (const char* header : kHeaders) {
    if (std::none_of(includes.begin(), includes.end(), [&](const fs::path& folder) {
          std::error_code ignored;
          return fs::exists(folder / header, ignored);
        })) {
      missing.emplace_back(header);
    }
  }
  return missing;
}

/// Fills in the compilers for host code, the chosen one first, and their precompiled headers.
void look_at_host_compilers(Machine& machine) {
  for (const auto& compiler : find_host_compilers({}))
    machine.host_compilers.push_back({compiler.path, compiler.name()});
  const bool has_torch = machine.installation && !machine.installation->torch_lib.empty();
  if (machine.host_compilers.empty() || !has_torch) return;
  HostCompiler compiler(host_setup(*machine.installation));
  machine.headers_cuda = compiler.headers(HostDevice::kCuda);
  machine.headers_cpu = compiler.headers(HostDevice::kCpu);
}

void ask_python(const fs::path& python, Machine& machine) {
  constexpr const char* kQuestion =
      "import torch; print(torch.__version__); print(torch.version.cuda or '')";
  try {
    std::istringstream answer(output_of({python.string(), "-c", kQuestion}, 120s));
    std::getline(answer, machine.torch_version);
    std::getline(answer, machine.torch_cuda);
  } catch (const Error& error) {
    machine.torch_error = error.what();
  }
}

std::uint64_t meminfo_bytes(const std::string& field) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) {
      return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) * 1024;
    }
  }
  return 0;
}

void look_at_memory(Machine& machine) {
  machine.cores = std::max(1U, std::thread::hardware_concurrency());
  machine.memory_bytes = meminfo_bytes("MemTotal");
  machine.available_bytes = meminfo_bytes("MemAvailable");
  // The file holds "max", or a number if this process's cgroup is limited.
  const std::string limit = file_text("/sys/fs/cgroup/memory.max");
  if (const auto bytes = std::strtoull(limit.c_str(), nullptr, 10); bytes > 0) {
    machine.memory_bytes = std::min<std::uint64_t>(machine.memory_bytes, bytes);
    machine.available_bytes = std::min<std::uint64_t>(machine.available_bytes, bytes);
  }
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0) {
    machine.shm_bytes = std::uint64_t{shm.f_bavail} * shm.f_frsize;
  }
}

void look_at_cache(Machine& machine) {
  std::error_code fault;
  machine.cache = default_cache();
  fs::path existing = machine.cache;
  while (!fs::exists(existing, fault) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  machine.cache_writable = access(existing.c_str(), W_OK) == 0;
  machine.cache_free_bytes = fs::space(existing, fault).available;
  auto entry = fs::recursive_directory_iterator(
      machine.cache, fs::directory_options::skip_permission_denied, fault);
  for (; !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
    std::error_code gone;
    if (entry->is_regular_file(gone) && !entry->is_symlink(gone)) {
      machine.cache_bytes += entry->file_size(gone);
    }
  }
}

/// Searches the folders of torch's packages and of a CUDA toolkit.
fs::path find_cupti(const Installation& installation) {
  const fs::path nvidia = installation.nvrtc.parent_path();
  for (const fs::path& folder :
       {nvidia, installation.torch_lib, nvidia / "../../cuda_cupti/lib",
        fs::path("/usr/local/cuda/lib64"), fs::path("/usr/local/cuda/extras/CUPTI/lib64")}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().filename().string().starts_with("libcupti.so.")) return entry.path();
  }
  return {};
}

void look_at_installation(const fs::path& self, Machine& machine) {
  try {
    machine.installation = read_installation(self.parent_path() / "kbench.json");
  } catch (const Error& error) {
    machine.installation_error = error.what();
    return;
  }
  const Installation& found = *machine.installation;
  machine.gone = missing_files(found);
  machine.compiler_exists = access(found.compiler.c_str(), X_OK) == 0;
  machine.worker_exists = access(found.worker.c_str(), X_OK) == 0;
  machine.missing_headers = missing_headers(found.cuda_includes);
  if (found.torch_version.empty()) {
    machine.torch_error = fmt::format("{} does not import torch", found.python.string());
  } else {
    ask_python(found.python, machine);
  }
  if (!found.nvrtc.empty()) {
    const auto answer = ask_probe(self, "nvrtc:" + found.nvrtc.string());
    machine.nvrtc_version = answer.value("version", "");
    machine.nvrtc_error = answer.value("error", "");
  }
  machine.cupti = find_cupti(found);
  std::error_code fault;
  for (auto entry = fs::recursive_directory_iterator(found.problems, fault);
       !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
    machine.problems += entry->path().extension() == ".py" ? 1 : 0;
  }
}

}  // namespace

Machine look_at_machine(const fs::path& self) {
  Machine machine;
  look_at_installation(self, machine);
  machine.kernel_driver = kernel_driver_version();
  machine.driver = ask_driver(self);
  machine.locked_devices = locked_devices();
  look_at_host_compilers(machine);
  machine.ncu = run::find_ncu().value_or("");
  if (machine.installation) machine.nvcc = find_nvcc(nvcc_setup(*machine.installation));
  machine.sandbox = probe_sandbox();
  look_at_memory(machine);
  look_at_cache(machine);
  const char* pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  machine.mps =
      access((fs::path(pipe == nullptr ? "/tmp/nvidia-mps" : pipe) / "control").c_str(), F_OK) == 0;
  return machine;
}

}  // namespace kbench::cli
