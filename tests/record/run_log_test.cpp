// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/run_details.hpp"
#include "record/run_lines.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using test::contents;
using test::header;
using test::manifest;
using test::put;
using test::RunLog;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST_F(RunLog, WhatIsWrittenIsRead) {
  write_run(3, 2);
  const RunFile run = read_run(path_);
  ASSERT_THAT(run.headers, SizeIs(1));
  EXPECT_EQ(run.headers[0].run_id, "run 1");
  EXPECT_EQ(run.headers[0].options, json({{"seed", "secret"}}));
  EXPECT_EQ(run.headers[0].left_out.count, 7u);
  EXPECT_THAT(run.headers[0].left_out.first, ElementsAre("alpha/20_Tanh/0.cu"));
  EXPECT_THAT(run.manifest, SizeIs(3));
  EXPECT_EQ(run.manifest[2].sample, 2);
  EXPECT_THAT(run.records, SizeIs(2));
  EXPECT_EQ(run.secret, "the secret");
  EXPECT_TRUE(run.ended);
  EXPECT_FALSE(run.torn);
  EXPECT_THAT(run.bad_lines, IsEmpty());
}

TEST_F(RunLog, TheRecordNamesWhereItsDetailsStand) {
  write_run(2, 2);
  const RunFile run = read_run(path_);
  const std::string details = contents(details_path(path_));
  EXPECT_EQ(details_path(path_), folder_.path() / "run.details.jsonl");
  for (const Record& record : run.records) {
    ASSERT_TRUE(record.details);
    EXPECT_EQ(details.substr(record.details->offset, record.details->length), R"({"log":"hello"})");
  }
  EXPECT_NE(run.records[0].details->offset, run.records[1].details->offset);
}

TEST_F(RunLog, CutOffAtEveryByteItLosesNoWholeLineAndStandsUpAgain) {
  write_run(2, 2);
  const std::string whole = contents(path_);
  const std::size_t first_line = whole.find('\n');
  const std::filesystem::path cut = folder_.path() / "cut.jsonl";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    const std::string text = whole.substr(0, size);
    put(cut, text);
    if (size < first_line) {
      EXPECT_THROW(read_run(cut), UsageError);
      if (size > 0) {
        EXPECT_THROW(RunWriter(cut, true), UsageError);
      }
      continue;
    }
    // A line is whole when only its end is missing.
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) +
                       (size < whole.size() && whole[size] == '\n' ? 1u : 0u);
    const bool torn = size > 0 && text.back() != '\n' && whole[size] != '\n';
    const RunFile run = read_run(cut);
    EXPECT_EQ(run.torn, torn);
    EXPECT_THAT(run.bad_lines, IsEmpty());
    EXPECT_EQ(run.manifest.size(), lines >= 2 ? 2u : 0u);
    EXPECT_EQ(run.records.size(), std::min<std::size_t>(lines < 2 ? 0 : lines - 2, 2));
    EXPECT_EQ(run.ended, lines == 5);
    EXPECT_EQ(contents(cut), text) << "reading must not write";

    RunWriter(cut, true).write(samples::correct("alpha", "level1/19_ReLU", 9), nullptr);
    const RunFile resumed = read_run(cut);
    EXPECT_EQ(resumed.records.size(), run.records.size() + 1);
    EXPECT_EQ(resumed.records.back().sample, 9);
    EXPECT_THAT(resumed.bad_lines, SizeIs(torn ? 1 : 0));
  }
}

TEST_F(RunLog, BadLinesAreNamedAndTheRestIsRead) {
  write_run(1, 1);
  json no_model = to_json(samples::correct());
  no_model.erase("model");
  put(path_,
      "{\"type\": \"rec\n\n[1]\n{\"type\":\"sonnet\"}\n" + no_model.dump() + "\n" +
          to_json(samples::correct("beta")).dump() + "\n{\"seconds\": NaN}\n",
      true);
  const RunFile run = read_run(path_);
  EXPECT_THAT(run.records, SizeIs(2));
  EXPECT_THAT(
      run.bad_lines,
      ElementsAre("line 5: is not JSON (cut off or damaged)", "line 7: is not an object",
                  "line 8: has the unknown type \"sonnet\"", "line 9: field \"model\" is missing",
                  "line 11: is not JSON: NaN is not a number in JSON"));
  EXPECT_THAT(read_runs({path_, path_}).bad_lines,
              testing::Contains(HasSubstr("run.jsonl, line 5")));
}

