// SPDX-License-Identifier: MIT
#include "run/build/nvcc_fallback.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "compile/compile_fixture.hpp"

namespace kbench::run {
namespace {

SplitFailure failure(SplitPart part, std::string cause, std::string message, std::string log = {}) {
  SplitFailure made;
  made.part = part;
  made.cause = std::move(cause);
  made.message = std::move(message);
  made.log = std::move(log);
  made.own_names = {"k.py", "k.py (cuda_sources[0])"};
  return made;
}

TEST(NvccFallback, EachRuleOfACauseAloneFindsItself) {
  for (const FallbackRule& rule : fallback_rules()) {
    SCOPED_TRACE(rule.cause);
    EXPECT_FALSE(rule.why.empty());
    const FallbackRule* found =
        find_fallback(failure(rule.part, std::string(rule.cause), "line 1"));
    EXPECT_EQ(found, rule.applies == nullptr ? &rule : nullptr);
  }
}

struct Case {
  const char* name;
  SplitPart part;
  const char *cause, *message, *log;
  bool falls_back;
};

constexpr Case kCases[] = {
    {"a typing error", SplitPart::kDevice, "syntax_error", "line 3: expected a \";\"",
     "k.py(3): error: expected a \";\"\n", false},
    {"a name that nobody has", SplitPart::kDevice, "syntax_error",
     "line 3: identifier \"blockidx\" is undefined",
     "k.py(3): error: identifier \"blockidx\" is undefined\n", false},
    {"an error in a header of CUDA", SplitPart::kDevice, "syntax_error",
     "util.cuh, line 8: identifier \"size_t\" is undefined",
     "/n/include/cccl/cub/util.cuh(8): error: identifier \"size_t\" is undefined\n", true},
    {"a container", SplitPart::kDevice, "syntax_error",
     "line 3: namespace \"std\" has no member \"deque\"",
     "k.py(3): error: namespace \"std\" has no member \"deque\"\n", true},
    {"a kernel that NVRTC does not find", SplitPart::kDevice, "unknown_kernel", "k<T>", "", true},
    {"too much shared memory", SplitPart::kDevice, "too_much_shared_memory", "ptxas: …", "", false},
    {"an endless compile", SplitPart::kDevice, "compile_timeout", "…", "", false},
    {"a host error in torch's header", SplitPart::kHost, "syntax_error",
     "k.py, line 9: no matching function (in TensorBase.h, line 4)",
     "/t/ATen/core/TensorBase.h:4:2: error: no matching function\n", false},
    {"a host error in cub's header", SplitPart::kHost, "syntax_error", "device.cuh, line 4: …",
     "/n/include/cccl/cub/device.cuh:4:2: error: expected ;\n", true},
    {"a host error that names a device library", SplitPart::kHost, "syntax_error",
     "k.py, line 9: use of undeclared identifier 'cub'",
     "k.py:9:2: error: use of undeclared identifier 'cub'\n", true},
    {"an unknown function", SplitPart::kHost, "unknown_function", "forward", "", false},
    {"a bracket too many", SplitPart::kSplit, "syntax_error", "the '{' is unmatched", "", false},
    {"what torch's build refuses too", SplitPart::kSplit, "device_launch", "…", "", false},
    {"macros without end", SplitPart::kSplit, "too_large", "…", "", false},
};

TEST(NvccFallback, OnlyWhatMayBeTheSplitsFaultIsNvccs) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    const bool falls_back =
        find_fallback(failure(each.part, each.cause, each.message, each.log)) != nullptr;
    EXPECT_EQ(falls_back, each.falls_back);
  }
}

TEST(NvccFallback, WhatTheDeviceCodeLacksIsNvccs) {
  auto asked =
      failure(SplitPart::kDevice, "syntax_error", "line 3: identifier \"Table\" is undefined");
  EXPECT_EQ(find_fallback(asked), nullptr);
  asked.host_only = {"Table"};
  EXPECT_NE(find_fallback(asked), nullptr);
}

TEST(NvccFallback, FilesThatShareANameAreNvccs) {
  auto asked = failure(SplitPart::kDevice, "syntax_error",
                       "line 3: function \"warp_sum\" has already been defined");
  EXPECT_EQ(find_fallback(asked), nullptr);
  asked.several_files = true;
  EXPECT_NE(find_fallback(asked), nullptr);
}

TEST(NvccFallback, UndefinedFunctionsAreNvccsWhereALibraryIsNamed) {
  auto asked = failure(SplitPart::kHost, "undefined_function", "f() is used, but nowhere defined");
  EXPECT_EQ(find_fallback(asked), nullptr);
  asked.names_libraries = true;
  EXPECT_NE(find_fallback(asked), nullptr);
}

TEST(NvccFallback, AHeaderIsNvccsIfItIsThere) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "lib");
  std::ofstream(folder.path() / "lib/there.h") << "\n";
  for (const char* form :
       {"line 1: cannot open source file \"{}\"", "k.py, line 1: '{}' file not found",
        "k.py, line 1: {}: No such file or directory"}) {
    for (const auto& [header, found] :
         {std::pair("lib/there.h", true), std::pair("lib/not.h", false)}) {
      std::string message = form;
      message.replace(message.find("{}"), 2, header);
      SCOPED_TRACE(message);
      for (const SplitPart part : {SplitPart::kHost, SplitPart::kDevice}) {
        auto asked = failure(part, "missing_include", message);
        asked.header_folders = {folder.path()};
        EXPECT_EQ(find_fallback(asked) != nullptr, found);
      }
    }
  }
}

}  // namespace
}  // namespace kbench::run
