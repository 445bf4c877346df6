// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace kbench {

/// NVRTC's C interface, loaded at run time, so the build needs no CUDA headers and one binary works
/// with every version. Results are nvrtcResult (0: success); see NVIDIA's NVRTC manual.
struct NvrtcApi {
  using Program = struct OpaqueNvrtcProgram*;

  /// Loads the builtins in the library's folder, then the library. NVRTC alone would load the first
  /// builtins on the loader's path, even of another CUDA. Throws kbench::Error.
  explicit NvrtcApi(const std::filesystem::path& library);
  /// "13.0"
  std::string version() const;

  int (*read_version)(int* major, int* minor);
  int (*create_program)(Program* program, const char* source, const char* name, int header_count,
                        const char* const* headers, const char* const* include_names);
  int (*add_name_expression)(Program program, const char* expression);
  int (*compile_program)(Program program, int option_count, const char* const* options);
  int (*log_size)(Program program, std::size_t* size);
  int (*log)(Program program, char* log);
  int (*lowered_name)(Program program, const char* expression, const char** name);
  int (*ptx_size)(Program program, std::size_t* size);
  int (*ptx)(Program program, char* text);
  int (*cubin_size)(Program program, std::size_t* size);
  int (*cubin)(Program program, char* image);
  int (*destroy_program)(Program* program);
  const char* (*error_string)(int result);
};

}  // namespace kbench
