// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kbench {

/// The paths of everything that kbench uses. The build writes them into kbench.json in the folder
/// of the binaries, so kbench starts without running Python or searching.
struct Installation {
  std::filesystem::path bin;       ///< folder of the binaries
  std::filesystem::path compiler;  ///< kbench-cc; does not exist in a partial build
  std::filesystem::path worker;    ///< kbench-worker; may not exist (driver-only build)
  std::filesystem::path python;    ///< the Python that has torch; empty: none was found
  /// Versions. torch's is empty if that Python lacks torch, CUDA's if there is no CUDA.
  std::string python_version, torch_version, cuda_version;
  std::filesystem::path nvrtc;                       ///< libnvrtc.so.*; empty: none was found
  std::vector<std::filesystem::path> cuda_includes;  ///< for NVRTC: CUDA's headers, crt/, cccl
  /// For host code: torch's and Python's headers, the folder of libtorch, if torch uses the
  /// new std::string ABI, and kbench's own headers (src/emulation). The first three are empty
  /// without torch.
  std::vector<std::filesystem::path> torch_includes, python_includes;
  std::filesystem::path torch_lib;
  bool torch_cxx11_abi = true;
  std::filesystem::path host_headers;
  std::filesystem::path problems;    ///< the shipped problem set
  std::filesystem::path candidates;  ///< the shipped correct candidates
  std::filesystem::path cache;       ///< default_cache()
};

/// Reads kbench.json from the folder of the running program. If it is missing or names missing
/// files, throws kbench::Error that says what to do ("run scripts/kbench setup").
Installation find_installation();

/// Reads the given kbench.json. Throws kbench::Error if it cannot be read or lacks a field. Does
/// not check that the named files exist.
Installation read_installation(const std::filesystem::path& json);

/// The files and folders of `installation` (Python, NVRTC, headers, problems) that no longer exist.
/// Leaves out empty paths, which the build did not find.
std::vector<std::filesystem::path> missing_files(const Installation& installation);

/// $KBENCH_HOME/cache, else $XDG_CACHE_HOME/kbench, else ~/.cache/kbench, else /tmp/kbench-<uid>.
std::filesystem::path default_cache();

}  // namespace kbench
