// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <mutex>

#include "ptx/machine/names.hpp"
#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPrintf = R"(extern "C" __device__ int printf(const char*, ...);
)";

std::string printed(const std::string& body, unsigned threads = 1) {
  Module module =
      load_source(std::string(kPrintf) + "extern \"C\" __global__ void k(int* y) {" + body + "}");
  std::string text;
  Options options;
  options.print = [&](std::string_view part) { text += part; };
  Buffer<int> y("y", 4);
  const Launch launch = launch_of("k", 1, threads, arguments(y.data()));
  run(module, launch, {y.region()}, options);
  return text;
}

TEST(Print, every_conversion) {
  KBENCH_NEEDS_NVRTC();
  EXPECT_EQ(printed(R"(printf("%d %i %u %x %X %#o|", -5, 7, -1, 255, 255, 8);)"),
            "-5 7 4294967295 ff FF 010|");
  EXPECT_EQ(
      printed(R"(printf("%lld %llu %lx %hhd %hd|", -1ll << 40, ~0ull, 1l << 36, 300, 70000);)"),
      "-1099511627776 18446744073709551615 1000000000 44 4464|");
  EXPECT_EQ(printed(R"(printf("%f %.3e %g %G %a|", 1.5f, 12345.678, 1e-10, 1e20, 1.0);)"),
            "1.500000 1.235e+04 1e-10 1E+20 0x1p+0|");
  EXPECT_EQ(printed(R"(printf("%c%c %s %p %%|", 'a', 98, "text", (void*)0x1234);)"),
            "ab text 0x1234 %|");
  EXPECT_EQ(
      printed(
          R"(printf("[%5d|%-5d|%05d|%+d|% d|%.2f|%8.3f|%*d|%-*d|%.*f]", 42, 42, 42, 42, 42, 3.14159, 3.14159, 6, 42, 6, 42, 1, 2.55);)"),
      "[   42|42   |00042|+42| 42|3.14|   3.142|    42|42    |2.5]");
  EXPECT_EQ(printed(R"(printf("%s|%10s|%-6s|%.2s", "a", "right", "left", "cut");)"),
            "a|     right|left  |cu");
  EXPECT_EQ(printed(R"(printf("no arguments\n"); printf("%d%%\n", 50);)"), "no arguments\n50%\n");
}

TEST(Print, gives_the_number_of_arguments) {
  KBENCH_NEEDS_NVRTC();
  EXPECT_EQ(printed(R"(int n = printf("%d %d\n", 1, 2); printf("%d %d\n", n, printf("x\n"));)"),
            "1 2\nx\n2 0\n");
}

TEST(Print, each_thread_keeps_its_order) {
  KBENCH_NEEDS_NVRTC();
  const std::string text =
      printed(R"(for (int i = 0; i < 3; ++i) printf("%d:%d\n", threadIdx.x, i);)", 64);
  for (int thread = 0; thread < 64; ++thread) {
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i) {
      const std::string line = std::to_string(thread) + ":" + std::to_string(i) + "\n";
      at = text.find(line, at);
      ASSERT_NE(at, std::string::npos) << line;
    }
  }
}

TEST(Print, a_wild_format_or_string_is_a_fault) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(std::string(kPrintf) +
                              R"(extern "C" __global__ void k(char* s) { printf("%s", s); })");
  Launch launch = launch_of("k", 1, 1, arguments(std::uint64_t{0x123456789}));
  EXPECT_EQ(run_to_fault(module, launch, {}).kind, FaultKind::kIllegalAddress);
  launch.arguments = arguments(std::uint64_t{0});
  std::string text;
  Options options;
  options.print = [&](std::string_view part) { text += part; };
  run(module, launch, {}, options);
  EXPECT_EQ(text, "(null)");
}

