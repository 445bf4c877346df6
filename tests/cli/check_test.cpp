// SPDX-License-Identifier: MIT
// kbench check: its verdict on each kind of file, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

/// Folders of two problems, with all kinds of files.
class Files {
 public:
  Files() {
    add("level1/1_ReluScale.py", kModuleProblem);
    add("level1/2_Raises.py", replaced(kModuleProblem, "return torch.relu(x)", "return 1 / 0"));
    const std::string mine = "me/1_ReluScale/";
    add(mine + "kernel.cu", kReluScaleKernel);
    add(mine + "plan.cu", replaced(kReluScaleKernel, "(x, scale,", "(x, scales,"));
    add(mine + "flags.cu", "//@ flags --run-as-root\n" + kReluScaleKernel);
    add(mine + "broken.cu", replaced(kReluScaleKernel, "int i =", "int i = ="));
    add(mine + "shared.cu", replaced(kReluScaleKernel, "  int i =",
                                     "  __shared__ int s[99999];\n  s[threadIdx.x] = n;\n"
                                     "  __syncthreads();\n  n = s[n];\n  int i ="));
    add(mine + "extension.cu", host_code("forward"));
    add(mine + "no_entry.cu", host_code("launch"));
    add(mine + "no_plan.cu", "__global__ void f(float* y) { *y = 1; }\n");
    add(mine + "module.py", module_with(kKernel + kLoad, kCall));
    add(mine + "plain.py", module_with("", kPlainCall));
    add(mine + "module_broken.py",
        module_with(replaced(kKernel, "scalar_t v =", "scalar_t v = =") + kLoad, kCall));
    add(mine + "raises.py", "import torch\nclass ModelNew: pass\nraise ValueError('no')\n");
    add(mine + "raises_late.py", replaced(module_with(kKernel + kLoad, kCall), "\n\nclass ModelNew",
                                          "\nextension.nothing\n\nclass ModelNew"));
    add(mine + "init.py", replaced(module_with("", kPlainCall), "__init__(self, slope)",
                                   "__init__(self, slope, more)"));
    add(mine + "kept_names.py", kModuleProblem);
    add(mine + "never.py", "class ModelNew: pass\nwhile True: pass\n");
    add(mine + "dies.py", "class ModelNew: pass\nimport os\nos.abort()\n");
    add(mine + "answer.md", "Text.\n\n```\n" + module_with("", kPlainCall) + "```\n");
    add(mine + "latin.py", "# caf\xe9\n" + module_with("", kPlainCall));
    add(mine + "cut.md", "Text.\n\n```\n" + module_with("", kPlainCall));
    add("loose/kernel.cu", kReluScaleKernel);
    add("loose/plain.py", module_with("", kPlainCall));
    add("level1_problem_99/3_Elsewhere/kernel.cu", kReluScaleKernel);
  }

