// SPDX-License-Identifier: MIT
//
// What a splitter meets before it knows declarations: comments, strings, directives, macros.
#include <gmock/gmock.h>

#include "compile/split/macros.hpp"
#include "compile/split/tokens.hpp"
#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts(std::string_view source) {
  std::vector<std::string> found;
  for (const SourceToken& token : source_tokens(source)) {
    if (token.kind != SourceKind::kEnd) found.push_back(token.text);
  }
  return found;
}

TEST(SplitTokens, OfEveryKind) {
  EXPECT_THAT(texts("a->b::c 1'000u .5e-3f 0x1p+3 >>= x<<<y"),
              ElementsAre("a", "->", "b", "::", "c", "1'000u", ".5e-3f", "0x1p+3", ">>=", "x", "<",
                          "<", "<", "y"));
  EXPECT_THAT(texts("\"a\\\"b\" 'x' u8\"c\" R\"(d \" e)\" LR\"y(f)\" )y\""),
              ElementsAre("\"a\\\"b\"", "'x'", "u8\"c\"", "R\"(d \" e)\"", "LR\"y(f)\" )y\""));
  EXPECT_THAT(texts("x // y \\\n z\nw /* v\n */ u"), ElementsAre("x", "w", "u"));
  EXPECT_THAT(texts("#define A \"//\" /* b */ c \\\n  d // e\nf # g"),
              ElementsAre("#define A \"//\"         c \\\n  d", "f", "#", "g"));
  EXPECT_THAT(texts("große = 1;"), ElementsAre("große", "=", "1", ";"));
}

TEST(SplitTokens, TheirTextsAreTheSource) {
  const std::string source = "int a; // b\n#if X\n\tfloat /* c\n */ d;\n#endif\nchar e = 'f';\n";
  std::string made;
  for (const SourceToken& token : source_tokens(source)) made += token.space + token.text;
  EXPECT_EQ(made, "int a;     \n#if X\n\tfloat     \n    d;\n#endif\nchar e = 'f';\n");
}

TEST(SplitTokens, WhatAnIfZeroLeavesOutIsNotRead) {
  EXPECT_THAT(texts("a\n#if 0\nit's { (\n#if 1\nb\n#endif\n#else\nc\n#endif\nd"),
              ElementsAre("a", "#if 0", "#else", "c", "#endif", "d"));
  EXPECT_EQ(source_tokens("#if 0\n\n\n#endif\na")[2].line, 5);
}

TEST(SplitTokens, BracketsOfBranches) {
  const SourceText text(source_tokens("#if A\nf(a {\n#else\nf(b {\n#endif\n} )"));
  EXPECT_EQ(text.partners[2], 12u);
  EXPECT_EQ(text.partners[4], 11u);
  EXPECT_EQ(text.partners[9], kNoToken);
}

TEST(SplitMacros, DefinitionsThatHideAKernelAreExpanded) {
  const SplitSource made = must_split(
      "#define DEV __device__ inline\n"
      "#define KERNEL(name, T, ...) \\\n  __global__ void name##_k(T* x, ##__VA_ARGS__) { x[0] = "
      "1; }\n"
      "KERNEL(a, float)\n"
      "KERNEL(b,\n       double, int n)\n"
      "DEV int f() { return 3; }\n");
  EXPECT_EQ(line_of(made.device, 4), "__global__ void a_k(float* x) { x[0] = 1; }");
  EXPECT_EQ(line_of(made.device, 5), "__global__ void b_k(double* x, int n) { x[0] = 1; }");
  EXPECT_EQ(line_of(made.device, 7), "__device__ inline int f() { return 3; }");
  EXPECT_EQ(made.kernels.size(), 2u);
  EXPECT_EQ(made.kernels[1].name, "b_k");
  EXPECT_EQ(made.kernels[1].line, 5);
}

TEST(SplitMacros, ListsOfMacros) {
  const SplitSource made = must_split(
      "#define EACH(X) X(1) X(2)\n#define MAKE(n) template __global__ void k<n>(int*);\n"
      "template <int N> __global__ void k(int* x) { x[0] = N; }\nEACH(MAKE)\n"
      "void f() { EACH(RUN) }\n");
  EXPECT_EQ(line_of(made.device, 4),
            "template __global__ void k<1>(int*); template __global__ void k<2>(int*);");
  EXPECT_THAT(made.host, HasSubstr("void f() { EACH(RUN) }"));
}

