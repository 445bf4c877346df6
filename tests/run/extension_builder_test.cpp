// SPDX-License-Identifier: MIT
#include "run/build/extension_builder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compile/nvcc_fixture.hpp"
#include "os/installation.hpp"
#include "protocol/protocol.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// A member function's device lambda: what the split refuses, at line 3.
constexpr const char* kRefused =
    "template <typename F> __global__ void k(F f) { f(); }\n"
    "struct Run {\n"
    "  void operator()() const { k<<<1, 1>>>([=] __device__() {}); }\n};\n"
    "void forward(torch::Tensor x) { Run()(); }\n";

/// Builds for a GPU that is not there; what is a script in the place of nvcc notes its calls.
class Extensions : public CompileTest {
 protected:
  ExtensionResult build(const std::string& cuda, const std::string& nvcc,
                        const std::string& arch = "sm_90a") {
    const Installation installation = find_installation();
    CompilePool pool(setup());
    const ScopedVariable named("KBENCH_NVCC", nvcc);
    NvccSetup whole = nvcc_setup(installation);
    whole.host.cache = folder_.path();
    if (whole.cuda_version.empty()) whole.cuda_version = "13.0";
    ExtensionBuilder builder(pool, host_setup(installation), whole, arch);
    const json request{{"kind", "inline"},
                       {"cuda_sources", {cuda}},
                       {"cpp_sources", json::array()},
                       {"functions", nullptr}};
    return builder.build(request, {"k.py", ""}).get();
  }
};

TEST_F(Extensions, WhatTheSplitRefusesIsNvccs) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  const auto result = build(kRefused, fake_nvcc(folder_.path(), kWorkingNvcc).string());
  const auto* extension = std::get_if<Extension>(&result);
  ASSERT_NE(extension, nullptr) << std::get<ExtensionError>(result).message;
  EXPECT_TRUE(extension->whole);
  EXPECT_THAT(with_bytes(*extension).object, HasSubstr("-arch sm_90a"));
  EXPECT_THAT(extension->way, StartsWith("nvcc 13.0.1 + "));
  EXPECT_THAT(extension->fallback, StartsWith("device_lambda: k.py (cuda_sources[0]):3: "));
}

TEST_F(Extensions, WhatIsKeptLiesInFilesAndIsBoundedForEachCandidate) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  constexpr std::size_t kObjectBytes = std::size_t{1} << 20;
  const auto nvcc =
      fake_nvcc(folder_.path(),
                "printf 'extern \"C\" const char filled[1 << 20] = {1};' > $object.cpp\n"
                "exec g++ -c -fPIC $object.cpp -o $object");
  const Installation installation = find_installation();
  CompilePool pool(setup());
  const ScopedVariable named("KBENCH_NVCC", nvcc.string());
  HostSetup host = host_setup(installation);
  NvccSetup whole = nvcc_setup(installation);
  whole.host.cache = host.cache = folder_.path();
  if (whole.cuda_version.empty()) whole.cuda_version = "13.0";
  ExtensionBuilder builder(pool, std::move(host), std::move(whole), "sm_90a", kCompileBudget,
                           kObjectBytes * 5 / 2);
  const auto build = [&](const std::string& text, const std::string& owner) {
    const json request{{"kind", "inline"}, {"cuda_sources", {text + kRefused}}};
    return builder.build(request, {owner, ""}).get();
  };
  const auto first = build("// 1\n", "k.py");
  const auto* extension = std::get_if<Extension>(&first);
  ASSERT_NE(extension, nullptr) << std::get<ExtensionError>(first).message;
  EXPECT_EQ(extension->object, "");
  EXPECT_GE(extension->stored_object.size(), kObjectBytes);
  ASSERT_TRUE(std::holds_alternative<Extension>(build("// 2\n", "k.py")));
  const auto last = build("// 3\n", "k.py");
  ASSERT_TRUE(std::holds_alternative<ExtensionError>(last));
  EXPECT_EQ(std::get<ExtensionError>(last).cause, "objects_too_large");
  EXPECT_TRUE(std::holds_alternative<Extension>(build("// 3\n", "other.py")));
}

