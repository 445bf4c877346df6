// SPDX-License-Identifier: MIT
// Runs kbench on modules on the CPU: right ones are correct, and each kind of fault has its own
// outcome and message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Expectation {
  std::string source;
  Outcome outcome;
  std::string cause, message;  ///< a part of it
};

const std::map<std::string, Expectation>& samples() {
  const std::string inline_module = module_with(kKernel + kLoad, kCall);
  static const std::map<std::string, Expectation> kSamples{
      {"inline", {inline_module, Outcome::kCorrect, "", ""}},
      {"inline again",
       {replaced(inline_module, "relu_scale\"", "relu_scale\""), Outcome::kCorrect, "", ""}},
      {"plain", {module_with("", kPlainCall), Outcome::kCorrect, "", ""}},
      {"in_init",
       {replaced(module_with(kKernel, replaced(kCall, "extension.", "self.extension.")),
                 "super().__init__()",
                 "super().__init__()\n        self.extension = load_inline('late', 'torch::Tensor "
                 "forward(torch::Tensor x, torch::Tensor scale, torch::Tensor bias);', "
                 "cuda_source, functions={'forward': 'all of it'})"),
        Outcome::kCorrect, "", ""}},
      {"own_names",
       {replaced(replaced(module_with("", replaced(replaced(kPlainCall, "scale", "gain"), "bias",
                                                   "offset")),
                          "self.scale", "self.gain"),
                 "self.bias", "self.offset"),
        Outcome::kCorrect, "", ""}},
      {"falls_back",
       {kModuleHead +
            "try:\n    extension = load_inline('none', '', 'void f( {', functions=[])\n"
            "except RuntimeError:\n    extension = None\n" +
            module_with("", kPlainCall),
        Outcome::kCorrect, "", ""}},
      {"starts_threads",
       {module_with("import subprocess, threading, time\n"
                    "threading.Thread(target=time.sleep, args=(999,), daemon=True).start()\n"
                    "subprocess.Popen(['sleep', '999'])\n",
                    kPlainCall),
        Outcome::kCorrect, "", ""}},
      {"prints",
       {module_with("for i in range(30000):\n    print('all work and no play')\n", kPlainCall),
        Outcome::kCorrect, "", ""}},
      {"prints_without_end",
       {module_with("for i in range(300000):\n    print('all work and no play')\n", kPlainCall),
        Outcome::kRejected, "too_much_output", "more than 1 MB"}},
      {"wrong",
       {module_with("", "        return torch.relu(x) * self.scale + 1\n"), Outcome::kMismatch, "",
        ""}},
      {"wrong_kernel",
       {module_with(replaced(kKernel, "scalar_t(0) ? x[i]", "scalar_t(1) ? x[i]") + kLoad, kCall),
        Outcome::kMismatch, "", ""}},
      {"syntax",
       {module_with(replaced(kKernel, "scalar_t v =", "scalar_t v = =") + kLoad, kCall),
        Outcome::kCompileFailure, "syntax_error", "line 14"}},
      {"host_syntax",
       {module_with(
            replaced(kKernel, "const int n = x.numel();", "const int n = x.numbers();") + kLoad,
            kCall),
        Outcome::kCompileFailure, "syntax_error", "line 22"}},
      {"no_such_function",
       {module_with(
            kKernel + replaced(kLoad, "functions=[\"forward\"]", "functions=[\"backward\"]"),
            kCall),
        Outcome::kCompileFailure, "unknown_function", "backward"}},
      {"needs_nvcc",
       {module_with(
            replaced(kKernel, "template <typename", "__managed__ int calls;\ntemplate <typename") +
                kLoad,
            kCall),
        Outcome::kUnsupported, "needs_nvcc", "does not run on the CPU"}},
      {"past_end",
       {module_with(replaced(kKernel, "if (i < n) {", "if (i <= n) {") + kLoad, kCall),
        Outcome::kCrash, "illegal_address", "past_end.py:14"}},
      {"asserts",
       {module_with(replaced(kKernel, "if (i < n) {", "assert(i < n - 1); if (i < n) {") + kLoad,
                    kCall),
        Outcome::kCrash, "trap", "asserts.py:13"}},
      {"says_where",
       {module_with(replaced(kKernel, "x.is_cuda()", "false, __FILE__") + kLoad, kCall),
        Outcome::kCrash, "forward_raised", "says_where.py"}},
      {"too_many_threads",
       {module_with(replaced(kKernel, "/ 256, 256, 0", "/ 256, 2560, 0") + kLoad, kCall),
        Outcome::kCrash, "invalid_launch", "2560"}},
      // After a refused launch the device still works, so the module may launch again.
      {"tries_smaller_blocks",
       {module_with(
            replaced(replaced(kKernel, "/ 256, 256, 0", "/ 256, 2560, 0"),
                     "  C10_CUDA_KERNEL_LAUNCH_CHECK();",
                     "  if (cudaGetLastError() != cudaSuccess)\n"
                     "    relu_scale<float><<<(n + 255) / 256, 256>>>(\n"
                     "        x.data_ptr<float>(), scale.data_ptr<float>(),\n"
                     "        bias.data_ptr<float>(), y.data_ptr<float>(), n, x.size(1));") +
                kLoad,
            kCall),
        Outcome::kCorrect, "", ""}},
      {"catches_too_many_threads",
       {module_with(replaced(kKernel, "/ 256, 256, 0", "/ 256, 2560, 0") + kLoad,
                    "        try:\n            " + kCall.substr(8) +
                        "        except RuntimeError:\n"
                        "            pass\n" +
                        kPlainCall),
        Outcome::kCorrect, "", ""}},
      {"looks_at_no_error",
       {module_with(replaced(replaced(kKernel, "/ 256, 256, 0", "/ 256, 2560, 0"),
                             "  C10_CUDA_KERNEL_LAUNCH_CHECK();", "") +
                        kLoad,
                    kCall),
        Outcome::kCrash, "invalid_launch", "2560"}},
      {"raises",
       {"import torch\nraise ValueError('not today')\n", Outcome::kLoadFailure, "import_failed",
        "raises.py:2: ValueError: not today"}},
      {"exits", {"import sys\nsys.exit(3)\n", Outcome::kLoadFailure, "exits", "code 3"}},
      {"no_package",
       {"import turbo_kernels\n", Outcome::kLoadFailure, "missing_package",
        "turbo_kernels is not installed"}},
      {"no_file",
       {"weights = open('/nowhere/weights.bin').read()\n", Outcome::kLoadFailure, "missing_file",
        "/nowhere/weights.bin"}},
      {"no_model",
       {"import torch\nclass Model(torch.nn.Module):\n    pass\n", Outcome::kLoadFailure,
        "no_modelnew", "ModelNew"}},
      {"other_init",
       {replaced(module_with("", kPlainCall),
                 "def __init__(self, slope):", "def __init__(self, slope, more):"),
        Outcome::kLoadFailure, "wrong_init_signature", "more"}},
      {"other_forward",
       {replaced(module_with("", kPlainCall),
                 "def forward(self, x):", "def forward(self, x, mask):"),
        Outcome::kCrash, "wrong_signature", "mask"}},
      {"forward_raises",
       {module_with("", "        raise RuntimeError('not in the mood')\n"), Outcome::kCrash,
        "forward_raised", "forward_raises.py:13: RuntimeError: not in the mood"}},
      {"raises_no_text",
       {module_with("", "        raise ValueError('half \\udc80 a pair')\n"), Outcome::kCrash,
        "forward_raised", "raises_no_text.py:13: ValueError: half \\udc80 a pair"}},
      {"says_unsupported",
       {module_with("",
                    "        raise NotImplementedError(\"Could not run 'aten::relu' with \"\n"
                    "            \"arguments from the 'CPU' backend\")\n"),
        Outcome::kCrash, "forward_raised", "NotImplementedError"}},
      {"returns_words",
       {module_with("", "        return 'done'\n"), Outcome::kWrongShape, "not_a_tensor", "str"}},
      {"returns_two",
       {module_with("", "        return x, x\n"), Outcome::kWrongShape, "output_count",
        "2 outputs"}},
      {"returns_host",
       {module_with("", "        return (torch.relu(x) * self.scale + self.bias).cpu()\n"),
        Outcome::kWrongDtype, "wrong_device", "cpu"}},
      {"returns_half",
       {module_with("", "        return x.half()\n"), Outcome::kWrongDtype, "dtype", "float16"}},
      {"returns_part",
       {module_with("", "        return x[:3].clone()\n"), Outcome::kWrongShape, "shape",
        "[3, 40]"}},
      {"no_words",
       {std::string("import torch\nname = '\xff\xfe'\n"), Outcome::kRejected, "not_utf8", ""}},
  };
  return kSamples;
}

