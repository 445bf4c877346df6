// SPDX-License-Identifier: MIT
#include "run/build/extension_builder.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/hash.hpp"
#include "base/json/dumped.hpp"
#include "compile/budget.hpp"
#include "compile/compiler_fault.hpp"
#include "kbench/error.hpp"
#include "run/build/machine_reads.hpp"
#include "run/build/own_name.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// The most sources of one extension. The largest extensions in use have a few dozen.
constexpr std::size_t kMostTexts = 256;

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

HostRequest host_code(const json& request, const TextsRead& sources, const ExtensionOwner& owner,
                      HostDevice device) {
  HostRequest host = host_request(request, sources, owner);
  host.cuda_sources = sources.host;
  host.kernels = sources.kernels;
  host.variables = sources.variables;
  host.device = device;
  return host;
}

/// The request to NVRTC: every kernel instance that the host code can launch, and its variables.
CompileRequest device_request(const json& request, const TextsRead& sources, const HostModule& host,
                              const ExtensionOwner& owner, const std::string& arch) {
  CompileRequest device;
  device.source = sources.device;
  device.file_name = owner.file_name;
  device.budget = owner.budget;
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
  extension.host_s = host.seconds;
  extension.cached = host.cached && device.cached;
  extension.way = device.image.empty() ? host.way : fmt::format("{} + {}", device.way, host.way);
  return extension;
}

/// The folder of results. A run keeps all results to its end, which would be too much for memory.
std::filesystem::path folder_of_results(const HostSetup& setup) {
  return (setup.cache.empty() ? std::filesystem::temp_directory_path() : setup.cache) / "built";
}

}  // namespace

Extension with_bytes(Extension extension) {
  if (extension.stored_object.size() > 0) extension.object = extension.stored_object.read();
  if (extension.stored_image.size() > 0) extension.image = extension.stored_image.read();
  return extension;
}

ExtensionBuilder::ExtensionBuilder(CompilePool& pool, HostSetup setup, NvccSetup nvcc,
                                   std::string arch, std::chrono::milliseconds budget,
                                   std::size_t most_built_bytes)
    : pool_(pool),
      setup_(std::move(setup)),
      nvcc_(std::move(nvcc)),
      arch_(std::move(arch)),
      budget_(budget),
      most_built_bytes_(most_built_bytes),
      readers_(std::max(1u, setup_.jobs)) {
  remove_stored_bytes(folder_of_results(setup_));
}

ExtensionBuilder::~ExtensionBuilder() { cancel(); }

void ExtensionBuilder::cancel() {
  eventfd_write(cancel_event_.value(), 1);
  pool_.cancel();
  nvcc_.cancel();
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
  // The key includes the owner's source, because a failure for lack of one owner's budget must not
  // reach another owner.
  const std::string key =
      Sha256().field(dumped(request)).field(owner.file_name).field(owner.source).hex();
  const std::lock_guard lock(mutex_);
  auto& future = known_[key];
  if (!future.valid()) {
    // The future keeps its bound arguments alive, so the function moves the texts out of them to
    // free memory.
    auto build = [this, texts = request, whose = owner, budget = budget_of(owner)]() mutable {
      const json asked = std::move(texts);
      const ExtensionOwner by = std::move(whose);
      return stored(named(build_now(asked, {std::string(kOwnName), by.source, std::move(budget)}),
                          by.file_name),
                    Sha256().field(by.file_name).field(by.source).hex());
    };
    future = std::async(std::launch::async, std::move(build)).share();
  }
  return future;
}

ExtensionResult ExtensionBuilder::stored(ExtensionResult result, const std::string& candidate) {
  auto* extension = std::get_if<Extension>(&result);
  if (extension == nullptr) return result;
  {
    const std::lock_guard lock(mutex_);
    std::size_t& bytes = built_bytes_[candidate];
    bytes += extension->object.size() + extension->image.size();
    if (bytes > most_built_bytes_)
      return refused(
          "objects_too_large",
          fmt::format("the candidate's extensions take {:.1f} GB, more than the limit of {:.1f} GB",
                      static_cast<double>(bytes) / 1e9,
                      static_cast<double>(most_built_bytes_) / 1e9));
  }
  extension->reads_machine = reads_machine(extension->image);
  const auto folder = folder_of_results(setup_);
  extension->stored_object = StoredBytes(std::exchange(extension->object, {}), folder);
  extension->stored_image = StoredBytes(std::exchange(extension->image, {}), folder);
  return result;
}

