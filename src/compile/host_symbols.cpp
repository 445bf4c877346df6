// SPDX-License-Identifier: MIT
#include "compile/host_symbols.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compile/elf.hpp"
#include "compile/host_names.hpp"
#include "compile/mapped_file.hpp"

namespace kbench {
namespace {

using Libraries = std::function<std::vector<std::string>()>;

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); });
}

/// Whether a symbol is surely of the C++ library or of torch, by its namespace: that spares reading
/// 300,000 symbols. Where it is wrong, loading the object finds out.
bool is_of_libraries(std::string_view plain) {
  for (const std::string_view kind : {"vtable for ", "typeinfo for ", "VTT for "}) {
    if (plain.starts_with(kind)) plain.remove_prefix(kind.size());
  }
  return starts_with_any(
      plain, {"at::", "c10::", "torch::", "std::", "pybind11::", "__gnu_cxx::", "__cxxabiv1::",
              "kbench_binding::", "operator new", "operator delete"});
}

bool is_exported(std::string_view name, const std::vector<std::string>& libraries) {
  return std::ranges::any_of(libraries, [&](const std::string& path) {
    const MappedFile file(path);
    if (file.bytes().empty()) return false;
    const auto symbols = ElfFile(file.bytes()).dynamic_symbols();
    return std::ranges::any_of(
        symbols, [&](const ElfSymbol& each) { return each.is_defined && each.name == name; });
  });
}

/// Torch's for a GPU. A process without one may have torch's CUDA library all the same, so that
/// loading finds nothing amiss.
bool is_of_torchs_cuda(std::string_view plain) {
  return starts_with_any(plain, {"at::cuda::", "c10::cuda::", "torch::cuda::", "at::native::"});
}

/// A function of CUDA's runtime or libraries, by its name.
bool is_of_cuda(std::string_view name) {
  if (starts_with_any(name, {"cuda", "cublas", "cudnn", "curand", "cufft", "cusparse", "cusolver",
                             "nvrtc", "nccl"})) {
    return true;
  }
  return name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z';
}

std::optional<Diagnosis> undefined(const HostRequest& request, const Libraries& libraries,
                                   const ElfFile& file) {
  for (const ElfSymbol& symbol : file.dynamic_symbols()) {
    if (symbol.is_defined || symbol.is_weak) continue;
    const std::string name(symbol.name);
    if (request.device == HostDevice::kCpu && is_of_cuda(name)) {
      return Diagnosis{
          "unsupported_on_cpu",
          fmt::format("the host code calls {}, which has no counterpart on the CPU", name)};
    }
    if (!name.starts_with("_Z")) continue;
    const std::string plain = demangle(name);
    if (request.device == HostDevice::kCpu && is_of_torchs_cuda(plain) &&
        !is_exported(name, libraries())) {
      return Diagnosis{"unsupported_on_cpu",
                       fmt::format("the host code calls {}, which has no counterpart on the CPU",
                                   plain.substr(0, plain.find('(')))};
    }
    if (!is_of_libraries(plain) && !is_exported(name, libraries())) {
      return Diagnosis{"undefined_function",
                       fmt::format("{} is declared and used, but nowhere defined", plain)};
    }
  }
  return std::nullopt;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// One of several kernels of a name is told by its type.
std::string expression_of(const FunctionName& name, const std::vector<std::string>& kernels) {
  if (!name.can_be_named) return {};
  if (std::ranges::count(kernels, name.qualified) < 2) return name.expression;
  return fmt::format("(void(*){}){}", name.parameters, name.expression);
}

}  // namespace

std::optional<Diagnosis> read_symbols(const HostRequest& request, const Libraries& libraries,
                                      HostModule& module) {
  const ElfFile file(module.object);
  for (const ElfSymbol& symbol : file.symbols()) {
    if (!symbol.is_defined || !(symbol.is_function || symbol.is_object)) continue;
    const std::string mangled(symbol.name);
    const FunctionName name = function_name(demangle(mangled));
    if (symbol.is_function && contains(request.kernels, name.qualified)) {
      module.stubs.push_back({symbol.value, symbol.size, mangled, name.qualified,
                              expression_of(name, request.kernels)});
    }
    if (symbol.is_object && contains(request.variables, name.qualified)) {
      module.variables.push_back({name.qualified, symbol.value, symbol.size});
    }
  }
  std::ranges::sort(module.stubs, {}, &HostStub::offset);
  return undefined(request, libraries, file);
}

}  // namespace kbench
