// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kbench {

/// A kernel that a host half launches through its stub, named as the candidate names it.
struct SplitKernel {
  std::string name;  ///< qualified, without unnamed namespaces: "ns::k"
  bool is_template = false;
  int line = 0;
  bool is_overloaded = false;  ///< several have this name: "(void (*)(float*))k" names one to NVRTC
};

/// A __constant__ or __device__ variable at namespace scope; the host half has a shadow of it.
struct SplitVariable {
  std::string name;  ///< qualified, without unnamed namespaces
  int line = 0;
};

/// One CUDA source as two texts whose lines are the source's own.
struct SplitSource {
  std::string device;  ///< for NVRTC: an unnamed namespace is an inline one, named kbench_unnamed
  std::string host;    ///< for a C++17 compiler, where __global__ and the like mean nothing
  std::vector<SplitKernel> kernels;
  std::vector<SplitVariable> variables;
  /// Types, aliases and constants that name what only host code has, and which the device half
  /// lacks therefore: device code that names one needs a compiler of both.
  std::vector<std::string> host_only;
};

/// Why a source cannot be split: a form that this splitter does not know, or no valid source at all
/// (`syntax_error`).
struct SplitRefusal {
  std::string cause;    ///< a slug
  std::string message;  ///< one sentence
  int line = 0;
};

/// Splits one CUDA source into what NVRTC compiles and what a host compiler compiles. Host code
/// launches by `(::kbench_split::configure(grid, block, …), kernel(arguments…))`; a kernel's stub
/// calls `::kbench_split::launch_stub(arguments, count)`. `file_name` is what #line directives
/// name.
std::variant<SplitSource, SplitRefusal> split_source(std::string_view source,
                                                     std::string_view file_name);

}  // namespace kbench
