// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compile/host/precompiled_header.hpp"

namespace kbench {

/// Names of the files in a precompiled header's folder.
inline constexpr const char* kTopHeader = "precompiled_header.hpp";
inline constexpr const char* kPrecompiledHeaderClang = "precompiled_header.pch";  ///< clang's
inline constexpr const char* kPrecompiledHeaderGcc =
    "precompiled_header.hpp.gch";                        ///< GCC's, which looks for this name
inline constexpr const char* kEmulationFolder = "host";  ///< a copy of src/emulation

/// The library that all host code with one precompiled header links: "libkbench_host_<key>.so".
std::string precompiled_header_library(const std::filesystem::path& folder);

/// The shared object made from host code, in the folder of its compile.
inline constexpr const char* kObjectName = "object.so";

/// The libraries of torch in `folder` that host code may call.
std::vector<std::string> torch_libraries(const std::filesystem::path& folder, HostDevice device);

/// The object files of src/emulation in a precompiled header's folder that are linked into all host
/// code.
std::vector<std::string> runtime_objects(HostDevice device);

/// Makes the files of `precompiled_header` in its folder, each under a temporary name first.
/// `options` are those of every compile, without the precompiled header. Throws kbench::Error.
void build_precompiled_header(const PrecompiledHeader& precompiled_header, const HostSetup& setup,
                              const std::vector<std::string>& options, int cancel_fd);

}  // namespace kbench
