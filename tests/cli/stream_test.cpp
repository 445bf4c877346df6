// SPDX-License-Identifier: MIT
// --candidates -: reads one JSON object per line, writes one record per line, and keeps references
// warm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kWrongSource =
    "//@ out y like x\n//@ k<<<1, 1>>>(y)\n__global__ void k(float* y) { y[0] = 1; }\n";

std::vector<json> lines_of(const std::string& output) {
  std::vector<json> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

CommandResult stream(const TempFolder& folder, const std::string& input,
                     std::vector<std::string> more = {}) {
  folder.write("level1/1_AddOne.py", add_one_problem(100));
  std::vector<std::string> arguments{
      "eval", (folder.path() / "level1").string(), "--candidates", "-", "--device", "cpu"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_kbench(arguments, input);
}

TEST(Stream, AnswersEachLineWithItsRecord) {
  const TempFolder folder;
  const json first{
      {"id", "a"}, {"problem", "1_AddOne"}, {"model", "m"}, {"source", add_one_kernel()}};
  json second = first;
  second["id"] = "b";
  second["sample"] = 1;
  second["source"] = kWrongSource;
  const auto result = stream(folder, first.dump() + "\n" + second.dump() + "\n");
  ASSERT_EQ(result.status.code, 0) << result.error;
  const auto records = lines_of(result.output);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("candidate"), "a");
  EXPECT_EQ(records[0].at("outcome"), "correct");
  EXPECT_EQ(records[1].at("candidate"), "b");
  EXPECT_EQ(records[1].at("outcome"), "mismatch");
}

/// Else a later candidate's record would replace an earlier one's, and a gate would pass.
TEST(Stream, NumbersSamplesThatHaveNoNumber) {
  const TempFolder folder;
  const auto line = [](const std::string& id, const std::string& source, const json& sample) {
    json object{{"id", id}, {"problem", "1_AddOne"}, {"source", source}};
    if (!sample.is_null()) object["sample"] = sample;
    return object.dump() + "\n";
  };
  const auto out = folder.path() / "run.jsonl";
  const auto result =
      stream(folder,
             line("wrong", kWrongSource, 0) + line("right", add_one_kernel(), {}) +
                 line("taken", add_one_kernel(), 1) + R"({"id": "typo", "smaple": 1})" + "\n",
             {"--out", out.string(), "--fail-under", "correct=1", "--timing", "none"});
  const auto answers = lines_of(result.output);
  ASSERT_EQ(answers.size(), 4u);
  std::map<std::string, std::string> said;
  for (const json& answer : answers)
    said[answer.value("candidate", answer.value("id", ""))] =
        answer.contains("message") && answer.at("type") == "error"
            ? answer.at("message").get<std::string>()
            : answer.at("outcome").get<std::string>();
  EXPECT_EQ(said.at("wrong"), "mismatch");
  EXPECT_EQ(said.at("right"), "correct");
  EXPECT_THAT(said.at("taken"),
              HasSubstr("sample 1 of model \"stdin\" for level1/1_AddOne was in"));
  EXPECT_THAT(said.at("typo"), HasSubstr("did you mean sample?"));
  EXPECT_THAT(result.error, HasSubstr("correct is 0.5, below 1"));
  EXPECT_EQ(read_run(out).records.size(), 2u);
}

TEST(Stream, TakesAnswersAsTheyCame) {
  const TempFolder folder;
  const std::string fenced = "So be it:\n```cuda\n" + add_one_kernel() + "```\n";
  const auto line = [](const std::string& id, const json& kind, const std::string& source) {
    json object{{"id", id}, {"problem", "1_AddOne"}, {"source", source}};
    if (!kind.is_null()) object["kind"] = kind;
    return object.dump() + "\n";
  };
  const auto result = stream(folder, line("said", "response", fenced) + line("seen", {}, fenced) +
                                         line("none", "response", "Sorry.") +
                                         line("cut", {}, fenced.substr(0, fenced.size() - 4)) +
                                         line("odd", "answer", fenced));
  EXPECT_EQ(result.status.code, 2);
  std::map<std::string, json> records;
  for (const json& record : lines_of(result.output))
    records[record.value("candidate", "error")] = record;
  EXPECT_EQ(records.at("said").at("outcome"), "correct");
  EXPECT_EQ(records.at("said").at("kind"), "kernel");
  EXPECT_EQ(records.at("seen").at("outcome"), "correct");
  EXPECT_EQ(records.at("none").at("outcome"), "missing");
  EXPECT_EQ(records.at("cut").at("cause"), "truncated");
  EXPECT_THAT(records.at("error").at("message").get<std::string>(), HasSubstr("and response"));
}

TEST(Stream, AnyTextIsAnId) {
  const TempFolder folder;
  const std::vector<std::string> ids{std::string(300, 'x'),  "a/b\n\"c\"", "..", "",
                                     std::string("a\0b", 3), "größe/\\"};
  std::string lines;
  for (const std::string& id : ids) {
    // Sources differ, because equal code is judged only once.
    const std::string source = "# " + std::to_string(lines.size()) +
                               "\nimport torch\nclass ModelNew(torch.nn.Module):\n"
                               "    def forward(self, x):\n        return x + 1\n";
    lines += json{{"id", id}, {"problem", "1_AddOne"}, {"source", source}}.dump() + "\n";
  }
  const auto result = stream(folder, lines);
  EXPECT_EQ(result.status.code, 0) << result.error;
  const auto records = lines_of(result.output);
  ASSERT_EQ(records.size(), ids.size());
  for (const json& record : records) {
    EXPECT_EQ(record.at("outcome"), "correct") << record.at("message");
    EXPECT_THAT(ids, testing::Contains(record.at("candidate").get<std::string>()));
  }
}

TEST(Stream, AMalformedLineIsNamedAndTheRestGoesOn) {
  const TempFolder folder;
  const json good{{"id", "a"}, {"problem", "1_AddOne"}, {"source", add_one_kernel()}};
  json unknown = good;
  unknown["problem"] = "no_such";
  const auto result =
      stream(folder, "{not json\n[]\n" + unknown.dump() + "\n{\"problem\": 3}\n" + good.dump());
  EXPECT_EQ(result.status.code, 2);
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 5u) << result.output;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(lines[static_cast<std::size_t>(i)].at("type"), "error");
  EXPECT_EQ(lines[2].at("line"), 3);
  EXPECT_THAT(lines[2].at("message"), HasSubstr("no_such"));
  EXPECT_EQ(lines[4].at("outcome"), "correct");
}

