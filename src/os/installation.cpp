// SPDX-License-Identifier: MIT
#include "os/installation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kbench/error.hpp"
#include "os/find_program.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice = "run `scripts/kbench setup`";

std::vector<fs::path> paths(const nlohmann::json& list) {
  std::vector<fs::path> found;
  for (const auto& path : list) found.emplace_back(path.get<std::string>());
  return found;
}

Installation from_json(const nlohmann::json& object, const fs::path& bin) {
  Installation found;
  found.bin = bin;
  found.compiler = bin / "kbench-cc";
  found.worker = bin / "kbench-worker";
  found.python = object.at("python").get<std::string>();
  found.python_version = object.at("python_version").get<std::string>();
  found.torch_version = object.at("torch_version").get<std::string>();
  found.cuda_version = object.at("cuda_version").get<std::string>();
  found.nvrtc = object.at("nvrtc").get<std::string>();
  found.cuda_includes = paths(object.at("cuda_includes"));
  found.torch_includes = paths(object.at("torch_includes"));
  found.python_includes = paths(object.at("python_includes"));
  found.torch_lib = object.at("torch_lib").get<std::string>();
  found.torch_cxx11_abi = object.at("torch_cxx11_abi").get<bool>();
  // An installed kbench has paths relative to this folder, so it can be moved.
  const auto own = [&](const char* field) {
    return (bin / object.at(field).get<std::string>()).lexically_normal();
  };
  found.host_headers = own("host_headers");
  found.problems = own("problems");
  found.candidates = own("candidates");
  found.cache = default_cache();
  return found;
}

}  // namespace

std::filesystem::path default_cache() {
  if (const std::string home = environment_variable("KBENCH_HOME"); !home.empty()) {
    return fs::absolute(home) / "cache";
  }
  // The XDG base directory specification says to ignore a relative XDG_CACHE_HOME.
  if (const fs::path xdg = environment_variable("XDG_CACHE_HOME"); xdg.is_absolute()) {
    return xdg / "kbench";
  }
  if (const std::string home = environment_variable("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "kbench";
  }
  return fs::temp_directory_path() / fmt::format("kbench-{}", getuid());
}

Installation read_installation(const std::filesystem::path& json) {
  std::ifstream file(json);
  if (!file) {
    throw Error(fmt::format("{} cannot be read: {}", json.string(), kAdvice));
  }
  try {
    return from_json(nlohmann::json::parse(file), fs::absolute(json).parent_path());
  } catch (const nlohmann::json::exception& fault) {
    throw Error(fmt::format("{} is not a valid list of kbench's files ({}): {}", json.string(),
                            fault.what(), kAdvice));
  }
}

std::vector<std::filesystem::path> missing_files(const Installation& installation) {
  std::vector<fs::path> named{installation.python, installation.problems, installation.nvrtc};
  named.insert(named.end(), installation.cuda_includes.begin(), installation.cuda_includes.end());
  std::erase_if(named, [](const fs::path& path) {
    std::error_code ignored;
    return path.empty() || fs::exists(path, ignored);
  });
  return named;
}

Installation find_installation() {
  std::error_code fault;
  const fs::path executable = fs::read_symlink("/proc/self/exe", fault);
  if (fault) {
    throw Error(
        fmt::format("/proc/self/exe cannot be read ({}): is /proc mounted?", fault.message()));
  }
  Installation found = read_installation(executable.parent_path() / "kbench.json");
  if (const auto missing = missing_files(found); !missing.empty()) {
    throw Error(fmt::format("{} no longer exists: {}", missing.front().string(), kAdvice));
  }
  return found;
}

}  // namespace kbench
