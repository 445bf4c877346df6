// SPDX-License-Identifier: MIT
// Which code of a model's answer counts, rule by rule as kbench/response.hpp has them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kbench/candidate.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

const std::string kModule = "import torch\nclass ModelNew(torch.nn.Module):\n    pass  # {}\n";
const std::string kKernel = "//@ out y like x\n//@ k<<<1, 1>>>(x, y)  # {}\n__global__ void k();\n";
const std::string kExtension =
    "__global__ void k();\ntorch::Tensor forward(torch::Tensor x);  // {}\n";

std::string code(const std::string& text, const std::string& mark) {
  return fmt::format(fmt::runtime(text), mark);
}
std::string fenced(const std::string& text, const std::string& mark,
                   const std::string& info = "python", const std::string& fence = "```") {
  return fence + info + "\n" + code(text, mark) + fence + "\n";
}

/// The code that counts without the empty lines before it; else the cause.
std::string counted(const std::string& answer) {
  const ExtractedCode found = extract_code(answer);
  if (!found.block) return found.cause;
  EXPECT_EQ(found.cause, "");
  return found.source.substr(found.block->first_line - 1);
}

TEST(Response, TheLastBlockThatDefinesModelNewCounts) {
  const std::string answer = "The reference:\n```python\nclass Model: pass\n```\n" +
                             fenced(kModule, "first") + "Better:\n" + fenced(kModule, "second") +
                             "Use it:\n```python\nmodel = ModelNew()\n```\n";
  EXPECT_EQ(counted(answer), code(kModule, "second"));
  const ExtractedCode found = extract_code(answer);
  EXPECT_EQ(found.kind, CandidateKind::kModule);
  EXPECT_EQ(found.blocks, 4u);
  EXPECT_EQ(found.block->first_line, 12u);
  EXPECT_EQ(found.block->last_line, 14u);
  EXPECT_EQ(found.block->language, "python");
  EXPECT_TRUE(found.block->fenced);
}

TEST(Response, LinesBeforeTheBlockAreEmptyInTheSource) {
  const ExtractedCode found = extract_code("Here:\n\n" + fenced(kModule, "a"));
  EXPECT_EQ(found.source, "\n\n\n" + code(kModule, "a"));
}

TEST(Response, ContentDecidesAndNotTheLanguage) {
  for (const std::string info : {"", "cpp", "cuda", "text", "Python title=\"x.py\"", "{.python}"}) {
    EXPECT_EQ(counted(fenced(kModule, "a", info)), code(kModule, "a")) << info;
    EXPECT_EQ(extract_code(fenced(kKernel, "a", info)).kind, CandidateKind::kKernel) << info;
    EXPECT_EQ(extract_code(fenced(kExtension, "a", info)).kind, CandidateKind::kExtension) << info;
  }
}

TEST(Response, AModuleGoesBeforeAKernelAndThatBeforeAnExtension) {
  const std::string module = fenced(kModule, "m"), kernel = fenced(kKernel, "k", "cuda"),
                    extension = fenced(kExtension, "e", "cpp");
  EXPECT_EQ(counted(module + kernel + extension), code(kModule, "m"));
  EXPECT_EQ(counted(extension + kernel + extension), code(kKernel, "k"));
  EXPECT_EQ(counted(kernel + fenced(kKernel, "later", "cuda")), code(kKernel, "later"));
  EXPECT_EQ(counted(extension + fenced(kExtension, "later")), code(kExtension, "later"));
  EXPECT_EQ(counted(fenced("PYBIND11_MODULE(x, m) {{}}\n", "")), "PYBIND11_MODULE(x, m) {}\n");
}

