// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compile/budget.hpp"
#include "compile/guard/guarded_compiler.hpp"
#include "compile/host/compilers.hpp"
#include "compile/nvcc/nvcc.hpp"

namespace kbench {

/// One translation unit, as torch writes and compiles it.
struct NvccUnit {
  std::string text;
  bool is_cuda = false;
};

/// The translation units of a request. load_inline: main.cpp with the bindings, and cuda.cu. load:
/// one for each file.
std::vector<NvccUnit> nvcc_units(const NvccRequest& request);

/// Compiles the units in parallel and links them into one shared object.
class NvccRun {
 public:
  NvccRun(const NvccSetup& setup, const FoundNvcc& nvcc, const FoundCompiler& compiler,
          int cancel_fd, CompileTime& time);
  HostResult compile(const NvccRequest& request) const;

 private:
  using Words = std::vector<std::string>;
  Words common(const NvccRequest& request) const;
  Words cuda_command(const NvccRequest& request) const;
  Words unit_command(const NvccRequest& request, const NvccUnit& unit,
                     const std::filesystem::path& source) const;
  Words link_command(const NvccRequest& request, const std::filesystem::path& scratch,
                     std::size_t units) const;
  std::vector<std::filesystem::path> library_folders() const;
  GuardedCompiler guarded_by(const std::filesystem::path& scratch) const;
  CompileError failed(const GuardedCompiler& compiler, const NvccRequest& request,
                      const CommandResult& result) const;
  HostResult compile_units(const NvccRequest& request) const;

  const NvccSetup& setup_;
  const FoundNvcc& nvcc_;
  const FoundCompiler& compiler_;
  int cancel_fd_;
  CompileTime& time_;
};

/// The header folders of an nvcc's own installation.
std::vector<std::filesystem::path> nvcc_headers(const FoundNvcc& nvcc);

}  // namespace kbench
