// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"
#include "os/sandbox/sandbox.hpp"

/// Modules in a sandbox. Each one is right only if it finds what it expects.
namespace kbench::test {

inline bool sandbox_has(SandboxPart part) {
  static const SandboxParts kParts = probe_sandbox();
  return kParts.has(part);
}

/// A module with Python code that accesses something or raises OSError. The module is right if the
/// code raises.
inline std::string attempt_module(const std::string& reach) {
  return module_with(R"(
import ctypes
import os
import socket
from pathlib import Path


def reach():
    )" + reach + R"(


def is_held_back():
    try:
        reach()
    except OSError:
        return True
    return False


HELD_BACK = is_held_back()
)",
                     R"(        if not HELD_BACK:
            return torch.zeros_like(x)
        return torch.relu(x) * self.scale + self.bias
)");
}

/// During its lifetime, this process's environment has these variables. A variable with an empty
/// value is unset.
class Variables {
 public:
  Variables(std::initializer_list<std::pair<std::string, std::string>> values) {
    for (const auto& [name, value] : values) {
      if (const char* old = std::getenv(name.c_str()); old != nullptr) old_[name] = old;
      names_.push_back(name);
      set(name, value);
    }
  }
  ~Variables() {
    for (const auto& name : names_) set(name, old_[name]);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void set(const std::string& name, const std::string& value) {
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> names_;
  std::map<std::string, std::string> old_;
};

/// A run over modules below a folder, for the problem of module_samples.hpp.
struct SandboxedRun {
  TempFolder folder;
  std::map<std::string, Record> records;  ///< by the modules' file names
  RunHeader header;

  void write(const std::string& name, const std::string& source) const {
    folder.write("mine/1_ReluScale/" + name + ".py", source);
  }
  void judge(const std::vector<std::string>& options = {}) {
    const auto problem = folder.write("set/level1/1_ReluScale.py", kModuleProblem);
    const auto out = folder.path() / "run.jsonl";
    std::vector<std::string> arguments{"eval",         problem.string(),
                                       "--candidates", (folder.path() / "mine").string(),
                                       "--device",     "cpu",
                                       "--trials",     "1",
                                       "--out",        out.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    header = read_run(out).headers.at(0);
    for (const auto& [id, record] : records_by_candidate(out))
      records.emplace(std::filesystem::path(id).stem().string(), record);
  }
};

}  // namespace kbench::test
