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
  std::filesystem::path compiler;  ///< kbench-cc
  std::filesystem::path worker;    ///< kbench-worker; may not exist (driver-only build)
  std::filesystem::path python;    ///< the Python that imports torch
  std::string python_version, torch_version, cuda_version;
  std::filesystem::path nvrtc;                       ///< libnvrtc.so.*
  std::vector<std::filesystem::path> cuda_includes;  ///< for NVRTC: CUDA's headers, crt/, cccl
  std::filesystem::path problems;                    ///< the shipped problem set
  std::filesystem::path candidates;                  ///< the shipped right candidates
  std::filesystem::path
      cache;  ///< $KBENCH_HOME/cache, else $XDG_CACHE_HOME/kbench, else ~/.cache/kbench
};

/// Reads kbench.json beside the running executable. Throws kbench::Error naming what to do
/// ("run scripts/kbench setup") where it is missing or names files that are gone.
Installation find_installation();

}  // namespace kbench
