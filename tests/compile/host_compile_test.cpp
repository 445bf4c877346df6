// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "compile/host_fixture.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kDeclaration = "torch::Tensor forward(torch::Tensor x, double s);\n";

// As the splitter writes it.
constexpr const char* kScale = R"(
template <typename T, int N>
__global__ void scale(const T* __restrict__ x, T* y, int n, float s) { const ::kbench_split::Argument kb_arguments[] = {::kbench_split::argument(x), ::kbench_split::argument(y), ::kbench_split::argument(n), ::kbench_split::argument(s), {}}; ::kbench_split::launch_stub(kb_arguments, 4); }
torch::Tensor forward(torch::Tensor x, double s) {
  TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
  auto y = torch::empty_like(x);
  const int n = x.numel();
  const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "forward", ([&] {
    (::kbench_split::configure((n + 255) / 256, 256, 64, at::cuda::getCurrentCUDAStream()), scale<scalar_t, 4>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n, s));
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
)";

std::vector<std::string> expressions(const HostModule& module) {
  std::vector<std::string> names;
  for (const auto& stub : module.stubs) names.push_back(stub.expression);
  return names;
}

class HostCompile : public HostCompileTest {};

TEST_F(HostCompile, InstancesInsideADispatchAreFoundByTheirNames) {
  for (const HostDevice device : {HostDevice::kCuda, HostDevice::kCpu}) {
    HostRequest asked = request(kDeclaration, kScale, {"scale"});
    asked.device = device;
    const HostModule module = must_compile(asked);
    EXPECT_THAT(expressions(module),
                UnorderedElementsAre("scale<double, 4>", "scale<float, 4>", "scale<c10::Half, 4>"));
    for (const auto& stub : module.stubs) {
      EXPECT_EQ(stub.kernel, "scale");
      EXPECT_GT(stub.size, 0u);
    }
    RecordProperty(device == HostDevice::kCpu ? "seconds_cpu" : "seconds_cuda",
                   std::to_string(module.seconds));
  }
}

TEST_F(HostCompile, LaunchesReachTheTableWithTheirArguments) {
  const HostModule module = must_compile(request(kDeclaration, kScale, {"scale"}));
  EXPECT_EQ(run_python(module, R"(
def scale(a):
    n, s = number(ctypes.c_int, a[2]), number(ctypes.c_float, a[3])
    for i, x in enumerate(floats(a[0], n)):
        floats(a[1], n)[i] = x * s
kernels["scale<float, 4>"] = scale
x = torch.arange(1000, dtype=torch.float32)
print(torch.equal(m.forward(x, 3.0), 3 * x))
m.forward(x.to(torch.float16), 1)
for launch in launches: print(launch)
errors["scale<float, 4>"] = 700
print(message_of(lambda: m.forward(x, 3.0)))
print(message_of(lambda: m.forward(x.to(torch.float16), 3.0)))
print(message_of(lambda: m.forward(x)))
)"),
            "True\n"
            "('scale<float, 4>', [4, 1, 1], [256, 1, 1], 64, [8, 8, 4, 4])\n"
            "('scale<c10::Half, 4>', [4, 1, 1], [256, 1, 1], 64, [8, 8, 4, 4])\n"
            "CUDA error: an illegal memory access was encountered\n"
            "no error\n"
            "forward(): incompatible function arguments. The following argument types are "
            "supported:\n");
}

/// Where clang is installed, all other cases are its work.
TEST_F(HostCompile, GccTakesTheSameWay) {
  const auto found = find_host_compilers({});
  const auto gcc = std::ranges::find(found, false, &FoundCompiler::is_clang);
  if (gcc == found.end()) GTEST_SKIP() << "g++ is not installed";
  compilers_ = {gcc->path};
  const HostModule module = must_compile(request(kDeclaration, kScale, {"scale"}));
  EXPECT_EQ(module.way, gcc->name());
  EXPECT_EQ(run_python(module, "m.forward(torch.zeros(3), 1.0)\nprint(launches[0][0])"),
            "scale<float, 4>\n");
  const CompileError error =
      must_fail(request("\n\nint forward(int x) { return missing_name; }\n", ""));
  EXPECT_THAT(error.message, HasSubstr("main.cpp, line 3: "));
}

TEST_F(HostCompile, KernelsOfOneNameAreToldByTheirTypes) {
  const std::string stub = "{ ::kbench_split::launch_stub(nullptr, 0); }\n";
  const HostModule module = must_compile(
      request(kDeclaration,
              "__global__ void k(float* x) " + stub + "__global__ void k(double* x, int n) " +
                  stub + "torch::Tensor forward(torch::Tensor x, double s) { return x; }\n",
              {"k", "k"}));
  EXPECT_THAT(expressions(module),
              UnorderedElementsAre("(void(*)(float*))k", "(void(*)(double*, int))k"));
}

// The runtime functions that take a kernel or a variable, and what CUDA's headers give to nvcc
// alone.
constexpr const char* kRuntimeCalls = R"(
namespace {
__global__ void add(float* x, int n) { const ::kbench_split::Argument kb_arguments[] = {::kbench_split::argument(x), ::kbench_split::argument(n), {}}; ::kbench_split::launch_stub(kb_arguments, 2); }
static __constant__ float weights[4];
static __device__ int counter;
}
namespace mine {
__global__ void __launch_bounds__(256) touch() { const ::kbench_split::Argument kb_arguments[] = {{}}; ::kbench_split::launch_stub(kb_arguments, 0); }
}
torch::Tensor forward(torch::Tensor x, double s) {
  const float host[4] = {1, 2, 3, static_cast<float>(s)};
  C10_CUDA_CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
  const int start = 7;
  C10_CUDA_CHECK(cudaMemcpyToSymbolAsync(counter, &start, sizeof start, 0, cudaMemcpyHostToDevice, at::cuda::getCurrentCUDAStream()));
  int back = 0;
  C10_CUDA_CHECK(cudaMemcpyFromSymbol(&back, counter, sizeof back));
  TORCH_CHECK(back == 7, "counter is ", back);
  TORCH_CHECK(cudaMemcpyToSymbol(weights, host, sizeof host, 4) == cudaErrorInvalidValue);
  TORCH_CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  C10_CUDA_CHECK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304));
  float* data = x.data_ptr<float>();
  int n = x.numel();
  void* arguments[] = {&data, &n};
  C10_CUDA_CHECK(cudaLaunchKernel((void*)add, dim3(2, 3), dim3(32), arguments, 16, nullptr));
  C10_CUDA_CHECK(cudaLaunchCooperativeKernel(add, 4, 64, arguments, 0, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = 2;
  config.blockDim = 32;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  C10_CUDA_CHECK(cudaLaunchKernelEx(&config, add, data, n));
  int blocks = 0, size = 0, grid = 0;
  C10_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  TORCH_CHECK(blocks == 8, "blocks ", blocks);
  cudaFuncAttributes attributes;
  C10_CUDA_CHECK(cudaFuncGetAttributes(&attributes, add));
  (::kbench_split::configure(min(n, 5), max(n, 3u)), mine::touch());
  return x;
}
)";

