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

/// What nvcc is found by, and what it works with.
struct NvccSetup {
  HostSetup host;  ///< guard, torch's and Python's headers and libraries, compilers, cache
  std::filesystem::path packages;  ///< folder of Python's CUDA packages, with bin/nvcc where it is
  std::string cuda_version;        ///< torch's; an nvcc of another major version does not do
  unsigned jobs = 1;               ///< extensions at once; each takes up to a core per source
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

/// The nvcc to use, or why there is none: "CUDA_HOME, PATH, … have no nvcc".
struct NvccSearch {
  std::optional<FoundNvcc> found;
  std::string absence;
};

/// Looks for an nvcc of torch's CUDA: $KBENCH_NVCC (alone, where it is set; "none": there is to be
/// none), $CUDA_HOME/bin, PATH, Python's nvidia-cuda-nvcc, /usr/local/cuda/bin.
NvccSearch find_nvcc(const NvccSetup& setup);

/// A whole extension, as torch's load_inline and load are given it.
struct NvccRequest {
  /// The sources as the candidate has them, without kernels, variables and device.
  HostRequest sources;
  /// load: each source is compiled on its own, beside its own folder; load_inline: all of a kind
  /// are one.
  bool separate_files = false;
  bool implicit_headers = true;         ///< torch's, ahead of the sources: load_inline's default
  std::vector<std::string> cuda_flags;  ///< those on the allow-list of languages.hpp, and -U
  std::vector<std::string> libraries;   ///< extra_ldflags; "-lcublas" counts, of CUDA's own
  std::string arch;                     ///< "sm_90a"
};

/// Compiles whole extensions as torch does it, for what the split cannot take: a plain extension
/// module, called kHostModule, with its kernels inside. Killable, confined, equal ones once.
class NvccCompiler {
 public:
  explicit NvccCompiler(NvccSetup setup);
  ~NvccCompiler();  ///< kills what still runs
  /// What find_nvcc() says; looked for once.
  const NvccSearch& search();
  /// Folders in which this nvcc finds headers besides those of the set-up.
  std::vector<std::filesystem::path> headers();
  /// Compiles or finds in the cache; HostModule::stubs and variables stay empty. A fault of the
  /// machine, and that there is no nvcc, arrives as kbench::Error in the future.
  std::shared_future<HostResult> compile(NvccRequest request);
  /// Kills all compilers; futures not yet ready, and those asked for later, get a kbench::Error.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
