// SPDX-License-Identifier: MIT
//
// From a source to an artifact or an error, with the real compiler.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "compile/compile_fixture.hpp"
#include "compile/headers/compatibility_headers.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(CompileTest, GivesPtxForTheCpuAndACubinForAGpu) {
  const std::string source = "__global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }";
  const Artifact ptx = must_compile(request(source, {"scale"}));
  EXPECT_TRUE(ptx.is_ptx);
  EXPECT_THAT(ptx.image, HasSubstr(".target sm_90a"));
  EXPECT_THAT(ptx.image, HasSubstr(".visible .entry _Z5scalePff("));
  EXPECT_THAT(ptx.image, HasSubstr(".loc")) << "lines for the executor's messages";
  EXPECT_THAT(ptx.image, Not(HasSubstr(std::string(kProbe))));
  EXPECT_EQ(ptx.way, "nvrtc");
  EXPECT_GT(ptx.seconds, 0);
  const Artifact cubin = must_compile(request(source, {"scale"}, "sm_90a"));
  EXPECT_FALSE(cubin.is_ptx);
  EXPECT_THAT(cubin.image, StartsWith("\x7f"
                                      "ELF"));
  ASSERT_EQ(cubin.kernels.size(), 1u);
  EXPECT_EQ(cubin.kernels[0].symbol, "_Z5scalePff");
  EXPECT_EQ(signature(cubin.kernels[0]), "float*, float");
}

TEST_F(CompileTest, TellsParametersOfTemplates) {
  const Artifact artifact = must_compile(request(
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
      "template <typename T> struct Pair { using type = float2; };\n"
      "template <int kThreads, typename T> __global__ void reduce(const T* __restrict__ x,\n"
      "    typename Pair<T>::type* y, const int n, unsigned char c) {}\n",
      {"reduce<128, float>", "reduce<64, __half>", "reduce<(1 > 0), __nv_bfloat16>"}));
  ASSERT_EQ(artifact.kernels.size(), 3u);
  EXPECT_EQ(artifact.kernels[0].expression, "reduce<128, float>");
  EXPECT_EQ(signature(artifact.kernels[0]), "const float*, float2*, int, unsigned char");
  EXPECT_EQ(signature(artifact.kernels[1]), "const __half*, float2*, int, unsigned char");
  EXPECT_EQ(signature(artifact.kernels[2]), "const __nv_bfloat16*, float2*, int, unsigned char");
  for (const auto& kernel : artifact.kernels) {
    EXPECT_THAT(artifact.image, HasSubstr(".entry " + kernel.symbol + "("));
  }
}

TEST_F(CompileTest, TellsParametersOfExternCAndNamespacedKernels) {
  const Artifact artifact = must_compile(request(
      "extern \"C\" __global__ void plain(const long long* a, bool b, double* const c) {}\n"
      "namespace outer { __global__ void inner(int8_t* a, uint64_t n, float** p, void* q) {} }\n"
      "static __global__ void hidden() {}\n"
      "namespace { struct Options { int n; }; }\n"
      "__global__ void by_value(Options o, int (*rows)[4], volatile const unsigned* v) {}\n",
      {"plain", "outer::inner", "hidden", "by_value"}));
  ASSERT_EQ(artifact.kernels.size(), 4u);
  EXPECT_EQ(artifact.kernels[0].symbol, "plain");
  EXPECT_EQ(signature(artifact.kernels[0]), "const long long*, bool, double*");
  EXPECT_EQ(signature(artifact.kernels[1]), "signed char*, unsigned long long, float**, void*");
  EXPECT_EQ(signature(artifact.kernels[2]), "");
  EXPECT_EQ(signature(artifact.kernels[3]),
            "(anonymous namespace)::Options, int [4]*, const volatile unsigned int*");
}

TEST_F(CompileTest, ParametersCannotBeForged) {
  for (const char* trick :
       {"#define decltype(x) void(int)\n", "#define kbench_parameters_of other\n",
        "template <> __device__ char kbench_parameters_of<void(float*)>;\n",
        "#define void int\n#undef void\n#define decltype(x) void(int)\n// \\"}) {
    const CompileResult result =
        compile(request("template <typename T> __device__ char other;\n"
                        "extern \"C\" __global__ void k(float* x) {}\n" +
                            std::string(trick),
                        {"k"}));
    if (std::holds_alternative<Artifact>(result)) {
      EXPECT_EQ(signature(std::get<Artifact>(result).kernels.at(0)), "float*") << trick;
    }
  }
  EXPECT_EQ(signature(must_compile(request("extern \"C\" __global__ void k(float* x) {}\n"
                                           "#define decltype(x) void(int)",
                                           {"k"}))
                          .kernels.at(0)),
            "float*");
}