TEST_F(RunLog, AnotherMajorVersionIsRefusedAndANewerMinorOneRead) {
  json line = to_json(header());
  for (const auto& [schema, reader] : {std::pair{"1.14", "the kbench that wrote it"},
                                       std::pair{"3.0", "that wrote it or a newer one"}}) {
    line["schema"] = schema;
    put(path_, line.dump() + "\n");
    EXPECT_THAT([&] { read_run(path_); },
                ThrowsMessage<UsageError>(AllOf(
                    HasSubstr(std::string("run.jsonl has schema ") + schema), HasSubstr(reader))));
    EXPECT_THROW(RunWriter(path_, true), UsageError);
  }

  line["schema"] = fmt::format("{}.{}", kSchemaMajor, kSchemaMinor + 1);
  line["new_field"] = 1;
  json record = to_json(samples::correct());
  record["new_field"] = {1, 2};
  put(path_, line.dump() + "\n{\"type\":\"sonnet\"}\n" + record.dump() + "\n");
  const RunFile run = read_run(path_);
  EXPECT_THAT(run.records, SizeIs(1));
  EXPECT_THAT(run.bad_lines, IsEmpty());
}

TEST_F(RunLog, WhatIsNoRunFileIsRefusedWithASentence) {
  EXPECT_THAT([&] { read_run(path_); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("cannot read"), HasSubstr("run.jsonl"))));
  EXPECT_THAT([&] { read_run(folder_.path()); },
              ThrowsMessage<UsageError>(HasSubstr("not a regular file")));
  put(path_, "");
  EXPECT_THAT([&] { read_run(path_); }, ThrowsMessage<UsageError>(HasSubstr("no run line")));
  put(path_, "Dear diary,\n");
  EXPECT_THAT([&] { read_run(path_); }, ThrowsMessage<UsageError>(HasSubstr("no run line")));
  EXPECT_THAT([&] { RunWriter(path_, true); },
              ThrowsMessage<UsageError>(HasSubstr("its first line is not a run line")));
  EXPECT_EQ(contents(path_), "Dear diary,\n");
}

TEST_F(RunLog, TheLastVerdictOfAKeyCountsUnlessItIsAHarnessFault) {
  write_run(1, 0);
  {
    RunWriter writer(path_, true);
    writer.write(samples::failed(Outcome::kHarnessFault, "judge_died", "…"), nullptr);
    writer.write(samples::failed(Outcome::kCrash, "signal", "…"), nullptr);
    writer.write(samples::correct(), nullptr);
    writer.write(samples::failed(Outcome::kHarnessFault, "judge_died", "…"), nullptr);
    writer.write(samples::failed(Outcome::kHarnessFault, "disk", "…", "beta"), nullptr);
  }
  const RunFile run = read_run(path_);
  ASSERT_THAT(run.records, SizeIs(2));
  EXPECT_EQ(run.records[0].outcome, Outcome::kCorrect);
  EXPECT_EQ(run.records[1].outcome, Outcome::kHarnessFault);
  EXPECT_THAT(resumable_keys(run),
              testing::ElementsAre(testing::Pair(record_key(run.records[0]), 0)));
}

TEST_F(RunLog, WhatTheMachineLackedIsTriedAgain) {
  write_run(0, 0);
  {
    RunWriter writer(path_, true);
    writer.write(samples::failed(Outcome::kLoadFailure, "missing_package", "…"), nullptr);
    writer.write(samples::failed(Outcome::kLoadFailure, "import_failed", "…", "beta"), nullptr);
  }
  const RunFile run = read_run(path_);
  EXPECT_THAT(resumable_keys(run),
              testing::ElementsAre(testing::Pair(record_key(run.records[1]), 1)));
}

TEST_F(RunLog, OtherCodeForTheSameSampleIsAnotherKey) {
  write_run(1, 1);
  Record changed = samples::correct();
  changed.candidate_hash = "c1";
  RunWriter(path_, true).write(changed, nullptr);
  EXPECT_THAT(resumable_keys(read_run(path_)), SizeIs(2));
}

TEST_F(RunLog, LaterManifestsAddAndARepeatedEntryIsOne) {
  write_run(2, 0);
  {
    RunWriter writer(path_, true);
    writer.write(header());
    writer.write(manifest(3));
  }
  const RunFile run = read_run(path_);
  EXPECT_THAT(run.headers, SizeIs(2));
  EXPECT_THAT(run.manifest, SizeIs(3));
  EXPECT_FALSE(run.ended) << "the second run line has no end line";
}

