// SPDX-License-Identifier: MIT
#include "run/schedule/judge_kernels.hpp"

#include <fmt/format.h>

#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "run/process/waiting.hpp"
#include "worker/kernels/texts.hpp"

namespace kbench::run {
namespace {

/// Time limit for compiling them; an idle machine takes a few seconds.
constexpr std::chrono::minutes kOwnKernelsLimit{10};

CompileRequest own_kernels(std::string source, std::string file_name, const std::string& arch) {
  CompileRequest request;
  request.source = std::move(source);
  request.file_name = std::move(file_name);
  request.find_parameters = false;
  request.arch = arch;
  return request;
}

}  // namespace

OwnKernels compile_own_kernels(const Installation& installation, const std::string& arch) {
  CompilerSetup setup;
  setup.compiler = installation.compiler;
  setup.nvrtc = installation.nvrtc;
  setup.includes = installation.cuda_includes;
  setup.cache = installation.cache / "own-kernels";
  setup.jobs = 2;
  setup.limit = kOwnKernelsLimit;
  auto pool = std::make_shared<CompilePool>(std::move(setup));
  const std::string timing(kTimingKernelsText);
  auto judge =
      pool->compile(own_kernels(timing + std::string(kJudgeKernelsText), "judge_kernels.cu", arch));
  auto alone = pool->compile(own_kernels(timing, "timing_kernels.cu", arch));
  return {std::move(pool), std::move(judge), std::move(alone)};
}

std::string_view own_image(const std::shared_future<CompileResult>& kernels, int cancel_fd) {
  wait_for(kernels, cancel_fd);
  const CompileResult& result = kernels.get();
  if (const auto* artifact = std::get_if<Artifact>(&result)) return artifact->image;
  throw Error(
      fmt::format("kbench cannot judge, because its own kernels do not compile for this GPU: {}; "
                  "run kbench doctor",
                  std::get<CompileError>(result).message));
}

}  // namespace kbench::run