/// All processes of a candidate have one budget, its dry import included.
std::shared_ptr<CompileBudget> ExtensionBuilder::budget_of(const ExtensionOwner& owner) {
  auto& budget = budgets_[Sha256().field(owner.file_name).field(owner.source).hex()];
  if (!budget) budget = std::make_shared<CompileBudget>(budget_);
  return budget;
}

ExtensionResult ExtensionBuilder::build_now(const json& request, const ExtensionOwner& owner) {
  try {
    const auto kind = request.at("kind").get<std::string>();
    return kind == "kernel" ? build_kernel(request, owner) : build_split(request, owner);
  } catch (const json::exception& error) {
    return refused("bad_request", fmt::format("invalid build request: {}", error.what()));
  } catch (const Error&) {
    throw;
  } catch (const std::logic_error& error) {
    // The same request would fail each time, so the machine is not at fault.
    return refused(kCompilerFault, fmt::format("cannot build this extension: {}", error.what()));
  } catch (const std::exception& error) {
    // Any other exception would end the run and not only this candidate.
    throw Error(fmt::format("cannot build an extension: {}", error.what()));
  }
}

/// Reads sources on the candidate's budget. The number of readers in parallel is at most the number
/// of compilers, for all candidates together.
Reader::Result<TextsRead> ExtensionBuilder::read(const TextsJob& job, CompileBudget* budget) {
  if (budget != nullptr && budget->left() == CompileBudget::Duration::zero())
    return budget_is_spent(*budget);
  readers_.acquire();
  const std::unique_ptr<std::counting_semaphore<>, void (*)(std::counting_semaphore<>*)> taken(
      &readers_, [](std::counting_semaphore<>* readers) { readers->release(); });
  CompileTime time(kReadingLimit, budget);
  return Reader(setup_.guard, cancel_event_.value()).read(job, time);
}

ExtensionResult ExtensionBuilder::build_kernel(const json& request, const ExtensionOwner& owner) {
  CompileRequest device;
  device.language = "torch_kernel";
  TextsJob job;
  job.file_name = owner.file_name;
  job.file = owner.source;
  job.cuda = {{fmt::format("{} (kernel_source)", owner.file_name),
               request.at("source").get<std::string>()}};
  job.split = false;
  const auto read = this->read(job, owner.budget.get());
  if (const auto* error = std::get_if<CompileError>(&read)) return error_of(*error);
  const HostText& placed = std::get<TextsRead>(read).cuda.at(0);
  device.source = placed.text;
  device.file_name = placed.name;
  device.flags = device_flags(strings(request, "extra_cuda_cflags"));
  device.name_expressions = {request.at("name").get<std::string>()};
  device.find_parameters = false;
  device.arch = arch_;
  device.budget = owner.budget;
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
  const TextsJob job = texts_job(request, owner);
  if (job.cpp.size() + job.cuda.size() > kMostTexts)
    return refused("bad_request",
                   fmt::format("the extension has more than {} sources", kMostTexts));
  const auto read = this->read(job, owner.budget.get());
  if (const auto* error = std::get_if<CompileError>(&read)) return error_of(*error);
  const auto& texts = std::get<TextsRead>(read);
  SplitFailure failure;
  auto result = try_split(request, owner, texts, failure);
  const auto* error = std::get_if<ExtensionError>(&result);
  if (error == nullptr) return result;
  failure.cause = error->cause;
  failure.message = error->message;
  failure.log = error->log;
  for (const auto* kind : {&texts.cpp, &texts.cuda})
    for (const auto& text : *kind) failure.own_names.push_back(text.name);
  failure.own_names.push_back(owner.file_name);
  // load_inline joins its sources to one file, where a second definition is an error.
  failure.several_files =
      request.at("kind").get<std::string>() == "files" && strings(request, "cuda_files").size() > 1;
  for (const auto& flag : strings(request, "extra_ldflags"))
    failure.names_libraries = failure.names_libraries || flag.starts_with("-l");
  if (error->cause == "missing_include") failure.header_folders = header_folders();
  const FallbackRule* rule = find_fallback(failure);
  return rule == nullptr ? result : fall_back(request, owner, texts, *error, *rule);
}

