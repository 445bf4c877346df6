// SPDX-License-Identifier: MIT
//
// Constants whose initialisers host code runs when it is loaded.
#include <gmock/gmock.h>

#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kKernel = "__global__ void k(float* x) { x[0] = 1; }\n";

TEST(SplitStart, ConstantsThatCallTheSystemAreTheHosts) {
  for (const char* constant : {
           "static const bool b = [] { return getpid() > 0; }();",
           "static void* const b = dlopen(\"libm.so.6\", RTLD_NOW);",
           "const bool b = ::access(\"/sys\", 4) == 0;",
           "const long b{sysconf(_SC_PAGESIZE)};",
           "const auto b = std::time(nullptr);",
           "static const bool b = std::filesystem::exists(\"/sys\");",
           "const int a = 3, b = getpid();",
           "const float b = sqrtf(float(getpid()));",
           "const int b = seeded<int>(3);",
           "const int* const b = new int[3];",
           "#define PID getpid()\nconst int b = PID;",
           "namespace n { static const int b = getppid(); }",
           "struct S { static int f(); static const int b; };\nconst int S::b = getpid();",
       }) {
    const SplitSource made = must_split(std::string(constant) + "\n" + kKernel);
    EXPECT_THAT(made.device, Not(HasSubstr(" b =")));
    EXPECT_THAT(made.device, Not(HasSubstr("b{")));
    EXPECT_THAT(made.device, Not(HasSubstr("S::b")));
    EXPECT_THAT(made.host, HasSubstr("b"));
  }
}

TEST(SplitStart, WhatIsMadeOfThemGoesToo) {
  const SplitSource made = must_split(
      "static const int pid = getpid();\nstatic const int twice = 2 * pid;\n"
      "const int mine = 3;\nconst int other = mine + 1;\n" +
      kKernel);
  EXPECT_THAT(made.device, Not(HasSubstr("pid")));
  EXPECT_THAT(made.device, HasSubstr("const int other = mine + 1;"));
  EXPECT_THAT(made.host, HasSubstr("twice = 2 * pid"));
}

TEST(SplitStart, OtherConstantsStayInBoth) {
  for (const char* constant : {
           "const float c = 1e-5f;",
           "const int c = sizeof(float4);",
           "const int c = int(3.5f) + static_cast<int>(2);",
           "static const float c = 1.0f / sqrtf(64.0f);",
           "const float c = std::numeric_limits<float>::infinity();",
           "const int c = std::max(3, 4);",
           "const float c[2] = {1.0f, 2.0f};",
           "const uint32_t c = uint32_t(7) << (2 + 1);",
           "const float4 c = make_float4(1, 2, 3, 4);",
           "const bool c = 3 < (4);",
           "constexpr int c[] = {1, 2, 3};",
           "constexpr auto c = [](int n) { return n * n; };",
           "#define SQUARE(n) ((n) * (n))\nconst int c = SQUARE(3);",
           "constexpr int f(int n) { return n + 1; }\nconst int c = f(3);",
           "__host__ __device__ int f(int n) { return n + 1; }\nconst int c = f(3);",
           "struct S { static constexpr int f() { return 1; } };\nconst int c = S::f();",
           "namespace n { constexpr int f() { return 1; } }\nconst int c = n::f();",
       }) {
    const SplitSource made = must_split(std::string(constant) + "\n" + kKernel);
    EXPECT_THAT(made.device, testing::ContainsRegex(" c( =|\\[)")) << constant;
    EXPECT_THAT(made.host, testing::ContainsRegex(" c( =|\\[)")) << constant;
  }
}

TEST(SplitStart, WhatDeviceCodeNamesStays) {
  for (const char* user : {
           "__global__ void k(float* x) { x[0] = scale; }",
           "const float twice = 2 * scale;\n__global__ void k(float* x) { x[0] = twice; }",
           "#define SCALE scale\n__global__ void k(float* x) { x[0] = SCALE; }",
           "inline float f() { return scale; }\n__global__ void k(float* x) { x[0] = f(); }",
           "void f(float* x) { run([=] __device__ (int i) { x[i] = scale; }); }",
           "const float twice = 2 * scale;\n"
           "void f(float* x) { run([=] __device__ (int i) { x[i] = twice; }); }",
       }) {
    const SplitSource made =
        must_split("const float scale = erfcxf(0.5f);\n" + std::string(user) + "\n");
    EXPECT_THAT(made.device, HasSubstr("scale = erfcxf(0.5f)")) << user;
  }
}

TEST(SplitStart, EndsSoon) {
  std::string constants, body;
  for (int i = 0; i < 5000; ++i) body += "a<b,";
  for (int i = 0; i < 2000; ++i) constants += "const int c" + std::to_string(i) + " = M + 1;\n";
  must_split("#define M " + body + "1\n" + constants);
  must_split("const int c = " + body + "1;\n");
}

TEST(SplitStart, SizesOfABlockAreTheHosts) {
  const SplitSource made = must_split("static const dim3 block(256), grid{1, 2};\n" + kKernel +
                                      "void f(float* x) { k<<<grid, block>>>(x); }\n");
  EXPECT_THAT(made.host, HasSubstr("const dim3 block(256)"));
  EXPECT_THAT(must_split("static const dim3 block(256);\n" + kKernel).device,
              Not(HasSubstr("block")));
}

}  // namespace
}  // namespace kbench
