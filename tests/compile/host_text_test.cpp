// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/host/diagnostics.hpp"
#include "compile/host/source.hpp"
#include "compile/host/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

HostRequest request() {
  HostRequest request;
  request.cpp_sources = {{"main.cpp", "int a;"}};
  request.cuda_sources = {{"one.cu", "int b;"}, {"two.cu", "int c;"}};
  request.functions = std::vector<HostFunction>{{"forward", "says \"hi\"\nand goes"}};
  return request;
}

TEST(HostSource, UnitsStandInTheOrderOfTorchs) {
  const std::string joined = joined_source(request());
  const std::size_t main = joined.find("#line 1 \"main.cpp\"\nint a;");
  const std::size_t bound = joined.find("#line 1 \"bindings\"\nPYBIND11_MODULE(");
  const std::size_t cuda = joined.find("#line 1 \"one.cu\"\nint b;");
  EXPECT_LT(main, bound);
  EXPECT_LT(bound, cuda);
  EXPECT_NE(cuda, std::string::npos);
  const auto units = separate_sources(request());
  ASSERT_EQ(units.size(), 3u);
  EXPECT_THAT(units[0], HasSubstr("PYBIND11_MODULE"));
  EXPECT_THAT(units[2], HasSubstr("int c;"));
  EXPECT_THAT(units[2], Not(HasSubstr("int b;")));
}

TEST(HostSource, DocstringsStayInsideTheirQuotes) {
  EXPECT_THAT(bindings(request()),
              HasSubstr("m.def(\"forward\", torch::wrap_pybind_function(forward), "
                        "\"says \\\"hi\\\"\\nand goes\");"));
  HostRequest plain = request();
  plain.error_handling = false;
  EXPECT_THAT(bindings(plain), HasSubstr("m.def(\"forward\", forward, "));
}

TEST(HostSource, TorchsHeadersComeBeforeTheMacros) {
  const std::string before = preamble(
      "#include <vector>\n  #  include <ATen/AccumulateType.h>\n// #include <ATen/no.h>\n"
      "#include \"torch/extension.h\"");
  EXPECT_THAT(before, HasSubstr("#include <ATen/AccumulateType.h>\n"));
  EXPECT_THAT(before, HasSubstr("#include <torch/extension.h>\n"));
  EXPECT_THAT(before, Not(HasSubstr("vector")));
  EXPECT_THAT(before, Not(HasSubstr("no.h")));
  EXPECT_TRUE(before.ends_with("#include \"kbench_macros.hpp\"\n"));
  EXPECT_THAT(before, Not(HasSubstr("autograd")));
  EXPECT_THAT(preamble("struct F : torch::autograd::Function<F> {};"),
              HasSubstr("#include <torch/csrc/autograd/custom_function.h>\n"));
}

TEST(HostSource, FlagsThatMeanSomethingAreRead) {
  const HostFlags flags = read_flags({"-O3", "-DA", "-DB=2", "-D", "C=x y", "-UD", "-I/opt/include",
                                      "-std=gnu++20", "-march=native", "-DX\n#include \"/x\""});
  EXPECT_EQ(flags.macros, "#define A 1\n#define B 2\n#define C x y\n#undef D\n");
  EXPECT_THAT(flags.folders, ElementsAre("/opt/include"));
  EXPECT_EQ(flags.standard, "c++20");
  EXPECT_EQ(read_flags({"-std=c++14", "-D"}).standard, "");
}

TEST(HostDiagnostics, TheCandidatesOwnLineIsFound) {
  const struct {
    const char *log, *cause, *message;
  } rows[] = {
      {"one.cu:7:3: error: use of undeclared identifier 'x'\n", "syntax_error",
       "one.cu, line 7: use of undeclared identifier 'x'"},
      {"/usr/include/c++/12/new_allocator.h:180:23: error: no matching constructor\n"
       "one.cu:9:5: note: in instantiation of function template requested here\n",
       "syntax_error", "one.cu, line 9: no matching constructor (in new_allocator.h, line 180)"},
      {"two.cu:4:3:   required from here\n/usr/include/c++/12/vector.h:30:2: error: no\n",
       "syntax_error", "two.cu, line 4: no (in vector.h, line 30)"},
      {"main.cpp:1:10: fatal error: 'no.h' file not found\n", "missing_include",
       "main.cpp, line 1: 'no.h' file not found"},
      {"bindings:2:50: error: use of undeclared identifier 'forward'\n", "unknown_function",
       "`functions` names forward, but: use of undeclared identifier 'forward'"},
      {"bindings:99999999999999999999:1: error: 'f' is odd\n", "unknown_function",
       "`functions` names f, but: 'f' is odd"},
      {"ld.lld: error: duplicate symbol: k(float*)\n", "syntax_error",
       "duplicate symbol: k(float*)"},
      {"", "syntax_error", "the host compiler failed and gave no reason"},
  };
  for (const auto& row : rows) {
    const Diagnosis diagnosis = diagnose_host(row.log, request());
    EXPECT_EQ(diagnosis.cause, row.cause) << row.log;
    EXPECT_EQ(diagnosis.message, row.message) << row.log;
  }
}

TEST(HostDiagnostics, NvccsPlacesAreReadToo) {
  HostRequest request;
  request.cuda_sources = {{"k.py (cuda_sources[0])", ""}};
  const auto own =
      diagnose_host("k.py (cuda_sources[0])(12): error: identifier \"x\" is undefined\n", request);
  EXPECT_EQ(own.cause, "syntax_error");
  EXPECT_EQ(own.message, "k.py (cuda_sources[0]), line 12: identifier \"x\" is undefined");
}

TEST(HostDiagnostics, OnlyTorchsRarerNamesAskForAllOfItsHeaders) {
  EXPECT_TRUE(may_need_heavy("a.cu:1:1: error: no member named 'nn' in namespace 'torch'\n"));
  EXPECT_TRUE(may_need_heavy("a.cu:1:1: error: use of undeclared identifier 'nn'\n"));
  EXPECT_FALSE(may_need_heavy("a.cu:1:1: error: use of undeclared identifier 'index'\n"));
  EXPECT_FALSE(may_need_heavy("bindings:2:1: error: torch says no\n"));
}

TEST(HostWire, ResultsComeBackAsTheyWere) {
  HostModule module;
  module.object = std::string(
      "\x7f"
      "ELF\0\n\xff",
      7);
  module.stubs = {{16, 32, "_Z1kPf", "k", "k"}};
  module.variables = {{"table", 64, 8}};
  module.library_folders = {"/a", "/b"};
  module.way = "clang++ 14.0.6";
  const HostResult back = unpack_host_result(pack(module));
  const auto& same = std::get<HostModule>(back);
  EXPECT_EQ(same.object, module.object);
  ASSERT_EQ(same.stubs.size(), 1u);
  EXPECT_EQ(same.stubs[0].offset, 16u);
  EXPECT_EQ(same.stubs[0].expression, "k");
  EXPECT_EQ(same.variables.at(0).size, 8u);
  EXPECT_EQ(same.library_folders, module.library_folders);

  const CompileError error{"compile_timeout", "late", "log \xff", 3, false, 2};
  const auto refused = unpack_host_result(pack(error));
  EXPECT_EQ(std::get<CompileError>(refused).cause, "compile_timeout");
  EXPECT_EQ(std::get<CompileError>(refused).limit_s, 2);
  EXPECT_THROW(unpack_host_result("nothing"), Error);
  EXPECT_THROW(unpack_host_result("{}\n"), Error);
}

}  // namespace
}  // namespace kbench
