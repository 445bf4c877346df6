// SPDX-License-Identifier: MIT
// Candidates with unusual names, encodings and places. Each is judged, or has its own outcome and
// message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kbench_process.hpp"
#include "cli/module_samples.hpp"

namespace kbench::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::SizeIs;

struct Expectation {
  std::string content;
  Outcome outcome = Outcome::kCorrect;
  std::string cause, message;  ///< a part of it
};
using Samples = std::map<std::string, Expectation>;  ///< by file name

const std::string kInline = module_with(kKernel + kLoad, kCall);
const std::string kWrongKernel = replaced(kKernel, "scalar_t(0) ? x[i]", "scalar_t(1) ? x[i]");

std::string named(const std::string& literal, const std::string& module = kInline) {
  return replaced(module, "name=\"relu_scale\"", "name=" + literal);
}

/// Builds its extension in the constructor, which a dry import cannot do.
std::string late(const std::string& kernel) {
  return replaced(module_with(kernel, replaced(kCall, "extension.", "self.extension.")),
                  "super().__init__()",
                  "super().__init__()\n        self.extension = load_inline('same', 'torch::Tensor "
                  "forward(torch::Tensor x, torch::Tensor scale, torch::Tensor bias);', "
                  "cuda_source, functions=['forward'])");
}

std::string loading(const std::string& sources) {
  return module_with(
      "import os\nfrom torch.utils.cpp_extension import load\n"
      "here = os.path.dirname(os.path.abspath(__file__))\n"
      "extension = load(name='beside', sources=" +
          sources + ")\n",
      kCall);
}

/// UTF-16: a byte order mark, and a zero byte after each ASCII letter.
std::string utf16(const std::string& text) {
  std::string wide = "\xff\xfe";
  for (const char c : text) wide += {c, '\0'};
  return wide;
}

std::string answer(const std::string& code, const std::string& info) {
  return "<think>\n```python\nclass ModelNew: pass\n```\n</think>\nHere it is:\n\n```" + info +
         "\n" + code + "```\nIt is fast.\n";
}

Samples samples() {
  const std::string plain = module_with("", kPlainCall);
  Samples all{
      {"same a.py", {named("'same'"), Outcome::kCorrect, "", ""}},
      {"same b.py",
       {named("'same'", module_with(kWrongKernel + kLoad, kCall)), Outcome::kMismatch, "", ""}},
      {"same late a.py", {late(kKernel), Outcome::kCorrect, "", ""}},
      {"same late b.py", {late(kWrongKernel), Outcome::kMismatch, "", ""}},
      {"it's \"quoted\".py", {kInline, Outcome::kCorrect, "", ""}},
      {"it's \"broken\".py",
       {module_with(
            replaced(kKernel, "const int n = x.numel();", "const int n = x.numbers();") + kLoad,
            kCall),
        Outcome::kCompileFailure, "syntax_error", "line 22"}},
      {"größe 大.py", {kInline, Outcome::kCorrect, "", ""}},
      {"back\\slash.cu", {kReluScaleKernel, Outcome::kCorrect, "", ""}},
      {"loads.py",
       {loading("[os.path.join(here, 'csrc', 'binding.cpp'), 'csrc/relu_scale.cu']"),
        Outcome::kCorrect, "", ""}},
      {"loads_headers.py",
       {loading("['csrc/binding.cpp', 'csrc/parted.cu'], extra_include_paths=['csrc/headers']"),
        Outcome::kCorrect, "", ""}},
      {"loads_broken_header.py",
       {loading("['csrc/binding.cpp', 'csrc/broken.cu'], extra_include_paths=['csrc/headers']"),
        Outcome::kCompileFailure, "syntax_error", "broken.cuh, line 3"}},
      {"loads_nothing.py",
       {loading("['csrc/nowhere.cu']"), Outcome::kLoadFailure, "missing_file",
        "csrc/nowhere.cu does not exist in the candidate's folder"}},
      {"loads_outside.py",
       {loading("[os.path.join(here, '../outside.cpp')]"), Outcome::kLoadFailure, "outside_folder",
        "../outside.cpp is outside of the candidate's folder"}},
      {"utf16.py", {utf16(plain), Outcome::kRejected, "not_utf8", "UTF-16"}},
      {"utf16.cu", {utf16(kReluScaleKernel), Outcome::kRejected, "not_utf8", "UTF-16"}},
      {"unmarked16.py", {utf16(plain).substr(2), Outcome::kRejected, "not_text", "NUL"}},
      {"latin.py", {"# caf\xe9\n" + plain, Outcome::kRejected, "not_utf8", "byte 0xe9 in line 1"}},
      {"latin.cu",
       {kReluScaleKernel + "// caf\xe9\n", Outcome::kRejected, "not_utf8", "byte 0xe9"}},
      {"marked.py", {"\xef\xbb\xbf" + plain, Outcome::kCorrect, "", ""}},
      {"marked.cu", {"\xef\xbb\xbf" + kReluScaleKernel, Outcome::kCorrect, "", ""}},
      {"0.md", {answer(plain, "python"), Outcome::kCorrect, "", ""}},
      {"1.txt", {answer(kReluScaleKernel, "cpp"), Outcome::kCorrect, "", ""}},
      {"2.md", {"```python\n" + plain, Outcome::kRejected, "truncated", "begins at line 2"}},
      {"none.py",
       {"None", Outcome::kMissing, "no_code", "There is no code: the file contains only `None`"}},
      {"3.md", {"I would rather not.\n", Outcome::kMissing, "no_code_block", "no code block"}},
      {"4.md",
       {answer("import torch\nclass ModelNew(torch.nn.Module):\n    def f(self: pass\n", ""),
        Outcome::kLoadFailure, "import_failed", "4.md:11"}},
      {"6.md",
       {answer(module_with("", "        return x\n"), "python") + answer(plain, "") +
            "```\nprint('and that is all')\n```\n",
        Outcome::kCorrect, "", ""}},
      {"5.md",
       {answer(replaced(kReluScaleKernel, "(x, scale,", "(x, scales,"), "cuda"),
        Outcome::kCompileFailure, "unknown_name", "line 11, column"}},
  };
  for (const std::string name : {"'my ext'", "'e\\''", "'e\"'", "'e\\nf'", "'../x'", "''"})
    all["name " + std::to_string(all.size()) + ".py"] = {
        named(name), Outcome::kCompileFailure, "bad_extension_name", "not a C++ identifier"};
  return all;
}

