// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "compile/split_fixture.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPlain = R"(#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cooperative_groups.h>

// relu<<<1, 1>>>(x) in a comment
__device__ float relu(float x) { return x > 0 ? x : 0; }

__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = relu(x[i]);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  k<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
)";

constexpr std::string_view kStubOf =
    "const ::kbench_split::Argument kb_arguments[] = {::kbench_split::argument(x), "
    "::kbench_split::argument(y), ::kbench_split::argument(n), {}};";

TEST(Split, APlainSourceIsTwo) {
  const SplitSource made = must_split(kPlain);
  EXPECT_EQ(flat(made.device),
            "#include <cuda_fp16.h> #include <cooperative_groups.h> "
            "__device__ float relu(float x) { return x > 0 ? x : 0; } "
            "__global__ void k(const float* x, float* y, int n) { "
            "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = relu(x[i]); }");
  EXPECT_EQ(flat(made.host),
            "#include <torch/extension.h> #include <cuda_fp16.h> "
            "__attribute__((noinline)) __global__ void k(const float* x, float* y, int n) { " +
                std::string(kStubOf) +
                " ::kbench_split::launch_stub(kb_arguments, "
                "sizeof(kb_arguments) / sizeof(kb_arguments[0]) - 1); } "
                "torch::Tensor forward(torch::Tensor x) { auto y = torch::empty_like(x); "
                "(::kbench_split::configure((x.numel() + 255) / 256, 256), "
                "k(x.data_ptr<float>(), y.data_ptr<float>(), x.numel())); return y; }");
  EXPECT_THAT(made.kernels, ElementsAre(Field(&SplitKernel::name, "k")));
  EXPECT_EQ(made.kernels[0].line, 8);
  EXPECT_THAT(made.variables, testing::IsEmpty());
}

TEST(Split, BothHalvesKeepTheSourcesLines) {
  const SplitSource made = must_split(kPlain);
  EXPECT_THAT(line_of(made.device, 10), HasSubstr("relu(x[i])"));
  EXPECT_THAT(line_of(made.host, 13), HasSubstr("torch::Tensor forward"));
  EXPECT_THAT(line_of(made.host, 16), HasSubstr("return y;"));
  const SplitSource windows = must_split("int a;\r\n__global__ void k() {}\r\n");
  EXPECT_THAT(line_of(windows.device, 2), HasSubstr("void k() {}"));
  EXPECT_THAT(windows.host, Not(HasSubstr("\r")));
}

TEST(Split, EachDeclarationGoesWhereItIsNeeded) {
  const SplitSource made = must_split(R"(
using Tensor = torch::Tensor;
typedef std::vector<Tensor> Tensors;
constexpr int kThreads = 256;
int count_blocks();
const int kBlocks = count_blocks();
static bool loaded = false;
enum class Mode { kSum, kMean };
struct Sizes { int rows, columns; std::array<int, 2> of() const { return {rows, columns}; } };
struct Cache { torch::Tensor kept; };
template <typename T> struct Pair { T a, b; };
namespace cg = cooperative_groups;
namespace fs = std::filesystem;
using Path = fs::path;
using namespace nvcuda;
using Fragment = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
struct Tile { Fragment f; };
static int rounded(int n) { return (n + 3) / 4 * 4; }
constexpr int cdiv(int a, int b) { return (a + b - 1) / b; }
constexpr int kTiles = cdiv(1000, 32);
extern __shared__ float tile[];
__global__ void k(Sizes s) { Tile t; cg::this_thread_block().sync(); }
)");
  for (const char* both : {"kThreads = 256", "enum class Mode", "struct Sizes", "struct Pair",
                           "constexpr int cdiv", "kTiles ="}) {
    EXPECT_THAT(made.device, HasSubstr(both));
    EXPECT_THAT(made.host, HasSubstr(both));
  }
  for (const char* host : {"using Tensor", "Tensors", "kBlocks", "loaded", "Cache", "rounded",
                           "namespace fs", "Path"}) {
    EXPECT_THAT(made.device, Not(HasSubstr(host)));
    EXPECT_THAT(made.host, HasSubstr(host));
  }
  for (const char* device : {"cg =", "using namespace nvcuda", "Fragment", "Tile t", "tile[]"}) {
    EXPECT_THAT(made.device, HasSubstr(device));
    EXPECT_THAT(made.host, Not(HasSubstr(device)));
  }
}