TEST_F(RunLog, ALongManifestIsSplitAndReadWhole) {
  RunWriter writer(path_, false);
  writer.write(header());
  writer.write(manifest(2500));
  EXPECT_EQ(std::ranges::count(contents(path_), '\n'), 4);
  EXPECT_THAT(read_run(path_).manifest, SizeIs(2500));
}

TEST_F(RunLog, LinesAreReadWholeAcrossBlocksInTheirOrder) {
  // Lines from a few bytes to several megabytes, so that some span blocks.
  put(path_, to_json(header()).dump() + "\n");
  std::string text;
  for (int i = 0; i < 400; ++i) {
    Record record = samples::failed(Outcome::kCrash, "signal", "", "alpha", "p", i % 300);
    const std::size_t bytes = i == 7 ? 3u << 20 : static_cast<std::size_t>(i * 37 % 20011);
    record.message = std::string(bytes, 'x') + std::to_string(i);
    text += to_json(record).dump() + "\n";
  }
  put(path_, text, true);
  const RunFile run = read_run(path_);
  EXPECT_THAT(run.bad_lines, IsEmpty());
  ASSERT_THAT(run.records, SizeIs(300));
  for (int i = 0; i < 300; ++i) {
    const Record& record = run.records[static_cast<std::size_t>(i)];
    EXPECT_EQ(record.sample, i);
    const std::string number = std::to_string(i < 100 ? i + 300 : i);
    EXPECT_EQ(record.message.substr(record.message.find_first_not_of('x')), number);
    // The line is found again where it stands, in whichever block that is.
    EXPECT_EQ(RunDetails(run).line(record), to_json(record));
  }
}

TEST_F(RunLog, DetailsAreFoundAgainOrItIsSaidWhyNot) {
  write_run(0, 0);
  const json told = {{"log", "ptxas says\n"}, {"raw_ms", {{"candidate", {1.5, 1.25}}}}};
  {
    RunWriter writer(path_, true);
    writer.write(samples::correct("alpha"), json{{"log", "other"}});
    writer.write(samples::correct("beta"), told);
    Record bare = samples::correct("gamma");
    bare.details.reset();
    writer.write(bare, nullptr);
  }
  const RunFile run = read_run(path_);
  ASSERT_THAT(run.records, SizeIs(3));
  const RunDetails details(run);
  std::string why;
  EXPECT_EQ(details.details(run.records[1], why), told);
  EXPECT_EQ(why, "");
  EXPECT_TRUE(details.details(run.records[2], why).is_null());
  EXPECT_EQ(why, "") << "nothing was written of it, so nothing is missing";
  EXPECT_TRUE(details.details(run.records[1], why, 10).is_null());
  EXPECT_THAT(why, HasSubstr("0.0 MB long"));
  Record moved = run.records[1];
  moved.details->offset += 3;
  EXPECT_TRUE(details.details(moved, why).is_null());
  EXPECT_THAT(why, HasSubstr("is shorter than"));
  moved = run.records[0];
  moved.details->offset += 3;
  EXPECT_TRUE(details.details(moved, why).is_null());
  EXPECT_THAT(why, HasSubstr("contains other data"));
  std::filesystem::remove(details_path(path_));
  EXPECT_TRUE(RunDetails(run).details(run.records[1], why).is_null());
  EXPECT_THAT(why, HasSubstr("does not exist"));
  EXPECT_TRUE(RunDetails(run).line(samples::correct()).is_null()) << "it is from no file";
}

