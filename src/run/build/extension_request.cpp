// SPDX-License-Identifier: MIT
#include "run/build/extension_request.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compile/languages.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// The most bytes of a candidate's file name; diagnostics are searched for the name.
constexpr std::size_t kMostFileNameBytes = 512;

bool is_known_flag(const std::string& flag) {
  return std::holds_alternative<std::vector<std::string>>(find_language("cuda")->options({flag}));
}

}  // namespace

std::vector<std::string> strings(const json& request, const char* name) {
  const auto found = request.find(name);
  return found == request.end() || found->is_null() ? std::vector<std::string>{}
                                                    : found->get<std::vector<std::string>>();
}

std::vector<std::string> device_flags(const std::vector<std::string>& flags) {
  std::vector<std::string> kept;
  for (const auto& flag : flags) {
    if (is_known_flag(flag)) kept.push_back(flag);
  }
  return kept;
}

std::vector<std::string> ignored_flags(const json& request) {
  std::vector<std::string> ignored;
  try {
    for (const auto& flag : strings(request, "extra_cuda_cflags"))
      if (!is_known_flag(flag)) ignored.push_back(flag);
  } catch (const json::exception&) {
    // Errors are ignored here, because the build reports them.
  }
  return ignored;
}

std::vector<HostText> texts_of(const json& request, const std::string& kind,
                               const ExtensionOwner& owner) {
  const auto sources = strings(request, (kind + "_sources").c_str());
  const auto files = strings(request, (kind + "_files").c_str());
  std::vector<HostText> texts;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool is_file = i < files.size() && !files[i].empty();
    const auto name = is_file ? files[i].substr(0, kMostFileNameBytes)
                              : fmt::format("{} ({}_sources[{}])", owner.file_name, kind, i);
    texts.push_back({name, sources[i]});
  }
  return texts;
}

HostRequest host_request(const json& request, const TextsRead& texts, const ExtensionOwner& owner) {
  HostRequest host;
  host.budget = owner.budget;
  host.cpp_sources = texts.cpp;
  const auto functions = request.find("functions");
  if (functions != request.end() && functions->is_object()) {
    host.functions.emplace();
    for (const auto& [name, docstring] : functions->items())
      host.functions->push_back({name, docstring.is_string() ? docstring.get<std::string>() : ""});
  }
  host.error_handling = request.value("with_pytorch_error_handling", true);
  host.flags = strings(request, "extra_cflags");
  for (const auto& flag : strings(request, "extra_cuda_cflags"))
    if (flag.starts_with("-D")) host.flags.push_back(flag);
  for (const auto& folder : strings(request, "extra_include_paths"))
    host.includes.emplace_back(folder);
  return host;
}

NvccRequest whole_request(const json& request, const TextsRead& texts, const ExtensionOwner& owner,
                          const std::string& arch) {
  NvccRequest whole;
  whole.sources = host_request(request, texts, owner);
  whole.sources.cuda_sources = texts.cuda;
  whole.cuda_flags = strings(request, "extra_cuda_cflags");
  // Flags that both compilers know apply to all sources.
  for (const auto& flag : whole.cuda_flags)
    if (flag.starts_with("-U") || flag.starts_with("-std=")) whole.sources.flags.push_back(flag);
  whole.separate_files = request.at("kind").get<std::string>() == "files";
  whole.implicit_headers = !whole.separate_files && !request.value("no_implicit_headers", false);
  whole.libraries = strings(request, "extra_ldflags");
  whole.arch = arch;
  return whole;
}

TextsJob texts_job(const json& request, const ExtensionOwner& owner) {
  TextsJob job;
  job.file_name = owner.file_name;
  job.file = owner.source;
  job.cpp = texts_of(request, "cpp", owner);
  job.cuda = texts_of(request, "cuda", owner);
  job.are_files = request.at("kind").get<std::string>() == "files";
  job.needs_headers = request.value("no_implicit_headers", false);
  const auto functions = request.find("functions");
  job.has_bindings = functions != request.end() && functions->is_object();
  return job;
}

}  // namespace kbench::run