  /// Checks all of the files in one run, with the problems of level1.
  std::map<std::string, json> checked(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"check",
                                       "--format",
                                       "json",
                                       "--load-timeout",
                                       "6",
                                       "--problem",
                                       (folder_.path() / "level1").string()};
    arguments.insert(arguments.end(), paths_.begin(), paths_.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_kbench(arguments, {}, std::chrono::seconds(580));
    EXPECT_EQ(result.status.code, 3) << result.error;
    std::map<std::string, json> files;
    const json told = json::parse(result.output);
    for (const json& file : told.at("files")) {
      const std::filesystem::path path(file.at("file").get<std::string>());
      files[path.parent_path().filename() / path.filename()] = file;
    }
    return files;
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  void add(const std::string& name, const std::string& text) {
    paths_.push_back(folder_.write(name, text).string());
  }

  TempFolder folder_;
  std::vector<std::string> paths_;
};

std::string verdict(const json& file) {
  if (file.is_null()) return "not there";
  if (file.at("would_be_scored")) return "fine";
  if (!file.contains("outcome")) return "fine, but unplaced";
  return file.at("outcome").get<std::string>() + " " + file.value("cause", "") + " " +
         file.at("message").get<std::string>();
}

// One test, because a run with one file costs as much as a run with all.
TEST(Check, SaysOfEachFileWhatItIs) {
  Files files;
  auto found = files.checked();
  const auto fine = [&](const std::string& name, const std::string& kind) {
    json file = found[name];
    EXPECT_EQ(verdict(file), "fine") << name;
    EXPECT_EQ(file.at("kind"), kind) << name;
    EXPECT_EQ(file.at("problem"), "level1/1_ReluScale") << name;
    return file;
  };
  const auto bad = [&](const std::string& name, const std::string& start,
                       const std::string& words) {
    EXPECT_THAT(verdict(found[name]), testing::StartsWith(start)) << name;
    EXPECT_THAT(verdict(found[name]), HasSubstr(words)) << name;
  };
  EXPECT_THAT(fine("level1/1_ReluScale.py", "problem").at("inputs"), "x: float32[16, 40]");
  bad("level1/2_Raises.py", "problem_failure", "division by zero");
  const json kernel = fine("1_ReluScale/kernel.cu", "kernel");
  EXPECT_EQ(kernel.at("plan").at("launches"), 1);
  EXPECT_EQ(kernel.at("compile").at("way"), "nvrtc");
  bad("1_ReluScale/plan.cu", "compile_failure unknown_name", "line 3, column 46");
  bad("1_ReluScale/no_plan.cu", "compile_failure no_plan", "neither a plan (`//@` lines)");
  bad("1_ReluScale/flags.cu", "compile_failure bad_flag", "line 1, column 11");
  bad("1_ReluScale/broken.cu", "compile_failure syntax_error", "line 6");
  bad("1_ReluScale/shared.cu", "compile_failure too_much_shared_memory", "");
  EXPECT_THAT(std::string(fine("1_ReluScale/extension.cu", "extension").at("compile").at("way")),
              HasSubstr("nvrtc + "));
  bad("1_ReluScale/no_entry.cu", "load_failure no_entry", "it defines launch");
  EXPECT_THAT(fine("1_ReluScale/module.py", "module").at("ignored_flags"),
              Contains("-gencode=arch=compute_90,code=sm_90"));
  fine("1_ReluScale/plain.py", "module");
  bad("1_ReluScale/module_broken.py", "compile_failure syntax_error", "line 14");
  bad("1_ReluScale/raises.py", "load_failure import_failed", "raises.py:3: ValueError: no");
  bad("1_ReluScale/raises_late.py", "load_failure import_failed", "nothing");
  bad("1_ReluScale/init.py", "load_failure wrong_init_signature", "more");
  bad("1_ReluScale/never.py", "timeout loading_limit", "6 s");
  bad("1_ReluScale/dies.py", "crash signal", "Aborted");
  const json block = fine("1_ReluScale/answer.md", "module").at("block");
  EXPECT_EQ(block.at("first_line"), 4);
  EXPECT_EQ(block.at("blocks"), 1);
  bad("1_ReluScale/latin.py", "rejected not_utf8", "byte 0xe9 in line 1");
  bad("1_ReluScale/cut.md", "rejected truncated", "line 4");
  EXPECT_EQ(verdict(found["loose/kernel.cu"]), "fine, but unplaced");
  EXPECT_EQ(verdict(found["loose/plain.py"]), "fine, but unplaced");
  EXPECT_THAT(std::string(found["loose/plain.py"].at("unplaced")), HasSubstr("no problem"));
  EXPECT_THAT(std::string(found["3_Elsewhere/kernel.cu"].at("unplaced")), HasSubstr("--problem"));
  // The file counts as a candidate, although it has the problem's names and no ModelNew.
  EXPECT_THAT(verdict(found["1_ReluScale/kept_names.py"]), HasSubstr("load_failure no_modelnew"));
}

TEST(Check, TwoProblemsOfOneNameAreRefused) {
  const TempFolder folder;
  const auto one = folder.write("a/level1/1_ReluScale.py", kModuleProblem).string();
  const auto other =
      folder.write("b/level1/1_ReluScale.py", replaced(kModuleProblem, "rows = 16", "rows = 8"))
          .string();
  const auto result = run_kbench({"check", one, other});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.error, HasSubstr("are both problem level1/1_ReluScale"));
  EXPECT_EQ(run_kbench({"check", one, one}).status.code, 0);
}

