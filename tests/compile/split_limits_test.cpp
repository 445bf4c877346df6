// SPDX-License-Identifier: MIT
//
// Sources that would keep a splitter busy for ever, or fill the memory, are refused soon; honest
// ones that look like them are split.
#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "compile/split/work.hpp"
#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

std::string many(int count, const std::string& text) {
  std::string made;
  for (int i = 0; i < count; ++i) made += text;
  return made;
}

/// For each number below `count` the text with the number in the place of {}.
std::string numbered(int count, const std::string& text) {
  std::string made;
  for (int i = 0; i < count; ++i) made += fmt::format(fmt::runtime(text), i, i + 1);
  return made;
}

/// What comes of a source, which may take a few seconds of a processor at most.
std::variant<SplitSource, SplitRefusal> soon(const std::string& what, const std::string& source) {
  const std::clock_t start = std::clock();
  auto made = split_source(source, "candidate.cu");
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 8) << what;
  return made;
}

std::string cause_of(const std::string& what, const std::string& source) {
  const auto made = soon(what, source);
  const auto* refusal = std::get_if<SplitRefusal>(&made);
  return refusal == nullptr ? "" : refusal->cause;
}

TEST(SplitLimits, AnOperatorWithoutParametersIsRefused) {
  for (const std::string source :
       {"int operator", "int operator(", "struct A { int operator }; void f();", "operator+",
        "struct A { bool operator= }", "namespace a { int operator }", "template <int N> operator",
        "int x = operator", "extern \"C\" { operator }"}) {
    const auto made = split_source(source, "candidate.cu");
    ASSERT_TRUE(std::holds_alternative<SplitRefusal>(made)) << source;
    EXPECT_EQ(std::get<SplitRefusal>(made).cause, "syntax_error") << source;
  }
}

TEST(SplitLimits, OverloadedOperatorsAreSplit) {
  const SplitSource made = must_split(
      "struct P { float x; __host__ __device__ P operator+(P o) const { return {x + o.x}; }\n"
      "  __device__ operator float() const { return x; } bool operator()(int) const;\n"
      "  P& operator=(const P&) = default; };\n"
      "__device__ P operator*(P a, float b) { return {a.x * b}; }\n"
      "struct Q : P { using P::operator=; };\n"
      "__global__ void k(P* p) { p[0] = p[0] * 2.f + p[1]; }\n");
  ASSERT_EQ(made.kernels.size(), 1u);
  EXPECT_THAT(made.device, HasSubstr("P operator*(P a, float b)"));
}

TEST(SplitLimits, MacrosThatExpandToNothingAreCounted) {
  std::string source = "#define A0()\n";
  for (int i = 1; i <= 22; ++i)
    source += fmt::format("#define A{}() {}\n", i, many(60, fmt::format("A{}()", i - 1)));
  EXPECT_EQ(cause_of("nothing", source + "A22()\n"), "too_large");
  EXPECT_EQ(cause_of("attribute", "#define A0() __device__\n" + source.substr(13) + "A22()\n"),
            "too_large");
}

TEST(SplitLimits, MacrosThatDoubleATokenAreCounted) {
  std::string source = "#define D0(x) __device__ x##x\n";
  for (int i = 1; i <= 23; ++i) source += fmt::format("#define D{0}(x) D{1}(x##x)\n", i, i - 1);
  EXPECT_EQ(cause_of("tokens", source + "D23(" + std::string(64, 'a') + ")\n"), "too_large");
  source = "#define S0(x) __device__ x\n";
  for (int i = 1; i <= 23; ++i) source += fmt::format("#define S{0}(x) S{1}(#x #x)\n", i, i - 1);
  EXPECT_EQ(cause_of("strings", source + "S23(\"\\\"\")\n"), "too_large");
  source = "#define E0(x) __device__ x\n";
  for (int i = 1; i <= 23; ++i) source += fmt::format("#define E{0}(x) E{1}(x x)\n", i, i - 1);
  EXPECT_EQ(cause_of("arguments", source + "E23(a)\n"), "too_large");
}