TEST_F(HostCompile, CallsWithAKernelOrAVariableMeanStubsAndShadows) {
  HostRequest asked = request(kDeclaration, kRuntimeCalls, {"add", "mine::touch"});
  asked.variables = {"weights", "counter"};
  const HostModule module = must_compile(asked);
  EXPECT_THAT(expressions(module), UnorderedElementsAre("add", "mine::touch"));
  EXPECT_EQ(module.variables.size(), 2u);
  EXPECT_EQ(run_python(module, R"(
def add(a):
    print(number(ctypes.c_int, a[1]), list(floats(a[0], 2)))
kernels["add"] = add
m.forward(torch.tensor([5., 6.]), 4.0)
for launch in launches: print(launch)
print(attributes_set)
import struct
print(struct.unpack("4f", variable("weights")))
)"),
            "2 [5.0, 6.0]\n2 [5.0, 6.0]\n2 [5.0, 6.0]\n"
            "('add', [2, 3, 1], [32, 1, 1], 16, None)\n"
            "('add', [4, 1, 1], [64, 1, 1], 0, None, 1, [0, 0, 0])\n"
            "('add', [2, 1, 1], [32, 1, 1], 0, None, 0, [2, 1, 1])\n"
            "('mine::touch', [2, 1, 1], [3, 1, 1], 0, [])\n"
            "[('add', 8, 98304)]\n"
            "(1.0, 2.0, 3.0, 4.0)\n");
}

