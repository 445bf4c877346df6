// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <set>

#include "compile/compile_fixture.hpp"
#include "compile/headers/compatibility_headers.hpp"
#include "compile/languages.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::Not;

struct CompatibilityHeaderTest : CompileTest {
  /// Compiles all sources over the cores; each has the one kernel k.
  void all_compile(const std::vector<CompileRequest>& requests) const {
    CompilePool pool(setup());
    std::vector<std::shared_future<CompileResult>> futures;
    futures.reserve(requests.size());
    for (const auto& asked : requests) futures.push_back(pool.compile(asked));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      SCOPED_TRACE(requests[i].source.substr(0, 300));
      const Artifact made = artifact(futures[i].get());
      EXPECT_EQ(made.log, "");
      EXPECT_FALSE(made.image.empty());
    }
  }
  static std::string kernel(const std::string& header, const std::string& body) {
    return "#include <" + header + ">\n__global__ void k(float* x, double* d, int n) {\n" + body +
           "\n}\n";
  }
};

TEST_F(CompatibilityHeaderTest, NamesAreDifferent) {
  std::set<std::string_view> names;
  for (const CompatibilityHeader& compatibility_header : compatibility_headers())
    EXPECT_TRUE(names.insert(compatibility_header.name).second) << compatibility_header.name;
  EXPECT_EQ(compatibility_headers().front().name, kPrelude);
}

TEST_F(CompatibilityHeaderTest, EveryHeaderCompilesInEveryStandard) {
  std::string all;
  std::vector<CompileRequest> requests;
  for (const CompatibilityHeader& compatibility_header : compatibility_headers()) {
    all += "#include <" + std::string(compatibility_header.name) + ">\n";
    requests.push_back(request(kernel(std::string(compatibility_header.name), "x[0] = 1;"), {"k"}));
  }
  for (const char* standard : {"-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"}) {
    requests.push_back(request(all + "__global__ void k() {}", {"k"}));
    requests.back().flags = {standard};
  }
  all_compile(requests);
}

