// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ptx/nvrtc_helper.hpp"

// Calls, the stack, ends of kernels and their budget, by PTX that is written here.
namespace kbench::ptx::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kHeader = ".version 8.7\n.target sm_90a\n.address_size 64\n";

Module load_ptx(const std::string& text) { return load_text(kHeader + text); }

std::string refusal(const std::string& text) {
  auto loaded = load(kHeader + text);
  const auto* unsupported = std::get_if<Unsupported>(&loaded);
  return unsupported == nullptr ? std::string() : unsupported->message;
}

/// A kernel k of one pointer: "%to" is this thread's place of 4 bytes, "%t" its number.
std::string kernel(const std::string& body) {
  return ".entry k(.param .u64 p) { .reg .b64 %to; .reg .b32 %t;\n"
         "mov.u32 %t, %tid.x; ld.param.u64 %to, [p]; mad.wide.u32 %to, %t, 4, %to;\n" +
         body + "\n}\n";
}

std::vector<std::uint32_t> results(const std::string& text, std::size_t threads) {
  Module module = load_ptx(text);
  Buffer<std::uint32_t> y("y", threads);
  const Launch launch = launch_of("k", 1, static_cast<std::uint32_t>(threads), arguments(y.data()));
  run(module, launch, {y.region()});
  return {y.data(), y.data() + threads};
}

Fault fault_of(const std::string& text, std::uint32_t threads, const Options& options = {}) {
  Module module = load_ptx(text);
  Buffer<std::uint32_t> y("y", threads);
  const Launch launch = launch_of("k", 1, threads, arguments(y.data()));
  return run_to_fault(module, launch, {y.region()}, options);
}

TEST(Calls, arguments_in_registers_literals_and_param_variables) {
  const auto got = results(
      ".func (.reg .u32 r) add(.reg .u32 a, .param .u32 b) {\n"
      ".reg .u32 x; ld.param.u32 x, [b]; add.u32 r, a, x; ret; }\n" +
          kernel(".reg .u32 r, s; .param .u32 v; st.param.u32 [v], %t;\n"
                 "call (r), add, (%t, v); call (s), add, (r, 100); call (_), add, (s, s);\n"
                 "st.global.u32 [%to], s; ret;"),
      40);
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(got[i], 2 * i + 100);
}

TEST(Calls, a_result_in_a_register_that_is_an_address_afterwards) {
  // The address changes in each round, behind the loop's loads of it.
  const auto got = results(
      ".func (.reg .u64 r) next(.reg .u64 a) { add.u64 r, a, 8; ret; }\n"
      ".global .align 8 .u64 list[6] = {1, 2, 3, 4, 5, 6};\n" +
          kernel(".reg .u64 a, v; .reg .u32 i, s, w; .reg .pred q; mov.u64 a, list; mov.u32 i, 0;\n"
                 "mov.u32 s, 0;\n"
                 "L: ld.global.u64 v, [a]; cvt.u32.u64 w, v; add.u32 s, s, w;\n"
                 "call (a), next, (a); add.u32 i, i, 1; setp.lt.u32 q, i, 6; @q bra L;\n"
                 "st.global.u32 [%to], s; ret;"),
      64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], 21U);
}

constexpr const char* kTwice =
    ".func (.param .u32 r) twice(.param .u32 a) { .reg .u32 x; ld.param.u32 x, [a]; add.u32 x, x, "
    "x; "
    "st.param.u32 [r], x; ret; }\n"
    ".func (.param .u32 r) square(.param .u32 a) { .reg .u32 x; ld.param.u32 x, [a];\n"
    "mul.lo.u32 x, x, x; st.param.u32 [r], x; ret; }\n"
    ".func (.param .u32 r) also(.param .u32 a);\n.alias also, square;\n"
    ".global .align 8 .u64 table[3] = {twice, square, also};\n";