TEST(Split, FunctionsWithoutAttributesThatKernelsNameAreInBoth) {
  const SplitSource made = must_split(
      "constexpr int f(int n) { return n; }\n"
      "template <typename T> inline T g(T n) { return n; }\n"
      "int h(int n) { return n; }\n"
      "__global__ void k(int* x) { x[f(0)] = g(1); }\n");
  EXPECT_EQ(flat(made.device),
            "__host__ __device__ constexpr int f(int n) { return n; } "
            "template <typename T> __host__ __device__ inline T g(T n) { return n; } "
            "__global__ void k(int* x) { x[f(0)] = g(1); }");
  EXPECT_THAT(made.host, HasSubstr("int h(int n)"));
}

TEST(Split, MembersAreSplitToo) {
  const SplitSource made = must_split(R"(
struct Box {
  float* p;
  Box(float* q) : p(q) {}
  Box(const torch::Tensor& t) : p(t.data_ptr<float>()) {}
  __device__ float at(int i) const { return __ldg(p + i); }
  __host__ __device__ int size() const { return 3; }
  Box() = default;
};
__global__ void k(Box b) { b.at(0); }
)");
  EXPECT_EQ(flat(made.device),
            "struct Box { float* p; __host__ __device__ Box(float* q) : p(q) {} "
            "__device__ float at(int i) const { return __ldg(p + i); } "
            "__host__ __device__ int size() const { return 3; } Box() = default; }; "
            "__global__ void k(Box b) { b.at(0); }");
  EXPECT_THAT(flat(made.host), HasSubstr("__device__ float at(int i) const;"));
  EXPECT_THAT(made.host, Not(HasSubstr("__ldg")));
  EXPECT_THAT(made.host, HasSubstr("torch::Tensor& t"));
  EXPECT_THAT(made.host, HasSubstr("size() const { return 3; }"));
}

TEST(Split, TheHostHasOfTheDevicesOwnWhatItNames) {
  const SplitSource made = must_split(R"(
__device__ float twice(float x) { return 2 * x; }
__device__ float unused(float x) { return __expf(x); }
__host__ __device__ int blocks(int n) { return (n + 255) / 256; }
__host__ __device__ float never(float x) { return __expf(x); }
struct Square { __device__ float operator()(float x) const { return x * x; } };
struct Hidden { __device__ float operator()(float x) const { return x; } };
template <float (*kF)(float), typename F> __global__ void k(float* x, F f) { x[0] = f(kF(x[0])); }
void go(float* x, int n) { k<twice><<<blocks(n), 256>>>(x, Square{}); }
)");
  EXPECT_THAT(flat(made.host), HasSubstr("__device__ float twice(float x);"));
  EXPECT_THAT(flat(made.host), HasSubstr("float operator()(float x) const;"));
  EXPECT_THAT(made.host, HasSubstr("int blocks(int n) { return"));
  EXPECT_THAT(made.host, HasSubstr("k<twice>(x, Square{}))"));
  for (const char* absent : {"unused", "never", "Hidden"}) {
    EXPECT_THAT(made.host, Not(HasSubstr(absent)));
    EXPECT_THAT(made.device, HasSubstr(absent));
  }
}

TEST(Split, VariablesHaveShadows) {
  const SplitSource made = must_split(R"(
namespace w {
__constant__ float filter[9];
static __device__ unsigned counter = 0;
__constant__ int table[] = {1, 2, 3};
__device__ const float kScale = 2.0f;
}
__global__ void k(float* x) { x[0] = w::filter[0] * w::kScale; }
)");
  EXPECT_THAT(flat(made.device), HasSubstr("__device__ unsigned counter = 0;"));
  EXPECT_THAT(flat(made.device), Not(HasSubstr("static")));
  EXPECT_THAT(flat(made.host), HasSubstr("static __constant__ float filter[9];"));
  EXPECT_THAT(flat(made.host), HasSubstr("static __device__ unsigned counter;"));
  EXPECT_THAT(flat(made.host), HasSubstr("static __constant__ int table[] = {1, 2, 3};"));
  EXPECT_THAT(flat(made.host), HasSubstr("static __device__ const float kScale = 2.0f;"));
  EXPECT_THAT(made.variables, ElementsAre(Field(&SplitVariable::name, "w::filter"),
                                          Field(&SplitVariable::name, "w::counter"),
                                          Field(&SplitVariable::name, "w::table"),
                                          Field(&SplitVariable::name, "w::kScale")));
  EXPECT_EQ(made.variables[0].line, 3);
}

