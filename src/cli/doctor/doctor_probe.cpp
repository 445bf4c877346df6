// SPDX-License-Identifier: MIT
// Probes of drivers and compilers. They run in a separate process because they may hang or crash.
#include <dlfcn.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/doctor/doctor.hpp"
#include "kbench/error.hpp"

namespace kbench::cli {
namespace {

// The parts of the driver's interface that are used here. The library is opened at run time, so
// kbench builds without cuda.h.
constexpr int kComputeModeAttribute = 20;
constexpr int kComputeMajorAttribute = 75;
constexpr int kComputeMinorAttribute = 76;
constexpr int kPageableAccessAttribute = 88;

template <typename Function>
Function* symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) {
    throw Error(fmt::format("{} has no {}", "the library", name));
  }
  return reinterpret_cast<Function*>(address);
}

void* open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(dlerror());
  }
  return library;
}

nlohmann::json describe_gpu(void* cuda, int ordinal) {
  int device = 0;
  symbol<int(int*, int)>(cuda, "cuDeviceGet")(&device, ordinal);
  std::string name(256, '\0');
  symbol<int(char*, int, int)>(cuda, "cuDeviceGetName")(name.data(), 256, device);
  std::size_t bytes = 0;
  symbol<int(std::size_t*, int)>(cuda, "cuDeviceTotalMem_v2")(&bytes, device);
  auto* query = symbol<int(int*, int, int)>(cuda, "cuDeviceGetAttribute");
  const auto attribute = [&](int which) {
    int value = 0;
    query(&value, which, device);
    return value;
  };
  return {{"name", name.c_str()},
          {"memory_bytes", bytes},
          {"compute_major", attribute(kComputeMajorAttribute)},
          {"compute_minor", attribute(kComputeMinorAttribute)},
          {"compute_mode", attribute(kComputeModeAttribute)},
          {"pageable_access", attribute(kPageableAccessAttribute) != 0}};
}

nlohmann::json probe_driver() {
  void* cuda = open_library("libcuda.so.1");
  nlohmann::json answer{{"cuda_version", 0}, {"gpus", nlohmann::json::array()}};
  int version = 0;
  symbol<int(int*)>(cuda, "cuDriverGetVersion")(&version);
  answer["cuda_version"] = version;
  if (const int code = symbol<int(unsigned)>(cuda, "cuInit")(0); code != 0) {
    const char* text = nullptr;
    symbol<int(int, const char**)>(cuda, "cuGetErrorString")(code, &text);
    answer["error"] = fmt::format("cuInit: {} ({})", text == nullptr ? "unknown" : text, code);
    return answer;
  }
  int count = 0;
  symbol<int(int*)>(cuda, "cuDeviceGetCount")(&count);
  for (int i = 0; i < count; ++i) {
    answer["gpus"].push_back(describe_gpu(cuda, i));
  }
  return answer;
}

nlohmann::json probe_nvrtc(const std::string& path) {
  int major = 0;
  int minor = 0;
  symbol<int(int*, int*)>(open_library(path.c_str()), "nvrtcVersion")(&major, &minor);
  return {{"version", fmt::format("{}.{}", major, minor)}};
}

}  // namespace

nlohmann::json probe(std::string_view what) {
  constexpr std::string_view kNvrtc = "nvrtc:";
  try {
    if (what == "driver") {
      return probe_driver();
    }
    if (what.starts_with(kNvrtc)) {
      return probe_nvrtc(std::string(what.substr(kNvrtc.size())));
    }
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
  throw UsageError(fmt::format("doctor cannot probe '{}': give driver or nvrtc:PATH", what));
}

}  // namespace kbench::cli
