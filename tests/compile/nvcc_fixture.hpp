// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compile/compile_fixture.hpp"
#include "compile/nvcc/nvcc.hpp"

namespace kbench {

/// An environment variable that has its old value again after the test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = ::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A shell script in the place of nvcc: says a version, then runs `body` with the last argument but
/// two, the source, in $source and the object's name in $object.
inline std::filesystem::path fake_nvcc(const std::filesystem::path& folder, const std::string& body,
                                       const std::string& version = "13.0.1") {
  auto file = folder / "bin/nvcc";
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n"
                         "if [ \"$1\" = --version ]; then\n"
                         "  echo 'Cuda compilation tools, release 13.0, V"
                      << version
                      << "'; exit 0\n"
                         "fi\n"
                         "arguments=\"$*\"\n"
                         "while [ \"$1\" != -c ]; do shift; done\n"
                         "source=$2; object=$4\n"
                      << body << "\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

/// The body of one that makes an object of nothing, and leaves its arguments as a string in it.
inline constexpr const char* kWorkingNvcc =
    "printf 'extern \"C\" const char arguments[] = \"ARGUMENTS %s\";' \"$arguments\" > "
    "$object.cpp\n"
    "exec g++ -c -fPIC $object.cpp -o $object";

}  // namespace kbench
