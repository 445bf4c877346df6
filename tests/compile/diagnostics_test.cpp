// SPDX-License-Identifier: MIT
//
// The forms of NVRTC's messages that are awkward to bring about; the others are tested for real.
#include "compile/diagnostics.hpp"

#include <gtest/gtest.h>

#include "compile/parameters.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

TEST(Diagnose, SkipsWarningsAndNumbers) {
  const Diagnosis found = diagnose(
      "candidate.cu(3): warning #177-D: variable \"error: a\" was declared but never referenced\n"
      "  int a;\n      ^\n\n"
      "candidate.cu(7): error #20-D: identifier \"b\" is undefined\n",
      {});
  EXPECT_EQ(found.cause, "syntax_error");
  EXPECT_EQ(found.message, "line 7: identifier \"b\" is undefined");
}

TEST(Diagnose, NamesTheHeaderWhereNothingLeadsBack) {
  EXPECT_EQ(diagnose("/x/include/cuda_fp16.h(12): internal error: assertion failed\n", {}).message,
            "cuda_fp16.h, line 12: assertion failed");
}

TEST(Diagnose, DoesNotTakeTheNextErrorsLine) {
  EXPECT_EQ(diagnose("/x/a.h(12): error: first\n"
                     "candidate.cu(3): error: second\n"
                     "     detected during instantiation of \"f\" at line 9 of candidate.cu\n",
                     {})
                .message,
            "a.h, line 12: first");
}

TEST(Diagnose, GivesSomethingForAnything) {
  EXPECT_FALSE(diagnose("", {}).message.empty());
  EXPECT_EQ(diagnose("nvrtc: error: invalid value for --gpu-architecture (-arch)\n", {}).message,
            "nvrtc: error: invalid value for --gpu-architecture (-arch)");
  EXPECT_EQ(diagnose("):(\n(: error\nptxas\n", {}).cause, "syntax_error");
  EXPECT_EQ(diagnose("ptxas application ptx input, line 23; error   : Unknown modifier '.x'\n", {})
                .message,
            "ptxas: Unknown modifier '.x'");
}

TEST(Parameters, RefuseNamesOfAnotherForm) {
  EXPECT_FALSE(parameters_of("k"));
  EXPECT_FALSE(parameters_of("_Z1kPf"));
  EXPECT_FALSE(parameters_of(""));
}

TEST(Wire, EveryCutIsNoticed) {
  Artifact artifact;
  artifact.image = std::string("\0\n{}", 4);
  artifact.kernels = {{"k<1>", "_Z1k", {{true, "const float"}, {false, "int"}}}};
  artifact.log = "caf\xe9";
  const std::string bytes = pack(CompileResult(artifact));
  const auto back = std::get<Artifact>(unpack_result(bytes));
  EXPECT_EQ(back.image, artifact.image);
  EXPECT_EQ(back.kernels.at(0).parameters.at(0).type, "const float");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(unpack_result(bytes.substr(0, length)), Error) << length;
  }
  EXPECT_THROW(unpack_result(bytes + "x"), Error);
  EXPECT_THROW(unpack_job(bytes), Error);
  EXPECT_THROW(unpack_result("99999999999999999999999 1\n"), Error);
  EXPECT_THROW(unpack_result("5 18446744073709551615\nhello"), Error);
}

}  // namespace
}  // namespace kbench
