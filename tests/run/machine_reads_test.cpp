// SPDX-License-Identifier: MIT
#include "run/build/machine_reads.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kbench::run {
namespace {

std::string ptx(const std::string& name) {
  return ".version 8.0\n.visible .entry k() {\n  mov.u32 \t%r1, " + name + ";\n  ret;\n}\n";
}

TEST(ReadsMachine, RegistersInWhichAnExecutorDiffers) {
  for (const char* name : {"%nsmid", "%smid", "%warpid", "%nwarpid", "%gridid", "%total_smem_size",
                           "%aggr_smem_size", "%current_graph_exec", "%pm0", "%pm7_64"})
    EXPECT_TRUE(reads_machine(ptx(name))) << name;
  EXPECT_TRUE(reads_machine("%smid"));
}

TEST(ReadsMachine, OthersAreAnyKernels) {
  for (const char* name :
       {"%tid.x", "%nctaid.y", "%laneid", "%lanemask_lt", "%clock64", "%globaltimer", "%envreg2",
        "%dynamic_smem_size", "%smid_of_mine", "%psmid", "%p1", "%pm", "smid", "% smid", "%"})
    EXPECT_FALSE(reads_machine(ptx(name))) << name;
  EXPECT_FALSE(reads_machine(""));
}

TEST(ReadsMachine, MachineCodeIsNotLookedAt) {
  EXPECT_FALSE(
      reads_machine("\x7f"
                    "ELF %nsmid "));
}

}  // namespace
}  // namespace kbench::run