TEST_F(Extensions, WhatNvccSaysIsTheVerdict) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  const auto nvcc = fake_nvcc(folder_.path(), "echo 'k.py(3): error: no such F' >&2; exit 2");
  const auto result = build(kRefused, nvcc.string());
  const auto& error = std::get<ExtensionError>(result);
  EXPECT_EQ(error.outcome, Outcome::kCompileFailure);
  EXPECT_EQ(error.cause, "syntax_error");
  EXPECT_THAT(error.message, HasSubstr("line 3: no such F"));
  EXPECT_EQ(error.way, "nvcc 13.0.1");
  EXPECT_THAT(error.fallback, StartsWith("device_lambda: "));
}

TEST_F(Extensions, WithoutNvccTheRefusalSaysSo) {
  const auto result = build(kRefused, "none");
  const auto& error = std::get<ExtensionError>(result);
  EXPECT_EQ(error.outcome, Outcome::kCompileFailure);
  EXPECT_EQ(error.cause, "device_lambda");
  EXPECT_THAT(error.message, HasSubstr("k.py (cuda_sources[0]):3: "));
  EXPECT_THAT(error.message,
              HasSubstr("kbench cannot use nvcc (KBENCH_NVCC=none): run kbench doctor"));
}

TEST_F(Extensions, OnTheCpuNvccIsNoWay) {
  const auto nvcc = fake_nvcc(folder_.path(), kWorkingNvcc);
  const auto result = build(kRefused, nvcc.string(), "compute_90a");
  const auto& error = std::get<ExtensionError>(result);
  EXPECT_EQ(error.outcome, Outcome::kUnsupported);
  EXPECT_EQ(error.cause, "needs_nvcc");
  EXPECT_THAT(error.message, HasSubstr("does not run on the CPU"));
}

TEST_F(Extensions, AKernelMayHaveTheNameOfAFunctionOfCuda) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  const auto result = build(
      "#include <cuda_runtime.h>\n"
      "__global__ void norm(const float4* x, float* y) { y[0] = norm3df(x[0].x, x[0].y, 0); }\n"
      "void forward(torch::Tensor x) {\n"
      "  norm<<<1, 1>>>(reinterpret_cast<const float4*>(x.data_ptr<float>()), "
      "x.data_ptr<float>());\n"
      "}\n",
      "none", "compute_90a");
  const auto* extension = std::get_if<Extension>(&result);
  ASSERT_NE(extension, nullptr) << std::get<ExtensionError>(result).message;
  ASSERT_EQ(extension->kernels.size(), 1u);
  EXPECT_EQ(extension->kernels[0].symbol, "_Z4normPK6float4Pf");
}

TEST_F(Extensions, EqualSourcesOfOtherFilesAreBuiltOnceAndKeepTheirNames) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  const Installation installation = find_installation();
  CompilePool pool(setup());
  ExtensionBuilder builder(pool, host_setup(installation), nvcc_setup(installation), "compute_90a");
  const auto build = [&](const std::string& name, const std::string& text) {
    const json request{{"kind", "inline"}, {"cuda_sources", {text}}};
    return builder.build(request, {name, text}).get();
  };
  // No earlier run of this test has built this one.
  const std::string text = fmt::format(
      "// {}\n__global__ void k(float* x) {{ x[0] = 1; }}\n"
      "void forward(torch::Tensor x) {{ k<<<1, 1>>>(x.data_ptr<float>()); }}\n",
      protocol::random_hex(16));
  const auto first = build("a/one.cu", text), second = build("b/two.cu", text);
  ASSERT_TRUE(std::holds_alternative<Extension>(first)) << std::get<ExtensionError>(first).message;
  EXPECT_FALSE(std::get<Extension>(first).cached);
  EXPECT_TRUE(std::get<Extension>(second).cached);
  EXPECT_THAT(with_bytes(std::get<Extension>(first)).image, HasSubstr("\"a/one.cu\""));
  EXPECT_THAT(with_bytes(std::get<Extension>(second)).image, HasSubstr("\"b/two.cu\""));
  const auto broken = build("b/two.cu", text + "__global__ void m() { none(); }\n");
  ASSERT_TRUE(std::holds_alternative<ExtensionError>(broken));
  EXPECT_THAT(std::get<ExtensionError>(broken).message, HasSubstr("two.cu, line 4: "));
  EXPECT_THAT(std::get<ExtensionError>(broken).log, HasSubstr("b/two.cu(4)"));
}

