// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "compile/split/tokens.hpp"

namespace kbench {

/// True where [begin, end) names what only host code has: torch and ATen but for what the shims
/// give device code, containers, the CUDA runtime's functions, exceptions, a launch.
bool names_host(const SourceText& text, std::size_t begin, std::size_t end);

/// True for a word that alone says the same: torch, cudaMalloc, throw.
bool is_host_word(std::string_view word);

/// True where [begin, end) names a library that only device code has: cooperative groups, wmma,
/// cub.
bool names_device_library(const SourceText& text, std::size_t begin, std::size_t end);

/// The header of an #include, else "".
std::string included_header(const SourceToken& directive);

/// True for headers that NVRTC finds and that device code is helped by.
bool is_device_header(std::string_view header);
/// True for headers that say nothing to a host compiler, or that it cannot read.
bool is_device_only_header(std::string_view header);

/// What the host half of a source cannot do without nvcc, told by a name in [begin, end): a slug
/// and a sentence, or empty ones.
struct HostLibrary {
  std::string_view cause, message;
};
HostLibrary unsplittable_library(const SourceText& text, std::size_t at);

}  // namespace kbench
