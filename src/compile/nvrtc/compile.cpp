// SPDX-License-Identifier: MIT
#include "compile/nvrtc/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compile/diagnostics.hpp"
#include "compile/headers/compatibility_headers.hpp"
#include "compile/kernel_lookup.hpp"
#include "compile/parameters.hpp"
#include "compile/undefined_ptx.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

/// Prefix of architectures that give PTX ("compute_90a"); all others give cubins.
constexpr std::string_view kVirtual = "compute_";

/// One nvrtcProgram with the compatibility headers and the name expressions of a request.
class Program {
 public:
  Program(const NvrtcApi& nvrtc, const CompileRequest& request);
  ~Program() { nvrtc_.destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int compile(const std::vector<std::string>& options);
  std::string log() const;
  std::string lowered(const std::string& expression) const;
  std::string image(bool is_ptx) const;

 private:
  void must(int result, std::string_view what) const;
  const NvrtcApi& nvrtc_;
  NvrtcApi::Program program_ = nullptr;
};

/// The name expression of a kernel's probe. `kernel` is a name, or a cast that selects one of
/// several.
std::string probe(const std::string& kernel) {
  const bool is_cast = kernel.starts_with("static_cast");
  return fmt::format("&{}<decltype({}{})>", kProbe, is_cast ? "*" : "", kernel);
}

/// Undefines the probes' names at the end of the source, so that no macro of the candidate can
/// falsify the parameters of its kernels.
std::string with_true_probes(const std::string& source) {
  return fmt::format("{}\n\n#undef decltype\n#undef {}\n", source, kProbe);
}

Program::Program(const NvrtcApi& nvrtc, const CompileRequest& request) : nvrtc_(nvrtc) {
  std::vector<std::string> names, texts;
  for (const CompatibilityHeader& compatibility_header : compatibility_headers()) {
    names.emplace_back(compatibility_header.name);
    texts.emplace_back(compatibility_header.text);
  }
  std::vector<const char*> name_pointers, text_pointers;
  for (const auto& name : names) name_pointers.push_back(name.c_str());
  for (const auto& text : texts) text_pointers.push_back(text.c_str());
  const std::string source =
      request.find_parameters ? with_true_probes(request.source) : request.source;
  must(nvrtc_.create_program(&program_, source.c_str(), kSourceName.data(),
                             static_cast<int>(names.size()), text_pointers.data(),
                             name_pointers.data()),
       "create a program");
  for (const auto& expression : request.name_expressions) {
    must(nvrtc_.add_name_expression(program_, expression.c_str()), "add a name expression");
    if (!request.find_parameters) continue;
    must(nvrtc_.add_name_expression(program_, probe(expression).c_str()), "add a name expression");
  }
}

void Program::must(int result, std::string_view what) const {
  if (result == 0) return;
  throw Error(fmt::format("NVRTC cannot {}: {}", what, nvrtc_.error_string(result)));
}

int Program::compile(const std::vector<std::string>& options) {
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const auto& option : options) pointers.push_back(option.c_str());
  return nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
}

std::string Program::log() const {
  std::size_t size = 0;
  must(nvrtc_.log_size(program_, &size), "return its log");
  std::string text(size, '\0');
  if (size != 0) must(nvrtc_.log(program_, text.data()), "return its log");
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  if (text.size() > kMaxLogBytes) text.resize(kMaxLogBytes);
  return text;
}

std::string Program::lowered(const std::string& expression) const {
  const char* name = nullptr;
  must(nvrtc_.lowered_name(program_, expression.c_str(), &name), "return a kernel's symbol");
  return name;
}

std::string Program::image(bool is_ptx) const {
  std::size_t size = 0;
  must(is_ptx ? nvrtc_.ptx_size(program_, &size) : nvrtc_.cubin_size(program_, &size),
       "return the image");
  std::string bytes(size, '\0');
  must(is_ptx ? nvrtc_.ptx(program_, bytes.data()) : nvrtc_.cubin(program_, bytes.data()),
       "return the image");
  if (is_ptx) bytes.resize(std::min(bytes.find('\0'), bytes.size()));
  return bytes;
}

/// PTX without the probes' variables, which are not the candidate's.
std::string without_probes(const std::string& ptx) {
  std::string kept;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    const std::string_view line(ptx.data() + at, end - at);
    const bool is_probe = line.find(".global ") != std::string_view::npos &&
                          line.find(kProbe) != std::string_view::npos;
    if (!is_probe) kept += line;
    at = end;
  }
  return kept;
}

/// The cubin architecture for a PTX architecture; a cubin architecture stays as it is.
std::string real_arch(const std::string& arch) {
  return arch.starts_with(kVirtual) ? "sm_" + arch.substr(kVirtual.size()) : arch;
}

/// True if NVRTC knows an architecture: it then compiles an empty source.
bool knows(const NvrtcApi& nvrtc, const std::string& arch) {
  CompileRequest empty;
  empty.arch = arch;
  return Program(nvrtc, empty).compile({"-arch=" + real_arch(arch)}) == 0;
}

