// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "kbench/report.hpp"

namespace kbench::test {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string written(const Report& report, std::string_view format) {
  std::ostringstream out;
  report_format(format).write(report, out);
  return out.str();
}

/// Compares a text with the approved one. With KBENCH_APPROVE=1 in the environment, approves it
/// instead.
inline void expect_approved(const std::string& text, const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(KBENCH_SOURCE_DIR) / "tests/report/golden" / name;
  if (std::getenv("KBENCH_APPROVE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  ASSERT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(text, contents(path)) << "differs from " << path;
}

}  // namespace kbench::test
