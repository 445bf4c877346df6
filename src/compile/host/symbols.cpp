// SPDX-License-Identifier: MIT
#include "compile/host/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "compile/elf.hpp"
#include "compile/mapped_file.hpp"
#include "compile/names.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

/// True if a symbol's namespace suggests that the C++ library or torch defines it. This avoids
/// reading 300,000 symbols. If the guess is wrong, loading the object reports the error.
bool is_of_libraries(std::string_view plain) {
  for (const std::string_view kind : {"vtable for ", "typeinfo for ", "VTT for "}) {
    if (plain.starts_with(kind)) plain.remove_prefix(kind.size());
  }
  return starts_with_any(plain, {"at::", "c10::", "torch::", "std::", "pybind11::", "__gnu_cxx::",
                                 "__cxxabiv1::", "operator new", "operator delete"});
}

using SymbolNames = std::unordered_set<std::string_view>;

/// The `names` that one of the libraries defines. Reads each library once, because torch's have
/// 300,000 symbols.
std::unordered_set<std::string> exported(const SymbolNames& names,
                                         const std::vector<std::string>& libraries) {
  std::unordered_set<std::string> found;
  for (const std::string& path : libraries) {
    const MappedFile file(path);
    if (file.bytes().empty()) continue;
    for (const ElfSymbol& symbol : ElfFile(file.bytes()).dynamic_symbols()) {
      if (symbol.is_defined && names.contains(symbol.name)) found.emplace(symbol.name);
    }
  }
  return found;
}

/// True for torch's CUDA functions. Loading alone would not fail for them, because a process
/// without a GPU may still have torch's CUDA library.
bool is_of_torchs_cuda(std::string_view plain) {
  return starts_with_any(plain, {"at::cuda::", "c10::cuda::", "torch::cuda::", "at::native::"});
}

/// True for the name of a function of CUDA's runtime or libraries.
bool is_of_cuda(std::string_view name) {
  if (starts_with_any(name, {"cuda", "cublas", "cudnn", "curand", "cufft", "cusparse", "cusolver",
                             "nvrtc", "nccl"})) {
    return true;
  }
  return name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z';
}

/// An undefined symbol that one of the libraries may define.
struct Doubt {
  std::string name, plain;
  bool is_cuda = false;  ///< false: of no library known here
};

Diagnosis without_counterpart(std::string_view name) {
  return {"unsupported_on_cpu",
          fmt::format("the host code calls {}, which kbench does not emulate on the CPU", name)};
}

Diagnosis refusal_of(const Doubt& doubt) {
  if (doubt.is_cuda) return without_counterpart(doubt.plain.substr(0, doubt.plain.find('(')));
  return {"undefined_function",
          fmt::format("{} is declared and used, but not defined", doubt.plain)};
}

/// Refuses the object for its first undefined symbol that no library defines.
void check_undefined(const ObjectJob& job, const ElfFile& file, ObjectRead& read) {
  const bool on_cpu = job.device == HostDevice::kCpu;
  std::vector<Doubt> doubts;
  for (const ElfSymbol& symbol : file.dynamic_symbols()) {
    if (symbol.is_defined || symbol.is_weak) continue;
    const std::string name(symbol.name);
    if (on_cpu && is_of_cuda(name)) {
      read.refusal = without_counterpart(name);
      break;
    }
    if (!name.starts_with("_Z")) continue;
    const std::string plain = demangle(name);
    const bool is_cuda = on_cpu && is_of_torchs_cuda(plain);
    if (is_cuda || !is_of_libraries(plain)) doubts.push_back({name, plain, is_cuda});
  }
  if (doubts.empty()) return;
  read.needs_libraries = !job.libraries.has_value();
  if (read.needs_libraries) return;
  SymbolNames names;
  for (const Doubt& doubt : doubts) names.insert(doubt.name);
  const auto known = exported(names, *job.libraries);
  const auto first =
      std::ranges::find_if(doubts, [&](const Doubt& doubt) { return !known.contains(doubt.name); });
  if (first != doubts.end()) read.refusal = refusal_of(*first);
}

/// Number of kernels or variables for each name.
using Counts = std::unordered_map<std::string, std::size_t>;

Counts counted(const std::vector<std::string>& names) {
  Counts counts;
  for (const std::string& name : names) ++counts[name];
  return counts;
}

/// If several kernels have one name, a cast to a type selects one.
std::string expression_of(const FunctionName& name, std::size_t kernels) {
  if (!name.can_be_named) return {};
  if (kernels < 2) return name.expression;
  return fmt::format("(void(*){}){}", name.parameters, name.expression);
}

void read_defined(const ObjectJob& job, const ElfFile& file, ObjectRead& read) {
  const Counts kernels = counted(job.kernels), variables = counted(job.variables);
  for (const ElfSymbol& symbol : file.symbols()) {
    if (!symbol.is_defined || !(symbol.is_function || symbol.is_object)) continue;
    const std::string mangled(symbol.name);
    const FunctionName name = function_name(demangle(mangled));
    const auto kernel = kernels.find(name.qualified);
    if (symbol.is_function && kernel != kernels.end()) {
      read.stubs.push_back({symbol.value, symbol.size, mangled, name.qualified,
                            expression_of(name, kernel->second)});
    }
    if (symbol.is_object && variables.contains(name.qualified)) {
      read.variables.push_back({name.qualified, symbol.value, symbol.size});
    }
  }
  std::ranges::sort(read.stubs, {}, &HostStub::offset);
}

std::optional<ElfFile> as_elf(std::string_view bytes) {
  try {
    return ElfFile(bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

ObjectRead read_object(const ObjectJob& job) {
  ObjectRead read;
  const MappedFile object(job.object);
  const auto file = as_elf(object.bytes());
  if (!file) {
    read.refusal = {"compiler_crash", "the host compiler's output is not a shared object"};
    return read;
  }
  read_defined(job, *file, read);
  check_undefined(job, *file, read);
  return read;
}

}  // namespace kbench
