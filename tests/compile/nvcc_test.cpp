// SPDX-License-Identifier: MIT
#include "compile/nvcc/nvcc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/host/compilers.hpp"
#include "compile/nvcc/run.hpp"
#include "compile/nvcc_fixture.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

NvccRequest request(const std::string& cuda) {
  NvccRequest made;
  made.sources.cpp_sources = {{"k.py", "torch::Tensor forward(torch::Tensor x);"}};
  made.sources.cuda_sources = {{"k.py", cuda}};
  made.sources.functions = std::vector<HostFunction>{{"forward", "forward"}};
  made.arch = "sm_90a";
  return made;
}

TEST(NvccUnits, AreThoseOfLoadInline) {
  const auto units = nvcc_units(request("int two;"));
  ASSERT_EQ(units.size(), 2u);
  EXPECT_FALSE(units[0].is_cuda);
  EXPECT_THAT(units[0].text, StartsWith("#include <torch/extension.h>\n#line 1 \"k.py\"\n"));
  EXPECT_THAT(units[0].text, HasSubstr("m.def(\"forward\", torch::wrap_pybind_function(forward)"));
  EXPECT_TRUE(units[1].is_cuda);
  EXPECT_EQ(units[1].text,
            "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
            "#line 1 \"k.py\"\nint two;\n");
}

TEST(NvccUnits, HaveNoHeadersWhereNoneAreAskedFor) {
  auto bare = request("int two;");
  bare.implicit_headers = false;
  EXPECT_THAT(nvcc_units(bare)[1].text, StartsWith("#line 1"));
}

TEST(NvccUnits, AreTheFilesOfLoad) {
  auto files = request("int two;");
  files.separate_files = true;
  files.sources.cuda_sources.push_back({"b.cu", "int three;"});
  const auto units = nvcc_units(files);
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(units[2].text, "#line 1 \"b.cu\"\nint three;\n");
}

class FindNvcc : public testing::Test {
 protected:
  FindNvcc() { setup_.cuda_version = "13.0"; }
  TemporaryFolder folder_;
  NvccSetup setup_;
};

TEST_F(FindNvcc, TakesTheOneThatIsNamed) {
  const auto file = fake_nvcc(folder_.path(), "exit 1");
  const ScopedVariable named("KBENCH_NVCC", file.string());
  const auto search = find_nvcc(setup_);
  ASSERT_TRUE(search.found) << search.absence;
  EXPECT_EQ(search.found->path, file);
  EXPECT_EQ(search.found->version, "13.0.1");
}

TEST_F(FindNvcc, TakesNoneWhereNoneIsWanted) {
  const ScopedVariable home("CUDA_HOME", folder_.path().string());
  fake_nvcc(folder_.path(), "exit 1");
  EXPECT_TRUE(find_nvcc(setup_).found);
  const ScopedVariable named("KBENCH_NVCC", "none");
  EXPECT_FALSE(find_nvcc(setup_).found);
}

TEST_F(FindNvcc, SaysThatWhatWasNamedIsNone) {
  const ScopedVariable named("KBENCH_NVCC", "/bin/true");
  const auto search = find_nvcc(setup_);
  EXPECT_FALSE(search.found);
  EXPECT_THAT(search.absence, HasSubstr("KBENCH_NVCC=/bin/true"));
}

TEST_F(FindNvcc, TakesNoneOfAnotherCuda) {
  const auto file = fake_nvcc(folder_.path(), "exit 1", "12.4.131");
  const ScopedVariable named("KBENCH_NVCC", file.string());
  const auto search = find_nvcc(setup_);
  EXPECT_FALSE(search.found);
  EXPECT_THAT(search.absence, HasSubstr("has CUDA 12.4.131, but torch has 13.0"));
}

