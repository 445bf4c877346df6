// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string in_function(const std::string& body) {
  return "template <typename T, int N> void f(float* out, int n) {\n" + body + "\n}\n";
}

TEST(SplitLambda, BecomesAClassOfWhatItCaptures) {
  const SplitSource made = must_split(in_function(
      "float a = 1, b = 2; int unused;\nrun(n, [=] __device__ (int i) { out[i] = a * i; });"));
  EXPECT_EQ(flat(made.device),
            "template <typename kb_0, typename kb_1> struct kbench_lambda_0 { kb_0 out; kb_1 a; "
            "__device__ auto operator()(int i) const #line 3 \"candidate.cu\" "
            "{ out[i] = a * i; } }; #line 1 \"candidate.cu\"");
  EXPECT_THAT(flat(made.host), HasSubstr("__device__ auto operator()(int i) const; };"));
  EXPECT_THAT(flat(made.host), HasSubstr("run(n, kbench_lambda_0_made(out, a));"));
  EXPECT_THAT(line_of(made.host, 3), HasSubstr("run(n, kbench_lambda_0_made"));
}

TEST(SplitLambda, CapturesAsTheyAreWritten) {
  const SplitSource made = must_split(
      in_function("auto g = [n, twice = n * 2] __host__ __device__ (auto v, int) mutable -> float "
                  "{ n += twice; return v + n; };"));
  EXPECT_THAT(flat(made.device),
              HasSubstr("{ kb_0 n; kb_1 twice; template <typename kb_auto_0> __host__ __device__ "
                        "auto operator()(kb_auto_0 v, int) -> float"));
  EXPECT_THAT(made.host, HasSubstr("auto g = kbench_lambda_0_made(n, n * 2);"));
  EXPECT_THAT(made.host, HasSubstr("return v + n;"));
}

TEST(SplitLambda, TypesAndConstantsBecomeTemplateArguments) {
  const SplitSource made = must_split(in_function(
      "constexpr int kVec = 4; constexpr float kHalf = 0.5f; using acc = double;\n"
      "AT_DISPATCH_X(t, [&] { run([=] __device__ (int i) { scalar_t v[kVec]; acc w = kHalf; "
      "out[i] = T(v[N]) * w; }); });"));
  EXPECT_THAT(flat(made.host), HasSubstr("kbench_lambda_0_made<scalar_t, kVec, acc, T, N>(kHalf, "
                                         "out)"));
  EXPECT_THAT(made.device, HasSubstr("template <typename scalar_t, auto kVec, typename acc, "
                                     "typename T, int N, typename kb_0, typename kb_1>"));
}

TEST(SplitLambda, OwnNamesAreNotCaptured) {
  const SplitSource made = must_split(
      "__device__ float g(float);\nvoid f(float* x, float v, int i, Box s) {\n"
      "run([=] __device__ (int i) { float v = x[i]; for (int k = 0; k < 3; ++k) v = g(v) * s.x; });"
      "}\n");
  EXPECT_THAT(made.host, HasSubstr("kbench_lambda_0_made(x, s)"));
}

TEST(SplitLambda, InDeviceCodeItIsALambda) {
  const SplitSource made = must_split(
      "__global__ void k(float* x) { x[0] = reduce(x, [] __device__ (float a) { return a; }); }\n");
  EXPECT_THAT(flat(made.device), HasSubstr("reduce(x, [] (float a) { return a; });"));
  EXPECT_THAT(made.device, Not(HasSubstr("kbench_lambda")));
}

TEST(SplitLambda, WhatHasNoCopyIsRefused) {
  for (const char* lambda :
       {"[&] __device__ (int i) {}", "[=, &n] __device__ (int i) {}", "[this] __device__ () {}",
        "[=] __device__ (int i) { auto g = [=] __device__ () {}; }"}) {
    const SplitRefusal refusal = must_refuse(in_function("\nrun(" + std::string(lambda) + ");"));
    EXPECT_EQ(refusal.cause, "device_lambda") << lambda;
    EXPECT_EQ(refusal.line, 3) << lambda;
  }
  EXPECT_EQ(must_refuse("struct S { void f() { run([=] __device__ () {}); } };").cause,
            "device_lambda");
}

}  // namespace
}  // namespace kbench
