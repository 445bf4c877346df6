// SPDX-License-Identifier: MIT
// The table for a paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/test_folder.hpp"
#include "os/subprocess.hpp"
#include "report/approved.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using test::expect_approved;
using test::written;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOddModel = R"([a] & 100% $x_1 #{~^}\b -- <|*`")";

ReportOptions everything() {
  ReportOptions options;
  options.p = {1};
  options.latex_levels = options.latex_intervals = true;
  return options;
}

std::string table(const RunFile& run, const ReportOptions& options = {}) {
  return written(build_report(run, options), "latex");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// The run with the first model under another name.
RunFile renamed(RunFile run, const char* name) {
  for (Record& record : run.records)
    if (record.model == "alpha") record.model = name;
  for (ManifestEntry& entry : run.manifest)
    if (entry.model == "alpha") entry.model = name;
  return run;
}

TEST(Latex, IsOneTableWithCaptionAndLabel) {
  const std::string text = table(samples::gpu_run());
  for (const char* part :
       {"\\begin{table}", "\\begin{tabular}", "\\caption{", "\\label{tab:kbench}"})
    EXPECT_EQ(count(text, part), 1u) << part;
  EXPECT_THAT(text, testing::StartsWith("% needs \\usepackage{booktabs,graphicx}\n"));
}

TEST(Latex, LevelsAndIntervalsAreThereIfAskedFor) {
  EXPECT_THAT(table(samples::gpu_run()),
              AllOf(Not(HasSubstr("level 1 &")), Not(HasSubstr("\\scriptsize"))));
  const std::string all = table(samples::gpu_run(), everything());
  EXPECT_THAT(all, AllOf(HasSubstr("level 1 &"), HasSubstr("\\scriptsize")));
  expect_approved(all, "levels_latex.txt");
}

TEST(Latex, TheBestOfEachColumnIsBold) {
  ReportOptions options;
  options.p = {0.5, 1};
  // alpha: 3 of 4 correct, fast_0.5 1, fast_1 0.5, pass@1 0.75, geomean 1.38 of 2 problems.
  // beta:  2 of 5,         0.67,       0.33,       0.5,         1.41 of 2.
  const std::string text = table(samples::gpu_run(), options);
  EXPECT_THAT(text, HasSubstr("alpha & 2 & \\textbf{3/4} & \\textbf{1.00} & \\textbf{0.50} & "
                              "\\textbf{0.75} & 1.38$\\times$ (2) \\\\\n"));
  EXPECT_THAT(text, HasSubstr("beta & 3 & 2/5 & 0.67 & 0.33 & 0.50 & "
                              "\\textbf{1.41$\\times$} (2) \\\\\n"));
}

TEST(Latex, EqualValuesAreEquallyGoodAndOneModelIsNotTheBest) {
  RunFile run;
  run.headers = {samples::header("cuda")};
  for (const char* model : {"a", "b", "c"}) {
    run.manifest.push_back(samples::planned(model, "level1/19_ReLU", 1, 0));
    run.records.push_back(
        samples::correct(model, "level1/19_ReLU", 0, std::string_view(model) == "c" ? 1.5 : 1.9));
  }
  const std::string text = table(run);
  EXPECT_EQ(count(text, "\\textbf{1.90$\\times$}"), 2u) << text;
  EXPECT_THAT(text, Not(HasSubstr("\\textbf{1/1}"))) << "all are equal";
  EXPECT_THAT(table(samples::cpu_run()), AllOf(Not(HasSubstr("\\textbf")), Not(HasSubstr("bold"))));
}

TEST(Latex, OtherPrecisionsAreNotCompared) {
  RunFile run;
  run.manifest = {samples::planned("a", "level1/19_ReLU", 1, 0)};
  run.records = {samples::correct("a", "level1/19_ReLU", 0, 1.9),
                 samples::correct("a", "level1/19_ReLU", 0, 3.9)};
  run.records[1].precision = "fp16";
  EXPECT_THAT(table(run), Not(HasSubstr("\\textbf")));
}

TEST(Latex, NamesOfModelsAreEscaped) {
  EXPECT_THAT(table(renamed(samples::gpu_run(), kOddModel)),
              HasSubstr("\n{[}a{]} \\& 100\\% \\$x\\_1 \\#\\{\\textasciitilde{}"
                        "\\textasciicircum{}\\}\\textbackslash{}b -{}-{} $<$$|${*}"
                        "\\textasciigrave{}\" & "));
}

TEST(Latex, ManyModelsTakeSeveralTablesOfWhichOneHasTheLabel) {
  RunFile run;
  run.headers = {samples::header("cuda")};
  for (int i = 0; i < 100; ++i) {
    const std::string model = "model-" + std::to_string(i);
    run.manifest.push_back(samples::planned(model.c_str(), "level1/19_ReLU", 1, 0));
    run.records.push_back(samples::correct(model.c_str()));
  }
  const std::string text = table(run);
  EXPECT_EQ(count(text, "\\begin{table}"), 3u);
  EXPECT_EQ(count(text, "\\label"), 1u);
  EXPECT_EQ(count(text, "(continued)"), 2u);
}

/// True if TeX finds the package.
bool has_package(const std::string& name) {
  return run_command(
             {.command = {"/usr/bin/env", "kpsewhich", name + ".sty"}, .env = {}, .fds = {}},
             std::chrono::seconds(60))
      .is_success();
}

TEST(Latex, PdflatexSetsIt) {
  if (!has_package("booktabs") || !has_package("graphicx"))
    GTEST_SKIP() << "no pdflatex with booktabs (Debian: texlive-latex-recommended)";
  const test::ScratchFolder folder;
  const RunFile run = renamed(samples::gpu_run(), kOddModel);
  for (const ReportOptions& options : {ReportOptions(), everything()}) {
    const std::string text = table(run, options);
    const std::size_t at = text.find("\\usepackage");
    folder.write("paper.tex", "\\documentclass{article}" + text.substr(at, text.find('\n') - at) +
                                  "\\begin{document}\n" + text + "\\end{document}\n");
    const CommandResult result =
        run_command({.command = {"/usr/bin/env", "pdflatex", "-halt-on-error", "-no-shell-escape",
                                 "-interaction=nonstopmode", "-output-directory",
                                 folder.path().string(), (folder / "paper.tex").string()},
                     .env = {},
                     .fds = {}},
                    std::chrono::seconds(300));
    EXPECT_TRUE(result.is_success()) << result.output;
    EXPECT_THAT(result.output, AllOf(Not(HasSubstr("Overfull")), Not(HasSubstr("too large")),
                                     HasSubstr("(1 page")));
  }
}

}  // namespace
}  // namespace kbench