TEST(Calls, by_pointers_that_differ_between_lanes) {
  for (const char* form : {"form: .callprototype (.param .u32 _) _ (.param .u32 _);\n",
                           "form: .calltargets twice, square, also;\n"}) {
    const auto got = results(
        kTwice +
            kernel(".reg .b64 f, at; .reg .b32 i, x; .param .u32 a, r;\n"
                   "rem.u32 i, %t, 3; mov.u64 at, table; mad.wide.u32 at, i, 8, at;\n"
                   "ld.global.u64 f, [at]; st.param.u32 [a], %t;\n" +
                   std::string(form) +
                   "call (r), f, (a), form; ld.param.u32 x, [r]; st.global.u32 [%to], x; ret;"),
        70);
    for (std::uint32_t i = 0; i < 70; ++i) EXPECT_EQ(got[i], i % 3 == 0 ? 2 * i : i * i) << i;
  }
}

TEST(Calls, a_pointer_to_no_function_is_a_fault) {
  const std::string call =
      "proto: .callprototype (.param .u32 _) _ (.param .u32 _); .param .u32 a, r;\n"
      "st.param.u32 [a], %t; call (r), f, (a), proto; ret;";
  EXPECT_THAT(fault_of(kTwice + kernel(".reg .b64 f; mov.u64 f, 12345;" + call), 32).message,
              HasSubstr("not a function with these parameters"));
  const Fault form = fault_of(".func (.param .u32 r) other(.param .u64 a) { ret; }\n" +
                                  kernel(".reg .b64 f; mov.u64 f, other;" + call),
                              32);
  EXPECT_EQ(form.kind, FaultKind::kIllegalAddress);
}

TEST(Calls, forms_that_do_not_fit_are_refused) {
  EXPECT_THAT(refusal(kTwice + kernel(".param .u64 a; .param .u32 r; call (r), twice, (a);")),
              HasSubstr("'a' has 8 bytes, but the function takes 4"));
  EXPECT_THAT(refusal(kTwice + kernel(".param .u32 r; call (r), twice;")),
              HasSubstr("0 arguments, but the function has 1"));
  EXPECT_THAT(refusal(kernel("call nobody;")), HasSubstr("nobody is not defined"));
  EXPECT_THAT(refusal(kernel("call k;")), HasSubstr("kernels cannot be called"));
  EXPECT_THAT(refusal(kernel("brx.idx %t, nowhere;")), HasSubstr("table"));
}

TEST(Calls, recursion_without_end_overflows_the_stack) {
  const std::string endless =
      ".func down(.param .u32 n) { .reg .u32 x; .param .u32 m; ld.param.u32 x, [n];\n"
      "add.u32 x, x, 1; st.param.u32 [m], x; call down, (m); ret; }\n"
      ".func empty() { call empty; ret; }\n";
  for (const char* body :
       {".param .u32 m; st.param.u32 [m], %t; call down, (m); ret;", "call empty; ret;"}) {
    const Fault got = fault_of(endless + kernel(body), 64);
    EXPECT_EQ(got.kind, FaultKind::kIllegalAddress);
    EXPECT_THAT(got.message, AllOf(HasSubstr("overflows the stack"), HasSubstr("at depth")));
  }
}

TEST(Calls, recursion_to_different_depths) {
  const auto got = results(
      ".func (.param .u32 r) sum(.param .u32 n) {\n"
      ".reg .u32 x, y; .reg .pred q; .param .u32 m, s; ld.param.u32 x, [n]; mov.u32 y, x;\n"
      "setp.eq.u32 q, x, 0; @q bra DONE;\n"
      "sub.u32 y, x, 1; st.param.u32 [m], y; call (s), sum, (m); ld.param.u32 y, [s];\n"
      "add.u32 y, x, y;\nDONE: st.param.u32 [r], y; ret; }\n" +
          kernel(".reg .u32 x; .param .u32 m, s; st.param.u32 [m], %t; call (s), sum, (m);\n"
                 "ld.param.u32 x, [s]; st.global.u32 [%to], x; ret;"),
      64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i * (i + 1) / 2);
}