TEST(Response, PartsOfCandidatesDoNotCount) {
  for (const std::string part :
       {"__global__ void k();\n", "//@ out y like x\n",
        "//@ problem 19_ReLU\n__global__ void k();\n", "torch::Tensor forward(torch::Tensor x);\n",
        "model = ModelNew()\n", "class ModelNewer: pass\n", "if ModelNew == 3: pass\n",
        "import torch\nsource = '''__global__ void k(); torch::Tensor f();'''\n"}) {
    EXPECT_EQ(counted("```\n" + part + "```\n"), "no_candidate_block") << part;
  }
  EXPECT_EQ(counted("```python\nModelNew = make()\n```\n"), "ModelNew = make()\n");
  EXPECT_THAT(extract_code("```\nx\n```\n~~~\ny\n~~~\n").message, HasSubstr("(2)"));
}

TEST(Response, ThinkingNeverCounts) {
  const std::string thought = fenced(kModule, "thought"), real = fenced(kModule, "real");
  for (const std::string tag : {"think", "thinking", "reasoning", "THINK"}) {
    const std::string end = "</" + tag + ">";
    EXPECT_EQ(counted("<" + tag + ">\n" + thought + end + "\n" + real), code(kModule, "real"));
    EXPECT_EQ(counted("<" + tag + ">\n" + thought + end + "\nNo."), "no_code_block");
    EXPECT_EQ(counted(thought + end + "\n" + real), code(kModule, "real")) << "begun by the prompt";
    EXPECT_EQ(counted(thought + "so be it." + end + "\nNo."), "no_code_block");
    EXPECT_EQ(counted("```python\nclass ModelNew\n" + end + "\n" + real), code(kModule, "real"))
        << "a fence that is left open in a thought";
  }
  EXPECT_EQ(counted("<think>hm</think>" + real), code(kModule, "real")) << "all in one line";
  EXPECT_EQ(counted(real + "<think>\n" + thought), "truncated");
  EXPECT_THAT(extract_code("<think>\nhm").message, HasSubstr("still thinking"));
  EXPECT_EQ(counted(real + "Where `<think>` is named, nothing begins.\n"), code(kModule, "real"));
}

TEST(Response, WhatAPageDoesNotShowDoesNotCount) {
  const std::string good = fenced(kModule, "shown"), bad = fenced(kModule, "hidden");
  for (const std::string& hidden : std::vector<std::string>{
           "<!--\n" + bad + "-->\n", "<!-- x\n\n" + bad + "\nx -->\n", "- <!--\n" + bad + "  -->\n",
           "  <!DOCTYPE\n" + bad + ">\n", "<?x\n" + bad + "?>\n", "<![CDATA[\n" + bad + "]]>\n",
           "<script>\n" + bad + "</script>\n", "<STYLE type='x'>\n" + bad + "</style>\n",
           "<!-- a --> <b>\n<!--\n" + bad + "-->\n"}) {
    EXPECT_EQ(counted(good + hidden), code(kModule, "shown")) << hidden;
    EXPECT_EQ(counted(hidden + good), code(kModule, "shown")) << hidden;
    EXPECT_EQ(counted(hidden), "no_code_block") << hidden;
  }
  for (const std::string& to_the_end : std::vector<std::string>{
           "<div hidden>\n\n" + bad + "\n</div>\n", "<div style=\"display: none\">\n\n" + bad,
           "<template>\n\n```\n</template>\n```\n" + bad, "<div> <!--\n\n```\n-->\n```\n" + bad,
           "<!-- a\n--> <!--\n\n```\n-->\n```\n" + bad, "<!--\n" + bad}) {
    EXPECT_EQ(counted(good + to_the_end), code(kModule, "shown")) << to_the_end;
    EXPECT_EQ(counted(to_the_end), "no_code_block") << to_the_end;
  }
  for (const std::string& shown : std::vector<std::string>{
           "<!-- a note -->\n", "<!--\na note\n-->\n", "a <!-- b\n",
           "<details>\n<summary>x</summary>\n\n",
           "<div class=\"is hidden\" aria-hidden=\"true\">\n", "<img hidden>\n",
           "<b hidden-by=\"x\">\n", "- <answer>\n", "5 <!6\n", "<-- so:\n"})
    EXPECT_EQ(counted(shown + good), code(kModule, "shown")) << shown;
  EXPECT_EQ(counted(fenced("<!--\n" + kModule + "-->\n", "a")),
            "<!--\n" + code(kModule, "a") + "-->\n")
      << "code is shown whatever it holds";
}

