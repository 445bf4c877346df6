// SPDX-License-Identifier: MIT
#include "compile/ptx_names.hpp"

#include <gtest/gtest.h>

namespace kbench {
namespace {

std::string named(std::string ptx, const std::string& name) {
  name_in_ptx(ptx, "own.cu", name);
  return ptx;
}

TEST(NameInPtx, StandsForTheKnownOneAndItsFolder) {
  EXPECT_EQ(named(".file\t1 \"/own.cu\"\n.file\t2 \"/usr/include/math.h\"\n", "runs/a.py"),
            ".file\t1 \"runs/a.py\"\n.file\t2 \"/usr/include/math.h\"\n");
  EXPECT_EQ(named(".file 1 \"own.cu (cuda_sources[0])\"", "a.py"),
            ".file 1 \"a.py (cuda_sources[0])\"");
}

TEST(NameInPtx, NothingElseIsTouched) {
  for (const char* ptx :
       {"", "// own.cu \"\n", "// \"own.cu\"\n", ".file 1 \"other.cu\"\n// own.cu\"",
        ".file 1 own.cu\n\"", ".file 1 \"own.cu\n\"", ".file"})
    EXPECT_EQ(named(ptx, "a.py"), ptx);
}

TEST(NameInPtx, ANameBreaksNoLine) {
  EXPECT_EQ(named(".file 1 \"own.cu\"\n", "a\"b\\c\n.py"), ".file 1 \"a_b_c_.py\"\n");
}

}  // namespace
}  // namespace kbench