TEST_F(FindNvcc, LooksBesidePythonsPackages) {
  const ScopedVariable home("CUDA_HOME", "/nonexistent");
  const ScopedVariable path("PATH", "/bin");
  const auto file = fake_nvcc(folder_.path(), "exit 1");
  setup_.packages = folder_.path();
  ASSERT_TRUE(find_nvcc(setup_).found);
  EXPECT_EQ(find_nvcc(setup_).found->path, file);
}

/// Compiles with an nvcc that is a script, or the real one.
class Nvcc : public testing::Test {
 protected:
  void SetUp() override {
    const Installation installation = find_installation();
    if (installation.torch_lib.empty()) GTEST_SKIP() << "this build has no torch to link with";
    if (find_host_compilers({}).empty()) GTEST_SKIP() << "neither clang++ nor g++ is installed";
    setup_ = nvcc_setup(installation);
    setup_.host.cache = folder_.path() / "cache";
    python_ = installation.python;
    if (setup_.cuda_version.empty()) setup_.cuda_version = "13.0";
  }
  HostResult compile(const NvccRequest& asked, const std::string& body) {
    const ScopedVariable named("KBENCH_NVCC", fake_nvcc(folder_.path(), body).string());
    return NvccCompiler(setup_).compile(asked).get();
  }
  /// Of a source without C++ sources, so that only the script has to compile.
  static NvccRequest plain(const std::string& cuda) {
    auto made = request(cuda);
    made.sources.cpp_sources.clear();
    made.sources.functions.reset();
    return made;
  }

  TemporaryFolder folder_;
  NvccSetup setup_;
  std::filesystem::path python_;
};

TEST_F(Nvcc, ItsErrorIsToldWithTheCandidatesLine) {
  const auto result = compile(plain("\n\nint x = y;"),
                              "echo 'k.py(3): error: identifier \"y\" is undefined' >&2; exit 2");
  const auto* error = std::get_if<CompileError>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->cause, "syntax_error");
  EXPECT_EQ(error->message, "nvcc: k.py, line 3: identifier \"y\" is undefined");
}

TEST_F(Nvcc, HasALimitOfItsOwn) {
  const ScopedVariable named("KBENCH_NVCC", fake_nvcc(folder_.path(), "sleep 1000").string());
  const auto run = [&](int limit_ms) {
    setup_.limit = std::chrono::milliseconds(limit_ms);
    return std::get<CompileError>(NvccCompiler(setup_).compile(plain("int x;")).get());
  };
  // It sleeps, which is charged a tenth; and it is tried once more.
  const CompileError error = run(150);
  EXPECT_EQ(error.cause, "compile_timeout");
  EXPECT_EQ(error.message, "nvcc was not done after 0.15 s of processor time and was killed");
  EXPECT_FALSE(run(150).cached);
}

TEST_F(Nvcc, MakesASharedObjectOfWhatItIsGiven) {
  auto asked = plain("int x;");
  asked.cuda_flags = {"-maxrregcount=64", "-O3", "-Xcompiler=-fplugin=evil", "-lineinfo"};
  asked.sources.flags = {"-DTHREADS=128", "-U__CUDA_NO_HALF_OPERATORS__", "-std=c++20"};
  const auto result = compile(asked, kWorkingNvcc);
  const auto* module = std::get_if<HostModule>(&result);
  ASSERT_NE(module, nullptr) << std::get<CompileError>(result).log;
  EXPECT_THAT(module->way, StartsWith("nvcc 13.0.1 + "));
  EXPECT_THAT(module->object, StartsWith("\x7f"
                                         "ELF"));
  const std::string& object = module->object;
  const std::string arguments = object.substr(object.find("ARGUMENTS"), 4000);
  const std::string said = arguments.substr(0, arguments.find('\0'));
  EXPECT_THAT(said, HasSubstr("-arch sm_90a"));
  EXPECT_THAT(said, HasSubstr("-maxrregcount=64"));
  EXPECT_THAT(said, HasSubstr("-lineinfo"));
  EXPECT_THAT(said, HasSubstr("-std=c++20"));
  EXPECT_THAT(said, HasSubstr("-DTORCH_EXTENSION_NAME=kbench_extension"));
  EXPECT_THAT(said, Not(HasSubstr("fplugin")));
  EXPECT_THAT(said, Not(HasSubstr("-O3")));
}

