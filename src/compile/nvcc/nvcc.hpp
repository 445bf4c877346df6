// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/host/host_compile.hpp"
#include "os/installation.hpp"

namespace kbench {

/// Where to find nvcc, its limits, and the set-up for host code.
struct NvccSetup {
  HostSetup host;  ///< guard, torch's and Python's headers and libraries, compilers, cache
  std::filesystem::path packages;  ///< folder of Python's CUDA packages; may have bin/nvcc
  std::string cuda_version;        ///< torch's; nvcc must have its major version
  unsigned jobs = 1;               ///< extensions at once; each uses up to a core per source
  /// Processor time per source. With torch's headers nvcc takes about a minute.
  std::chrono::milliseconds limit{180'000};
  std::size_t memory_bytes = std::size_t{8} << 30;  ///< of each of its processes
};

/// The set-up of this installation.
NvccSetup nvcc_setup(const Installation& installation);

/// An nvcc of this machine.
struct FoundNvcc {
  std::filesystem::path path;
  std::string version;  ///< "13.0.88"
};

/// The nvcc to use, or why there is none: "no nvcc on PATH, in CUDA_HOME, …".
struct NvccSearch {
  std::optional<FoundNvcc> found;
  std::string absence;
};

/// Looks for an nvcc with the same CUDA major version as torch: only in $KBENCH_NVCC if that is set
/// ("none": use no nvcc), else in $CUDA_HOME/bin, PATH, Python's nvidia-cuda-nvcc,
/// /usr/local/cuda/bin.
NvccSearch find_nvcc(const NvccSetup& setup);

/// A whole extension, as passed to torch's load_inline or load.
struct NvccRequest {
  /// The sources as the candidate has them, without kernels, variables and device.
  HostRequest sources;
  /// load: each source is a translation unit of its own. load_inline: all sources of a kind form
  /// one.
  bool separate_files = false;
  bool implicit_headers = true;         ///< torch's, ahead of the sources: load_inline's default
  std::vector<std::string> cuda_flags;  ///< those of nvrtc_flags(), and -U
  std::vector<std::string> libraries;   ///< extra_ldflags; only those of CUDA ("-lcublas") are used
  std::string arch;                     ///< "sm_90a"
};

/// Compiles whole extensions as torch does, if the source splitter cannot handle them. The result
/// is an ordinary extension module, called kHostModule, with its kernels inside. Compilers are
/// confined and can be killed; equal requests are compiled once.
class NvccCompiler {
 public:
  explicit NvccCompiler(NvccSetup setup);
  ~NvccCompiler();  ///< kills running compilers
  /// The result of find_nvcc(), which is called once.
  const NvccSearch& search();
  /// Folders with headers of this nvcc, besides those of the set-up.
  std::vector<std::filesystem::path> headers();
  /// Compiles a request or finds it in the cache; HostModule::stubs and variables stay empty. The
  /// future throws kbench::Error for a fault of the machine, or if there is no nvcc.
  std::shared_future<HostResult> compile(NvccRequest request);
  /// Kills all compilers. Pending futures, and those of later calls, throw kbench::Error.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
