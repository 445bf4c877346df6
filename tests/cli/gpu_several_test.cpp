// SPDX-License-Identifier: MIT
// A machine with several GPUs: code that uses the first GPU has the same outcome on each.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/gpu_fixture.hpp"
#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

const std::string kDeviceCode = R"(
__global__ void relu_scale(const float* x, const float* scale, const float* bias, float* y, int n,
                           int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (x[i] > 0.0f ? x[i] : 0.0f) * scale[i % columns] + bias[i % columns];
}
)";

/// An extension whose forward begins with `first`. `before` precedes forward.
std::string extension(const std::string& before, const std::string& first) {
  return "#include <torch/extension.h>\n#include <cuda_runtime.h>\n" + kDeviceCode + before + R"(
torch::Tensor forward(torch::Tensor x, torch::Tensor scale, torch::Tensor bias) {
  )" + first +
         R"(
  auto y = torch::empty_like(x);
  int n = x.numel();
  relu_scale<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), scale.data_ptr<float>(),
                                       bias.data_ptr<float>(), y.data_ptr<float>(), n, x.size(1));
  return y;
}
)";
}

class SeveralGpus : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    if (gpus_.size() < 2) GTEST_SKIP() << "this machine has one GPU, and two are needed";
    problem_ = folder_.write("several/level1/2_ReluScale.py", kModuleProblem);
    write("plain_kernel.cu",
          "//@ dims x[N, C]\n//@ out y like x\n"
          "//@ relu_scale<<<cdiv(N * C, 256), 256>>>(x, scale, bias, y, N * C, C)\n" +
              kDeviceCode);
    write("sets_device.cu", extension("", "cudaSetDevice(0);"));
    // The context is made when the extension is loaded, before any call.
    write("static_context.cu", extension("struct Start { Start() { cudaFree(0); } };\n"
                                         "static Start start;\n",
                                         ""));
    write("static_memory.cu",
          extension("struct Start {\n  void* memory = nullptr;\n"
                    "  Start() { cudaSetDevice(0); cudaMalloc(&memory, 1 << 20); }\n};\n"
                    "static Start start;\n",
                    "if (start.memory == nullptr) return torch::zeros_like(x);"));
    const std::string plain = "        return torch.relu(x) * self.scale + self.bias\n";
    write("module_sets_device.py", module_with("\ntorch.cuda.set_device(0)\n", plain));
    write("module_asks_device.py",
          module_with("\nDEVICE = f'cuda:{torch.cuda.current_device()}'\n"
                      "ONE = torch.ones(1, device=DEVICE)\n",
                      "        if torch.cuda.device_count() != 1 or ONE.device != x.device:\n"
                      "            return torch.zeros_like(x)\n" +
                          plain));
    write("module_sets_visible.py",
          module_with("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", plain));
  }

  void write(const std::string& name, const std::string& text) const {
    folder_.write("answers/me/2_ReluScale/" + name, text);
  }

  struct Judged {
    std::map<std::string, std::string> outcomes;  ///< by file: outcome and cause
    nlohmann::json gpus;                          ///< in the run's header
  };
  Judged judged(const std::string& device,
                std::vector<std::pair<std::string, std::string>> environment = {}) {
    const auto log = folder_.path() / fmt::format("run{}.jsonl", ++runs_);
    for (const auto& [name, value] : test_environment()) environment.emplace_back(name, value);
    SpawnOptions options;
    options.command = {std::string(KBENCH_BIN_DIR) + "/kbench",
                       "eval",
                       problem_.string(),
                       "--candidates",
                       (folder_.path() / "answers").string(),
                       "--device",
                       device,
                       "--trials",
                       "2",
                       "--no-reuse",
                       "--out",
                       log.string()};
    options.env = std::move(environment);
    const auto result = run_command(options, std::chrono::minutes(5));
    EXPECT_EQ(result.status.code, 0) << device << ": " << result.error;
    Judged found;
    for (const auto& [id, record] : records_by_candidate(log))
      found.outcomes[std::filesystem::path(id).filename()] =
          fmt::format("{} {}", to_string(record.outcome), record.cause.str());
    found.gpus = read_run(log).headers.at(0).environment.at("gpus");
    return found;
  }

  std::filesystem::path problem_;
  int runs_ = 0;
};

TEST_F(SeveralGpus, EndOnEachAsOnTheFirst) {
  const Judged first = judged("cuda:0");
  ASSERT_EQ(first.outcomes.size(), 7u);
  for (const auto& [file, outcome] : first.outcomes) EXPECT_EQ(outcome, "correct ") << file;
  for (std::size_t i = 1; i < gpus_.size(); ++i) {
    const Judged other = judged(fmt::format("cuda:{}", i));
    EXPECT_EQ(other.outcomes, first.outcomes) << i;
    ASSERT_EQ(other.gpus.size(), 1u);
    EXPECT_EQ(other.gpus[0].at("index"), i);
    EXPECT_EQ(other.gpus[0].at("uuid"), gpus_[i].uuid);
  }
}

TEST_F(SeveralGpus, EndOnAllAtOnceAsOnTheFirst) {
  const Judged first = judged("cuda:0");
  std::string all = "cuda:0";
  for (std::size_t i = 1; i < gpus_.size(); ++i) all += fmt::format(",{}", i);
  EXPECT_EQ(judged(all).outcomes, first.outcomes);
}

TEST_F(SeveralGpus, ThoseThatTheCallerHidesAreNotCounted) {
  const std::string& last = gpus_.back().uuid;
  std::vector<std::string> visibles{last, last + "," + gpus_.front().uuid};
  // CUDA_VISIBLE_DEVICES numbers all GPUs of the machine.
  if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)
    visibles.push_back(std::to_string(gpus_.size() - 1));
  for (const std::string& visible : visibles) {
    const Judged other = judged("cuda:0", {{"CUDA_VISIBLE_DEVICES", visible}});
    for (const auto& [file, outcome] : other.outcomes)
      EXPECT_EQ(outcome, "correct ") << file << ", " << visible;
    ASSERT_EQ(other.gpus.size(), 1u);
    EXPECT_EQ(other.gpus[0].at("index"), 0);
    EXPECT_EQ(other.gpus[0].at("uuid"), last) << visible;
  }
}

}  // namespace
}  // namespace kbench::test
