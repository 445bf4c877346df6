// SPDX-License-Identifier: MIT
// One candidate: what its text says of its kind and its encoding, and one that is named by a path.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.hpp"
#include "kbench/candidate.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using test::ScratchFolder;
using testing::HasSubstr;

constexpr std::string_view kKernel =
    "//@ out y like x\n//@ k<<<1, 1>>>(x, y)\n__global__ void k();\n";
constexpr std::string_view kModule = "class ModelNew: pass\n";

Problem problem(int level, std::string_view name) {
  Problem problem;
  problem.level = level;
  problem.name = name;
  problem.id = name.substr(0, name.find('_'));
  problem.key = level > 0 ? fmt::format("level{}/{}", level, name) : std::string(name);
  return problem;
}

TEST(Classify, EncodingsAreNamed) {
  const auto classified = [](std::string_view source, std::string_view name = "a.py") {
    Candidate candidate;
    candidate.source = source;
    classify(candidate, name);
    return candidate;
  };
  EXPECT_THAT(classified("\xff\xfe"
                         "a")
                  .reject_message,
              HasSubstr("UTF-16"));
  EXPECT_EQ(classified("\xfe\xff"
                       "a",
                       "a.cu")
                .reject_cause,
            "not_utf8");
  EXPECT_THAT(classified("a\nb = '\xe9'\n").reject_message, HasSubstr("0xe9 in line 2"));
  EXPECT_EQ(classified(std::string_view("a\0b\0", 4)).reject_cause, "not_text");
  const Candidate marked = classified("\xef\xbb\xbf//@ out y like x\n", "a.cu");
  EXPECT_EQ(marked.source, "//@ out y like x\n");
  EXPECT_EQ(marked.kind, CandidateKind::kKernel);
}

TEST(Classify, WhatPythonWouldReadInAnotherEncodingIsRefused) {
  const auto cause = [](const std::string& source, std::string_view name = "a.py") {
    Candidate candidate;
    candidate.source = source;
    classify(candidate, name);
    return candidate.reject_cause;
  };
  const std::string module(kModule);
  for (const char* honest :
       {"# -*- coding: utf-8 -*-\n", "# vim: set fileencoding=UTF8 :\n", "#!x\n# coding=latin-1\n",
        "# coding: cp1252\n", "# coding:\n", "import os\n# coding: utf-7\n",
        "# a\n# b\n# coding: utf-7\n", "x = '# coding: utf-7'\n", "# utf-7 coding\n"})
    EXPECT_EQ(cause(honest + module), "") << honest;
  for (const char* bad :
       {"# coding: utf-7\n", "\f #coding=utf_7\n", "#!x\n# -*- coding: rot13 -*-\n",
        "\n# coding: utf-16\n", "# coding: shift_jis\n", "# x\r# coding: utf-7\r",
        "\xef\xbb\xbf# coding: utf-7\n", "# coding: no-such-one\n",
        "# coding: latin-1\n# \xc3\xa9\n"})
    EXPECT_EQ(cause(bad + module), "other_encoding") << bad;
  EXPECT_EQ(cause("# coding: utf-7\n" + std::string(kKernel), "a.cu"), "")
      << "C++ knows no such line";
  EXPECT_EQ(cause("```\n# coding: utf-7\n" + module + "```\n", "a.md"), "other_encoding")
      << "its line 2, as the fence is an empty line";
}

TEST(Classify, ALineEndsWhereAPageShowsIt) {
  Candidate candidate;
  candidate.source = "# note\rclass ModelNew: pass\r\n# end\r";
  classify(candidate, "a.py");
  EXPECT_EQ(candidate.source, "# note\nclass ModelNew: pass\r\n# end\n");
}

TEST(Classify, ATextOfWhichNothingIsKnown) {
  const auto classified = [](const std::string& source) {
    Candidate candidate;
    candidate.source = source;
    classify(candidate);
    EXPECT_EQ(candidate.reject_cause, "");
    return candidate;
  };
  EXPECT_EQ(classified(std::string(kModule)).kind, CandidateKind::kModule);
  EXPECT_EQ(classified(std::string(kModule)).block, std::nullopt);
  EXPECT_EQ(classified(std::string(kKernel)).source, kKernel);
  EXPECT_EQ(classified("int main();").kind, CandidateKind::kExtension);
  const std::string page = fmt::format("'''\n<!-- of a page\n'''\n{}", kModule);
  EXPECT_EQ(classified(page).kind, CandidateKind::kModule);
  EXPECT_EQ(classified(page).source, page) << "a string of a module is no rendered page";
  const Candidate answer = classified(fmt::format("So:\n```\n{}```\n", kModule));
  EXPECT_EQ(answer.kind, CandidateKind::kModule);
  EXPECT_EQ(answer.source, fmt::format("\n\n{}", kModule));
  EXPECT_EQ(classified(fmt::format("<think>\n</think>\n{}", kModule)).source,
            fmt::format("\n\n{}", kModule));
}