TEST_F(CompileTest, AnUnknownArchitectureIsNotTheCandidatesFault) {
  EXPECT_THROW(compile(request("__global__ void k() {}", {"k"}, "sm_999")), Error);
}

TEST_F(CompileTest, WordsAboutAnArchitectureAreTheSources) {
  const CompileError error = must_fail(
      request("#error \"invalid value for --gpu-architecture\"\n__global__ void k() {}", {"k"}));
  EXPECT_EQ(error.cause, "syntax_error");
  EXPECT_THAT(error.message, StartsWith("line 1: #error directive"));
}

TEST_F(CompileTest, NamesOfTypesThatAreTooLongAreTheSources) {
  const std::string type(3000, 't');
  const CompileError error =
      must_fail(request("struct " + type + " {};\n__global__ void k(" + type + "* x) {}", {"k"}));
  EXPECT_EQ(error.cause, "unreadable_parameters");
  EXPECT_THAT(error.message,
              StartsWith("the plan launches k, but kbench cannot read its parameters"));
}

TEST_F(CompileTest, TakesKernelsNamedLikeFunctionsOfCuda) {
  CompilePool pool(setup());
  for (const char* name :
       {"norm", "all", "any", "max", "exp", "round", "norm3d", "sincos", "__syncthreads_count"}) {
    const std::string source = fmt::format(
        "__global__ void {}(const float4* x, float* y, int n) {{ y[n] = x[n].x; }}", name);
    const Artifact made = artifact(pool.compile(request(source, {name})).get());
    ASSERT_EQ(made.kernels.size(), 1u) << name;
    EXPECT_EQ(made.kernels[0].expression, name);
    EXPECT_EQ(signature(made.kernels[0]), "const float4*, float*, int");
    EXPECT_THAT(made.image, HasSubstr(".entry " + made.kernels[0].symbol + "("));
    EXPECT_THAT(made.image, Not(HasSubstr(std::string(kProbe))));
  }
}

TEST_F(CompileTest, ChoosesKernelsAmongFunctionsOfTheirName) {
  const std::string source =
      "namespace { struct Options { int n; }; }\n"
      "static __global__ void norm(Options o, float* y, int (*rows)[4]) { y[o.n] = norm3df(1, 2, "
      "3); }\n"
      "template <int kN> __global__ void max(float* y) { y[kN] = max(kN, 3); }\n"
      "__global__ void max(volatile double* y) { y[0] = fmax(1.0, 2.0); }\n"
      "__global__ void plain(float* y) { y[1] = 2; }\n";
  for (const char* arch : {"compute_90a", "sm_90a"}) {
    const Artifact made =
        must_compile(request(source, {"plain", "max<2>", "norm", "max", "norm"}, arch));
    ASSERT_EQ(made.kernels.size(), 5u);
    EXPECT_EQ(signature(made.kernels[0]), "float*");
    EXPECT_EQ(signature(made.kernels[1]), "float*");
    EXPECT_EQ(signature(made.kernels[2]), "(anonymous namespace)::Options, float*, int [4]*");
    EXPECT_EQ(signature(made.kernels[3]), "volatile double*");
    EXPECT_EQ(made.kernels[4].symbol, made.kernels[2].symbol);
    EXPECT_EQ(made.kernels[4].expression, "norm");
  }
}

TEST_F(CompileTest, ANameOfNoKernelOrOfSeveralIsUnknown) {
  const std::string source =
      "__global__ void k(float* x) {}\n__global__ void k(int* x, int n) {}\n"
      "__device__ float norm(float4 a) { return a.x; }\n";
  const CompileError several = must_fail(request(source, {"k"}));
  EXPECT_EQ(several.cause, "unknown_kernel");
  EXPECT_EQ(several.message, "the plan launches k, but 2 kernels have that name");
  const CompileError none = must_fail(request(source, {"norm"}));
  EXPECT_EQ(none.cause, "unknown_kernel");
  EXPECT_EQ(none.message, "the plan launches norm, but no kernel has that name");
  // What else is wrong is told as ever.
  const CompileError broken = must_fail(request(source + "int x = y;", {"norm"}));
  EXPECT_EQ(broken.message, "line 4: identifier \"y\" is undefined");
}