TEST_F(CompatibilityHeaderTest, WhatTheHeadersAreIncludedForIsThere) {
  const std::vector<std::pair<std::string, std::string>> uses = {
      {"math.h", "x[0] = sinf(x[1]) * (float)M_PI + INFINITY; d[0] = fabs(d[1]) + M_SQRT1_2;"},
      {"cmath",
       "x[0] = std::sqrt(x[1]) + std::pow(x[2], 2.0f) + std::abs(x[3]) + std::expf(x[4]);"
       "d[0] = std::fma(d[1], d[2], std::tanh(d[3])); x[6] = std::isnan(x[5]);"
       "static_assert(sizeof(std::sqrt(x[0])) == 4, \"float stays float\");"},
      {"cmath",
       "d[0] = pow(x[0], 3.0) + std::pow(d[1], x[1]) + pow(n, n) + pow(x[2], 2L) + pow(n, x[3]);"
       "x[4] = pow(x[5], 2) + powf(x[6], 3.0);"
       "static_assert(sizeof(pow(x[0], x[0])) == 4 && sizeof(pow(x[0], d[0])) == 8, \"\");"},
      {"stdio.h", "printf(\"%d\\n\", n);"},
      {"cstdio", "std::printf(\"%f\\n\", x[0]);"},
      {"stdlib.h", "n = abs(n); free(malloc(8));"},
      {"string.h", "memcpy(x, d, 8); memset(x, 0, 4);"},
      {"stdint.h",
       "int8_t a = 1; uint16_t b = 2; int32_t c = 3; int64_t e = INT64_MAX; x[0] = a + b "
       "+ c + (float)e + UINT32_MAX; uintptr_t p = (uintptr_t)x; d[0] = (double)p;"},
      {"cstdint", "std::int64_t i = INT32_MIN; std::uint8_t u = 255; x[0] = (float)i + u;"},
      {"stddef.h",
       "size_t s = sizeof(x); ptrdiff_t p = x - (float*)d; x[0] = (float)(s + p);"
       "struct P { char c; int i; }; static_assert(offsetof(P, i) == 4, \"\");"},
      {"float.h", "x[0] = FLT_MAX; x[1] = -FLT_MIN; x[2] = FLT_EPSILON; d[0] = DBL_MAX;"},
      {"cfloat", "constexpr float most = FLT_MAX; x[0] = most;"},
      {"limits.h",
       "static_assert(INT_MAX == 0x7fffffff && INT_MIN + INT_MAX == -1, \"\");"
       "static_assert(LONG_MAX == LLONG_MAX && CHAR_BIT == 8, \"\"); x[0] = UINT_MAX;"},
      {"climits", "n = SHRT_MAX + UCHAR_MAX; x[0] = n;"},
      {"limits",
       "x[0] = std::numeric_limits<float>::infinity(); x[1] = std::numeric_limits<float>::lowest();"
       "x[2] = std::numeric_limits<float>::quiet_NaN(); d[0] = std::numeric_limits<double>::max();"
       "static_assert(std::numeric_limits<int>::max() == 2147483647 &&"
       " std::numeric_limits<int>::min() == -2147483647 - 1 &&"
       " std::numeric_limits<signed char>::min() == -128 &&"
       " std::numeric_limits<unsigned char>::max() == 255 &&"
       " std::numeric_limits<long long>::min() == -9223372036854775807LL - 1 &&"
       " std::numeric_limits<unsigned long>::max() == 18446744073709551615uL &&"
       " std::numeric_limits<bool>::max() && std::numeric_limits<bool>::digits == 1 &&"
       " std::numeric_limits<float>::digits == 24 && std::numeric_limits<double>::digits10 == 15 &&"
       " std::numeric_limits<float>::max() == 3.40282347e+38f &&"
       " std::numeric_limits<float>::epsilon() == 1.1920929e-7f &&"
       " std::numeric_limits<double>::min() == 2.2250738585072014e-308 &&"
       " -std::numeric_limits<float>::infinity() < std::numeric_limits<float>::lowest() &&"
       " !std::numeric_limits<int*>::is_specialized && std::numeric_limits<int>::digits10 == 9 &&"
       " std::numeric_limits<const unsigned>::digits == 32, \"\");"},
      {"assert.h", "assert(n > 0); x[0] = n;"},
      {"cassert", "assert(n > 0 && \"positive\"); x[0] = n;"},
      {"algorithm",
       "x[0] = std::max(x[1], std::min(x[2], 3.0f)); n = std::max({n, 1, 2});"
       "std::swap(x[3], x[4]); x[5] = std::min(x[6], x[7], [](float a, float b) {"
       " return a > b; }); static_assert(std::max(1, 2) == 2, \"\"); x[8] = n;"
       "std::fill(x, x + 4, 1.0f);"},
      {"utility",
       "int a = std::move(n); int b = std::exchange(a, 3); auto p = std::make_pair(a, 2.f);"
       "x[0] = b + p.first + p.second + std::index_sequence_for<int, float>::size();"
       "x[1] = std::forward<float>(x[2]);"},
      {"type_traits",
       "static_assert(std::is_same<std::decay_t<const int&>, int>::value &&"
       " std::is_floating_point<const float>::value && !std::is_integral<float>::value &&"
       " std::is_unsigned<unsigned char>::value && std::is_pointer<int* const>::value &&"
       " std::is_same<std::make_unsigned_t<long>, unsigned long>::value &&"
       " std::is_same<std::common_type_t<int, char, double>, double>::value &&"
       " std::is_convertible<int, float>::value && std::is_base_of<std::true_type,"
       " std::is_void<void>>::value && std::conjunction<std::true_type,"
       " std::negation<std::false_type>>::value && std::is_same<std::conditional_t<true, int,"
       " char>, int>::value && std::is_array<int[3]>::value &&"
       " std::is_trivially_copyable<float4>::value, \"\");"
       "if constexpr (std::is_same_v<float, decltype(*x + 0)>) x[0] = 1;"},
      {"functional", "std::plus<float> f; x[0] = f(x[1], std::multiplies<>()(x[2], n));"},
      {"array",
       "std::array<float, 4> a{1, 2, 3, 4}; for (float& v : a) v += x[0]; x[1] = a[n & 3];"
       "static_assert(std::array<int, 3>::size() == 3, \"\");"},
      {"numeric", "x[0] = std::accumulate(x, x + 4, 0.0f); n = std::gcd(n, 12); x[1] = n;"},
      {"cuda_runtime.h",
       "dim3 grid(1, 2); float4 v = make_float4(1, 2, 3, 4); x[0] = v.x + grid.y;"
       "cudaError_t e = cudaSuccess; x[1] = e;"},
      {"cuda.h", "static_assert(CUDA_VERSION >= 11000, \"\"); x[0] = 1;"},
      {"cuda_runtime_api.h", "static_assert(CUDART_VERSION >= 11000, \"\"); x[0] = 1;"},
      {"device_launch_parameters.h", "x[threadIdx.x + blockIdx.x * blockDim.x] = gridDim.x;"},
  };
  std::vector<CompileRequest> requests;
  for (const auto& [header, body] : uses) {
    requests.push_back(request(kernel(header, body), {"k"}));
    // A forgotten include is nothing to fail for.
    if (header != "math.h") requests.push_back(request(kernel("math.h", body), {"k"}));
  }
  all_compile(requests);
}

