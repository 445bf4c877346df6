// SPDX-License-Identifier: MIT
// Candidates that cheat, and honest twins that use the same technique; tests/hostile/README.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <regex>

#include "cli/kbench_process.hpp"
#include "core/file_tree.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(KBENCH_SOURCE_DIR) / "tests" / "hostile";

/// What expected.tsv says of the files in `part`: {path below the folder: state}.
std::map<std::string, std::string> expected_of(const std::string& part) {
  std::map<std::string, std::string> states;
  std::ifstream file(kFolder / "expected.tsv");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find('\t');
    const auto second = line.find('\t', first + 1);
    if (line.starts_with(part + "/"))
      states[line.substr(0, first)] = line.substr(first + 1, second - first - 1);
  }
  return states;
}

/// The records of one run over that part, by path below the folder.
std::map<std::string, Record> judged(const std::string& part) {
  const TempFolder folder;
  const auto out = folder.path() / "run.jsonl";
  const auto result =
      run_kbench({"eval", "--candidates", part + "=" + (kFolder / part).string(), "--device", "cpu",
                  "--compile-timeout", "10", "--out", out.string()},
                 {}, std::chrono::seconds(580));
  EXPECT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    if (record.outcome != Outcome::kMissing)
      records.emplace(fs::path(id).lexically_relative(kFolder).string(), record);
  return records;
}

/// 0: a kernel, 1: an extension, 2: a module.
std::size_t kind_of(const fs::path& file) {
  if (file.extension() == ".py") return 2;
  const std::string text = read_file(file, 1 << 20).bytes;
  return text.find("torch::Tensor") == std::string::npos ? 0 : 1;
}

/// The README's table: by family, what its cells say of each kind.
std::map<std::string, std::array<std::string, 3>> matrix() {
  std::map<std::string, std::array<std::string, 3>> rows;
  std::ifstream file(kFolder / "README.md");
  const std::regex row(R"(\| (\d\d) [^|]*\| ([^|]+) \| ([^|]+) \| ([^|]+) \|)");
  std::smatch cells;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, cells, row)) rows[cells[1]] = {cells[2], cells[3], cells[4]};
  return rows;
}

TEST(Hostile, EachFamilyHasTwoCheatsOfEachKindThatItCanHave) {
  std::map<std::string, std::array<int, 3>> all, on_gpu;
  for (const auto& [path, state] : expected_of("cheats")) {
    const std::string family = fs::path(path).filename().string().substr(0, 2);
    const std::size_t kind = kind_of(kFolder / path);
    ++all[family][kind];
    on_gpu[family][kind] += state == "gpu" ? 1 : 0;
  }
  const auto told = matrix();
  EXPECT_EQ(told.size(), 26u);
  for (const auto& [family, cells] : told) {
    for (std::size_t kind = 0; kind < cells.size(); ++kind) {
      const int count = all[family][kind], gpu = on_gpu[family][kind];
      const std::string note = gpu == 0       ? ""
                               : gpu == count ? " (all gpu)"
                                              : fmt::format(" ({} gpu)", gpu);
      EXPECT_EQ(cells[kind], count == 0 ? "–" : fmt::format("{}{}", count, note))
          << family << ", kind " << kind;
      EXPECT_NE(count, 1) << family << ", kind " << kind;
    }
  }
}

TEST(Hostile, CheatsThatAreCaughtStayCaught) {
  const auto states = expected_of("cheats");
  const auto records = judged("cheats");
  EXPECT_EQ(records.size(), states.size());
  for (const auto& [path, state] : states) {
    SCOPED_TRACE(path);
    const auto found = records.find(path);
    ASSERT_NE(found, records.end());
    const bool correct = found->second.outcome == Outcome::kCorrect;
    EXPECT_NE(found->second.outcome, Outcome::kHarnessFault) << found->second.message;
    if (state == "caught") {
      EXPECT_FALSE(correct);
    }
    // One that is caught from now on is to be said so.
    if (state == "open") {
      EXPECT_TRUE(correct) << found->second.cause.str() << ": " << found->second.message;
    }
  }
}

TEST(Hostile, HonestTwinsAreRight) {
  const auto states = expected_of("honest");
  const auto records = judged("honest");
  EXPECT_EQ(records.size(), states.size());
  for (const auto& [path, state] : states) {
    SCOPED_TRACE(path);
    const auto found = records.find(path);
    ASSERT_NE(found, records.end());
    EXPECT_EQ(to_string(found->second.outcome), state == "right" ? "correct" : state)
        << found->second.cause.str() << ": " << found->second.message;
  }
}

}  // namespace
}  // namespace kbench::test
