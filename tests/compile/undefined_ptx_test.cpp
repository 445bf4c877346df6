// SPDX-License-Identifier: MIT
//
// What is not defined in PTX made to show, in text and in what NVRTC makes.
#include "compile/undefined_ptx.hpp"

#include <gmock/gmock.h>

#include "compile/compile_fixture.hpp"

namespace kbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A kernel of those statements, with registers of each type.
std::string kernel(const std::string& statements) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n\n.visible .entry k(\n"
         "\t.param .u64 k_param_0\n)\n{\n\t.reg .pred \t%p<4>;\n\t.reg .b16 \t%rs<4>;\n"
         "\t.reg .f32 \t%f<8>;\n\t.reg .b32 \t%r<8>;\n\t.reg .b64 \t%rd<4>;\n" +
         statements + "\tret;\n\n}\n";
}

TEST(UndefinedPtxTest, LeavesAloneWhatIsAlwaysWrittenFirst) {
  EXPECT_THAT(with_undefined_shown(kernel("\tmov.u32 %r1, %tid.x;\n\tadd.s32 %r2, %r1, 1;\n")),
              IsEmpty());
  EXPECT_THAT(
      with_undefined_shown(kernel("\tmov.f32 %f1, 0f00000000;\n\tmov.u32 %r1, 4;\n$L__BB0_1:\n"
                                  "\tadd.f32 %f1, %f1, 0f3F800000;\n\tadd.s32 %r1, %r1, -1;\n"
                                  "\tsetp.ne.s32 %p1, %r1, 0;\n\t@%p1 bra $L__BB0_1;\n"
                                  "\tadd.f32 %f2, %f1, %f1;\n")),
      IsEmpty())
      << "a loop";
  EXPECT_THAT(with_undefined_shown(
                  kernel("\tmov.u32 %r1, 1;\n\tsetp.eq.s32 %p1, %r1, 0;\n\t@%p1 bra $L__BB0_2;\n"
                         "\tmov.f32 %f1, 0f00000000;\n\tbra.uni $L__BB0_3;\n$L__BB0_2:\n"
                         "\t{  mov.f32 %f1, 0f3F800000;}\n$L__BB0_3:\n"
                         "\t{ add.f32 %f2, %f1, %f1;}\n")),
              IsEmpty())
      << "either branch writes it, one of them in a scope of its own behind a label";
  EXPECT_THAT(with_undefined_shown(kernel(
                  "\tmov.u32 %r1, 0;\n\tmov.b64 %rd1, {%r1, %r1};\n\tmov.b64 {%r2, %r3}, %rd1;\n"
                  "\tst.global.v2.u32 [%rd1], {%r2, %r3};\n\t// %r7 in a remark\n")),
              IsEmpty())
      << "vectors";
}

TEST(UndefinedPtxTest, FindsWhatSomePathDoesNotWrite) {
  EXPECT_THAT(with_undefined_shown(kernel("\tadd.f32 %f1, %f2, %f2;\n")),
              AllOf(HasSubstr("\tmov.b32 \t%f2, 0x7FFF7FFF;\n"), Not(HasSubstr("\t%f1, 0x7"))));
  EXPECT_THAT(with_undefined_shown(
                  kernel("\tmov.u32 %r1, 1;\n\tsetp.eq.s32 %p1, %r1, 0;\n\t@%p1 bra $L__BB0_2;\n"
                         "\tmov.f32 %f1, 0f00000000;\n$L__BB0_2:\n\tadd.f32 %f2, %f1, %f1;\n")),
              HasSubstr("%f1, 0x7FFF7FFF"))
      << "one branch writes it";
  EXPECT_THAT(
      with_undefined_shown(kernel("\tmov.u32 %r1, 1;\n\tsetp.eq.s32 %p1, %r1, 0;\n"
                                  "\t@%p1 mov.f32 %f1, 0f00000000;\n\tadd.f32 %f2, %f1, %f1;\n")),
      HasSubstr("%f1, 0x7FFF7FFF"))
      << "it is written under a condition";
  EXPECT_THAT(
      with_undefined_shown(kernel("\tmov.u32 %r1, 4;\n$L__BB0_1:\n\tadd.f32 %f1, %f1, 0f3F800000;\n"
                                  "\tadd.s32 %r1, %r1, -1;\n\tsetp.ne.s32 %p1, %r1, 0;\n"
                                  "\t@%p1 bra $L__BB0_1;\n")),
      HasSubstr("%f1, 0x7FFF7FFF"))
      << "a loop adds to what nobody set";
  EXPECT_THAT(
      with_undefined_shown(kernel("\tst.global.u16 [%rd1], %rs3;\n\t@%p2 add.s32 %r1, 1, 1;\n")),
      AllOf(HasSubstr("\tmov.pred \t%p2, -1;\n"), HasSubstr("\tmov.b16 \t%rs3, 0x7FFF;\n"),
            HasSubstr("\tmov.b64 \t%rd1, 0x7FFF7FFF7FFF7FFF;\n"), Not(HasSubstr("%r1, 0x7"))))
      << "addresses, values and conditions are read";
}

