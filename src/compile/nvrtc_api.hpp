// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace kbench {

/// NVRTC's C interface, found at run time: the build needs none of CUDA's headers, and one binary
/// serves every version. Results are nvrtcResult, 0 being success; see NVIDIA's NVRTC manual.
struct NvrtcApi {
  using Program = struct OpaqueNvrtcProgram*;

  /// Opens the library, and first the builtins that lie beside it: by itself NVRTC would take those
  /// of whatever CUDA the loader's path names. Throws kbench::Error.
  explicit NvrtcApi(const std::filesystem::path& library);
  /// "13.0"
  std::string version() const;

  int (*Version)(int* major, int* minor);
  int (*CreateProgram)(Program* program, const char* source, const char* name, int header_count,
                       const char* const* headers, const char* const* include_names);
  int (*AddNameExpression)(Program program, const char* expression);
  int (*CompileProgram)(Program program, int option_count, const char* const* options);
  int (*GetProgramLogSize)(Program program, std::size_t* size);
  int (*GetProgramLog)(Program program, char* log);
  int (*GetLoweredName)(Program program, const char* expression, const char** name);
  int (*GetPTXSize)(Program program, std::size_t* size);
  int (*GetPTX)(Program program, char* text);
  int (*GetCUBINSize)(Program program, std::size_t* size);
  int (*GetCUBIN)(Program program, char* image);
  int (*DestroyProgram)(Program* program);
  const char* (*GetErrorString)(int result);
};

}  // namespace kbench