TEST(SplitMacros, TheDefinitionIsTheOneThatNvccSees) {
  const SplitSource made = must_split(
      "#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n"
      "HD int f() { return 1; }\n__global__ void k(int* x) { x[0] = f(); }\n");
  EXPECT_THAT(made.device, HasSubstr("__host__ __device__ int f()"));
  const SplitSource again = must_split(
      "#define OP(n) __global__ void n##_1() {}\nOP(a)\n#undef OP\n"
      "#define OP(n) __global__ void n##_2() {}\nOP(b)\n");
  EXPECT_EQ(again.kernels[0].name + again.kernels[1].name, "a_1b_2");
  const SplitRefusal refusal = must_refuse(
      "#if A\n#define OP(n) __global__ void n() {}\n#else\n"
      "#define OP(n) __global__ void n(int x) {}\n#endif\nOP(a)\n");
  EXPECT_EQ(refusal.cause, "conditional_macro");
  EXPECT_EQ(refusal.line, 4);
}

TEST(SplitMacros, OnesThatHideNothingStay) {
  const SplitSource made = must_split(
      "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define CHECK(x) TORCH_CHECK(x.is_cuda(), #x)\n"
      "__global__ void k(int* x) { x[0] = MAX(1, 2); }\nvoid f(T t) { CHECK(t); }\n");
  EXPECT_THAT(made.device, HasSubstr("x[0] = MAX(1, 2);"));
  EXPECT_THAT(made.host, HasSubstr("CHECK(t);"));
}

TEST(SplitMacros, EndlessOnesAreRefused) {
  EXPECT_EQ(must_refuse("#define A(x) __global__ A(x) A(x)\nA(1)\n").cause, "too_large");
}

TEST(SplitSource, HostileSourcesEndSoon) {
  const auto many = [](const std::string& text) {
    std::string made;
    for (int i = 0; i < 2000; ++i) made += text;
    return made;
  };
  EXPECT_EQ(must_refuse(many("namespace a {") + many("}")).cause, "too_large");
  EXPECT_EQ(must_refuse(many("struct a {") + many("};")).cause, "too_large");
  EXPECT_EQ(must_refuse("void f() {" + many("g([=] __device__ () {});") + "}").cause,
            "device_lambda");
  EXPECT_EQ(must_refuse(many("[")).cause, "syntax_error");
  EXPECT_EQ(must_split(many("__global__ void k() {}\n")).kernels.size(), 1u);
  must_split(many("a < b ") + ";");
  must_split(many("(") + many(")") + ";");
  must_split(many("#if A\n") + many("#endif\n"));
  std::string macros, constants;
  for (int i = 0; i < 400; ++i) {
    const std::string next = std::to_string(i + 1);
    macros += "#define M" + std::to_string(i) + " M" + next + " M" + next + "\n";
    constants += "const int c" + std::to_string(i) + " = c" + next + ";\n";
  }
  must_split(macros + "int x = M0;\n" + constants);
}

TEST(SplitSource, CutAnywhereItIsSplitOrRefused) {
  const std::string source =
      "#include <a.h>\n#define K(n) __global__ void n##_k(int* x) { x[0] = 1; }\nK(a)\n"
      "template <typename T, int N = 3> __global__ void k(T* x, T = 1) { __shared__ T y[N]; }\n"
      "namespace { struct S { int n; __device__ S(int m) : n{m} {} }; }\n"
      "void f(int* x) { k<int, (2 > 1)><<<1, 2>>>(x); g([=] __device__ (int i) { x[i] = 1; }); }\n";
  for (std::size_t size = 0; size <= source.size(); ++size) {
    const auto made = split_source(std::string_view(source).substr(0, size), "candidate.cu");
    EXPECT_TRUE(size < source.size() || std::holds_alternative<SplitSource>(made));
  }
}

TEST(SplitIncludes, GoWhereTheyAreRead) {
  const SplitSource made = must_split(
      "#include <torch/extension.h>\n#include <vector>\n#include \"cuda_fp16.h\"\n"
      "#include <mma.h>\n#include <cub/cub.cuh>\n#include <thrust/sort.h>\n"
      "__global__ void k() { using B = cub::BlockScan<int, 32>; }\n");
  EXPECT_THAT(made.device, HasSubstr("#include <cub/block/block_scan.cuh>\n#line 1"));
  EXPECT_THAT(made.device, Not(HasSubstr("cub.cuh")));
  EXPECT_THAT(made.device, Not(HasSubstr("torch")));
  EXPECT_THAT(made.device, Not(HasSubstr("thrust")));
  EXPECT_THAT(made.device, HasSubstr("#include <vector>"));
  EXPECT_THAT(made.device, HasSubstr("#include <mma.h>"));
  EXPECT_THAT(made.host, HasSubstr("#include <torch/extension.h>"));
  EXPECT_THAT(made.host, HasSubstr("#include \"cuda_fp16.h\""));
  EXPECT_THAT(made.host, Not(HasSubstr("cub/")));
  EXPECT_THAT(made.host, Not(HasSubstr("mma.h")));
}

}  // namespace
}  // namespace kbench