TEST_F(Extensions, ManyEndlessBuildsCostTheirOwnerAlone) {
  CompilerSetup one = setup();
  one.jobs = 1;
  CompilePool pool(one);
  const Installation installation = find_installation();
  ExtensionBuilder builder(pool, host_setup(installation), nvcc_setup(installation), "compute_90a",
                           std::chrono::seconds(1));
  const auto build = [&](const std::string& name, const std::string& source) {
    return builder.build({{"kind", "kernel"}, {"source", source}, {"name", "k"}},
                         {name, "all of " + name});
  };
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::shared_future<ExtensionResult>> flood;
  for (int i = 0; i < 30; ++i)
    flood.push_back(build("flood.py", kEndless + fmt::format("\n// {}", i)));
  const auto honest =
      build("honest.py", "extern \"C\" __global__ void k(float* x) { x[0] = 1; }").get();
  EXPECT_TRUE(std::holds_alternative<Extension>(honest));
  for (const auto& each : flood) {
    const auto& error = std::get<ExtensionError>(each.get());
    EXPECT_EQ(error.outcome, Outcome::kCompileFailure);
    EXPECT_EQ(error.cause, "compile_timeout");
  }
  // A dry import's builds and those of the candidate's own process are taken from one budget.
  const auto later =
      build("flood.py", "extern \"C\" __global__ void k(int* x) { x[0] = 1; }").get();
  EXPECT_EQ(std::get<ExtensionError>(later).cause, "compile_timeout");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
}

