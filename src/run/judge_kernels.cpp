// SPDX-License-Identifier: MIT
#include "run/judge_kernels.hpp"

#include "run/judge_kernels_text.hpp"

namespace kbench::run {
namespace {

CompileRequest own_kernels(std::string source, std::string file_name, const std::string& arch) {
  CompileRequest request;
  request.source = std::move(source);
  request.file_name = std::move(file_name);
  request.find_parameters = false;
  request.arch = arch;
  return request;
}

}  // namespace

CompileRequest judge_kernels_request(const std::string& arch) {
  return own_kernels(std::string(kTimingKernelsText) + std::string(kJudgeKernelsText),
                     "judge_kernels.cu", arch);
}

CompileRequest timing_kernels_request(const std::string& arch) {
  return own_kernels(std::string(kTimingKernelsText), "timing_kernels.cu", arch);
}

}  // namespace kbench::run