TEST_F(CompileTest, ALineDirectiveMisleadsNobody) {
  const CompileError error =
      must_fail(request("#line 7 \"__nv_name_map\"\n__global__ void k() { foo; }", {"k"}));
  EXPECT_EQ(error.cause, "syntax_error");
  EXPECT_THAT(error.message, HasSubstr("identifier \"foo\" is undefined"));
}

TEST_F(CompileTest, AnswersForEveryExpressionAlsoTwice) {
  const Artifact artifact =
      must_compile(request("template <int kN> __global__ void k(int n) {}\n__global__ void l() {}",
                           {"k<1>", "l", "k<1>"}));
  ASSERT_EQ(artifact.kernels.size(), 3u);
  EXPECT_EQ(artifact.kernels[0].symbol, artifact.kernels[2].symbol);
  EXPECT_EQ(signature(artifact.kernels[2]), "int");
}

TEST_F(CompileTest, SaysWhereTheFirstErrorIs) {
  const CompileError error = must_fail(
      request("\n\n__global__ void k(float* x) {\n  x[0] = foo;\n  x[1] = bar\n}\n", {"k"}));
  EXPECT_EQ(error.cause, "syntax_error");
  EXPECT_EQ(error.message, "line 4: identifier \"foo\" is undefined");
  EXPECT_THAT(error.log, HasSubstr("expected a \";\""));
}

TEST_F(CompileTest, BlamesTheCandidatesLineForAnErrorInAHeader) {
  const CompileError error =
      must_fail(request("#include <algorithm>\n"
                        "struct S {};\n"
                        "__global__ void k(float* x) {\n"
                        "  S a, b;\n"
                        "  std::max(a, b);\n"
                        "}\n",
                        {"k"}));
  EXPECT_THAT(error.message, StartsWith("line 5: no operator \"<\" matches these operands"));
}

TEST_F(CompileTest, NamesTheFileOfTheCandidateInTheLog) {
  CompileRequest asked = request("__global__ void k( {}", {"k"});
  asked.file_name = "1_softmax_sample_3.cu";
  EXPECT_THAT(must_fail(asked).log, StartsWith("1_softmax_sample_3.cu(1): error"));
}

TEST_F(CompileTest, NamesAKernelThatDoesNotExist) {
  const std::string source =
      "template <int kN> __global__ void k(float* x) {}\n__device__ void helper(float* x) {}\n";
  const CompileError missing = must_fail(request(source, {"k<1>", "nope<2>"}));
  EXPECT_EQ(missing.cause, "unknown_kernel");
  EXPECT_EQ(missing.message, "the plan launches nope<2>, but identifier \"nope\" is undefined");
  const CompileError arguments = must_fail(request(source, {"k<1, 2>"}));
  EXPECT_EQ(arguments.cause, "unknown_kernel");
  EXPECT_THAT(arguments.message, HasSubstr("the plan launches k<1, 2>, but its template"));
  const CompileError bare = must_fail(request(source, {"k"}));
  EXPECT_EQ(bare.cause, "unknown_kernel");
  const CompileError device = must_fail(request(source, {"helper"}));
  EXPECT_EQ(device.cause, "unknown_kernel");
  EXPECT_THAT(device.message, HasSubstr("helper"));
  const CompileError odd = must_fail(request(source, {"k<1>\n#error"}));
  EXPECT_EQ(odd.cause, "unknown_kernel");
}

TEST_F(CompileTest, TakesFunctionsWithoutDeviceAsDeviceCode) {
  const Artifact artifact =
      must_compile(request("constexpr int cdiv(int a, int b) { return (a + b - 1) / b; }\n"
                           "struct Square { float operator()(float x) const { return x * x; } };\n"
                           "__global__ void k(float* x, int n) { x[cdiv(n, 4)] = Square{}(x[0]); }",
                           {"k"}));
  EXPECT_EQ(signature(artifact.kernels.at(0)), "float*, int");
}

