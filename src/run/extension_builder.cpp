// SPDX-License-Identifier: MIT
#include "run/extension_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compile/languages.hpp"
#include "compile/split.hpp"
#include "kbench/error.hpp"
#include "kbench/hash.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

std::vector<std::string> strings(const json& request, const char* name) {
  const auto found = request.find(name);
  return found == request.end() || found->is_null() ? std::vector<std::string>{}
                                                    : found->get<std::vector<std::string>>();
}

/// The flags that mean something to NVRTC. Others (-gencode, -Xcompiler, …) have no meaning here,
/// and refusing them would refuse most candidates.
std::vector<std::string> device_flags(const std::vector<std::string>& flags) {
  std::vector<std::string> kept;
  for (const auto& flag : flags) {
    const bool known =
        std::holds_alternative<std::vector<std::string>>(find_language("cuda")->options({flag}));
    if (known) kept.push_back(flag);
  }
  return kept;
}

/// A CUDA source as a compiler is to see it: where it stands as it is in the candidate's file, its
/// lines are counted there.
struct PlacedSource {
  std::string file_name, text;
};

PlacedSource place(const std::string& text, const std::string& fallback_name,
                   const ExtensionOwner& owner) {
  if (!owner.source.empty() && text.starts_with(owner.source)) return {owner.file_name, text};
  const std::size_t found = text.empty() ? std::string::npos : owner.source.find(text);
  if (found == std::string::npos) return {fallback_name, text};
  const auto lines = std::count(owner.source.begin(),
                                owner.source.begin() + static_cast<std::ptrdiff_t>(found), '\n');
  return {owner.file_name, std::string(static_cast<std::size_t>(lines), '\n') + text};
}

ExtensionError refused(std::string cause, std::string message) {
  return {Outcome::kCompileFailure, std::move(cause), std::move(message), "", 0, false};
}

ExtensionError error_of(const CompileError& error) {
  const bool unsupported = error.cause == "unsupported_on_cpu";
  return {unsupported ? Outcome::kUnsupported : Outcome::kCompileFailure,
          error.cause,
          error.message,
          error.log,
          error.seconds,
          error.cached};
}

/// All CUDA sources of a request, split: one device text, and a host text each.
struct SplitSources {
  std::string device;
  std::vector<HostText> host;
  std::vector<std::string> kernels, variables;
};

std::variant<SplitSources, ExtensionError> split_all(const json& request,
                                                     const ExtensionOwner& owner) {
  SplitSources all;
  const auto sources = strings(request, "cuda_sources");
  const auto files = strings(request, "cuda_files");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto name =
        i < files.size() ? files[i] : fmt::format("{} (cuda_sources[{}])", owner.file_name, i);
    const PlacedSource placed = place(sources[i], name, owner);
    auto split = split_source(placed.text, placed.file_name);
    if (const auto* refusal = std::get_if<SplitRefusal>(&split))
      return refused(refusal->cause,
                     fmt::format("{}:{}: {}", placed.file_name, refusal->line, refusal->message));
    auto& halves = std::get<SplitSource>(split);
    all.device += halves.device + "\n";
    all.host.push_back({placed.file_name, std::move(halves.host)});
    for (auto& kernel : halves.kernels) all.kernels.push_back(std::move(kernel.name));
    for (auto& variable : halves.variables) all.variables.push_back(std::move(variable.name));
  }
  return all;
}

HostRequest host_request(const json& request, const SplitSources& sources,
                         const ExtensionOwner& owner, HostDevice device) {
  HostRequest host;
  const auto cpp = strings(request, "cpp_sources");
  const auto files = strings(request, "cpp_files");
  for (std::size_t i = 0; i < cpp.size(); ++i) {
    auto placed =
        place(cpp[i],
              i < files.size() ? files[i] : fmt::format("{} (cpp_sources[{}])", owner.file_name, i),
              owner);
    host.cpp_sources.push_back({std::move(placed.file_name), std::move(placed.text)});
  }
  host.cuda_sources = sources.host;
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
  host.kernels = sources.kernels;
  host.variables = sources.variables;
  host.device = device;
  return host;
}

/// What NVRTC is to make: every instance that the host half can launch, and its variables.
CompileRequest device_request(const json& request, const SplitSources& sources,
                              const HostModule& host, const ExtensionOwner& owner,
                              const std::string& arch) {
  CompileRequest device;
  device.source = sources.device;
  device.file_name = owner.file_name;
  device.flags = device_flags(strings(request, "extra_cuda_cflags"));
  device.find_parameters = false;
  device.arch = arch;
  for (const auto& stub : host.stubs)
    if (!stub.expression.empty()) device.name_expressions.push_back(stub.expression);
  for (const auto& variable : host.variables)
    device.name_expressions.push_back("&" + variable.name);
  return device;
}