/// Throws kbench::Error if NVRTC does not know the architecture. The log alone does not prove that,
/// because it may quote the source.
CompileError failure(const NvrtcApi& nvrtc, const std::string& log, const CompileRequest& request) {
  const bool says_so = log.find("invalid value for --gpu-architecture") != std::string::npos;
  if (says_so && !knows(nvrtc, request.arch)) {
    throw Error(fmt::format("NVRTC does not support the architecture {}; install a CUDA that does",
                            request.arch));
  }
  const Diagnosis diagnosis = diagnose(log, request.name_expressions);
  return compile_error(diagnosis.cause, diagnosis.message, log);
}

std::vector<std::string> options_of(const CompilerJob& job) {
  // Makes a cubin even if only PTX is wanted, to reject a kernel that ptxas refuses. Diagnostic 47
  // (a macro is redefined): candidates and CUDA's headers bring their own M_PI or INT_MAX.
  std::vector<std::string> options = {"-arch=" + real_arch(job.request.arch), "-lineinfo",
                                      "-diag-suppress=47"};
  for (const auto& include : job.includes) options.push_back("-I" + include.string());
  options.insert(options.end(), job.request.flags.begin(), job.request.flags.end());
  return options;
}

CompileError unreadable_parameters(const std::string& kernel, const Artifact& artifact) {
  return compile_error(
      "unreadable_parameters",
      fmt::format("the plan launches {}, but kbench cannot read its parameters: the "
                  "names of their types are too long",
                  kernel),
      artifact.log);
}

CompileResult artifact_of(const Program& program, const CompileRequest& request) {
  Artifact artifact;
  artifact.is_ptx = request.arch.starts_with(kVirtual);
  artifact.image = program.image(artifact.is_ptx);
  if (artifact.is_ptx)
    artifact.image = without_probes(artifact.image);
  else
    artifact.undefined_ptx = with_undefined_shown(program.image(true));
  artifact.log = program.log();
  for (const auto& expression : request.name_expressions) {
    artifact.kernels.push_back({expression, program.lowered(expression), {}});
    if (!request.find_parameters) continue;
    auto parameters = parameters_of(program.lowered(probe(expression)));
    if (!parameters) return unreadable_parameters(expression, artifact);
    artifact.kernels.back().parameters = std::move(*parameters);
  }
  return artifact;
}

CompileResult compile_once(const NvrtcApi& nvrtc, const CompilerJob& job) {
  std::vector<std::string> options = options_of(job);
  Program program(nvrtc, job.request);
  if (program.compile(options) == 0) return artifact_of(program, job.request);
  const std::string log = program.log();
  // NVRTC refuses functions without __device__, although nvcc accepts host helpers next to kernels.
  // They are compiled as device code only after such an error, because -default-device also emits
  // every constant.
  constexpr std::string_view kDefaultDevice = "-default-device";
  if (log.find(kDefaultDevice) == std::string::npos) return failure(nvrtc, log, job.request);
  options.emplace_back(kDefaultDevice);
  Program again(nvrtc, job.request);
  if (again.compile(options) == 0) return artifact_of(again, job.request);
  return failure(nvrtc, again.log(), job.request);
}

/// The PTX of a job without the name expressions `names`. It has all kernels that are not
/// templates.
std::optional<std::string> ptx_without(const NvrtcApi& nvrtc, CompilerJob job,
                                       const std::vector<std::string>& names) {
  std::erase_if(job.request.name_expressions, [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  });
  job.request.find_parameters = false;
  const std::string& arch = job.request.arch;
  job.request.arch = fmt::format("{}{}", kVirtual, arch.substr(arch.find('_') + 1));
  auto result = compile_once(nvrtc, job);
  auto* artifact = std::get_if<Artifact>(&result);
  return artifact == nullptr ? std::nullopt : std::optional(std::move(artifact->image));
}

/// Compiles a job again that failed with `error` because `names` are ambiguous. Each of these names
/// then selects the only kernel with that name. Returns an error if that is not possible.
CompileResult with_kernels_chosen(const NvrtcApi& nvrtc, const CompilerJob& job,
                                  const std::vector<std::string>& names, CompileError error) {
  const auto ptx = ptx_without(nvrtc, job, names);
  if (!ptx) return error;
  CompilerJob chosen = job;
  auto& expressions = chosen.request.name_expressions;
  for (const std::string& name : names) {
    const auto kernels = kernels_named(*ptx, name);
    if (kernels.size() == 1) {
      std::ranges::replace(expressions, name, kernels.front());
      continue;
    }
    error.cause = "unknown_kernel";
    error.message = kernels.empty()
                        ? fmt::format("the plan launches {}, but no kernel has that name", name)
                        : fmt::format("the plan launches {}, but {} kernels have that name", name,
                                      kernels.size());
    return error;
  }
  CompileResult result = compile_once(nvrtc, chosen);
  auto* artifact = std::get_if<Artifact>(&result);
  if (artifact == nullptr) return error;
  for (std::size_t i = 0; i < artifact->kernels.size(); ++i)
    artifact->kernels[i].expression = job.request.name_expressions[i];
  return result;
}

}  // namespace

CompileResult nvrtc_compile(const NvrtcApi& nvrtc, const CompilerJob& job) {
  CompileResult result = compile_once(nvrtc, job);
  const auto* error = std::get_if<CompileError>(&result);
  if (error == nullptr) return result;
  const auto names = ambiguous_names(error->log, job.request.name_expressions);
  return names.empty() ? result : with_kernels_chosen(nvrtc, job, names, *error);
}

}  // namespace kbench
