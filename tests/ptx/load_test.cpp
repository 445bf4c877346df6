// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <set>

#include "kbench/error.hpp"
#include "kbench/ptx.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n.file 1 \"a.cu\"\n"
         ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
         ".reg .pred %p<9>;\n.loc 1 42 0\n" +
         body + "\nret;\n}\n";
}

Unsupported refused(const std::string& body) {
  auto loaded = load(kernel(body));
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) return *unsupported;
  ADD_FAILURE() << body << " was not refused";
  return {};
}

TEST(Load, refuses_what_it_cannot_run_with_instruction_and_line) {
  const Unsupported got = refused("tcgen05.fence::before_thread_sync;");
  EXPECT_EQ(got.instruction, "tcgen05.fence::before_thread_sync");
  EXPECT_EQ(got.line, 42);
  EXPECT_EQ(got.file, "a.cu");
  EXPECT_EQ(got.ptx_line, 11);
}

TEST(Load, refuses_forms_that_no_row_asked_for) {
  EXPECT_THAT(refused("add.rn.u32 %r1, %r2, %r3;").message, HasSubstr(".rn"));
  EXPECT_THAT(refused("add.u32 %r1, %r2, %nothing;").message, HasSubstr("%nothing"));
  EXPECT_THAT(refused("add.u32 %r1, %rd2, %r3;").message,
              HasSubstr("does not match the instruction"));
  refused("mov.u32 %r1, %pm0;");
  refused("shfl.idx.b32 %r1, %r2, 0, 31;");
  refused("ld.global.cluster.u32 %r1, [%rd1];");
  refused("bra nowhere;");
  refused("call nothing;");
}

/// The fault of one warp that runs the kernel, loaded lazily.
std::optional<Fault> fault_of(const std::string& body) {
  auto loaded = load_lazily(kernel(body));
  auto* module = std::get_if<Module>(&loaded);
  if (module == nullptr) {
    ADD_FAILURE() << body << " was refused: " << std::get<Unsupported>(loaded).message;
    return std::nullopt;
  }
  std::uint64_t parameter = 0;
  const Launch launch = launch_of("k", 1, 32, arguments(&parameter));
  return kbench::ptx::launch(*module, {}, launch, {}).fault;
}

TEST(Load, refuses_lazily_what_is_reached) {
  for (const char* reached :
       {"tcgen05.fence::before_thread_sync;", "please.leave.me.out.f32 %rd1;",
        "add.u32 %r1, %r2, %nothing;", "bra nowhere;", "call nothing;",
        "setp.eq.u32 %p1, %r1, %r1; @%p1 made.up.f32 %r1;",
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7; @!%p1 made.up.f32 %r1;"}) {
    const auto fault = fault_of(reached);
    ASSERT_TRUE(fault) << reached;
    EXPECT_EQ(fault->kind, FaultKind::kUnsupported) << reached;
    EXPECT_THAT(fault->message, HasSubstr("reaches ")) << reached;
    EXPECT_THAT(fault->message, HasSubstr("a.cu:42")) << reached;
  }
  for (const char* not_reached :
       {"ret; tcgen05.fence::before_thread_sync;", "bra past; made.up.f32 %r1; past:",
        "mov.u32 %r1, 1; setp.ne.u32 %p1, %r1, 1; @%p1 made.up.f32 %r1;",
        "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 1; @!%p1 call nothing;"})
    EXPECT_FALSE(fault_of(not_reached)) << not_reached;
}

TEST(Load, says_when_a_text_is_no_ptx) {
  for (const std::string& text :
       {std::string(), std::string("hello"), std::string("__global__ void k() {}"),
        std::string("\x7f"
                    "ELF\0\0",
                    6),
        std::string(".version 99.0\n.target sm_90a\n"),
        std::string(".version 8.0\n.target sm_90 { "),
        std::string(".version 8.0\n.address_size 32\n"), kernel("add.u32 %r1 %r2;"),
        kernel("mov.u32 %r1, 0fzz;"), std::string(".version 8.0\n.entry k() {"),
        std::string(".version 8.0\n.global .b8 x[99999999999999999999]"),
        std::string(".version 8.0\n.section .debug {")}) {
    EXPECT_THROW(load(text), Error) << text;
  }
}

TEST(Load, names_the_kernels) {
  auto loaded = load(
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry first() { ret; }\n.func helper() { ret; }\n"
      ".entry second(.param .u32 x) { ret; }\n");
  EXPECT_THAT(std::get<Module>(loaded).kernels(), ElementsAre("first", "second"));
}

TEST(Load, names_of_an_inner_block_hide_those_outside) {
  const std::string text = kernel(
      "mov.u32 %r1, 5;\n{ .reg .b32 %r1; mov.u32 %r1, 9; L: }\n"
      "{ .reg .b64 %r1; mov.u64 %r1, 9; bra L; L: }\n"
      "ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r1;");
  EXPECT_THAT(results_of<std::uint32_t>(text, 1), ElementsAre(5U));
}

TEST(Load, every_opcode_has_one_row_and_says_what_it_lacks) {
  std::set<std::string_view> seen;
  for (const auto table : {integer_opcodes(), bit_opcodes(), float_opcodes(), compare_opcodes(),
                           convert_opcodes(), move_opcodes(), memory_opcodes(), async_opcodes(),
                           atomic_opcodes(), warp_opcodes(), control_opcodes(), call_opcodes()}) {
    for (const OpcodeRow& row : table) {
      EXPECT_TRUE(seen.insert(row.name).second) << row.name << " stands twice";
      EXPECT_EQ(find_opcode(row.name), &row);
      refused(std::string(row.name) + ".nonsense %r1, %r2, %r3, %r4, %r5, %r6, %r7;");
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