TEST_F(Nvcc, TheSameIsCompiledOnce) {
  const ScopedVariable named("KBENCH_NVCC", fake_nvcc(folder_.path(), kWorkingNvcc).string());
  EXPECT_FALSE(std::get<HostModule>(NvccCompiler(setup_).compile(plain("int x;")).get()).cached);
  EXPECT_TRUE(std::get<HostModule>(NvccCompiler(setup_).compile(plain("int x;")).get()).cached);
  EXPECT_FALSE(std::get<HostModule>(NvccCompiler(setup_).compile(plain("int y;")).get()).cached);
}

TEST_F(Nvcc, AnAbsentOneIsNoFaultOfTheCandidate) {
  const ScopedVariable named("KBENCH_NVCC", "none");
  NvccCompiler compiler(setup_);
  EXPECT_THROW(compiler.compile(plain("int x;")).get(), Error);
}

TEST_F(Nvcc, ReadsNothingOfTheUsers) {
  const auto secret = folder_.path().parent_path() / "kbench_nvcc_test_secret";
  std::ofstream(secret) << "secret";
  const auto result = compile(plain("int x;"), "cat " + secret.string() + " >&2; exit 2");
  std::filesystem::remove(secret);
  const auto* error = std::get_if<CompileError>(&result);
  ASSERT_NE(error, nullptr);
  if (error->log == "secret") GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_THAT(error->log, HasSubstr("Permission denied"));
}

// With little of torch's headers: all of them take nvcc two minutes, those of a tensor one.
constexpr const char* kReal = R"(#include <c10/core/ScalarType.h>
#include <nv/target>
__managed__ int calls = 0;
template <typename F> __global__ void apply(const float* x, float* y, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = f(x[i]);
}
struct Scale {
  float factor;
  void run(const float* x, float* y, int n) const {
    const float by = factor;
    apply<<<1, 256>>>(x, y, n, [=] __device__(float v) { return v * by; });
  }
};
int forward(int n) {
  if (n > 0) Scale{2.0f}.run(nullptr, nullptr, n);
  return static_cast<int>(c10::elementSize(c10::ScalarType::Double));
}
)";
constexpr const char* kRealBindings = R"(#include <pybind11/pybind11.h>
int forward(int n);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
)";

TEST_F(Nvcc, TheRealOneCompilesWhatTheSplitRefuses) {
  setup_.limit = std::chrono::minutes(12);  // a busy machine
  NvccCompiler compiler(setup_);
  if (!compiler.search().found) GTEST_SKIP() << compiler.search().absence;
  NvccRequest real;
  real.implicit_headers = false;
  real.sources.cpp_sources = {{"k.cpp", kRealBindings}};
  real.sources.cuda_sources = {{"k.cu", kReal}};
  real.arch = "sm_90a";
  const auto result = compiler.compile(real).get();
  if (const auto* error = std::get_if<CompileError>(&result))
    FAIL() << error->cause << ": " << error->message << "\n" << error->log.substr(0, 4000);
  const auto file = folder_.path() / "kbench_extension.so";
  std::ofstream(file, std::ios::binary) << std::get<HostModule>(result).object;
  const auto script = folder_.path() / "script.py";
  std::ofstream(script) << "import torch, kbench_extension\n"
                           "print(kbench_extension.forward(0))\n";
  const auto ran = run_command(
      {{python_.string(), script.string()}, {{"PYTHONPATH", folder_.path().string()}}, {}},
      std::chrono::minutes(3));
  EXPECT_EQ(ran.output, "8\n") << ran.error;
}

}  // namespace
}  // namespace kbench
