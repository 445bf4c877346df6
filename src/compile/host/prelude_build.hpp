// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compile/host/prelude.hpp"

namespace kbench {

/// Names of the files in a prelude's folder.
inline constexpr const char* kPreludeHeader = "prelude.hpp";
inline constexpr const char* kPreludePch = "prelude.pch";      ///< clang's
inline constexpr const char* kPreludeGch = "prelude.hpp.gch";  ///< GCC's, which looks for this name
inline constexpr const char* kPreludeHeaders = "host";         ///< a copy of src/emulation

/// The library of all host halves of one prelude: "libkbench_host_<key>.so".
std::string prelude_library(const std::filesystem::path& folder);

/// The shared object that a host half becomes, in the folder of its compile.
inline constexpr const char* kObjectName = "object.so";

/// Those libraries of torch that a host half may call, of the ones in `folder`.
std::vector<std::string> torch_libraries(const std::filesystem::path& folder, HostDevice device);

/// The parts of src/emulation that are linked into each host half, as object files in the folder.
std::vector<std::string> runtime_objects(HostDevice device);

/// Makes the files of `prelude` in its folder, each under a temporary name first. `options` are
/// those of every compile, without the precompiled header. Throws kbench::Error.
void build_prelude(const Prelude& prelude, const HostSetup& setup,
                   const std::vector<std::string>& options, int cancel_fd);

}  // namespace kbench
