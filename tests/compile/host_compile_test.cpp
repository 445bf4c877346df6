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
__global__ void scale(const T* x, T* y, int n, float s) { const ::kbench_split::Argument kb_args[] = {::kbench_split::argument(x), ::kbench_split::argument(y), ::kbench_split::argument(n), ::kbench_split::argument(s)}; ::kbench_split::launch_stub(kb_args, 4); }
torch::Tensor forward(torch::Tensor x, double s) {
  TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
  auto y = torch::empty_like(x);
  const int n = x.numel();
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
  for (const HostDevice device : {HostDevice::kCuda}) {
    HostRequest asked = request(kDeclaration, kScale, {"scale"});
    asked.device = device;
    const HostModule module = must_compile(asked);
    EXPECT_THAT(expressions(module),
                UnorderedElementsAre("scale<double, 4>", "scale<float, 4>", "scale<c10::Half, 4>"));
    for (const auto& stub : module.stubs) {
      EXPECT_EQ(stub.kernel, "scale");
      EXPECT_GT(stub.size, 0u);
    }
    std::printf("%s: %.2f s\n", module.way.c_str(), module.seconds);
  }
}

}  // namespace
}  // namespace kbench
