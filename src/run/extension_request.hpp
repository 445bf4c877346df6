// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kbench/host_compile.hpp"
#include "kbench/nvcc.hpp"

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

/// A source as a compiler is to see it: where it stands in the candidate's file, its lines are
/// counted there.
HostText place(const std::string& text, const std::string& fallback_name,
               const ExtensionOwner& owner);

/// The sources of one kind ("cpp", "cuda"), placed.
std::vector<HostText> placed_texts(const nlohmann::json& request, const std::string& kind,
                                   const ExtensionOwner& owner);

/// What both ways give the C++ compiler: all but the CUDA sources.
HostRequest host_request(const nlohmann::json& request, const ExtensionOwner& owner);

/// What nvcc gets, which is all of it.
NvccRequest whole_request(const nlohmann::json& request, const ExtensionOwner& owner,
                          const std::string& arch);

/// What torch's own compiler run would say first; nothing where load_inline brings the headers.
std::optional<std::string> missing_headers(const nlohmann::json& request,
                                           const ExtensionOwner& owner);

}  // namespace kbench::run