TEST_F(CompatibilityHeaderTest, CudasOwnHeadersCompileBesideThem) {
  all_compile({
      request(
          kernel("cuda_fp16.h", "half h = __float2half(x[0]); x[1] = __half2float(__hadd(h, h));"),
          {"k"}, "sm_90a"),
      request(kernel("cuda_bf16.h", "x[1] = __bfloat162float(__float2bfloat16(x[0]));"), {"k"}),
      request(kernel("cuda_fp8.h", "x[1] = float(__nv_fp8_e4m3(x[0]));"), {"k"}),
      request(kernel("math_constants.h", "x[0] = CUDART_INF_F + CUDART_PI_F;"), {"k"}),
      request(kernel("mma.h",
                     "using namespace nvcuda::wmma;\n"
                     "fragment<accumulator, 16, 16, 16, float> c; fill_fragment(c, 0.0f);"
                     "store_matrix_sync(x, c, 16, mem_row_major);"),
              {"k"}, "sm_90a"),
      request(kernel("cooperative_groups.h",
                     "auto block = cooperative_groups::this_thread_block(); block.sync();"
                     "auto warp = cooperative_groups::tiled_partition<32>(block);"
                     "x[0] = warp.shfl_down(x[1], 1);"),
              {"k"}),
      request(kernel("cub/block/block_reduce.cuh",
                     "using Reduce = cub::BlockReduce<float, 128>;"
                     "__shared__ typename Reduce::TempStorage storage;"
                     "x[0] = Reduce(storage).Sum(x[threadIdx.x]);"),
              {"k"}),
      request(
          kernel("cub/cub.cuh",
                 "using Reduce = cub::BlockReduce<float, 128>; using Scan = cub::WarpScan<int>;"
                 "__shared__ typename Reduce::TempStorage storage;"
                 "__shared__ typename Scan::TempStorage lanes;"
                 "x[0] = Reduce(storage).Reduce(x[threadIdx.x], [](float a, float b) {"
                 "  return a > b ? a : b; });"
                 "Scan(lanes).InclusiveSum(n, n); x[1] = cub::ThreadLoad<cub::LOAD_CG>(x + n);"),
          {"k"}),
      request(kernel("cuda_pipeline.h",
                     "__shared__ float s[64]; __pipeline_memcpy_async(s, x, 16);"
                     "__pipeline_commit(); __pipeline_wait_prior(0); x[0] = s[0];"),
              {"k"}),
      request("#include <cstdint>\n#include <cuda/std/cstdint>\n#include <cuda/std/limits>\n"
              "#include <limits>\n__global__ void k(int64_t* x) {\n"
              "  x[0] = cuda::std::numeric_limits<std::int64_t>::max();\n}\n",
              {"k"}),
  });
}

TEST_F(CompatibilityHeaderTest, WhereALibraryIsHostCodeTheMessageSaysWhatIsNot) {
  for (const char* source :
       {"#include <cub/device/device_reduce.cuh>\n__global__ void k() {}",
        "#include <thrust/reduce.h>\n__global__ void k() {}",
        "#include <thrust/device_vector.h>\n__global__ void k() {}",
        "#include <cub/cub.cuh>\n__global__ void k() { cub::DeviceReduce::Sum(0, 0, 0, 0, 0); }"}) {
    const CompileError error = must_fail(request(source, {"k"}));
    EXPECT_THAT(error.message, HasSubstr("host code: kernels may include cub/block/…, cub/warp/…"))
        << source;
  }
}