TEST(Response, WithoutFencesAPageShowsAllOfTheCode) {
  EXPECT_EQ(counted("/*\n<!--\n*/\n" + code(kKernel, "a") + "/*\n-->\n*/\n"), "no_code_block");
  EXPECT_EQ(counted("/*\n<!--\n-->\n*/\n" + code(kKernel, "a")), "hidden_code");
}

TEST(Response, FencesOfAllForms) {
  const std::string module = code(kModule, "a");
  EXPECT_EQ(counted(fenced(kModule, "a", "python", "````")), module);
  EXPECT_EQ(counted(fenced(kModule, "a", "python", "~~~")), module);
  EXPECT_EQ(counted(fenced(kModule, "a", " python ", "~~~~~")), module);
  EXPECT_EQ(counted("```python\n" + module + "`````  \n"), module) << "closed by a longer one";
  EXPECT_EQ(counted("```python\n" + module + "```</answer>\n"), module);
  EXPECT_EQ(counted("<answer>```python\n" + module + "```\n</answer>\n"), module);
  EXPECT_EQ(counted("Say ```class ModelNew: pass``` and be done.\n"), "no_code_block");
}

TEST(Response, IndentationOfAListIsNotTheCodes) {
  const std::string indented =
      "1. Do this:\n   ```python\n   class ModelNew:\n       x = '''\n raw'''\n   ```\n";
  EXPECT_EQ(counted(indented), "class ModelNew:\n    x = '''\nraw'''\n");
  EXPECT_EQ(counted("- ```python\n  class ModelNew:\n      pass\n  ```\n"),
            "class ModelNew:\n    pass\n");
  EXPECT_EQ(counted("    ```python\nclass ModelNew:\n    pass\n    ```\n"),
            "class ModelNew:\n    pass\n")
      << "only the fence is indented";
  EXPECT_EQ(counted("   ```\n   //@ out y like x\n   __global__ void k();\n   ```\n"),
            "   //@ out y like x\n   __global__ void k();\n")
      << "columns of errors are the answer's";
  EXPECT_EQ(counted("\t```python\r\n\tclass ModelNew:\r\n\t    pass\r\n\t```\r\n"),
            "class ModelNew:\n    pass\n");
}

TEST(Response, BlocksWithinBlocks) {
  const std::string module = code(kModule, "a");
  for (const std::string outer : {"```", "````", "~~~"}) {
    EXPECT_EQ(counted(outer + "markdown\nText\n" + fenced(kModule, "a") + "more\n" + outer + "\n"),
              module)
        << outer;
  }
  EXPECT_EQ(counted("````\n```\n" + module + "```\n````\n"), module) << "a longer fence around";
  const std::string documented =
      "class ModelNew:\n    '''As in\n    ```python\n    ModelNew()\n    ```\n    '''\n";
  EXPECT_EQ(counted("```python\n" + documented + "```\n"), documented);
  EXPECT_EQ(counted("```python\nclass ModelNew:\n    '''\n    Title\n    ~~~~~\n    '''\n```\n"),
            "class ModelNew:\n    '''\n    Title\n    ~~~~~\n    '''\n");
  EXPECT_EQ(counted("```python\n# never closed\n\nText\n" + fenced(kModule, "a")), module);
}

TEST(Response, AnAnswerThatBreaksOffSaysSo) {
  const std::string module = code(kModule, "a");
  EXPECT_EQ(counted("Here:\n```python\n" + module), "truncated");
  EXPECT_THAT(extract_code("Here:\n```python\n" + module).message, HasSubstr("line 3"));
  EXPECT_EQ(counted("```python\nimport torch\n"), "truncated") << "it had not come to ModelNew";
  EXPECT_EQ(counted(fenced(kModule, "a") + "Better:\n```python\n" + module), "truncated")
      << "what was to replace the first";
  EXPECT_EQ(counted(fenced(kModule, "a") + "Use it:\n```python\nModelNew()"), module)
      << "what breaks off is no candidate";
}