TEST(UndefinedPtxTest, AMaximumDoesNotLeaveTheGarbageOut) {
  EXPECT_THAT(with_undefined_shown(
                  kernel("\tmov.f32 %f1, 0f00000000;\n\tmov.u32 %r1, 0;\n\tmax.f32 %f4, %f1, %f2;\n"
                         "\tmin.ftz.f32 %f4, %f1, %f3;\n\tmax.s32 %r2, %r1, %r3;\n"
                         "\tmax.NaN.f32 %f4, %f1, %f5;\n")),
              AllOf(HasSubstr("%f2, 0x7F800000;\n"), HasSubstr("%f3, 0xFF800000;\n"),
                    HasSubstr("%r3, 0x7FFF7FFF;\n"), HasSubstr("%f5, 0x7FFF7FFF;\n")));
}

TEST(UndefinedPtxTest, HalfOfTheWarpsFallBehindWhereMemoryIsShared) {
  const auto late = [](int half) {
    std::string text;
    for (const char* what : {"nanosleep.u32 \t%kbench_ns", "shr.u32 \t%kbench_ns, %kbench_ns, 1",
                             "max.u32 \t%kbench_ns, %kbench_ns, 512"})
      text += "\t@%kbench_late" + std::to_string(half) + " " + what + ";\n";
    return text;
  };
  const std::string start = "\tmov.u32 \t%kbench_ns, 16384;\n" + late(1);
  const std::string changed = with_undefined_shown(
      kernel("\tbar.sync \t0;\n\tmov.u32 %r1, 1;\n\tbarrier.sync.aligned \t1, %r1;\n"
             "\tbar.arrive 2, 64;\n\tbarrier.cluster.arrive.aligned;\n"
             "\t{ bar.red.popc.u32 %r2, 0, %p1; }\n"));
  EXPECT_THAT(changed, HasSubstr(start + "\n\tbar.sync"));
  EXPECT_THAT(changed, HasSubstr("\tbar.sync \t0;\n" + late(0)));
  EXPECT_THAT(changed, HasSubstr("\t1, %r1;\n" + late(1)));
  EXPECT_THAT(changed, HasSubstr("%p1;\n" + late(0) + " }"));
  EXPECT_THAT(changed, HasSubstr("bar.arrive 2, 64;\n\tbarrier.cluster.arrive.aligned;\n\t{"));
  EXPECT_THAT(with_undefined_shown(kernel("\tst.shared.u32 [4], 1;\n")), HasSubstr(start))
      << "a barrier may be missing";
}

TEST(UndefinedPtxTest, TellsFunctionsApart) {
  const std::string good = kernel("\tmov.f32 %f1, 0f00000000;\n\tadd.f32 %f2, %f1, %f1;\n");
  std::string bad = kernel("\tadd.f32 %f2, %f1, %f1;\n");
  bad = bad.substr(bad.find(".visible"));
  const std::string changed = with_undefined_shown(good + bad + good.substr(good.find(".vis")));
  const std::string fill = "\n\tmov.b32 \t%f1, 0x7FFF7FFF;\n";
  ASSERT_THAT(changed, HasSubstr(fill));
  EXPECT_EQ(changed.find(fill), changed.rfind(fill));
  EXPECT_EQ(changed.size(),
            good.size() + bad.size() + good.size() - good.find(".vis") + fill.size());
}

/// A sum that begins with what `start` is.
std::string sum_from(const std::string& start) {
  return "__global__ void sum(const float* x, float* y, int n) {\n  float total" + start +
         ";\n  for (int i = 0; i < n; ++i) total += x[i] * x[i];\n  y[threadIdx.x] = total;\n}";
}

using UndefinedArtifactTest = CompileTest;

TEST_F(UndefinedArtifactTest, CubinsHaveAnotherBuildWhereRegistersAreUndefined) {
  EXPECT_THAT(must_compile(request(sum_from(" = 0.0f"), {"sum"}, "sm_90a")).undefined_ptx,
              IsEmpty());
  const Artifact artifact = must_compile(request(sum_from(""), {"sum"}, "sm_90a"));
  EXPECT_THAT(artifact.undefined_ptx, HasSubstr(", 0x7FFF7FFF;\n"));
  const std::string shares =
      "__global__ void k(float* x) {\n  __shared__ float y[64];\n  y[threadIdx.x] = "
      "x[threadIdx.x];\n"
      "  __syncthreads();\n  x[threadIdx.x] = y[63 - threadIdx.x];\n}";
  EXPECT_THAT(must_compile(request(shares, {"k"}, "sm_90a")).undefined_ptx,
              HasSubstr("nanosleep.u32"));
  EXPECT_THAT(must_compile(request(sum_from(""), {"sum"})).undefined_ptx, IsEmpty())
      << "the executor itself watches registers";
  const Artifact cached = must_compile(request(sum_from(""), {"sum"}, "sm_90a"));
  EXPECT_EQ(cached.undefined_ptx, artifact.undefined_ptx);
  EXPECT_EQ(cached.image, artifact.image);
}

}  // namespace
}  // namespace kbench