TEST(Calls, memory_of_alloca_lasts_until_it_is_given_back) {
  const auto got = results(
      kernel(".reg .u64 a, b, s, n; .reg .u32 i, x, y; .reg .pred q; mov.u32 i, 0; mov.u32 y, 0;\n"
             "cvt.u64.u32 n, %t; and.b64 n, n, 15; add.u64 n, n, 4; shl.b64 n, n, 2;\n"
             // More rounds than the stack could hold without stackrestore.
             "L: stacksave.u64 s; alloca.u64 a, n, 16; alloca.u64 b, n;\n"
             "st.local.u32 [a], i; st.local.u32 [b], %t; ld.local.u32 x, [a]; add.u32 y, y, x;\n"
             "ld.local.u32 x, [b]; add.u32 y, y, x; stackrestore.u64 s;\n"
             "add.u32 i, i, 1; setp.lt.u32 q, i, 1000; @q bra L;\n"
             "st.global.u32 [%to], y; ret;"),
      32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], 499'500 + 1000 * i);
  const Fault got_fault =
      fault_of(kernel(".reg .u64 a; alloca.u64 a, 100000000; st.local.u32 [a], %t; ret;"), 32);
  EXPECT_THAT(got_fault.message, HasSubstr("allocates 100000000 bytes and overflows the stack"));
}

TEST(Calls, memory_of_the_device_heap) {
  KBENCH_NEEDS_NVRTC();
  Module module = load_source(R"(
    struct Node { Node* next; int value; };
    __device__ Node* kept[4];
    extern "C" __global__ void lists(int* y, int rounds) {
      for (int r = 0; r < rounds; ++r) {
        Node* head = nullptr;
        for (int i = 0; i < 4; ++i) head = new Node{head, i + (int)threadIdx.x};
        int sum = 0;
        while (head) { sum += head->value; Node* next = head->next; delete head; head = next; }
        y[threadIdx.x] = sum;
      }
    }
    extern "C" __global__ void keep(int* y) {
      if (threadIdx.x < 4) { kept[threadIdx.x] = (Node*)malloc(16); kept[threadIdx.x]->value = 7 + threadIdx.x; }
    }
    extern "C" __global__ void give_back(int* y) {
      if (threadIdx.x < 4) { y[threadIdx.x] = kept[threadIdx.x]->value; free(kept[threadIdx.x]); }
      free(nullptr);
      y[4] = malloc(1ull << 40) == nullptr;
    }
    extern "C" __global__ void twice(int* y) { void* p = malloc(4); free(p); free(p); })");
  Buffer<int> y("y", 64);
  Launch launch;
  launch.kernel = "lists";
  launch.block = {64, 1, 1};
  launch.arguments = arguments(y.data(), 3000);  // 12 MB, were nothing given back
  run(module, launch, {y.region()});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 6 + 4 * i);
  launch.arguments = arguments(y.data());
  launch.kernel = "keep";
  run(module, launch, {y.region()});
  launch.kernel = "give_back";
  run(module, launch, {y.region()});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 7 + i);
  EXPECT_EQ(y[4], 1);
  launch.kernel = "twice";
  EXPECT_THAT(run_to_fault(module, launch, {y.region()}).message,
              HasSubstr("which is already free"));
}

TEST(Control, tables_of_targets) {
  const auto got = results(
      kernel(
          ".reg .u32 i, x; .reg .pred q; rem.u32 i, %t, 4; mov.u32 x, 7; setp.lt.u32 q, %t, 60;\n"
          "ts: .branchtargets A, B, A, C;\n@q brx.idx i, ts; bra D;\n"
          "A: mov.u32 x, 1; bra D;\nB: mov.u32 x, 2; bra D;\nC: mov.u32 x, 3;\n"
          "D: st.global.u32 [%to], x; ret;"),
      64);
  const std::uint32_t expected[] = {1, 2, 1, 3};
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(got[i], i < 60 ? expected[i % 4] : 7U) << i;
  EXPECT_THAT(fault_of(kernel("ts: .branchtargets A;\nbrx.idx %t, ts;\nA: ret;"), 32).message,
              HasSubstr("jumps to entry 1 of a table of 1"));
}