TEST(Modules, ThatNeverLoadAreEnded) {
  const TempFolder folder;
  folder.write("set/level1/1_ReluScale.py", kModuleProblem);
  folder.write("candidates/me/1_ReluScale/never_ends.py", "while True:\n    pass\n");
  const auto records = judge_folder(folder, {"--load-timeout", "1"});
  ASSERT_EQ(records.size(), 1u);
  expect_outcome(records.begin()->second, Outcome::kTimeout, "loading_limit", "1 s");
}

// One test, because a run with one candidate costs as much as a run with all.
TEST(Modules, GetTheirOutcomes) {
  const TempFolder folder;
  folder.write("set/level1/1_ReluScale.py", kModuleProblem);
  for (const auto& [name, sample] : samples())
    folder.write("candidates/me/1_ReluScale/" + name + ".py", sample.source);
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench(
      {"eval", (folder.path() / "set").string(), "--candidates",
       (folder.path() / "candidates").string(), "--device", "cpu", "--out", out.string()},
      {}, std::chrono::seconds(580));
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    records.emplace(std::filesystem::path(id).stem().string(), record);
  for (const auto& [name, expected] : samples()) {
    SCOPED_TRACE(name);
    ASSERT_THAT(records, Contains(testing::Key(name)));
    const Record& record = records.at(name);
    expect_outcome(record, expected.outcome, expected.cause, expected.message);
    EXPECT_EQ(record.kind, CandidateKind::kModule);
  }
  const Record& built = records.at("inline");
  ASSERT_TRUE(built.compile) << built.message;
  EXPECT_THAT(built.compile->way.str(), HasSubstr("nvrtc + "));
  EXPECT_TRUE(built.compile->host_s.has_value());
  EXPECT_EQ(built.compile->fallback, "");
  ASSERT_TRUE(built.timing) << built.message;
  EXPECT_EQ(built.timing->trust, "own_clock");
  EXPECT_THAT(records.at("own_names").flags, Not(Contains("weights_by_seed")));
}

}  // namespace
}  // namespace kbench::test