/// What a candidate's process may send in the form of a request, and no compiler takes.
TEST_F(Extensions, WhatNobodyCanBuildIsTheCandidatesFailure) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  const Installation installation = find_installation();
  CompilePool pool(setup());
  NvccSetup nvcc = nvcc_setup(installation);
  HostSetup host = host_setup(installation);
  ExtensionBuilder builder(pool, host, nvcc, "compute_90a");
  const std::string kernel = "__global__ void k(float* x) { x[0] = 1; }";
  const std::string bytes("a\0b\n\"c", 6);
  const std::vector<json> requests{
      {{"kind", "kernel"}, {"source", kernel}, {"name", ""}},
      {{"kind", "kernel"}, {"source", kernel}, {"name", "1"}},
      {{"kind", "kernel"}, {"source", kernel}, {"name", "k); ("}},
      {{"kind", "kernel"}, {"source", kernel}, {"name", "&k"}},
      {{"kind", "kernel"}, {"source", kernel}, {"name", bytes}},
      {{"kind", "kernel"}, {"source", kernel}, {"name", std::string(4000, 'k')}},
      {{"kind", "kernel"}, {"source", bytes}, {"name", "k"}},
      {{"kind", "kernel"}, {"source", ""}, {"name", "k"}},
      {{"kind", "kernel"}, {"name", "k"}},
      {{"kind", "inline"}, {"cuda_sources", {bytes}}},
      {{"kind", "inline"}, {"cuda_sources", {kernel}}, {"functions", {{bytes, bytes}}}},
      {{"kind", "files"}, {"cuda_sources", {kernel}}, {"cuda_files", {bytes}}},
      {{"kind", "inline"}, {"cpp_sources", {"int f("}}, {"extra_include_paths", {bytes, "", "-x"}}},
      {{"kind", "inline"}, {"cpp_sources", {"int f("}}, {"extra_cflags", {"-I" + bytes, "-I", ""}}},
      {{"kind", "inline"},
       {"cpp_sources", {"int f("}},
       {"extra_include_paths", {std::string(60'000, 'i')}}},
  };
  for (const json& request : requests) {
    const auto result = builder.build(request, {"k.py", ""}).get();
    const auto* error = std::get_if<ExtensionError>(&result);
    if (error == nullptr) continue;
    EXPECT_EQ(error->outcome, Outcome::kCompileFailure) << request.dump();
    EXPECT_FALSE(error->cause.empty() || error->message.empty()) << request.dump();
  }
}

/// Of `load`, the second file's function is none of the first's; load_inline has one file of both.
TEST_F(Extensions, WhatTwoFilesHaveForThemselvesIsUnsupportedOnTheCpu) {
  if (find_installation().torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
  CompilePool pool(setup());
  const Installation installation = find_installation();
  ExtensionBuilder builder(pool, host_setup(installation), nvcc_setup(installation), "compute_90a");
  const auto file = [](const std::string& kernel) {
    return fmt::format(
        "static __device__ float helper(float x) {{ return x + 1; }}\n"
        "__global__ void {0}(float* x) {{ x[0] = helper(x[0]); }}\n"
        "void run_{0}(torch::Tensor x) {{ {0}<<<1, 1>>>(x.data_ptr<float>()); }}\n",
        kernel);
  };
  for (const std::string kind : {"files", "inline"}) {
    const json request{
        {"kind", kind}, {"cuda_sources", {file("a"), file("b")}}, {"cuda_files", {"a.cu", "b.cu"}}};
    const auto result = builder.build(request, {"k.py", ""}).get();
    const auto& error = std::get<ExtensionError>(result);
    EXPECT_EQ(error.outcome, kind == "files" ? Outcome::kUnsupported : Outcome::kCompileFailure);
    EXPECT_EQ(error.cause, kind == "files" ? "needs_nvcc" : "syntax_error");
    EXPECT_THAT(error.message, HasSubstr("\"helper\""));
    EXPECT_THAT(error.message, HasSubstr("b.cu"));
  }
}

TEST_F(Extensions, WhatIsNotInTheAnswerIsNamedAsWhatItIs) {
  const Installation installation = find_installation();
  const std::string kernel = "extern \"C\" __global__ void k() {\n  none();\n}";
  const json request{{"kind", "kernel"}, {"source", kernel}, {"name", "k"}};
  for (const auto& [answer, place] : std::initializer_list<std::pair<std::string, std::string>>{
           {"import torch\nS = r\"\"\"" + kernel + "\"\"\"\n", "k.py(3)"},
           {"import torch\nS = made_of_parts()\n", "k.py (kernel_source)(2)"}}) {
    CompilePool pool(setup());
    ExtensionBuilder builder(pool, host_setup(installation), nvcc_setup(installation),
                             "compute_90a");
    const auto result = builder.build(request, {"k.py", answer}).get();
    EXPECT_THAT(std::get<ExtensionError>(result).log, HasSubstr(place));
  }
}

TEST_F(Extensions, WhoGetsNoHeadersHasToBringThem) {
  const Installation installation = find_installation();
  CompilePool pool(setup());
  ExtensionBuilder builder(pool, host_setup(installation), nvcc_setup(installation), "compute_90a");
  // In one file the first source's headers serve the second; each file of load has its own.
  json request{
      {"kind", "inline"},
      {"no_implicit_headers", true},
      {"cpp_sources", {"#include <torch/extension.h>\n", "\nat::Tensor f(at::Tensor x);\n"}},
      {"cpp_files", {"", "csrc/f.cpp"}},
      {"cuda_sources", {"__global__ void k( {\n"}}};
  const auto of = [&] {
    return std::get<ExtensionError>(builder.build(request, {"k.py", ""}).get());
  };
  EXPECT_EQ(of().cause, "syntax_error") << of().message;
  request["kind"] = "files";
  EXPECT_EQ(of().cause, "unknown_name");
  EXPECT_THAT(of().message, StartsWith("csrc/f.cpp:2: 'at' has not been declared"));
  request["no_implicit_headers"] = false;
  EXPECT_EQ(of().cause, "syntax_error") << of().message;
}

TEST_F(Extensions, ABrokenSourceIsNotNvccs) {
  const auto nvcc = fake_nvcc(folder_.path(), "echo 'k.py(1): error: nvcc ran' >&2; exit 2");
  const auto result = build("__global__ void k() {\n", nvcc.string());
  const auto& error = std::get<ExtensionError>(result);
  EXPECT_EQ(error.cause, "syntax_error");
  EXPECT_THAT(error.message, HasSubstr("is unmatched"));
  EXPECT_EQ(error.fallback, "");
}

}  // namespace
}  // namespace kbench::run
