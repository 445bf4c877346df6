// SPDX-License-Identifier: MIT
#include "worker/process/candidate_sandbox.hpp"

#include <fmt/format.h>
#include <pybind11/embed.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace py = pybind11;

namespace kbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 15> kVariables{"PATH",
                                                      "LANG",
                                                      "LANGUAGE",
                                                      "TZ",
                                                      "TERM",
                                                      "LD_LIBRARY_PATH",
                                                      "CC",
                                                      "CXX",
                                                      "MAX_JOBS",
                                                      "PYTHONHASHSEED",
                                                      "CUDA_HOME",
                                                      "CUDA_PATH",
                                                      "CUDA_VISIBLE_DEVICES",
                                                      "CUDA_DEVICE_ORDER",
                                                      "CUDA_DISABLE_PTX_JIT"};
constexpr std::array<std::string_view, 11> kPrefixes{"LC_",     "OMP_",      "GOMP_",      "KMP_",
                                                     "MKL_",    "OPENBLAS_", "CUBLAS_",    "CUDNN_",
                                                     "NVIDIA_", "PYTORCH_",  "TORCH_CUDA_"};

/// A candidate's home, in its folder next to its sources.
constexpr const char* kHome = ".home";

bool is_above(const fs::path& folder, const fs::path& other) {
  const auto [end, ignored] =
      std::mismatch(folder.begin(), folder.end(), other.begin(), other.end());
  return end == folder.end();
}

fs::path resolved(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(path, ignored);
}

std::vector<fs::path> split_path(std::string_view left, char between = ':') {
  std::vector<fs::path> folders;
  while (!left.empty()) {
    const auto end = std::min(left.find(between), left.size());
    folders.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return folders;
}

std::vector<fs::path> folders_in_variable(const char* name) {
  const char* text = std::getenv(name);
  return split_path(text != nullptr ? text : "");
}

/// The path of a program on PATH; empty if there is none.
fs::path find_program(const fs::path& name) {
  std::error_code ignored;
  if (name.is_absolute()) return name;
  for (const auto& folder : folders_in_variable("PATH"))
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  return {};
}

/// The installation folders of compilers, by their names and with links resolved. Packages that
/// build at run time (Triton, inductor) call compilers, which read headers and parts from there.
std::vector<fs::path> compiler_prefixes() {
  std::vector<fs::path> names{"cc", "gcc", "c++", "g++", "clang", "clang++", "ld", "as"};
  for (const char* variable : {"CC", "CXX"})
    if (const char* name = std::getenv(variable); name != nullptr) names.emplace_back(name);
  std::vector<fs::path> prefixes;
  for (const auto& name : names) {
    const fs::path program = find_program(name);
    if (program.empty()) continue;
    for (const auto& path : {program, resolved(program)})
      if (path.parent_path().filename() == "bin")
        prefixes.push_back(path.parent_path().parent_path());
  }
  return prefixes;
}

/// Folders that a candidate must not see, even within Python's folders.
std::vector<fs::path> hidden_folders(const fs::path& cache, std::string_view of_run) {
  std::vector<fs::path> hidden{resolved(cache)};
  for (const auto& folder : split_path(of_run, '\0')) hidden.push_back(resolved(folder));
  std::error_code ignored;
  hidden.push_back(fs::current_path(ignored));
  if (const char* home = std::getenv("HOME"); home != nullptr) hidden.push_back(resolved(home));
  return hidden;
}

void set_variable(const py::object& environment, const char* name, const std::string& value) {
  environment[name] = value;
}

}  // namespace

bool is_kept_variable(std::string_view name) {
  return std::ranges::find(kVariables, name) != kVariables.end() ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

std::vector<fs::path> tool_folders(const std::vector<fs::path>& hidden) {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& folder) {
    const fs::path path = resolved(folder);
    const bool shows =
        std::ranges::any_of(hidden, [&](const fs::path& secret) { return is_above(path, secret); });
    if (folder.is_absolute() && !shows) {
      folders.push_back(path);
      // Also adds the name that Python uses: it may contain links in a folder that the candidate's
      // own replaces.
      if (const fs::path named = folder.lexically_normal(); named != path) folders.push_back(named);
    }
    return !shows;
  };
  const auto sys = py::module_::import("sys");
  auto prefixes = compiler_prefixes();
  for (const char* prefix : {"prefix", "base_prefix", "exec_prefix", "base_exec_prefix"})
    prefixes.emplace_back(sys.attr(prefix).cast<std::string>());
  for (const auto& root : prefixes) {
    if (add(root)) continue;
    for (const char* part : {"bin", "lib", "lib64", "include"}) add(root / part);
  }
  for (const auto& entry : sys.attr("path")) add(entry.cast<std::string>());
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"})
    for (const auto& folder : folders_in_variable(name)) add(folder);
  return folders;
}

CandidateSandbox::CandidateSandbox(std::vector<fs::path> readable, std::string_view hidden,
                                   std::vector<char*> first_words)
    : readable_(std::move(readable)),
      first_words_(std::move(first_words)),
      expected_(probe_sandbox()) {
  const auto folders = tool_folders(hidden_folders(readable_.front().parent_path(), hidden));
  readable_.insert(readable_.end(), folders.begin(), folders.end());
}

void CandidateSandbox::enter(SandboxForker& forker, const fs::path& folder) const {
  const fs::path home = folder / kHome;
  const fs::path temporary = home / "tmp";
  std::error_code ignored;
  fs::create_directories(temporary, ignored);
  const auto os = py::module_::import("os");
  const py::object environment = os.attr("environ");
  for (const auto& name : py::list(environment))
    if (!is_kept_variable(name.cast<std::string>())) environment.attr("pop")(name);
  set_variable(environment, "HOME", home.string());
  set_variable(environment, "TMPDIR", temporary.string());
  // Triton reads its home when it is imported, perhaps before this. So its other variables are set,
  // too.
  set_variable(environment, "TRITON_HOME", home.string());
  set_variable(environment, "TRITON_CACHE_DIR", (home / ".triton" / "cache").string());
  set_variable(environment, "TORCHINDUCTOR_CACHE_DIR", (temporary / "torchinductor").string());
  set_variable(environment, "USER", "kbench");
  set_variable(environment, "LOGNAME", "kbench");
  py::module_::import("tempfile").attr("tempdir") = py::none();
  for (char* word : first_words_) {
    // Libraries may have kept pointers to the values of variables that stay.
    const std::string_view text = word;
    const auto end = text.find('=');
    const bool stays = end != std::string_view::npos && is_kept_variable(text.substr(0, end));
    if (!stays) std::memset(word, 0, text.size());
  }
  const SandboxParts parts = forker.enter({folder, readable_});
  // Only now, because the sandbox mounts the folder again if it is in /tmp.
  [[maybe_unused]] const int changed = ::chdir(folder.c_str());
  // Printed because the run's header states that the sandbox has all expected parts.
  for (const auto& row : sandbox_parts())
    if (expected_.has(row.part) && !parts.has(row.part))
      fmt::print(stderr, "kbench: the sandbox of this process lacks {}\n", row.name);
}

}  // namespace kbench::worker