TEST(Classify, KindComesFromNameAndPlan) {
  const auto kind = [](std::string_view name, std::string_view source) {
    Candidate candidate;
    candidate.source = source;
    classify(candidate, name);
    return candidate.kind;
  };
  EXPECT_EQ(kind("a.cu", kKernel), CandidateKind::kKernel);
  EXPECT_EQ(kind("a.cu", "\t//@\tflags --use_fast_math\n"), CandidateKind::kKernel);
  EXPECT_EQ(kind("a.cu", "//@ problem 19_ReLU\n//@\n//@ # note\nx"), CandidateKind::kExtension);
  EXPECT_EQ(kind("a.cu", "#include <torch/extension.h>\n"), CandidateKind::kExtension);
  EXPECT_EQ(kind("a.py", kKernel), CandidateKind::kModule);
  for (const auto each :
       {CandidateKind::kKernel, CandidateKind::kExtension, CandidateKind::kModule}) {
    EXPECT_EQ(candidate_kind_from_name(to_string(each)), each);
  }
  EXPECT_EQ(candidate_kind_from_name("script"), std::nullopt);
}

TEST(Classify, APlanWhoseMarkHasASpaceIsAPlan) {
  const auto kind = [](std::string_view line) {
    Candidate candidate;
    candidate.source = fmt::format("  {}\n__global__ void k();\n", line);
    classify(candidate, "a.cu");
    return candidate.kind;
  };
  for (const char* line : {"// @ out y like x", "// @out y: float32[4]", "//\t@ dims x[N]",
                           "// @ let n = 4", "// @ k<<<1, 1>>>(x, y)", "// @ flags -lineinfo"})
    EXPECT_EQ(kind(line), CandidateKind::kKernel) << line;
  for (const char* line : {"// @ out of bounds", "// @param n[in] size", "// see @ out y like x",
                           "// @ let us see", "// @ problem 19_ReLU"})
    EXPECT_EQ(kind(line), CandidateKind::kExtension) << line;
}

TEST(ReadCandidate, ALineOrAPathNamesTheProblem) {
  const ScratchFolder scratch;
  const std::vector<Problem> problems = {problem(1, "19_ReLU"), problem(2, "19_Chain")};
  std::string unplaced;
  const auto problem_of = [&](const char* path, std::string_view line) {
    return read_candidate(scratch.write(path, fmt::format("{}\n{}", line, kKernel)), problems,
                          &unplaced)
        .problem;
  };
  EXPECT_EQ(problem_of("a.cu", "//@ problem level1/19_relu"), "level1/19_ReLU");
  EXPECT_EQ(problem_of("a.cu", "// @ problem 19_Chain"), "level2/19_Chain");
  EXPECT_EQ(problem_of("19_ReLU/a.cu", ""), "level1/19_ReLU");
  EXPECT_EQ(unplaced, "");
  EXPECT_EQ(problem_of("a.cu", "// @ problem of this kernel"), "");
  EXPECT_THAT(unplaced, HasSubstr("belongs to no problem"));
  EXPECT_EQ(problem_of("a.cu", "//@ problem 3_Tanh"), "");
  EXPECT_THAT(unplaced,
              HasSubstr("a.cu is unknown (`//@ problem 3_Tanh`): name it with --problem"));
}

TEST(Classify, WhatCameByOtherWaysIsBoundedToo) {
  Candidate candidate;
  candidate.source.assign(kMaxCandidateBytes + 1, ' ');
  classify(candidate, "a.cu");
  EXPECT_EQ(candidate.reject_cause, "oversized");
  Candidate missing;
  missing.reject_cause = "no_code";
  classify(missing, "a.py");
  EXPECT_EQ(missing.reject_cause, "no_code");
}

TEST(LoadCandidate, OneFileForOneProblem) {
  const ScratchFolder scratch;
  const Candidate candidate =
      load_candidate(scratch.write("x.cu", kKernel), problem(1, "19_ReLU"), "me", 3);
  EXPECT_EQ(candidate.problem, "level1/19_ReLU");
  EXPECT_EQ(candidate.model, "me");
  EXPECT_EQ(candidate.sample, 3);
  EXPECT_EQ(candidate.source, kKernel);
  EXPECT_THROW(load_candidate(scratch / "no.cu", problem(1, "a"), "m", 0), UsageError);
  EXPECT_THROW(load_candidate(scratch.path(), problem(1, "a"), "m", 0), UsageError);
  EXPECT_THROW(load_candidate(scratch.write("x.c", ""), problem(1, "a"), "m", 0), UsageError);
  EXPECT_EQ(load_candidate(scratch.write("x.txt", "No."), problem(1, "a"), "m", 0).reject_cause,
            "no_code_block");
}

TEST(ParseCandidateSource, ModelAndPath) {
  const ScratchFolder scratch;
  EXPECT_EQ(parse_candidate_source("dir").path, "dir");
  EXPECT_EQ(parse_candidate_source("dir").model, std::nullopt);
  const CandidateSource both = parse_candidate_source("lab/model=runs/a=b");
  EXPECT_EQ(both.model, "lab/model");
  EXPECT_EQ(both.path, "runs/a=b");
  const std::string odd = scratch.write("a=b/x.cu", kKernel);
  EXPECT_EQ(parse_candidate_source(odd).path, odd);
  for (const char* bad : {"", "=x", "m="}) {
    EXPECT_THROW(parse_candidate_source(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace kbench
