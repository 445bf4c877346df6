// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compile/host/host_compile.hpp"
#include "compile/host/reading.hpp"
#include "compile/nvcc/nvcc.hpp"

// What a module asks a compiler for, as module_extension.py puts it, in the terms of kbench's
// compilers. Any JSON may come from a candidate: who reads it throws nlohmann's exceptions.
namespace kbench::run {

/// Whose extensions they are, for the lines of diagnostics.
struct ExtensionOwner {
  std::string file_name;                    ///< as people know it
  std::string source;                       ///< in which a CUDA source may stand as a string
  std::shared_ptr<CompileBudget> budget{};  ///< of all that is compiled for it; the builder's
};

/// The texts of a list in a request; none where it has no such list.
std::vector<std::string> strings(const nlohmann::json& request, const char* name);

/// The flags of a request that are left out: those for nvcc that mean nothing to NVRTC.
std::vector<std::string> ignored_flags(const nlohmann::json& request);

/// The flags that mean something to NVRTC. Others (-gencode, -Xcompiler, …) have no meaning here,
/// and refusing them would refuse most candidates.
std::vector<std::string> device_flags(const std::vector<std::string>& flags);

/// The sources of one kind ("cpp", "cuda"), by the names of those that stand in no file.
std::vector<HostText> texts_of(const nlohmann::json& request, const std::string& kind,
                               const ExtensionOwner& owner);

/// All of them, for the process that reads them.
TextsJob texts_job(const nlohmann::json& request, const ExtensionOwner& owner);

/// What both ways give the C++ compiler: all but the CUDA sources.
HostRequest host_request(const nlohmann::json& request, const TextsRead& texts,
                         const ExtensionOwner& owner);

/// What nvcc gets, which is all of it.
NvccRequest whole_request(const nlohmann::json& request, const TextsRead& texts,
                          const ExtensionOwner& owner, const std::string& arch);

}  // namespace kbench::run