TEST_F(RunLog, FindingsAndProfileStayInTheirLineAndAreFoundThere) {
  Record seen = samples::observed();
  seen.message = R"(quotes " and \ and \" {[,:]} "profile": [1], "findings": [2])";
  seen.findings[0].message = "\\";
  Record fault = samples::failed(Outcome::kCrash, "trap", "", "beta");
  fault.findings = seen.findings;
  fault.findings[0].kind = kFaultFinding;
  fault.findings_count = 1;
  write_run(0, 0);
  {
    RunWriter writer(path_, true);
    for (const Record& record : {seen, fault, samples::correct("gamma")})
      writer.write(record, nullptr);
  }
  const RunFile run = read_run(path_);
  ASSERT_THAT(run.records, SizeIs(3));
  const RunDetails details(run);
  const auto as_json = [&](const Record& record, std::string_view name) {
    return json::parse(details.fields(record, std::span(&name, 1)).at(0));
  };
  for (const Record& read : run.records) {
    EXPECT_THAT(read.findings, IsEmpty());
    EXPECT_THAT(read.profile, IsEmpty());
    const json line = details.line(read);
    EXPECT_EQ(to_json(details.whole(read)), line);
    for (const char* name : {"findings", "profile", "message", "timing", "sizes", "launches"})
      EXPECT_EQ(as_json(read, name), line[name]) << name;
    EXPECT_TRUE(as_json(read, "no such field").is_null());
  }
  EXPECT_EQ(as_json(run.records[0], "findings")[0], to_json(seen.findings[0]));
  EXPECT_TRUE(run.records[0].left.findings && run.records[0].left.profile);
  EXPECT_FALSE(run.records[1].left.findings) << "the failure tells of the fault";
  EXPECT_EQ(run.records[1].findings_count, 1u);
  EXPECT_FALSE(run.records[2].left.findings || run.records[2].left.profile);
  EXPECT_TRUE(as_json(seen, "findings").is_null()) << "it is from no file";
  EXPECT_EQ(to_json(details.whole(seen)), to_json(seen));
  std::filesystem::remove(path_);
  const RunDetails gone(run);
  EXPECT_EQ(to_json(gone.whole(run.records[0])), to_json(run.records[0]));
}

TEST_F(RunLog, TheToleranceThatAllTrialsPassIsTheWorstOfThem) {
  write_run(0, 0);
  Record good = samples::correct();
  good.correctness.resize(2, good.correctness[0]);
  good.correctness[1].allclose_at = 2e-3;
  Record bad = samples::mismatch("beta");
  Record old = samples::correct("gamma");
  old.correctness[0].allclose_at = {};
  {
    RunWriter writer(path_, true);
    for (const Record& record : {good, bad, old}) writer.write(record, nullptr);
  }
  const RunFile run = read_run(path_);
  EXPECT_EQ(run.records[0].allclose_at, 2e-3);
  EXPECT_EQ(run.records[1].allclose_at, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(run.records[2].allclose_at) << "nobody looked";
}

TEST_F(RunLog, OfTheTrialsTheFirstThatFailedIsKeptElseTheWorst) {
  write_run(0, 0);
  Record good = samples::correct();
  good.correctness.resize(3, good.correctness[0]);
  good.correctness[1].trial = 1;
  good.correctness[1].max_abs_error = 0.5;
  Record bad = samples::mismatch("beta");
  bad.correctness.push_back(bad.correctness[0]);
  bad.correctness.insert(bad.correctness.begin(), TrialResult{});
  bad.correctness[1].trial = 1;
  {
    RunWriter writer(path_, true);
    writer.write(good, nullptr);
    writer.write(bad, nullptr);
  }
  const RunFile run = read_run(path_);
  for (const Record& record : run.records) {
    ASSERT_THAT(record.correctness, SizeIs(1));
    EXPECT_EQ(record.correctness[0].trial, 1);
  }
}

TEST_F(RunLog, TheDocumentedExamplesAreCompleteAndRoundTrip) {
  const std::map<std::string, json> examples = test::documented_lines("RUN_FILE.md");
  ASSERT_THAT(examples, SizeIs(4));
  const auto parsed = [&](const char* type) {
    return run_line_from(JsonReader(examples.at(type)).root());
  };
  EXPECT_EQ(to_json(std::get<RunHeader>(parsed("run"))), examples.at("run"));
  EXPECT_EQ(to_json(std::get<std::vector<ManifestEntry>>(parsed("manifest"))),
            examples.at("manifest"));
  EXPECT_EQ(to_json(std::get<Record>(parsed("record"))), examples.at("record"));
  EXPECT_EQ(to_json(std::get<RunEnd>(parsed("end"))), examples.at("end"));

  std::string file;
  for (const char* type : {"run", "manifest", "record", "end"})
    file += examples.at(type).dump() + "\n";
  put(path_, file);
  const RunFile run = read_run(path_);
  EXPECT_THAT(run.bad_lines, IsEmpty());
  EXPECT_THAT(run.manifest, SizeIs(4));
  EXPECT_THAT(run.records, SizeIs(1));
  EXPECT_TRUE(run.ended);
}

}  // namespace
}  // namespace kbench
