// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kbench {

/// A kernel that host code launches through its stub, with the candidate's name for it.
struct SplitKernel {
  std::string name;  ///< qualified, without unnamed namespaces: "ns::k"
  bool is_template = false;
  int line = 0;
  bool is_overloaded = false;  ///< several have this name: "(void (*)(float*))k" names one to NVRTC
};

/// A __constant__ or __device__ variable at namespace scope; a host variable stands for it in host
/// code.
struct SplitVariable {
  std::string name;  ///< qualified, without unnamed namespaces
  int line = 0;
};

/// One CUDA source as device code and host code; both keep the source's lines.
struct SplitSource {
  std::string device;  ///< for NVRTC: an unnamed namespace is an inline one, named kbench_unnamed
  std::string host;    ///< for a C++17 compiler; __global__ and the like are empty macros there
  std::vector<SplitKernel> kernels;
  std::vector<SplitVariable> variables;
  /// Types, aliases and constants that device code lacks, because they name something that only
  /// host code has. Device code that names one needs nvcc.
  std::vector<std::string> host_only;
};

/// Why a source cannot be split: the source splitter does not know one of its forms, or the source
/// is invalid (`syntax_error`).
struct SplitRefusal {
  std::string cause;    ///< a short name
  std::string message;  ///< one sentence
  int line = 0;
};

/// Splits one CUDA source into device code for NVRTC and host code for a host compiler. Host code
/// launches by `(::kbench_split::configure(grid, block, …), kernel(arguments…))`; a kernel's stub
/// calls `::kbench_split::launch_stub(arguments, count)`. `file_name` is the name in #line
/// directives.
std::variant<SplitSource, SplitRefusal> split_source(std::string_view source,
                                                     std::string_view file_name);

}  // namespace kbench
