// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "compile/split/tokens.hpp"

namespace kbench {

/// True if [begin, end) has a launch or a name that only host code has: torch and ATen, containers,
/// functions of the CUDA runtime, exceptions. Ignores names of torch that the compatibility headers
/// have.
bool names_host(const SourceText& text, std::size_t begin, std::size_t end);

/// True for a single word that only host code has: torch, cudaMalloc, throw.
bool is_host_word(std::string_view word);

/// True if [begin, end) names a library that only device code has: cooperative groups, wmma, cub.
bool names_device_library(const SourceText& text, std::size_t begin, std::size_t end);

/// The header of an #include, else "".
std::string included_header(const SourceToken& directive);

/// True for headers that NVRTC finds and that device code may need.
bool is_device_header(std::string_view header);
/// True for headers that a host compiler does not need, or cannot read.
bool is_device_only_header(std::string_view header);

/// A library that host code can use only with nvcc: a cause and a sentence. Both are empty if there
/// is none.
struct HostLibrary {
  std::string_view cause, message;
};
HostLibrary unsplittable_library(const SourceText& text, std::size_t at);

}  // namespace kbench
