// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kbench {

/// Where everything is that kbench runs with. Written by the build into kbench.json beside the
/// binaries, so that starting the driver asks no Python and searches nothing.
struct Installation {
  std::filesystem::path bin;       ///< folder of the binaries
  std::filesystem::path compiler;  ///< kbench-cc; may not exist (a build of some targets only)
  std::filesystem::path worker;    ///< kbench-worker; may not exist (driver-only build)
  std::filesystem::path python;    ///< the Python that imports torch; empty: none was found
  /// Versions; torch's is empty where that Python has none, CUDA's where there is none.
  std::string python_version, torch_version, cuda_version;
  std::filesystem::path nvrtc;                       ///< libnvrtc.so.*; empty: none was found
  std::vector<std::filesystem::path> cuda_includes;  ///< for NVRTC: CUDA's headers, crt/, cccl
  /// For host halves: torch's and Python's headers, the folder of libtorch, whether torch has the
  /// new std::string, and kbench's own headers (src/emulation). The first three are empty without
  /// torch.
  std::vector<std::filesystem::path> torch_includes, python_includes;
  std::filesystem::path torch_lib;
  bool torch_cxx11_abi = true;
  std::filesystem::path host_headers;
  std::filesystem::path problems;    ///< the shipped problem set
  std::filesystem::path candidates;  ///< the shipped right candidates
  std::filesystem::path cache;       ///< default_cache()
};

/// Reads kbench.json beside the running executable. Throws kbench::Error naming what to do
/// ("run scripts/kbench setup") where it is missing or names files that are gone.
Installation find_installation();

/// Reads that kbench.json. Throws kbench::Error where it cannot be read or lacks a field; does not
/// look whether the files that it names are there.
Installation read_installation(const std::filesystem::path& json);

/// The files and folders named by `installation` (Python, NVRTC, headers, problems) that are gone;
/// what the build never found (an empty path) is not among them.
std::vector<std::filesystem::path> missing_files(const Installation& installation);

/// $KBENCH_HOME/cache, else $XDG_CACHE_HOME/kbench, else ~/.cache/kbench, else /tmp/kbench-<uid>.
std::filesystem::path default_cache();

}  // namespace kbench
