// SPDX-License-Identifier: MIT
// Modules whose kernels are compiled and launched by packages, each in its own way. On a GPU they
// run; without one they are refused. If a package is not installed, the outcome says so, and
// nothing else is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// Only the kernel's source, for packages that compile device code.
const std::string kSource = R"(
SOURCE = r"""
extern "C" __global__ void relu_scale(const float* x, const float* scale, const float* bias,
                                      float* y, int n, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f) * scale[i % columns] + bias[i % columns];
}
"""
)";

const std::map<std::string, std::string>& samples() {
  static const std::map<std::string, std::string> kSamples{
      {"compile_kernel",
       module_with(kSource + "kernel = torch.cuda._compile_kernel(SOURCE, 'relu_scale')\n",
                   "        y = torch.empty_like(x)\n"
                   "        kernel(((x.numel() + 255) // 256, 1, 1), (256, 1, 1),\n"
                   "               [x, self.scale, self.bias, y, x.numel(), x.shape[1]])\n"
                   "        return y\n")},
      // torch gives NVRTC no host headers, so INFINITY is not defined.
      {"compile_kernel_bare",
       module_with(
           "kernel = torch.cuda._compile_kernel('extern \"C\" __global__ void k(float* y)'\n"
           "                                    '{ y[0] = INFINITY; }', 'k')\n",
           kPlainCall)},
      {"cupy_raw_kernel",
       module_with("import cupy\n" + kSource + "kernel = cupy.RawKernel(SOURCE, 'relu_scale')\n",
                   "        y = torch.empty_like(x)\n"
                   "        arrays = [cupy.asarray(t) for t in (x, self.scale, self.bias, y)]\n"
                   "        kernel(((x.numel() + 255) // 256,), (256,),\n"
                   "               (*arrays, cupy.int32(x.numel()), cupy.int32(x.shape[1])))\n"
                   "        return y\n")},
      {"cupy_raw_module",
       module_with("import cupy\n" + kSource +
                       "kernel = cupy.RawModule(code=SOURCE).get_function('relu_scale')\n",
                   "        y = cupy.empty(tuple(x.shape), dtype=cupy.float32)\n"
                   "        arrays = [cupy.asarray(t) for t in (x, self.scale, self.bias)]\n"
                   "        kernel(((x.numel() + 255) // 256,), (256,),\n"
                   "               (*arrays, y, cupy.int32(x.numel()), cupy.int32(x.shape[1])))\n"
                   "        return torch.from_dlpack(y)\n")},
      {"cupy_elementwise",
       module_with("import cupy\n"
                   "kernel = cupy.ElementwiseKernel('T x, T scale, T bias', 'T y',\n"
                   "                                'y = max(x, T(0)) * scale + bias', 'k')\n",
                   "        x, scale, bias = map(cupy.asarray, (x, self.scale, self.bias))\n"
                   "        return torch.as_tensor(kernel(x, scale, bias), device='cuda')\n")},
      {"cuda_bindings",
       module_with("from cuda.bindings import driver\n",
                   "        if driver.cuInit(0)[0] != driver.CUresult.CUDA_SUCCESS:\n"
                   "            raise RuntimeError('no driver')\n" +
                       kPlainCall)},
      {"cuda_core",
       module_with("import numpy\n"
                   "from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch\n" +
                       kSource + R"(

class CurrentStream:
    def __cuda_stream__(self):
        return 0, torch.cuda.current_stream().cuda_stream
)",
                   R"(        if not hasattr(self, "kernel"):
            self.device = Device()
            self.device.set_current()
            program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{self.device.arch}"))
            self.kernel = program.compile("cubin").get_kernel("relu_scale")
        y = torch.empty_like(x)
        pointers = [t.data_ptr() for t in (x, self.scale, self.bias, y)]
        launch(self.device.create_stream(CurrentStream()),
               LaunchConfig(grid=(x.numel() + 255) // 256, block=256), self.kernel, *pointers,
               numpy.int32(x.numel()), numpy.int32(x.shape[1]))
        return y
)")},
  };
  return kSamples;
}

std::map<std::string, Record> judged() {
  const TempFolder folder;
  folder.write("set/level1/1_ReluScale.py", kModuleProblem);
  for (const auto& [name, source] : samples())
    folder.write("candidates/me/1_ReluScale/" + name + ".py", source);
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device",
                                  KBENCH_TEST_DEVICE, "--out", out.string()});
  EXPECT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    records.emplace(std::filesystem::path(id).stem().string(), record);
  return records;
}

// One test, because a run with one candidate costs as much as a run with all.
TEST(Packages, LaunchTheirKernelsOrAreRefusedByName) {
  const bool on_gpu = std::string_view(KBENCH_TEST_DEVICE) == "cuda";
  if (on_gpu && !have_gpu()) GTEST_SKIP() << "no GPU on this machine";
  std::vector<std::string> absent;
  const auto records = judged();
  EXPECT_EQ(records.size(), samples().size());
  for (const auto& [name, record] : records) {
    SCOPED_TRACE(name + ": " + record.cause.str() + ": " + record.message);
    if (name == "compile_kernel_bare") {
      EXPECT_EQ(to_string(record.outcome), "compile_failure");
      EXPECT_THAT(record.message, HasSubstr("INFINITY"));
      continue;
    }
    const bool torch_alone = name == "compile_kernel";
    if (record.cause == "missing_package") {
      EXPECT_FALSE(torch_alone);
      EXPECT_THAT(record.message, EndsWith("is not installed"));
      absent.push_back(record.message);
    } else if (on_gpu || torch_alone) {
      EXPECT_EQ(to_string(record.outcome), "correct");
      EXPECT_EQ(record.kernel_class, name == "cuda_bindings" ? "library" : "own");
    } else {
      EXPECT_EQ(to_string(record.outcome), "unsupported");
      EXPECT_THAT(record.message, EndsWith("cannot be run without a GPU"));
    }
  }
  if (on_gpu && !absent.empty())
    GTEST_SKIP() << "not looked at: " << testing::PrintToString(absent);
}

}  // namespace
}  // namespace kbench::test