TEST_F(CompatibilityHeaderTest, LeaveNothingInTheImage) {
  const Artifact made = must_compile(request("__global__ void k(float* x) { x[0] = 1; }", {"k"}));
  EXPECT_LT(made.image.size(), 1000u);
  EXPECT_THAT(made.image, Not(HasSubstr("kbench")));
}

TEST_F(CompatibilityHeaderTest, EveryFlagReachesACompilerThatTakesIt) {
  std::vector<CompileRequest> requests;
  const auto add = [&](std::string flag) {
    requests.push_back(
        request("__global__ void k(float* x) { x[0] = 1.0f / x[1]; }", {"k"}, "sm_90a"));
    requests.back().flags = {std::move(flag)};
  };
  for (const Flag& flag : nvrtc_flags()) {
    const std::string name(flag.name);
    switch (flag.value) {
      case Flag::Value::kNone:
        add("-" + name);
        add("--" + name);
        break;
      case Flag::Value::kBool:
        add("-" + name + "=true");
        add("--" + name + "=false");
        break;
      case Flag::Value::kNumber:
        add("-" + name + "=32");
        add("--" + name + "=64");
        break;
      case Flag::Value::kStandard:
        for (const char* value : {"c++11", "c++14", "c++17", "c++20"})
          add("-" + name + "=" + value);
        add("--" + name + "=c++20");
        break;
      case Flag::Value::kMacro:
        add("-DTILE=(4 + 4)");
        add("-D_DEBUG");
        break;
    }
  }
  all_compile(requests);
}

TEST_F(CompatibilityHeaderTest, FlagsDoWhatTheySay) {
  CompileRequest fast =
      request("__global__ void k(float* x) { x[0] = __expf(1.f / x[1]) * kTile; }", {"k"});
  fast.flags = {"--use_fast_math", "-DkTile=4"};
  EXPECT_THAT(must_compile(fast).image, HasSubstr("rcp.approx.ftz.f32"));
  CompileRequest exact = fast;
  exact.flags = {"-DkTile=4"};
  EXPECT_THAT(must_compile(exact).image, HasSubstr("rcp.rn.f32"));
  CompileRequest standard = request("__global__ void k(long* x) { x[0] = __cplusplus; }", {"k"});
  standard.flags = {"-std=c++20"};
  EXPECT_THAT(must_compile(standard).image, HasSubstr("202002"));
}

TEST_F(CompatibilityHeaderTest, OtherFlagsAreRefused) {
  for (const char* flag : {"-I/etc",
                           "--include-path=/etc",
                           "-include=/etc/passwd",
                           "-arch=sm_80",
                           "use_fast_math",
                           "--use_fast_math=true",
                           "-std=c++98",
                           "-maxrregcount=",
                           "-maxrregcount=1e3",
                           "-fmad=maybe",
                           "-D",
                           "-D1",
                           "-DA\n#include",
                           "--device-debug",
                           "-Xptxas=-v",
                           "",
                           "-",
                           "--",
                           "-pch",
                           "--split-compile=0",
                           "-lto",
                           "--dlto",
                           "-o=x"}) {
    CompileRequest asked = request("__global__ void k() {}", {"k"});
    asked.flags = {flag};
    const CompileError refused = must_fail(asked);
    EXPECT_EQ(refused.cause, "illegal_flag") << flag;
    EXPECT_THAT(refused.message, HasSubstr(flag));
  }
}

TEST_F(CompatibilityHeaderTest, EveryLanguageIsFoundByItsName) {
  std::set<std::string_view> names;
  for (const Language& language : languages()) {
    EXPECT_TRUE(names.insert(language.name).second);
    EXPECT_EQ(find_language(language.name), &language);
    EXPECT_FALSE(language.way.empty());
    EXPECT_TRUE(std::holds_alternative<std::vector<std::string>>(language.options({})));
  }
  EXPECT_EQ(find_language("fortran"), nullptr);
}

}  // namespace
}  // namespace kbench
