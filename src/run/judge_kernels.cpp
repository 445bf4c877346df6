// SPDX-License-Identifier: MIT
#include "run/judge_kernels.hpp"

#include "run/judge_kernels_text.hpp"

namespace kbench::run {

CompileRequest judge_kernels_request(const std::string& arch) {
  CompileRequest request;
  request.source = kJudgeKernelsText;
  request.file_name = "judge_kernels.cu";
  request.find_parameters = false;
  request.arch = arch;
  return request;
}

}  // namespace kbench::run
