// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <string_view>

#include "compile/host/compilers.hpp"
#include "compile/nvcc/nvcc.hpp"
#include "kbench/error.hpp"
#include "os/find_program.hpp"
#include "os/installation.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// "13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88"; empty for other output.
std::string version_in(std::string_view output) {
  const std::size_t at = output.find(", V");
  if (at == std::string_view::npos || output.find("release") == std::string_view::npos) return {};
  const std::string_view rest = output.substr(at + 3);
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

std::string version_of(const fs::path& nvcc) {
  try {
    const auto said = run_command({{nvcc.string(), "--version"}, {}, {}}, kVersionLimit);
    return said.is_success() ? version_in(said.output) : std::string();
  } catch (const Error&) {
    return {};
  }
}

std::string major_of(std::string_view version) {
  return std::string(version.substr(0, version.find('.')));
}

}  // namespace

NvccSearch find_nvcc(const NvccSetup& setup) {
  const std::string named = environment_variable("KBENCH_NVCC");
  if (named == "none") return {std::nullopt, "KBENCH_NVCC=none"};
  std::vector<fs::path> places;
  if (!named.empty()) {
    places = {fs::absolute(named)};
  } else {
    if (const auto home = environment_variable("CUDA_HOME"); !home.empty())
      places.push_back(fs::path(home) / "bin/nvcc");
    if (const auto program = find_program("nvcc")) places.push_back(*program);
    if (!setup.packages.empty()) places.push_back(setup.packages / "bin/nvcc");
    places.emplace_back("/usr/local/cuda/bin/nvcc");
  }
  std::string absence = named.empty()
                            ? "no nvcc on PATH, in CUDA_HOME, /usr/local/cuda or Python's packages"
                            : fmt::format("KBENCH_NVCC={} is not an nvcc that runs", named);
  for (const auto& place : places) {
    std::error_code ignored;
    if (!fs::exists(place, ignored)) continue;
    const std::string version = version_of(place);
    if (version.empty()) continue;
    if (major_of(version) == major_of(setup.cuda_version)) return {FoundNvcc{place, version}, ""};
    absence = fmt::format("{} has CUDA {}, but torch has {}", place.string(), version,
                          setup.cuda_version.empty() ? "none" : setup.cuda_version);
  }
  return {std::nullopt, absence};
}

NvccSetup nvcc_setup(const Installation& installation) {
  NvccSetup setup;
  setup.host = host_setup(installation);
  if (!installation.nvrtc.empty()) {
    setup.packages = installation.nvrtc.parent_path().parent_path();
  }
  setup.cuda_version = installation.cuda_version;
  return setup;
}

}  // namespace kbench