// One test, because a run with one candidate costs as much as a run with all.
TEST(ModuleInput, GetsItsOutcome) {
  const TempFolder folder;
  folder.write("set/level1/1_ReluScale.py", kModuleProblem);
  const std::string mine = "candidates/me/1_ReluScale/";
  for (const auto& [name, sample] : samples()) folder.write(mine + name, sample.content);
  folder.write(mine + "csrc/relu_scale.cu", host_code("launch"));
  folder.write(mine + "csrc/binding.cpp", kBinding);
  folder.write(mine + "csrc/parted.cu", "#include <whole.cuh>\n#include \"headers/whole.cuh\"\n");
  folder.write(mine + "csrc/headers/whole.cuh", "#pragma once\n#include \"../rest.h\"\n");
  folder.write(mine + "csrc/rest.h", host_code("launch"));
  folder.write(mine + "csrc/broken.cu", "#include \"broken.cuh\"\n#include <whole.cuh>\n");
  folder.write(mine + "csrc/broken.cuh", "#pragma once\n\n__device__ int broken() { return }\n");
  folder.write(mine + "README.md", answer(module_with("", kPlainCall), "python"));
  folder.write("candidates/me/outside.cpp", kBinding);
  folder.write(mine + "caf\xe9.py", module_with("", kPlainCall));
  const auto out = folder.path() / "run.jsonl";
  const auto result = run_kbench({"eval", (folder.path() / "set").string(), "--candidates",
                                  (folder.path() / "candidates").string(), "--device", "cpu",
                                  "--jobs", "2", "--trials", "2", "--out", out.string()},
                                 {}, std::chrono::seconds(580));
  ASSERT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    records.emplace(std::filesystem::path(id).filename().string(), record);
  const Samples all = samples();
  EXPECT_THAT(records, SizeIs(all.size() + 1));
  EXPECT_EQ(records["caf\xef\xbf\xbd.py"].outcome, Outcome::kCorrect) << "a name that is no UTF-8";
  EXPECT_THAT(result.error, HasSubstr("relu_scale.cu is loaded by"));
  for (const auto& [name, expected] : all) {
    SCOPED_TRACE(name);
    ASSERT_THAT(records, Contains(Key(name)));
    const Record& record = records.at(name);
    expect_outcome(record, expected.outcome, expected.cause, expected.message);
    EXPECT_EQ(record.message.find('\n'), std::string::npos) << record.message;
  }
}

/// What the reference returns: y, or a tuple or list of y, by the name of its problem.
const std::map<std::string, std::string> kWanted{
    {"1_Alone", "y"}, {"2_Tuple", "(y,)"}, {"3_List", "[y]"}};

