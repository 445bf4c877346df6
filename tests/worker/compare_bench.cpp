// SPDX-License-Identifier: MIT
// Measures how long comparisons of two tensors take, relative to copying one, and how much memory
// they allocate. For scripts/bench.
//   compare_bench cpu|cuda [--check]   prints one JSON object; with --check, fails beyond the goals
// Exit code 77: this machine has no such device.
#include <ATen/ATen.h>
#include <pybind11/embed.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <string_view>

#include "ptx/nvrtc_helper.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/device/judge_kernels.hpp"
#include "worker/kernels/texts.hpp"
#include "worker/reference/problem_host.hpp"

namespace kbench::worker {
namespace {

constexpr int kNoDevice = 77, kMissed = 1;
constexpr double kLeastShare = 1.0 / 3;
constexpr std::int64_t kMostBytes = 64'000'000;

/// The shortest of several times, because disturbances add to a time.
template <typename Work>
double least_seconds(bool on_gpu, Work&& work) {
  constexpr int kTries = 6;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    if (on_gpu) pybind11::module_::import("torch").attr("cuda").attr("synchronize")();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0)
      least = std::min(least, took.count());  // not the first one, in which libraries are loaded
  }
  return least;
}

/// Bytes of temporaries on a GPU in comparisons that the judge's kernels do not compute alone.
std::int64_t temporary_bytes(const at::Tensor& expected, const at::Tensor& far) {
  const auto cuda = pybind11::module_::import("torch").attr("cuda");
  const auto bytes = [&](const char* which) { return cuda.attr(which)().cast<std::int64_t>(); };
  cuda.attr("reset_peak_memory_stats")();
  const std::int64_t before = bytes("memory_allocated");
  compare(expected, far, 1e-4, comparison_rule("kb_fp32"));
  compare(expected.view({-1, 16}).t(), far.view({-1, 16}).t(), 1e-4);
  norm_error(expected, far);
  count_filled(far, 0xff);
  is_constant(expected.slice(0, 0, 1).expand_as(expected));
  return bytes("max_memory_allocated") - before;
}

int run(bool on_gpu, bool check) {
  if (const auto why = ptx::testing::nvrtc_missing(); on_gpu && !why.empty()) {
    std::fprintf(stderr, "compare_bench: %s\n", why.c_str());
    return kNoDevice;
  }
  start_python(KBENCH_TEST_PYTHON, "");
  const pybind11::gil_scoped_acquire gil;
  const auto cuda = pybind11::module_::import("torch").attr("cuda");
  if (on_gpu && !cuda.attr("is_available")().cast<bool>()) {
    std::fprintf(stderr, "compare_bench: torch sees no GPU\n");
    return kNoDevice;
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<JudgeKernels> kernels;
  if (on_gpu) {
    cuda.attr("init")();
    at::zeros({1}, at::kCUDA);  // makes the primary context, which the device uses as well
    device = open_cuda_device(0);
    kernels = std::make_unique<JudgeKernels>(
        *device, ptx::testing::compile(std::string(run::kTimingKernelsText) +
                                       std::string(run::kJudgeKernelsText)));
  }
  // On a GPU far more than its caches hold. A check without a GPU has no goals, so few elements
  // suffice.
  const std::int64_t count = std::int64_t{1} << (on_gpu ? 28 : check ? 20 : 25);
  const auto expected = at::randn({count}, on_gpu ? at::kCUDA : at::kCPU);
  const auto got = expected * (1 + 1e-6);
  auto target = at::empty_like(expected);
  const double bytes = 2 * static_cast<double>(expected.nbytes());
  const double copied = bytes / least_seconds(on_gpu, [&] { target.copy_(expected); });
  target.reset();
  std::int64_t wrong = 0;
  const double compared =
      bytes / least_seconds(on_gpu, [&] { wrong += compare(expected, got, 1e-4).wrong_elements; });
  const std::int64_t taken = on_gpu ? temporary_bytes(expected, got * 2) : 0;
  std::printf(
      "{\"compared_bytes_s\": %.4g, \"copied_bytes_s\": %.4g, \"share\": %.4g, "
      "\"temporary_bytes\": %lld}\n",
      compared, copied, compared / copied, static_cast<long long>(taken));
  const bool fast = !on_gpu || compared >= kLeastShare * copied;
  const bool good = wrong == 0 && taken <= kMostBytes && fast;
  return check && !good ? kMissed : 0;
}

}  // namespace
}  // namespace kbench::worker

int main(int argc, char** argv) {
  const std::string_view device = argc > 1 ? argv[1] : "";
  if (device != "cpu" && device != "cuda") {
    std::fprintf(stderr, "usage: compare_bench cpu|cuda [--check]\n");
    return 2;
  }
  try {
    return kbench::worker::run(device == "cuda",
                               argc > 2 && std::string_view(argv[2]) == "--check");
  } catch (const kbench::worker::CandidateFailure& failure) {
    std::fprintf(stderr, "compare_bench: %s\n", failure.message.c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare_bench: %s\n", error.what());
    return 1;
  }
}