TEST_F(CompileTest, TellsWhatPtxasRefuses) {
  // Of PTX for the CPU as well: what compiles for no GPU is no candidate there either.
  for (const char* arch : {"sm_90a", "compute_90a"}) {
    const CompileError shared =
        must_fail(request("__global__ void k(float* x) {\n"
                          "  __shared__ float s[100000];\n  s[threadIdx.x] = x[threadIdx.x];\n"
                          "  __syncthreads();\n  x[threadIdx.x] = s[threadIdx.x ^ 1];\n}\n",
                          {"k"}, arch));
    EXPECT_EQ(shared.cause, "too_much_shared_memory");
    EXPECT_THAT(shared.message, HasSubstr("too much shared data"));
    const CompileError instruction = must_fail(request(
        "__global__ void k(int n) { if (n < 0) asm volatile(\"foo.bar;\"); }", {"k"}, arch));
    EXPECT_EQ(instruction.cause, "ptxas_error");
    const CompileError undefined = must_fail(
        request("__device__ float f(float);\n__global__ void k(float* x) { x[0] = f(x[0]); }",
                {"k"}, arch));
    EXPECT_EQ(undefined.cause, "undefined_function");
  }
}

TEST_F(CompileTest, KeepsWarningsOfAnArtifact) {
  EXPECT_THAT(must_compile(request("__global__ void k() { int unused; }", {"k"})).log,
              HasSubstr("was declared but never referenced"));
}

TEST_F(CompileTest, RefusesANulByte) {
  const CompileError error =
      must_fail(request(std::string("__global__ void k() {}\n\0\n#error", 31), {"k"}));
  EXPECT_EQ(error.message, "line 2: a NUL byte in the source");
}

TEST_F(CompileTest, SurvivesBytesThatAreNoUtf8) {
  EXPECT_EQ(
      signature(
          must_compile(request("// caf\xe9\n__global__ void k(int n) {}", {"k"})).kernels.at(0)),
      "int");
  EXPECT_EQ(must_fail(request("__global__ void caf\xe9() {}", {"k"})).cause, "syntax_error");
}

TEST_F(CompileTest, BoundsTheLog) {
  std::string source = "__global__ void k() {\n";
  for (int i = 0; i < 4000; ++i) source += "  int unused_" + std::to_string(i) + ";\n";
  const CompileError error = must_fail(request(source + "  undefined;\n}", {"k"}));
  EXPECT_EQ(error.message, "line 4002: identifier \"undefined\" is undefined");
  EXPECT_LE(error.log.size(), 256u * 1024);
  EXPECT_GT(error.log.size(), 200u * 1024);
}

TEST_F(CompileTest, ReadsNoFilesButCudas) {
  for (const char* path : {"/etc/passwd", "../../../../../../etc/passwd", "etc/passwd",
                           "/proc/self/environ", "/dev/zero"}) {
    const CompileError error = must_fail(
        request("\n#include \"" + std::string(path) + "\"\n__global__ void k() {}", {"k"}));
    EXPECT_EQ(error.cause, "illegal_include") << path;
    EXPECT_THAT(error.message, StartsWith("line 2: the source may not include /")) << path;
    EXPECT_THAT(error.log, Not(HasSubstr("root:"))) << path;
  }
  const CompileError macro = must_fail(request(
      "#define WHERE </etc/passwd>\n#if __has_include(WHERE)\n#endif\n__global__ void k() {}",
      {"k"}));
  EXPECT_EQ(macro.cause, "illegal_include") << "nor tells which exist";
  const CompileError none = must_fail(request("#include \"/etc/no_such_file\"\n", {"k"}));
  EXPECT_EQ(none.cause, "missing_include");
  EXPECT_EQ(none.message, "line 1: cannot open source file \"/etc/no_such_file\"");
}

TEST_F(CompileTest, KillsATemplateThatNeverEnds) {
  CompilerSetup limited = setup();
  limited.limit = std::chrono::milliseconds(700);
  CompilePool pool(limited);
  const auto start = std::chrono::steady_clock::now();
  const CompileError failure = error(pool.compile(request(kEndless, {"k"})).get());
  EXPECT_EQ(failure.cause, "compile_timeout");
  EXPECT_THAT(failure.message, HasSubstr("0.7 s"));
  EXPECT_DOUBLE_EQ(failure.limit_s, 0.7);
  // Where others have the processor, either of two tries takes ten times the limit by the clock.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
}

TEST_F(CompileTest, EndsACompilerThatTakesTooMuchMemory) {
  CompilerSetup limited = setup();
  limited.memory_bytes = 40u << 20;  // NVRTC itself takes more
  const CompileError failure =
      error(CompilePool(limited)
                .compile(request("#include <cuda_fp16.h>\n__global__ void k() {}", {"k"}))
                .get());
  EXPECT_EQ(failure.cause, "compiler_out_of_memory");
  EXPECT_THAT(failure.message, HasSubstr("40 MiB"));
}

}  // namespace
}  // namespace kbench
