// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compile/host/host_compile.hpp"
#include "compile/host/reading.hpp"
#include "compile/nvcc/nvcc.hpp"

// Translates a module's build request, as module_extension.py sends it, to requests for kbench's
// compilers. A candidate may send any JSON, so these functions throw nlohmann's exceptions.
namespace kbench::run {

/// The candidate that requests a build. Its file and source let diagnostics name a line.
struct ExtensionOwner {
  std::string file_name;                    ///< as people see it
  std::string source;                       ///< may contain a CUDA source as a string
  std::shared_ptr<CompileBudget> budget{};  ///< for all of its builds; from the builder
};

/// The strings of a list in a request; none if the list is missing.
std::vector<std::string> strings(const nlohmann::json& request, const char* name);

/// The flags of a request for nvcc that NVRTC does not know, and that are therefore ignored.
std::vector<std::string> ignored_flags(const nlohmann::json& request);

/// The flags that NVRTC knows. Others (-gencode, -Xcompiler, ...) are ignored, because most
/// candidates have some.
std::vector<std::string> device_flags(const std::vector<std::string>& flags);

/// The sources of one kind ("cpp", "cuda"). Sources without a file get a name made from the
/// owner's.
std::vector<HostText> texts_of(const nlohmann::json& request, const std::string& kind,
                               const ExtensionOwner& owner);

/// The job of the process that reads all sources.
TextsJob texts_job(const nlohmann::json& request, const ExtensionOwner& owner);

/// The request to the C++ compiler without the CUDA sources. It is the same with and without nvcc.
HostRequest host_request(const nlohmann::json& request, const TextsRead& texts,
                         const ExtensionOwner& owner);

/// The request to nvcc, with all sources.
NvccRequest whole_request(const nlohmann::json& request, const TextsRead& texts,
                          const ExtensionOwner& owner, const std::string& arch);

}  // namespace kbench::run