TEST_F(HostCompile, ErrorsHaveTheCandidatesOwnLines) {
  CompileError error = must_fail(request(kDeclaration, "\n\nint broken = missing_name;\n"));
  EXPECT_EQ(error.cause, "syntax_error");
  EXPECT_THAT(error.message, HasSubstr("cuda.cu, line 3: "));
  EXPECT_THAT(error.message, HasSubstr("missing_name"));

  error = must_fail(
      request("#line 40 \"mine.py\"\nint f() { return g(); }\n" + std::string(kDeclaration), ""));
  EXPECT_THAT(error.message, HasSubstr("mine.py, line 40: "));

  error = must_fail(request(std::string(kDeclaration) + "#include <no/such/file.h>\n", ""));
  EXPECT_EQ(error.cause, "missing_include");
  EXPECT_THAT(error.message, HasSubstr("main.cpp, line 2: "));

  error = must_fail(request(kDeclaration,
                            "torch::Tensor forward(torch::Tensor x, double s) {\n"
                            "  std::vector<int> v;\n"
                            "  v.emplace_back(std::string());\n  return x;\n}\n"));
  EXPECT_THAT(error.message, HasSubstr("cuda.cu, line 3: "));
}

TEST_F(HostCompile, AFunctionThatNobodyDeclaresIsNamed) {
  HostRequest asked = request(kDeclaration, kScale, {"scale"});
  asked.functions = std::vector<HostFunction>{{"forward", "forward"}, {"backward", "\"quoted\"\n"}};
  const CompileError error = must_fail(asked);
  EXPECT_EQ(error.cause, "unknown_function");
  EXPECT_THAT(error.message, HasSubstr("backward"));
}

TEST_F(HostCompile, AFunctionThatNobodyDefinesIsNamed) {
  const CompileError error = must_fail(request(kDeclaration, ""));
  EXPECT_EQ(error.cause, "undefined_function");
  EXPECT_THAT(error.message, HasSubstr("forward(at::Tensor, double)"));
}

TEST_F(HostCompile, TextsThatDisturbEachOtherAreCompiledApart) {
  const std::string helper = "static int helper() { return 1; }\n";
  must_compile(request(helper + kDeclaration, helper + kScale, {"scale"}));
}

TEST_F(HostCompile, ATextMayBringItsOwnModule) {
  HostRequest asked =
      request("#include <torch/extension.h>\n" + std::string(kDeclaration) +
                  "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n"
                  "  m.def(\"run\", &forward, py::arg(\"x\"), py::arg(\"s\") = 2);\n}\n",
              kScale, {"scale"});
  asked.functions.reset();
  EXPECT_EQ(run_python(must_compile(asked), "m.run(x=torch.zeros(3))\nprint(launches[0][0])"),
            "scale<float, 4>\n");
}

TEST_F(HostCompile, FlagsOfMacrosCount) {
  HostRequest asked = request(kDeclaration,
                              "#ifndef WITH_IT\n#error no macro\n#endif\n"
                              "static_assert(VALUE == 3 && __cplusplus >= 201703L);\n" +
                                  std::string(kScale),
                              {"scale"});
  asked.flags = {"-O3", "-DWITH_IT", "-D", "VALUE=3", "--use_fast_math", "-std=c++17"};
  must_compile(asked);
}

TEST_F(HostCompile, ACudaLibraryWithoutACounterpartIsUnsupportedOnTheCpu) {
  const CompileError error = must_fail(request(
      kDeclaration,
      "extern \"C\" int cudnnCreate(void**);\n"
      "torch::Tensor forward(torch::Tensor x, double s) { cudnnCreate(nullptr); return x; }\n"));
  EXPECT_EQ(error.cause, "unsupported_on_cpu");
  EXPECT_THAT(error.message, HasSubstr("cudnnCreate"));
}

TEST_F(HostCompile, FilesOfTheUserAreOutOfReach) {
  const auto secret = folder_.path() / "secret.h";
  std::ofstream(secret) << "int secret;\n";
  for (const std::string& text : {"#include \"" + secret.string() + "\"\n",
                                  "__asm__(\".incbin \\\"" + secret.string() + "\\\"\");\n"}) {
    const HostResult result = compile(request(text + kDeclaration, kScale, {"scale"}));
    if (std::holds_alternative<HostModule>(result)) {
      GTEST_SKIP() << "this kernel has no Landlock, which is what keeps compilers off the files";
    }
  }
}