TEST(Split, KernelsAreNamedThroughNamespaces) {
  const SplitSource made = must_split(R"(
namespace {
static __global__ void hidden(int n) {}
namespace deep { template <int N> __global__ void t() {} }
}  // namespace
namespace a::b { __global__ void k() {} }
extern "C" { __global__ void c() {} }
extern "C" __global__ void d();
extern "C" __global__ void d() {}
)");
  std::vector<std::string> names;
  for (const SplitKernel& kernel : made.kernels) names.push_back(kernel.name);
  EXPECT_THAT(names, ElementsAre("hidden", "deep::t", "a::b::k", "c", "d"));
  EXPECT_TRUE(made.kernels[1].is_template);
  EXPECT_EQ(made.kernels[4].line, 9);
  EXPECT_THAT(made.device, HasSubstr("inline namespace kbench_unnamed {"));
  EXPECT_THAT(made.device, Not(HasSubstr("static")));
  EXPECT_THAT(made.host, HasSubstr("namespace {"));
  EXPECT_THAT(made.host, HasSubstr("__attribute__((noinline)) static __global__ void hidden"));
}

TEST(Split, OverloadedKernelsAreMarked) {
  const SplitSource made = must_split(
      "__global__ void k(float* x) {}\n__global__ void one(int);\n__global__ void k(double* x) {}\n"
      "__global__ void one(int n) {}\n");
  ASSERT_EQ(made.kernels.size(), 2u);
  EXPECT_TRUE(made.kernels[0].is_overloaded);
  EXPECT_EQ(made.kernels[0].line, 1);
  EXPECT_FALSE(made.kernels[1].is_overloaded);
  EXPECT_EQ(made.kernels[1].line, 4);
}

TEST(Split, StubsNameEveryParameter) {
  const SplitSource made = must_split(R"(
template <typename... Args>
__global__ void __launch_bounds__(256, 2) k(const float* __restrict__, unsigned int, std::size_t n,
    float (*op)(float), const __grid_constant__ Params p, float values[4], int m = 3, Args... args) {
}
__global__ void none(void) {}
)");
  const std::string host = flat(made.host);
  EXPECT_THAT(host, HasSubstr("const float* __restrict__ kb_0, unsigned int kb_1, std::size_t n"));
  EXPECT_THAT(host,
              HasSubstr("argument(kb_0), ::kbench_split::argument(kb_1), "
                        "::kbench_split::argument(n), ::kbench_split::argument(op), "
                        "::kbench_split::argument(p), ::kbench_split::argument(values), "
                        "::kbench_split::argument(m), ::kbench_split::argument(args)..., {}}"));
  EXPECT_THAT(host,
              HasSubstr("none(void) { const ::kbench_split::Argument kb_arguments[] = {{}};"));
}

TEST(Split, DirectivesStayInBothHalves) {
  const SplitSource made = must_split(R"(
#define BLOCK 128
#ifdef __CUDACC__
__global__ void k(float* x) {
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = 0;
#define INNER 3
#if INNER > 2
  x[0] = 1;
#endif
}
#else
#error no nvcc
#endif
)");
  EXPECT_THAT(made.device, HasSubstr("#ifdef __CUDACC__"));
  EXPECT_THAT(made.device, HasSubstr("#pragma unroll"));
  EXPECT_THAT(made.host, HasSubstr("#ifdef KBENCH_SPLIT_CUDACC"));
  EXPECT_THAT(made.host, HasSubstr("#define INNER 3"));
  EXPECT_THAT(made.host, HasSubstr("#if INNER > 2"));
  EXPECT_THAT(made.host, Not(HasSubstr("#pragma")));
  EXPECT_THAT(made.host, Not(HasSubstr("x[0]")));
}

TEST(Split, WhatCannotBeSplitIsNamedWithItsLine) {
  const struct {
    const char* cause;
    int line;
    const char* source;
  } rows[] = {
      {"syntax_error", 2, "\n__global__ void k() { if (1) {\n"},
      {"syntax_error", 1, "void f() { ) }"},
      {"device_launch", 2, "\n__global__ void k() { k<<<1, 1>>>(); }"},
      {"managed_variable", 1, "__managed__ int n;"},
      {"thrust", 3, "#include <thrust/sort.h>\nvoid f(float* x) {\n thrust::sort(x, x + 1); }"},
      {"cub_device", 2, "void f() {\n cub::DeviceReduce::Sum(); }"},
      {"conditional_parameters", 2, "__global__ void k(int a\n#if A\n, int b\n#endif\n) {}"},
      {"unknown_launch", 1, "void f() { k<<<1, 1; }"},
  };
  for (const auto& row : rows) {
    const SplitRefusal refusal = must_refuse(row.source);
    EXPECT_EQ(refusal.cause, row.cause) << row.source;
    EXPECT_EQ(refusal.line, row.line) << row.source;
    EXPECT_FALSE(refusal.message.empty());
  }
}

}  // namespace
}  // namespace kbench