TEST(SplitLimits, OpenBracketsAreCounted) {
  EXPECT_EQ(cause_of("brackets", many(20'000, "(") + many(20'000, ")") + ";"), "too_large");
  EXPECT_EQ(cause_of("unclosed", many(20'000, "{")), "too_large");
  EXPECT_EQ(cause_of("branches", many(2'000, "(") + many(100'000, "#if A\n#else\n#endif\n") +
                                     many(2'000, ")") + ";"),
            "too_large");
  EXPECT_EQ(cause_of("nested branches", many(50'000, "#if A\n") + many(50'000, "#endif\n")),
            "too_large");
}

TEST(SplitLimits, ManyDefinitionsTakeNoLongerThanTheyAre) {
  EXPECT_EQ(cause_of("one macro", many(60'000, "#define A(x) int x;\n") + many(20'000, "A(b)\n")),
            "");
  EXPECT_EQ(
      cause_of("attributes", many(60'000, "#define A __device__ int\n") + many(20'000, "A b;\n")),
      "");
  EXPECT_EQ(cause_of("many macros", numbered(60'000, "#define A{0} A{1}\n") + "int x = A0;\n"),
            "too_large");
  EXPECT_EQ(cause_of("a long body", "#define B " + many(200'000, "b ") + "\n" +
                                        numbered(40'000, "#define A{0} B\n")),
            "");
  EXPECT_EQ(cause_of("one function", many(60'000, "int f(int x) { return f(x); }\n")), "too_large");
  EXPECT_EQ(cause_of("constants", many(30'000, "const int c = c + d;\n") + "int d();\n"), "");
  EXPECT_EQ(cause_of("kernels", many(30'000, "__global__ void k(int) {}\n")), "");
  EXPECT_EQ(cause_of("enumerators", "enum E { " + numbered(30'000, "e{0}, ") +
                                        "};\nvoid f() { g([=] __device__ "
                                        "() { " +
                                        numbered(30'000, "e{0};") + " }); }\n"),
            "");
}

TEST(SplitLimits, LongNamesAndListsTakeNoLongerThanTheyAre) {
  EXPECT_EQ(cause_of("qualified", "void " + many(150'000, "a::") + "f() {}\n"), "");
  cause_of("less", "int x = " + many(150'000, "a < ") + "b;\n");
  cause_of("lists", many(100'000, "a<") + ";");
  cause_of("calls", "const int x = f" + many(130'000, "<a") + ";\n");
  EXPECT_EQ(
      cause_of("captures", "void f(int x) { g([" + numbered(40'000, "a{0} = x, ") +
                               "=] __device__ () { " + numbered(40'000, "a{0};") + " }); }\n"),
      "");
  cause_of("locals", "void f() { " + many(60'000, "T* a; ") +
                         many(150, "g([=] __device__ () { a; });\n") + "}\n");
  cause_of("launches", "void f() { k" + many(40'000, "(1)<<<1, 1>>>(1)") + "; }\n");
  cause_of("raw strings", many(300'000, "R\""));
  cause_of("scopes",
           "namespace " + std::string(400'000, 'a') + " { " + many(40'000, "int f();") + " }\n");
}

TEST(SplitLimits, WhatIsTooLongIsRefused) {
  EXPECT_EQ(cause_of("bytes", std::string(5 << 20, ' ')), "too_large");
  EXPECT_EQ(cause_of("tokens", std::string(3 << 20, ';')), "too_large");
}

TEST(SplitLimits, LargeHonestSourcesAreSplit) {
  std::string source = "#include <torch/extension.h>\n#define BOUNDS __launch_bounds__(256)\n";
  source +=
      "#define KERNEL(name, op) __global__ void BOUNDS name(const float* x, float* y, int n) { \\\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] op x[i] * 2.0f; }\n";
  source += numbered(1500, "KERNEL(k{0}, +)\n");
  source += numbered(1500,
                     "template <int N, typename T = float> __device__ T h{0}(const T* x) {{\n"
                     "  T sum = 0; for (int i = 0; i < N && i << 1 < 2 * N; ++i) sum += x[i];\n"
                     "  return sum; }}\nconstexpr int c{0} = {1} << 2;\n");
  source += numbered(1000,
                     "void run{0}(torch::Tensor x, torch::Tensor y) {{\n"
                     "  k{0}<<<(x.numel() + 255) / 256, 256, 0, s>>>(x.data_ptr<float>(), "
                     "y.data_ptr<float>(), x.numel()); }}\n");
  const auto made = soon("honest", source);
  ASSERT_TRUE(std::holds_alternative<SplitSource>(made)) << std::get<SplitRefusal>(made).message;
  EXPECT_EQ(std::get<SplitSource>(made).kernels.size(), 1500u);
}

TEST(SplitLimits, ListsOfMacrosAreSplit) {
  // 3^5 uses, as a table of instances has them.
  std::string source =
      "#define K(n) __global__ void k##n(float* x) { x[0] = n; }\n#define L0(n) K(n)\n";
  for (int i = 1; i <= 5; ++i)
    source += fmt::format("#define L{0}(n) L{1}(n##0) L{1}(n##1) L{1}(n##2)\n", i, i - 1);
  EXPECT_EQ(must_split(source + "L5(1)\n").kernels.size(), 243u);
}

TEST(SplitWork, CountsWithinItsScopeAlone) {
  spend_steps(std::size_t{1} << 60);
  {
    const SplitWork work;
    EXPECT_THROW(spend_steps(std::size_t{1} << 60), SplitRefusal);
    EXPECT_THROW(spend_steps(1), SplitRefusal) << "what is spent stays spent";
    {
      const SplitWork inner;
      spend_steps(1);
      EXPECT_THROW(spend_bytes(std::size_t{1} << 60), SplitRefusal);
    }
    EXPECT_THROW(spend_steps(1), SplitRefusal);
  }
  spend_bytes(std::size_t{1} << 60);
}

}  // namespace
}  // namespace kbench