TEST(Messages, names_are_short_and_readable) {
  EXPECT_EQ(readable_name("plain"), "plain");
  EXPECT_EQ(readable_name("_Z4axpyPfS_f"), "axpy");
  EXPECT_EQ(readable_name("_Z7softmaxIfLi4EEvPT_i"), "softmax<float, 4>");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_15innerEPi"), "(anonymous namespace)::inner");
  EXPECT_EQ(readable_name("_ZN1a1b1cIPFvvEEEvT_"), "a::b::c<void (*)()>");
  EXPECT_EQ(readable_name("_Znonsense"), "_Znonsense");
}

TEST(Messages, a_fault_names_kernel_thread_and_the_innermost_line) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
template <class T, int n> __device__ void helper(T* x) {
  x[n] = 1;                                // line 3
}
template <class T> __global__ void fill(T* x) {
  if (threadIdx.x == 5) helper<T, 1000>(x);
}
template __global__ void fill<float>(float*);
)");
  Buffer<float> x("output x", 8);
  const Launch launch = launch_of(module.kernels().at(0), 1, 32, arguments(x.data()));
  const Fault got = run_to_fault(module, launch, {x.region()});
  EXPECT_EQ(got.kernel, "fill<float>");
  EXPECT_EQ(got.line, 3);
  EXPECT_THAT(got.message, AllOf(HasSubstr("fill<float>: thread (5, 0, 0) of block (0, 0, 0)"),
                                 HasSubstr("kernel.cu:3"), Not(HasSubstr("inlined at"))));
}

TEST(Messages, code_of_another_file_is_named_with_where_it_was_inlined) {
  auto loaded = load(
      ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"kernel.cu\"\n.file 2 \"lib.cuh\"\n"
      ".entry k() {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n.loc 1 10 3\nmov.u64 %rd1, 64;\n"
      ".loc 2 7 1, function_name $L__info_string0, inlined_at 1 12 4\n"
      "ld.global.u32 %r1, [%rd1];\nret; }\n");
  Module module = std::move(std::get<Module>(loaded));
  Launch launch;
  launch.kernel = "k";
  const Fault got = run_to_fault(module, launch, {});
  EXPECT_EQ(got.file, "kernel.cu");
  EXPECT_EQ(got.line, 12);
  EXPECT_THAT(got.message, AllOf(HasSubstr("(lib.cuh:7, inlined at kernel.cu:12)"),
                                 HasSubstr("a null pointer")));
}

TEST(Messages, a_far_address_has_no_neighbour) {
  KBENCH_NEEDS_NVRTC();
  Module module =
      load_source(R"(extern "C" __global__ void k(char* x, long long i) { x[i] = 1; })");
  Buffer<char> x("output x", 64);
  Launch launch = launch_of("k", 1, 1, arguments(x.data(), std::int64_t{1} << 32));
  const Fault far = run_to_fault(module, launch, {x.region()});
  EXPECT_EQ(far.kind, FaultKind::kIllegalAddress);
  EXPECT_EQ(far.region, "");
  EXPECT_THAT(far.message, Not(HasSubstr("output x")));
  launch.arguments = arguments(x.data(), std::int64_t{100'000});
  const Fault near = run_to_fault(module, launch, {x.region()});
  EXPECT_EQ(near.region, "output x");
  EXPECT_EQ(near.offset_bytes, 100'000);
}

TEST(Messages, an_assertion_names_all_of_its_place) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"cuda(
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
extern "C" __global__ void checked(int n) {
  if (threadIdx.x >= n) __assertfail("threadIdx.x < n", "kernel.cu", 4, "void checked(int)",
                              1);
})cuda");
  const Launch launch = launch_of("checked", 2, 64, arguments(40));
  Options options;
  options.threads = 1;
  const Fault got = run_to_fault(module, launch, {}, options);
  EXPECT_EQ(got.kind, FaultKind::kTrap);
  EXPECT_THAT(got.message, HasSubstr("thread (40, 0, 0) of block (0, 0, 0) fails the assertion "
                                     "`threadIdx.x < n` at kernel.cu:4, in void checked(int)"));
}

}  // namespace
}  // namespace kbench::ptx::testing
