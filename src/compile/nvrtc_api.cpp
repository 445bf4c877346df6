// SPDX-License-Identifier: MIT
#include "compile/nvrtc_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "kbench/error.hpp"

namespace kbench {
namespace {

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) throw Error(fmt::format("NVRTC has no {}; take a newer one", name));
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
  find(handle, "nvrtcVersion", Version);
  find(handle, "nvrtcCreateProgram", CreateProgram);
  find(handle, "nvrtcAddNameExpression", AddNameExpression);
  find(handle, "nvrtcCompileProgram", CompileProgram);
  find(handle, "nvrtcGetProgramLogSize", GetProgramLogSize);
  find(handle, "nvrtcGetProgramLog", GetProgramLog);
  find(handle, "nvrtcGetLoweredName", GetLoweredName);
  find(handle, "nvrtcGetPTXSize", GetPTXSize);
  find(handle, "nvrtcGetPTX", GetPTX);
  find(handle, "nvrtcGetCUBINSize", GetCUBINSize);
  find(handle, "nvrtcGetCUBIN", GetCUBIN);
  find(handle, "nvrtcDestroyProgram", DestroyProgram);
  find(handle, "nvrtcGetErrorString", GetErrorString);
}

std::string NvrtcApi::version() const {
  int major = 0;
  int minor = 0;
  Version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

}  // namespace kbench
