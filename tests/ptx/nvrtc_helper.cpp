// SPDX-License-Identifier: MIT
#include "ptx/nvrtc_helper.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/hash.hpp"
#include "compile/nvrtc/api.hpp"
#include "kbench/error.hpp"

namespace kbench::ptx::testing {
namespace {

namespace fs = std::filesystem;

struct Nvrtc {
  std::string missing;
  fs::path library;
  std::vector<std::string> includes;
  std::optional<NvrtcApi> api;
};

/// KBENCH_NVRTC names the library; else kbench.json beside the binaries does.
Nvrtc find() {
  Nvrtc nvrtc;
  fs::path& library = nvrtc.library;
  if (const char* path = std::getenv("KBENCH_NVRTC")) {
    library = path;
    const auto include = library.parent_path().parent_path() / "include";
    nvrtc.includes = {include, include / "cccl"};
  } else if (std::ifstream file(fs::path(KBENCH_BIN_DIR) / "kbench.json"); file) {
    const auto json = nlohmann::json::parse(file);
    library = json.value("nvrtc", std::string());
    for (const auto& include : json.value("cuda_includes", nlohmann::json::array())) {
      nvrtc.includes.push_back(include.get<std::string>());
    }
  }
  if (library.empty()) {
    nvrtc.missing = "no NVRTC: set KBENCH_NVRTC or run the set-up, which writes kbench.json";
    return nvrtc;
  }
  try {
    nvrtc.api.emplace(library);
  } catch (const Error& error) {
    nvrtc.missing = error.what();
  }
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const Nvrtc kNvrtc = find();
  return kNvrtc;
}

}  // namespace

std::string nvrtc_missing() { return nvrtc().missing; }

namespace {

/// Where the PTX of that source is kept: each case is a process, and some have the same source.
fs::path kept_file(const std::string& source, const std::vector<std::string>& options) {
  std::error_code ignored;
  Sha256 hash;
  hash.field(nvrtc().library.string());
  hash.field(std::to_string(fs::file_size(nvrtc().library, ignored)));
  for (const auto& option : options) hash.field(option);
  return fs::path(KBENCH_BIN_DIR) / ".." / "test-home" / "ptx" / hash.field(source).hex();
}

void keep(const fs::path& file, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const fs::path own = fmt::format("{}.{}", file.string(), getpid());
  if (std::ofstream(own, std::ios::binary) << text) fs::rename(own, file, ignored);
}

}  // namespace

std::string compile(const std::string& source, const std::vector<std::string>& options) {
  std::vector<std::string> all{"-arch=compute_90a", "-lineinfo", "-std=c++17"};
  for (const auto& include : nvrtc().includes) all.push_back("-I" + include);
  all.insert(all.end(), options.begin(), options.end());
  const fs::path kept = kept_file(source, all);
  if (std::ifstream file(kept, std::ios::binary); file)
    return {std::istreambuf_iterator<char>(file), {}};
  std::vector<const char*> pointers;
  pointers.reserve(all.size());
  for (const auto& option : all) pointers.push_back(option.c_str());
  const NvrtcApi& api = *nvrtc().api;
  NvrtcApi::Program program = nullptr;
  api.create_program(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  if (api.compile_program(program, static_cast<int>(pointers.size()), pointers.data()) != 0) {
    std::size_t size = 0;
    api.log_size(program, &size);
    std::string log(size, '\0');
    api.log(program, log.data());
    api.destroy_program(&program);
    throw std::runtime_error("NVRTC: " + log);
  }
  std::size_t size = 0;
  api.ptx_size(program, &size);
  std::string text(size, '\0');
  api.ptx(program, text.data());
  api.destroy_program(&program);
  keep(kept, text);
  return text;
}

Module load_text(const std::string& ptx) {
  auto loaded = load(ptx);
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    throw std::runtime_error(fmt::format(
        "unsupported {}: {} (PTX line {}, {}:{})", unsupported->instruction, unsupported->message,
        unsupported->ptx_line, unsupported->file, unsupported->line));
  }
  return std::move(std::get<Module>(loaded));
}

Module load_source(const std::string& source, const std::vector<std::string>& options) {
  return load_text(compile(source, options));
}

}  // namespace kbench::ptx::testing