ExtensionResult ExtensionBuilder::try_split(const json& request, const ExtensionOwner& owner,
                                            const TextsRead& sources, SplitFailure& failure) {
  if (sources.refusal) return refused(sources.refusal->cause, sources.refusal->message);
  failure.host_only = sources.host_only;
  failure.part = SplitPart::kHost;
  const HostDevice host_device = is_on_cpu() ? HostDevice::kCpu : HostDevice::kCuda;
  const auto built = host().compile(host_code(request, sources, owner, host_device)).get();
  if (const auto* error = std::get_if<CompileError>(&built)) {
    auto failed = error_of(*error);
    failed.host_s = failed.seconds;
    return failed;
  }
  const auto& module = std::get<HostModule>(built);
  if (module.stubs.empty() && module.variables.empty()) return join(module, Artifact{});
  failure.part = SplitPart::kDevice;
  const auto compiled = pool_.compile(device_request(request, sources, module, owner, arch_)).get();
  if (const auto* error = std::get_if<CompileError>(&compiled)) {
    auto failed = error_of(*error);
    failed.seconds += module.seconds;
    failed.host_s = module.seconds;
    return failed;
  }
  return join(module, std::get<Artifact>(compiled));
}

ExtensionResult ExtensionBuilder::fall_back(const json& request, const ExtensionOwner& owner,
                                            const TextsRead& texts, const ExtensionError& error,
                                            const FallbackRule& rule) {
  ExtensionError failed = error;
  const std::string_view why = rule.why;
  if (is_on_cpu()) {
    // `unsupported` must not hide an ordinary error of the candidate.
    if (!rule.is_certain) return failed;
    failed.outcome = Outcome::kUnsupported;
    failed.cause = "needs_nvcc";
    failed.message =
        fmt::format("{}; the extension needs nvcc ({}), but nvcc's output does not run on the CPU",
                    error.message, why);
    return failed;
  }
  if (const NvccSearch& search = nvcc_.search(); !search.found) {
    failed.message = fmt::format("{}; {}, but kbench cannot use nvcc ({}): run kbench doctor",
                                 error.message, why, search.absence);
    return failed;
  }
  return build_whole(request, owner, texts, error);
}

/// nvcc's result is the verdict, because authors test with nvcc's headers and language.
ExtensionResult ExtensionBuilder::build_whole(const json& request, const ExtensionOwner& owner,
                                              const TextsRead& texts, const ExtensionError& error) {
  const std::string fallback = fmt::format("{}: {}", error.cause, error.message);
  const auto built = nvcc_.compile(whole_request(request, texts, owner, arch_)).get();
  if (const auto* refusal = std::get_if<CompileError>(&built)) {
    ExtensionError failed = error_of(*refusal);
    failed.seconds += error.seconds;
    failed.host_s = error.host_s;
    failed.way = "nvcc " + nvcc_.search().found->version;
    failed.fallback = fallback;
    failed.log = error.log.empty() ? failed.log : fmt::format("{}\n{}", error.log, failed.log);
    return failed;
  }
  const auto& module = std::get<HostModule>(built);
  Extension extension;
  extension.whole = true;
  extension.object = module.object;
  extension.seconds = module.seconds + error.seconds;
  extension.host_s = error.host_s;
  extension.cached = module.cached;
  extension.way = module.way;
  extension.fallback = fallback;
  return extension;
}

/// All folders where nvcc looks for headers, except the candidate's own.
std::vector<std::filesystem::path> ExtensionBuilder::header_folders() {
  auto folders = setup_.includes;
  const auto own = nvcc_.headers();
  folders.insert(folders.end(), own.begin(), own.end());
  folders.insert(folders.end(), {"/usr/include", "/usr/local/include"});
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/include/c++", ignored))
    folders.push_back(entry.path());
  return folders;
}

}  // namespace kbench::run