TEST_F(HostCompile, AnEndlessCompileEndsAtItsLimit) {
  HostRequest asked = request(kDeclaration,
                              "template <int kDepth, unsigned long long kId> struct Tree {\n"
                              "  static constexpr int value = Tree<kDepth - 1, 2 * kId>::value +\n"
                              "      Tree<kDepth - 1, 2 * kId + 1>::value;\n};\n"
                              "template <unsigned long long kId> struct Tree<0, kId> {\n"
                              "  static constexpr int value = 1; };\n"
                              "int x = Tree<60, 0>::value;\n");
  HostCompiler(setup()).prepare(HostDevice::kCpu);
  HostSetup short_of_time = setup();
  short_of_time.limit = std::chrono::seconds(3);
  HostCompiler compiler(short_of_time);
  const HostResult result = compiler.compile(asked).get();
  ASSERT_TRUE(std::holds_alternative<CompileError>(result));
  EXPECT_EQ(std::get<CompileError>(result).cause, "compile_timeout");
  EXPECT_LT(std::get<CompileError>(result).seconds, 10);
}

TEST_F(HostCompile, ACompilerThatTakesTooMuchMemoryIsStopped) {
  std::string text = "#define A0 1,\n";
  for (int i = 1; i <= 27; ++i) text += fmt::format("#define A{0} A{1} A{1}\n", i, i - 1);
  HostSetup short_of_memory = setup();
  short_of_memory.memory_bytes = std::size_t{600} << 20;
  const HostResult result = HostCompiler(short_of_memory)
                                .compile(request(kDeclaration, text + "int x[] = {A27};\n"))
                                .get();
  ASSERT_TRUE(std::holds_alternative<CompileError>(result));
  EXPECT_EQ(std::get<CompileError>(result).cause, "compiler_out_of_memory");
}

TEST_F(HostCompile, TorchsRarerHeadersAreTakenWhereTheyAreNeeded) {
  const HostModule module = must_compile(
      request(kDeclaration,
              "torch::Tensor forward(torch::Tensor x, double s) {\n"
              "  namespace F = torch::nn::functional;\n"
              "  return F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(s));\n}\n"));
  EXPECT_THAT(module.way, HasSubstr("heavy"));
  EXPECT_EQ(run_python(module, "print(m.forward(torch.tensor([-2.0, 4.0]), 0.5))"),
            "tensor([-1.,  4.])\n");
}

TEST_F(HostCompile, FunctionsWithAGradientNeedNoMoreThanTheUsualHeaders) {
  const HostModule module = must_compile(request(
      kDeclaration,
      "struct Scale : torch::autograd::Function<Scale> {\n"
      "  static torch::Tensor forward(torch::autograd::AutogradContext* context,\n"
      "                               torch::Tensor x, double s) {\n"
      "    context->saved_data[\"s\"] = s;\n    return x * s;\n  }\n"
      "  static torch::autograd::variable_list backward(\n"
      "      torch::autograd::AutogradContext* context, torch::autograd::variable_list g) {\n"
      "    return {g[0] * context->saved_data[\"s\"].toDouble(), torch::Tensor()};\n  }\n};\n"
      "torch::Tensor forward(torch::Tensor x, double s) { return Scale::apply(x, s); }\n"));
  EXPECT_THAT(module.way, Not(HasSubstr("heavy")));
  EXPECT_EQ(run_python(module,
                       "x = torch.tensor([3.0], requires_grad=True)\n"
                       "m.forward(x, 2.0).sum().backward()\nprint(x.grad)"),
            "tensor([2.])\n");
}

TEST_F(HostCompile, EqualHostCodesAreCompiledOnce) {
  HostCompiler compiler(setup());
  const HostRequest asked = request(kDeclaration, kScale, {"scale"});
  auto first = compiler.compile(asked);
  auto second = compiler.compile(asked);
  const auto* made = std::get_if<HostModule>(&first.get());
  const auto* same = std::get_if<HostModule>(&second.get());
  ASSERT_TRUE(made != nullptr && same != nullptr);
  EXPECT_FALSE(made->cached);
  const HostResult third = compile(asked);
  ASSERT_TRUE(std::holds_alternative<HostModule>(third));
  EXPECT_TRUE(std::get<HostModule>(third).cached);
  EXPECT_EQ(std::get<HostModule>(third).object, made->object);
  EXPECT_EQ(std::get<HostModule>(third).stubs.size(), 3u);

  HostRequest other = asked;
  other.functions->front().docstring = "another";
  const HostResult fourth = compile(other);
  EXPECT_FALSE(std::get<HostModule>(fourth).cached);
}

}  // namespace
}  // namespace kbench