TEST(Stream, RecordsAndManifestGoToTheRunFileToo) {
  const TempFolder folder;
  const auto out = folder.path() / "run.jsonl";
  const json line{
      {"id", "a"}, {"problem", "1_AddOne"}, {"model", "m"}, {"source", add_one_kernel()}};
  ASSERT_EQ(stream(folder, line.dump() + "\n", {"--out", out.string()}).status.code, 0);
  const auto run = read_run(out);
  EXPECT_EQ(run.manifest.size(), 1u);
  ASSERT_EQ(run.records.size(), 1u);
  EXPECT_EQ(run.records[0].model.str(), "m");
  EXPECT_TRUE(run.secret.has_value());
}

std::size_t occurrences(const std::filesystem::path& file, const std::string& text) {
  std::ifstream in(file);
  const std::string all(std::istreambuf_iterator<char>(in), {});
  std::size_t count = 0;
  for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++count;
  return count;
}

TEST(Stream, GatesReportsAndSourcesHoldAsForFolders) {
  const TempFolder folder;
  const auto out = folder.path() / "run.jsonl";
  const auto report = folder.path() / "report.xml";
  json line{{"id", "a"}, {"problem", "1_AddOne"}, {"source", kWrongSource}};
  std::string input = line.dump() + "\n";
  line["sample"] = 1;
  input += line.dump() + "\n";
  const auto result = stream(
      folder, input,
      {"--out", out.string(), "--fail-under", "correct=1", "--format", "junit=" + report.string()});
  EXPECT_EQ(result.status.code, 3) << result.error;
  EXPECT_THAT(result.error, HasSubstr("correct is 0, below 1"));
  EXPECT_EQ(lines_of(result.output).size(), 2u) << "only records";
  EXPECT_EQ(occurrences(report, "<testcase"), 2u);
  EXPECT_EQ(occurrences(details_path(out), "__global__"), 1u);
  for (const std::string name : {"1_AddOne/0", "1_AddOne/1"})
    EXPECT_THAT(run_kbench({"show", out.string(), name, "--source"}).output,
                HasSubstr("__global__ void k(float* y) { y[0] = 1; }"));
}

TEST(Stream, AResumedRunAnswersFromAFileThatWasCutOff) {
  const TempFolder folder;
  const auto out = folder.path() / "run.jsonl";
  json line{{"id", "a"}, {"problem", "1_AddOne"}, {"source", add_one_kernel()}};
  const std::string first = line.dump() + "\n";
  line["source"] = kWrongSource;
  const std::string second = line.dump() + "\n";
  const auto before = stream(folder, first + second, {"--out", out.string()});
  ASSERT_EQ(before.status.code, 0) << before.error;
  const auto judged = lines_of(before.output);
  ASSERT_EQ(judged.size(), 2u);

  // The second record's line and the end line are lost.
  std::filesystem::resize_file(out, read_run(out).records.at(1).place.offset + 20);
  line = json::parse(first);
  line["id"] = "again";
  const auto after =
      stream(folder, line.dump() + "\n" + second, {"--out", out.string(), "--resume"});
  ASSERT_EQ(after.status.code, 0) << after.error;
  const auto answers = lines_of(after.output);
  ASSERT_EQ(answers.size(), 2u);
  json known = judged[0];
  known["candidate"] = "again";
  EXPECT_EQ(answers[0], known);
  EXPECT_EQ(answers[1].at("outcome"), "mismatch");
  EXPECT_NE(answers[1].at("ended"), judged[1].at("ended"));
  const auto run = read_run(out);
  EXPECT_EQ(run.records.size(), 2u);
  EXPECT_TRUE(run.ended);
}

}  // namespace
}  // namespace kbench::test