/// Outcome, cause and message of a candidate for one of these references. All are judged in one
/// run.
const std::string& said_of(const std::string& problem, const std::string& candidate) {
  static const auto kFound = [] {
    const TempFolder folder;
    const std::string sum = "torch.relu(x) * self.scale + self.bias";
    for (const auto& [name, wanted] : kWanted) {
      folder.write("set/level1/" + name + ".py", replaced(kModuleProblem, "return " + sum,
                                                          "return " + replaced(wanted, "y", sum)));
      const std::string place = "candidates/me/" + name + "/";
      for (const auto& [file, value] : std::map<std::string, std::string>{
               {"alone", "y"}, {"tuple", "(y,)"}, {"list", "[y]"}, {"two", "(y, y)"}})
        folder.write(place + file + ".py",
                     module_with("", "        y = " + sum + "\n        return " + value + "\n"));
      folder.write(place + "vector.cu",
                   replaced(replaced(host_code("forward"), "torch::Tensor forward(",
                                     "std::vector<torch::Tensor> forward("),
                            "return y;", "return {y};"));
    }
    std::map<std::pair<std::string, std::string>, std::string> found;
    for (const auto& [id, record] : judge_folder(folder, {"--trials", "1"})) {
      const std::filesystem::path path(id);
      found[{path.parent_path().filename(), path.stem()}] =
          std::string(to_string(record.outcome)) + " " + record.cause.str() + " " + record.message;
    }
    return found;
  }();
  return kFound.at({problem, candidate});
}

TEST(ModuleStructure, TensorsTuplesAndListsAreToldApart) {
  EXPECT_THAT(said_of("1_Alone", "alone"), HasSubstr("correct"));
  EXPECT_EQ(said_of("1_Alone", "tuple"),
            "wrong_shape structure the candidate returns a tuple of 1 tensor, the reference a "
            "tensor");
  for (const char* list : {"list", "vector"})
    EXPECT_EQ(said_of("1_Alone", list),
              "wrong_shape structure the candidate returns a list of 1 tensor, the reference a "
              "tensor");
  EXPECT_THAT(said_of("1_Alone", "two"), HasSubstr("wrong_shape output_count"));
  // Tuple and list are equivalent.
  for (const char* wanted : {"2_Tuple", "3_List"}) {
    EXPECT_EQ(said_of(wanted, "alone"),
              "wrong_shape structure the candidate returns a tensor, the reference a tuple or list "
              "of 1 tensor");
    for (const char* one : {"tuple", "list", "vector"})
      EXPECT_THAT(said_of(wanted, one), HasSubstr("correct")) << wanted;
    EXPECT_THAT(said_of(wanted, "two"), HasSubstr("wrong_shape output_count"));
  }
}

TEST(Entry, OfAnExtensionIsChosenByName) {
  const TempFolder folder;
  const std::string problem = folder.write("set/level1/1_ReluScale.py", kModuleProblem).string();
  const std::string code = host_code("launch");
  const auto bound = [&](const std::string& names) {
    return code + "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n" + names + "}\n";
  };
  const std::string first = "  m.def(\"first\", &launch);\n",
                    second = "  m.def(\"second\", &launch);\n";
  folder.write("me/1_ReluScale/both.cu", bound(first + second));
  folder.write("me/1_ReluScale/one.cu", bound(first));
  folder.write("me/1_ReluScale/defined.cu", host_code("second"));
  folder.write("me/1_ReluScale/other.cu", host_code("third"));
  const auto outcomes = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments{
        "eval",     problem, "--candidates", (folder.path() / "me").string(), "--device", "cpu",
        "--trials", "1",     "--out",        (folder.path() / out).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_kbench(arguments);
    EXPECT_EQ(result.status.code, 0) << result.error;
    std::map<std::string, std::string> found;
    for (const auto& [id, record] : records_by_candidate(folder.path() / out))
      found[std::filesystem::path(id).stem()] =
          std::string(to_string(record.outcome)) + " " + record.cause.str() + " " + record.message;
    return found;
  };
  const auto open = outcomes("open.jsonl", {});
  EXPECT_THAT(open.at("both"), HasSubstr("load_failure no_entry"));
  EXPECT_THAT(open.at("both"), HasSubstr("binds no function forward; it binds first, second: "
                                         "choose one with --entry NAME"));
  EXPECT_THAT(open.at("one"), HasSubstr("correct"));
  EXPECT_THAT(open.at("defined"), HasSubstr("it defines second: choose one"));
  const auto asked = outcomes("asked.jsonl", {"--entry", "second"});
  EXPECT_THAT(asked.at("both"), HasSubstr("correct"));
  EXPECT_THAT(asked.at("defined"), HasSubstr("correct"));
  EXPECT_THAT(asked.at("one"), HasSubstr("binds no function second; it binds first"));
  EXPECT_THAT(asked.at("other"), HasSubstr("no_entry"));
  EXPECT_THAT(asked.at("other"), HasSubstr("defines no function second; it defines third"));
  // A verdict with another entry function is not reused.
  const auto again = outcomes("open.jsonl", {"--entry", "second", "--resume"});
  EXPECT_THAT(again.at("both"), HasSubstr("correct"));
  EXPECT_THAT(again.at("one"), HasSubstr("no function second"));
  const std::string both = (folder.path() / "me/1_ReluScale/both.cu").string();
  EXPECT_EQ(run_kbench({"check", "--problem", problem, both}).status.code, 3);
  EXPECT_EQ(run_kbench({"check", "--problem", problem, both, "--entry", "first"}).status.code, 0);
}

}  // namespace
}  // namespace kbench::test