TEST(Control, ends_in_all_forms) {
  const auto got = results(
      ".func maybe(.param .u32 n) { .reg .u32 x; .reg .pred q; ld.param.u32 x, [n];\n"
      "setp.lt.u32 q, x, 8; @q exit; setp.lt.u32 q, x, 16; @q ret; setp.lt.u32 q, x, 24; @!q "
      "ret.uni;\n"
      "exit; }\n" +
          kernel(".param .u32 m; .reg .pred q; st.param.u32 [m], %t; call maybe, (m);\n"
                 "setp.ge.u32 q, %t, 48; @q ret; bar.sync 0; st.global.u32 [%to], 1;"),
      64);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i], (i >= 8 && i < 16) || (i >= 24 && i < 48) ? 1U : 0U) << i;
  }
  for (const char* end : {"trap;", "brkpt;"}) {
    const Fault fault = fault_of(
        kernel(std::string(".reg .pred q; setp.eq.u32 q, %t, 9; @q ") + end + " ret;"), 32);
    EXPECT_EQ(fault.kind, FaultKind::kTrap);
    EXPECT_EQ(fault.thread[0], 9U);
  }
}

TEST(Control, hints_change_nothing) {
  const auto got =
      results(kernel("pmevent 7; pmevent.mask 0xff; setmaxnreg.inc.sync.aligned.u32 232;\n"
                     "setmaxnreg.dec.sync.aligned.u32 24; nanosleep.u32 100;\n"
                     "st.global.u32 [%to], %t; ret;"),
              32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i);
}

TEST(Control, clocks_move_and_are_told) {
  for (const char* clock : {"%clock64", "%globaltimer"}) {
    Module module = load_ptx(kernel(std::string(".reg .u64 a, b; .reg .pred q; mov.u64 a, ") +
                                    clock + ";\nL: mov.u64 b, " + clock +
                                    "; setp.eq.u64 q, a, b; @q bra L; st.global.u32 [%to], 1;"));
    Buffer<std::uint32_t> y("y", 32);
    const Launch launch = launch_of("k", 1, 32, arguments(y.data()));
    EXPECT_TRUE(run(module, launch, {y.region()}).read_clock);
    EXPECT_EQ(y[31], 1U);
  }
  Module module = load_ptx(kernel("st.global.u32 [%to], 1;"));
  Buffer<std::uint32_t> y("y", 1);
  const Launch launch = launch_of("k", 1, 1, arguments(y.data()));
  EXPECT_FALSE(run(module, launch, {y.region()}).read_clock);
}

TEST(Control, an_endless_loop_ends_with_its_budget) {
  for (const char* body :
       {"L: add.u32 %t, %t, 1; bra L;", ".reg .u32 x; L: ld.volatile.global.u32 x, [%to]; bra L;",
        "L: nanosleep.u32 5; bra L;", "L: bar.sync 0; bra L;",
        ".reg .pred q; setp.lt.u32 q, %t, 5; @!q exit; L: bra L;"}) {
    for (const unsigned threads : {1U, 2U}) {
      Options options;
      options.threads = threads;
      options.max_instructions = 100'000;
      const Fault got = fault_of(kernel(std::string(".loc 1 77 0\n") + body), 64, options);
      EXPECT_EQ(got.kind, FaultKind::kBudget) << body;
      EXPECT_THAT(got.message, HasSubstr("100000 warp instructions")) << body;
      EXPECT_EQ(got.kernel, "k");
    }
  }
  Module module = load_ptx(kernel("st.global.u32 [%to], 1;"));
  Buffer<std::uint32_t> y("y", 32);
  const Launch launch = launch_of("k", 1, 32, arguments(y.data()));
  Options options;
  options.max_instructions = 100;
  run(module, launch, {y.region()}, options);
}

}  // namespace
}  // namespace kbench::ptx::testing
