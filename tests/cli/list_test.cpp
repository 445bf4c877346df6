// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/list_table.hpp"

namespace kbench::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

std::vector<ListedProblem> sample() {
  ListedProblem good;
  good.problem.id = "19";
  good.problem.name = "19_ReLU";
  good.problem.key = "level1/19_ReLU";
  good.problem.level = 1;
  good.problem.path = "set/level1/19_ReLU.py";
  good.problem.source = "rows = 4096\ndim = 8\nclass Model: pass\n";
  good.problem.named_sizes = {{"cpu", {{"rows", "4"}}}, {"gpu", {}}};
  good.problem.tags = {"elementwise"};
  good.sizes = {{"rows", "4"}};
  Signature signature;
  signature.problem = "level1/19_ReLU";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {4, 8}}}, {"alpha", Value(0.5)}};
  signature.outputs = {{"0", DType::kFloat16, {4, 8}}};
  signature.state = {{{"weight", DType::kFloat32, {8, 32}}, false},
                     {{"mean", DType::kFloat64, {8}}, true}};
  good.found = signature;
  ListedProblem bad;
  bad.problem.name = "2_Odd";
  bad.problem.key = "2_Odd";
  bad.found = "forward raised ValueError: no";
  return {good, bad};
}

TEST(List, TableForPeople) {
  EXPECT_EQ(list_text(sample(), "cpu"),
            "id  name     level  parameters    bytes  sizes         inputs\n"
            "19  19_ReLU      1         256  1.2 KiB  rows=4 dim=8  x: float32[4, 8], alpha = 0.5\n"
            "    2_Odd        0           -        -  -             "
            "problem_failure: forward raised ValueError: no\n"
            "2 problems, sizes for cpu; bytes are those of inputs, state and outputs\n");
}

TEST(List, AWideCellDoesNotWidenItsColumn) {
  auto problems = sample();
  problems[1].problem.name.assign(60, 'n');
  EXPECT_THAT(list_text(problems, "cpu"), StartsWith("id  name     level "));
}

TEST(List, JsonForPrograms) {
  const nlohmann::json list = list_json(sample(), "gpu");
  EXPECT_EQ(list["device"], "gpu");
  const nlohmann::json& good = list["problems"][0];
  EXPECT_EQ(good["key"], "level1/19_ReLU");
  EXPECT_EQ(good["sizes"], (nlohmann::json{{"rows", "4"}, {"dim", "8"}}));
  EXPECT_EQ(good["named_sizes"], (nlohmann::json{"cpu", "gpu"}));
  EXPECT_EQ(good["inputs"][0],
            (nlohmann::json{{"name", "x"}, {"dtype", "float32"}, {"shape", {4, 8}}}));
  EXPECT_EQ(good["inputs"][1], (nlohmann::json{{"name", "alpha"}, {"value", 0.5}}));
  EXPECT_EQ(good["parameters"], 256);
  EXPECT_EQ(good["input_bytes"], 128);
  EXPECT_EQ(good["state_bytes"], 1024 + 64);
  EXPECT_EQ(good["output_bytes"], 64);
  EXPECT_FALSE(good.contains("failure"));
  EXPECT_EQ(list["problems"][1]["failure"], "forward raised ValueError: no");
  EXPECT_FALSE(list["problems"][1].contains("inputs"));
}

TEST(List, SizesAreTheFilesConstantsAndWhatWasSet) {
  auto listed = sample()[0];
  listed.sizes["extra"] = "7";
  EXPECT_THAT(effective_sizes(listed),
              ElementsAre(Pair("rows", "4"), Pair("dim", "8"), Pair("extra", "7")));
}

TEST(List, NamesOfAPlanAndItsSkeleton) {
  const std::string text = names_text(sample()[0], {.sms = 7, .smem_bytes = 1234});
  EXPECT_THAT(text, StartsWith("# level1/19_ReLU\n"));
  for (const char* part : {"weight", "mean", "device.sms", "1234", "__global__", "//@ out"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(names_text(sample()[1], {}), HasSubstr("forward raised ValueError"));
  ListedProblem reduced = sample()[0];
  reduced.reduced_sizes = {.bytes = 1, .flops = 1, .full_bytes = 2, .full_flops = 2};
  EXPECT_THAT(names_text(reduced, {}), StartsWith("# level1/19_ReLU, at reduced sizes (--full-"));
}

TEST(List, OptionsTakeOneValueEach) {
  CLI::App app;
  const Subcommand list = add_list(app);
  app.parse("list --set a=1 relu --set b=2 softmax --device cpu");
  EXPECT_TRUE(list.app->parsed());
  EXPECT_THAT(list.app->get_option("PROBLEM")->results(), ElementsAre("relu", "softmax"));
  EXPECT_THAT(list.app->get_option("--set")->results(), ElementsAre("a=1", "b=2"));
  EXPECT_THROW(app.parse("list --device tpu"), CLI::ParseError);
}

}  // namespace
}  // namespace kbench::cli