Extension join(const HostModule& host, const Artifact& device) {
  Extension extension;
  extension.object = host.object;
  extension.image = device.image;
  std::size_t next = 0;
  for (const auto& stub : host.stubs) {
    if (stub.expression.empty()) continue;
    const KernelEntry& entry = device.kernels.at(next++);
    extension.kernels.push_back({stub.offset, entry.symbol, entry.expression});
  }
  for (const auto& variable : host.variables)
    extension.variables.push_back(
        {variable.offset, variable.size, device.kernels.at(next++).symbol});
  extension.seconds = host.seconds + device.seconds;
  extension.cached = host.cached && device.cached;
  extension.way = device.image.empty() ? host.way : fmt::format("{} + {}", device.way, host.way);
  return extension;
}

}  // namespace

ExtensionBuilder::ExtensionBuilder(CompilePool& pool, HostSetup setup, std::string arch)
    : pool_(pool), setup_(std::move(setup)), arch_(std::move(arch)) {}

ExtensionBuilder::~ExtensionBuilder() { cancel(); }

void ExtensionBuilder::cancel() {
  pool_.cancel();
  const std::lock_guard lock(mutex_);
  if (host_) host_->cancel();
}

HostCompiler& ExtensionBuilder::host() {
  const std::lock_guard lock(mutex_);
  if (!host_) host_ = std::make_unique<HostCompiler>(setup_);
  return *host_;
}

std::shared_future<ExtensionResult> ExtensionBuilder::build(const json& request,
                                                            const ExtensionOwner& owner) {
  const std::string key = Sha256()
                              .field(request.dump(-1, ' ', false, json::error_handler_t::replace))
                              .field(owner.file_name)
                              .hex();
  const std::lock_guard lock(mutex_);
  auto& future = known_[key];
  if (!future.valid()) {
    future = std::async(std::launch::async, [this, request, owner] {
               return build_now(request, owner);
             }).share();
  }
  return future;
}

ExtensionResult ExtensionBuilder::build_now(const json& request, const ExtensionOwner& owner) {
  try {
    const auto kind = request.at("kind").get<std::string>();
    return kind == "kernel" ? build_kernel(request, owner) : build_split(request, owner);
  } catch (const json::exception& error) {
    return refused("bad_request", fmt::format("this cannot be built: {}", error.what()));
  }
}

ExtensionResult ExtensionBuilder::build_kernel(const json& request, const ExtensionOwner& owner) {
  CompileRequest device;
  const PlacedSource placed =
      place(request.at("source").get<std::string>(), owner.file_name, owner);
  device.source = placed.text;
  device.file_name = placed.file_name;
  device.flags = device_flags(strings(request, "extra_cuda_cflags"));
  device.name_expressions = {request.at("name").get<std::string>()};
  device.find_parameters = false;
  device.arch = arch_;
  const auto result = pool_.compile(std::move(device)).get();
  if (const auto* error = std::get_if<CompileError>(&result)) return error_of(*error);
  const auto& artifact = std::get<Artifact>(result);
  Extension extension;
  extension.image = artifact.image;
  extension.kernels.push_back(
      {0, artifact.kernels.at(0).symbol, artifact.kernels.at(0).expression});
  extension.seconds = artifact.seconds;
  extension.cached = artifact.cached;
  extension.way = artifact.way;
  return extension;
}

ExtensionResult ExtensionBuilder::build_split(const json& request, const ExtensionOwner& owner) {
  auto split = split_all(request, owner);
  if (auto* error = std::get_if<ExtensionError>(&split)) return std::move(*error);
  const auto& sources = std::get<SplitSources>(split);
  const HostDevice host_device =
      arch_.starts_with("compute_") ? HostDevice::kCpu : HostDevice::kCuda;
  const auto built = host().compile(host_request(request, sources, owner, host_device)).get();
  if (const auto* error = std::get_if<CompileError>(&built)) return error_of(*error);
  const auto& module = std::get<HostModule>(built);
  if (module.stubs.empty() && module.variables.empty()) return join(module, Artifact{});
  const auto compiled = pool_.compile(device_request(request, sources, module, owner, arch_)).get();
  if (const auto* error = std::get_if<CompileError>(&compiled)) {
    auto failure = error_of(*error);
    failure.seconds += module.seconds;
    return failure;
  }
  return join(module, std::get<Artifact>(compiled));
}

}  // namespace kbench::run