TEST(Check, TextForPeopleAndExitCodes) {
  Files files;
  const std::string problem = files.path("level1/1_ReluScale.py");
  const auto good =
      run_kbench({"check", problem, files.path("loose/kernel.cu"), "--problem", problem});
  EXPECT_EQ(good.status.code, 0) << good.output;
  EXPECT_THAT(good.output,
              HasSubstr("loose/kernel.cu: fine\n  kernel for level1/1_ReluScale\n  plan "
                        "binds: 4 tensors, 1 launch; compiles (nvrtc, "));
  EXPECT_THAT(good.output, HasSubstr("  inputs x: float32[16, 40]; outputs float32[16, 40]\n"));
  EXPECT_THAT(good.output, HasSubstr("2 files, all fine\n"));
  const auto bad = run_kbench({"check", files.path("me/1_ReluScale/plan.cu"),
                               files.path("me/1_ReluScale/cut.md"), "--problem", problem});
  EXPECT_EQ(bad.status.code, 3);
  EXPECT_THAT(bad.output,
              HasSubstr("plan.cu: would not be scored\n  kernel for level1/1_ReluScale\n"
                        "  compile_failure, unknown_name: line 3, column 46: "));
  EXPECT_THAT(bad.output, HasSubstr("no code for level1/1_ReluScale\n  rejected, truncated: "));
  EXPECT_THAT(bad.output, HasSubstr("2 files, 2 would not be scored\n"));
  EXPECT_EQ(run_kbench({"check", files.path("nothing.cu")}).status.code, 2);
  EXPECT_EQ(run_kbench({"check"}).status.code, 2);
  EXPECT_EQ(run_kbench({"check", files.path("me")}).status.code, 2);
  EXPECT_EQ(run_kbench({"check", problem, "--entry", "a b"}).status.code, 2);
}

TEST(Check, SaysAtWhichSizes) {
  const TempFolder folder;
  const std::string problem = folder.write("1_AddOne.py", add_one_problem(1 << 26)).string();
  const std::string kernel = folder.write("1_AddOne/0.cu", add_one_kernel()).string();
  const auto checked = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", kernel, "--problem", problem});
    const auto result = run_kbench(more);
    EXPECT_EQ(result.status.code, 0) << result.output << result.error;
    return result.output;
  };
  EXPECT_THAT(checked({}), HasSubstr("reduced sizes (--full-sizes checks at those of the file)"));
  EXPECT_THAT(checked({"--full-sizes"}), testing::Not(HasSubstr("checked at")));
  EXPECT_THAT(checked({"--reduce-sizes=1KiB", "--device", "cpu"}), HasSubstr("checked at N=128:"));
  EXPECT_THAT(checked({"--set", "N=64"}),
              HasSubstr("checked at N=64, which are not the sizes of the file"));
  const auto mistaken = run_kbench({"check", kernel, "--problem", problem, "--device", "tpu"});
  EXPECT_EQ(mistaken.status.code, 2);
  const auto numbered = run_kbench(
      {"check", folder.write("level_1_problem_2_sample_0_kernel.py", "class ModelNew: pass\n")});
  EXPECT_EQ(numbered.status.code, 3);
  EXPECT_THAT(numbered.output, HasSubstr("has only numbers of KernelBench's"));
}

}  // namespace
}  // namespace kbench::test
