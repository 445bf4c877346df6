// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cstring>

#include "worker/candidate/module_python.hpp"
#include "worker/device/kernel_trace.hpp"

namespace py = pybind11;

// Loads extensions and kernels that kbench has built into the candidate's process.
namespace kbench::worker {

/// Loads the device code of an extension, and gives the runtime to its host code.
void ModulePython::start(void* library, DeviceCode device) {
  void* start = dlsym(library, "kbench_split_start");
  Dl_info info{};
  if (start == nullptr || dladdr(start, &info) == 0)
    throw std::runtime_error("the extension was not built by kbench");
  try {
    runtime_->add(static_cast<const std::byte*>(info.dli_fbase), std::move(device));
  } catch (const CandidateFailure& failure) {
    build_failure_ = BuildFailure{failure.outcome, failure.cause, failure.message, ""};
    throw std::runtime_error(failure.message);
  }
  reinterpret_cast<void (*)(const kbench_split::Runtime*)>(start)(runtime_->table());
}

/// Marks the kernels of an extension that nvcc has built as the candidate's: its file has the names
/// that it registers with CUDA.
void ModulePython::note_own_kernels(int shared_object) {
  struct stat file {};
  if (fstat(shared_object, &file) != 0 || file.st_size == 0) return;
  const auto bytes = static_cast<std::size_t>(file.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, shared_object, 0);
  if (mapped != MAP_FAILED) note_own_object({static_cast<const char*>(mapped), bytes});
}

/// Loads an extension by its descriptor's path. There is no other path, and extensions of the same
/// name cannot collide.
py::object ModulePython::load_extension(BuiltExtension built) {
  const std::string path = fmt::format("/proc/self/fd/{}", built.shared_object.value());
  // On the CPU, the extension contains emulations of torch's CUDA functions. RTLD_DEEPBIND makes
  // the loader find them before torch's own.
  const int scope = job_.device == "cpu" ? RTLD_LOCAL | RTLD_DEEPBIND : RTLD_LOCAL;
  void* library = dlopen(path.c_str(), RTLD_NOW | scope);
  if (library == nullptr)
    throw std::runtime_error(fmt::format("the extension cannot be loaded: {}", dlerror()));
  if (!built.whole)
    start(library, std::move(built.device));
  else if (job_.device != "cpu")
    note_own_kernels(built.shared_object.value());
  shared_objects_.push_back(std::move(built.shared_object));
  // pybind11 stores modules by their full name, so each needs another one. The loader derives the
  // name of the init function from the last part, which is always the same.
  const std::string name = fmt::format("kbench_{}.kbench_extension", shared_objects_.size());
  const auto machinery = py::module_::import("importlib.machinery");
  const auto util = py::module_::import("importlib.util");
  const auto loader = machinery.attr("ExtensionFileLoader")(name, path);
  const auto spec = util.attr("spec_from_file_location")(name, path, py::arg("loader") = loader);
  auto module = util.attr("module_from_spec")(spec);
  loader.attr("exec_module")(module);
  return module;
}

/// Loads a kernel without host code. Returns a function of four arguments that launches it.
py::object ModulePython::load_kernel(const std::string& name, BuiltExtension built) {
  kernel_marks_.push_back(std::make_unique<std::byte>());
  const std::byte* mark = kernel_marks_.back().get();
  runtime_->add(mark, std::move(built.device));
  return py::cpp_function(
      [this, mark, name](const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                         const std::vector<std::pair<std::string, py::object>>& values,
                         std::size_t shared_bytes) {
        std::vector<std::array<std::byte, 8>> bytes(values.size());
        std::vector<kbench_split::Argument> arguments;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto& [type, value] = values[i];
          std::size_t size = 8;
          const auto put = [&](auto plain) {
            std::memcpy(bytes[i].data(), &plain, sizeof plain);
            size = sizeof plain;
          };
          if (type == "pointer") put(value.cast<std::uint64_t>());
          if (type == "int32") put(value.cast<std::int32_t>());
          if (type == "float64") put(value.cast<double>());
          arguments.push_back({bytes[i].data(), size});
        }
        const auto& table = *runtime_->table();
        const int error = table.launch(table.context, mark, grid.data(), block.data(), shared_bytes,
                                       nullptr, arguments.data(), arguments.size(), 0, nullptr);
        if (error == 0) return;
        table.error_taken(table.context);  // the exception carries it, and its caller may catch it
        throw std::runtime_error(fmt::format("CUDA error {} in a launch of {}", error, name));
      });
}

}  // namespace kbench::worker
