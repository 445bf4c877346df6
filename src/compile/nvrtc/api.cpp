// SPDX-License-Identifier: MIT
#include "compile/nvrtc/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "kbench/error.hpp"

namespace kbench {
namespace {

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) throw Error(fmt::format("NVRTC has no {}; install a newer NVRTC", name));
}

void load_builtins(const std::filesystem::path& library) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(library, ignored);
  for (const auto& file : std::filesystem::directory_iterator(real.parent_path(), ignored)) {
    const std::string name = file.path().filename();
    if (name.starts_with("libnvrtc-builtins.so.")) {
      ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }
}

}  // namespace

NvrtcApi::NvrtcApi(const std::filesystem::path& library) {
  load_builtins(library);
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Error(fmt::format("cannot load NVRTC: {}; run scripts/kbench setup", ::dlerror()));
  }
  find(handle, "nvrtcVersion", read_version);
  find(handle, "nvrtcCreateProgram", create_program);
  find(handle, "nvrtcAddNameExpression", add_name_expression);
  find(handle, "nvrtcCompileProgram", compile_program);
  find(handle, "nvrtcGetProgramLogSize", log_size);
  find(handle, "nvrtcGetProgramLog", log);
  find(handle, "nvrtcGetLoweredName", lowered_name);
  find(handle, "nvrtcGetPTXSize", ptx_size);
  find(handle, "nvrtcGetPTX", ptx);
  find(handle, "nvrtcGetCUBINSize", cubin_size);
  find(handle, "nvrtcGetCUBIN", cubin);
  find(handle, "nvrtcDestroyProgram", destroy_program);
  find(handle, "nvrtcGetErrorString", error_string);
}

std::string NvrtcApi::version() const {
  int major = 0;
  int minor = 0;
  read_version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

}  // namespace kbench
