// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>

#include "host_fixture.hpp"

namespace kbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
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

}  // namespace
}  // namespace kbench