TEST(Response, WithoutFencesTheTextIsCodeAsAWhole) {
  EXPECT_EQ(counted(code(kModule, "a")), code(kModule, "a"));
  EXPECT_EQ(counted("<think>\nhm\n</think>\n" + code(kKernel, "a")), code(kKernel, "a"));
  const ExtractedCode found = extract_code(code(kModule, "a"));
  EXPECT_FALSE(found.block->fenced);
  EXPECT_FALSE(found.is_answer);
  EXPECT_EQ(counted("I cannot do this."), "no_code_block");
  const std::string commented = "'''\n```\nx = y\n```\n'''\n" + code(kModule, "a");
  EXPECT_EQ(counted(commented), commented) << "fences in a docstring";
  EXPECT_FALSE(extract_code(commented).is_answer);
  EXPECT_EQ(counted("A __global__ kernel gives a torch::Tensor:\n```\nx\n```\n"),
            "no_candidate_block");
  EXPECT_EQ(counted(""), "no_code_block");
}

TEST(Response, BlocksAreNotJoined) {
  EXPECT_EQ(counted("```cuda\n__global__ void k();\n```\n```cpp\ntorch::Tensor f();\n```\n"),
            "no_candidate_block");
}

// Each text is one that a careless reader takes quadratic time or a deep stack for; the sizes make
// those run out of the test's time.
TEST(Response, HostileTextsAreHarmless) {
  constexpr std::size_t kBytes = 4u << 20;
  const auto repeated = [](std::string_view part) {
    std::string text;
    while (text.size() + part.size() <= kBytes) text += part;
    return text;
  };
  for (const std::string_view part : {"```\n",
                                      "```a\n",
                                      "```a\n````\n",
                                      "~~~a\n",
                                      "<think>",
                                      "<think></think>",
                                      "<think>\n",
                                      "</think>\n",
                                      "</think",
                                      "<a>",
                                      "- ",
                                      "1. ",
                                      "`",
                                      "~",
                                      "```a\n~~~\n`````\n",
                                      "\n",
                                      "<",
                                      ">",
                                      "class ModelNew\n",
                                      "```\nclass ModelNew\n"}) {
    const ExtractedCode found = extract_code(repeated(part));
    EXPECT_LE(found.source.size(), kBytes + 1) << part;
    EXPECT_TRUE(found.block || !found.cause.empty()) << part;
  }
  // Fences of lengths that never match those that are open.
  std::string lengths;
  for (std::size_t i = 3; lengths.size() < kBytes; ++i)
    lengths += std::string(3 + i % 500, i % 2 == 0 ? '`' : '~') + (i % 3 == 0 ? "a\n" : "\n");
  EXPECT_FALSE(extract_code(lengths).cause.empty());
}

TEST(Response, EveryCutOfAnAnswerGivesCodeOrACause) {
  const std::string answer = "<think>\nhm\n</think>\n" + fenced(kModule, "a", "python", "~~~~") +
                             "1. text\n   " + fenced(kKernel, "b", "cuda", "````") + "end";
  for (std::size_t length = 0; length <= answer.size(); ++length) {
    const ExtractedCode found = extract_code(std::string_view(answer).substr(0, length));
    EXPECT_NE(found.block.has_value(), !found.cause.empty()) << length;
    EXPECT_EQ(found.source.empty(), !found.block) << length;
    if (!found.block) continue;
    EXPECT_EQ(std::ranges::count(found.source, '\n'),
              static_cast<std::ptrdiff_t>(found.block->last_line))
        << length;
  }
}

}  // namespace
}  // namespace kbench
