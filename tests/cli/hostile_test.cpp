// SPDX-License-Identifier: MIT
// Cheats, and honest counterparts by the same techniques, on the CPU and on a GPU.
// tests/hostile/README.md describes them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>

#include "base/file_tree.hpp"
#include "cli/kbench_process.hpp"

namespace kbench::test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(KBENCH_SOURCE_DIR) / "tests" / "hostile";
constexpr std::string_view kDevice = KBENCH_TEST_DEVICE;

struct Expected {
  std::string state;
  std::string reason;
};

/// The rows of the tables for the files in `part`, by path below the folder. expected_cuda.tsv
/// replaces rows of expected.tsv on a GPU.
std::map<std::string, Expected> expected_of(const std::string& part,
                                            std::string_view device = kDevice) {
  std::map<std::string, Expected> rows;
  std::vector<std::string> names{"expected.tsv"};
  if (device == "cuda") names.emplace_back("expected_cuda.tsv");
  for (const std::string& name : names) {
    std::ifstream file(kFolder / name);
    for (std::string line; std::getline(file, line);) {
      const auto first = line.find('\t');
      const auto second = line.find('\t', first + 1);
      if (line.starts_with(part + "/"))
        rows[line.substr(0, first)] = {line.substr(first + 1, second - first - 1),
                                       line.substr(second + 1)};
    }
  }
  return rows;
}

/// The records of one run over these candidates of a part, by path below the folder.
std::map<std::string, Record> judged(const std::string& part, const std::vector<fs::path>& paths,
                                     const std::vector<std::string>& options = {}) {
  const TempFolder results;
  const auto out = results.path() / "run.jsonl";
  std::vector<std::string> words{"eval", "--device", std::string(kDevice), "--out", out.string()};
  for (const fs::path& path : paths)
    words.insert(words.end(), {"--candidates", part + "=" + (kFolder / path).string()});
  if (kDevice == "cuda") words.insert(words.end(), {"--timeout", "10"});
  words.insert(words.end(), options.begin(), options.end());
  const auto result = run_kbench(words, {}, std::chrono::seconds(580));
  EXPECT_EQ(result.status.code, 0) << result.error;
  std::map<std::string, Record> records;
  for (const auto& [id, record] : records_by_candidate(out))
    if (record.outcome != Outcome::kMissing)
      records.emplace(fs::path(id).lexically_relative(kFolder).string(), record);
  return records;
}

/// True for a cheat that uses all of its time limit, by its name.
bool is_endless(const std::string& path) {
  static const std::regex kWords("_endless|_without_end|_never_ends");
  return std::regex_search(path, kWords);
}

/// The records of all cheats. Endless ones have a run of their own with short limits, because the
/// others may need longer ones.
std::map<std::string, Record> judged_cheats() {
  std::vector<fs::path> paths, endless;
  for (const auto& file : fs::recursive_directory_iterator(kFolder / "cheats")) {
    const fs::path path = file.path().lexically_relative(kFolder);
    if (file.is_regular_file()) (is_endless(path) ? endless : paths).push_back(path);
  }
  EXPECT_FALSE(endless.empty());
  std::vector<std::string> options{"--compile-timeout", "2"};
  if (kDevice == "cpu") options.insert(options.end(), {"--timeout", "2"});
  auto records = judged("cheats", paths);
  records.merge(judged("cheats", endless, options));
  return records;
}

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    if (kDevice == "cuda" && !have_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }
};

/// 0: a kernel, 1: an extension, 2: a module.
std::size_t kind_of(const fs::path& file) {
  if (file.extension() == ".py") return 2;
  const std::string text = read_file(file, 1 << 20).bytes;
  return text.find("torch::Tensor") == std::string::npos ? 0 : 1;
}

/// The cells of the README's second table for each kind, by the two digits of the way of cheating.
std::map<std::string, std::array<std::string, 3>> matrix() {
  std::map<std::string, std::array<std::string, 3>> rows;
  std::ifstream file(kFolder / "README.md");
  const std::regex row(R"(\| (\d\d) [^|]*\| ([^|]+) \| ([^|]+) \| ([^|]+) \|)");
  std::smatch cells;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, cells, row)) rows[cells[1]] = {cells[2], cells[3], cells[4]};
  return rows;
}

TEST_F(Hostile, EachTechniqueHasTwoCheatsOfEachKindThatItCanHave) {
  std::map<std::string, std::array<int, 3>> all, on_gpu;
  for (const auto& [path, row] : expected_of("cheats", "cpu")) {
    const std::string technique = fs::path(path).filename().string().substr(0, 2);
    const std::size_t kind = kind_of(kFolder / path);
    ++all[technique][kind];
    on_gpu[technique][kind] += row.state == "gpu" ? 1 : 0;
  }
  const auto documented = matrix();
  EXPECT_EQ(documented.size(), 26u);
  for (const auto& [technique, cells] : documented) {
    for (std::size_t kind = 0; kind < cells.size(); ++kind) {
      const int count = all[technique][kind], gpu = on_gpu[technique][kind];
      const std::string note = gpu == 0       ? ""
                               : gpu == count ? " (all gpu)"
                                              : fmt::format(" ({} gpu)", gpu);
      EXPECT_EQ(cells[kind], count == 0 ? "–" : fmt::format("{}{}", count, note))
          << technique << ", kind " << kind;
      EXPECT_NE(count, 1) << technique << ", kind " << kind;
    }
  }
}

enum class Found { kRight, kWrong, kEither };

/// The result of a run without options, by state.
struct StateRow {
  std::string_view name;
  Found found;
};
constexpr StateRow kStates[] = {
    {"caught", Found::kWrong},  {"harmless", Found::kRight}, {"flagged", Found::kRight},
    {"library", Found::kRight}, {"sized", Found::kRight},    {"unclean", Found::kEither},
    {"either", Found::kEither}, {"gpu", Found::kEither},     {"open", Found::kRight},
};

/// If the kernel does not allow mounts in a sandbox, no candidate has a /dev/shm.
bool lacks_shared_memory(const Record& record) {
  return record.cause == "no_permission" &&
         record.message.find("a private /dev/shm") != std::string::npos;
}

TEST_F(Hostile, CheatsAreFoundAsTheirStateSays) {
  const auto expected = expected_of("cheats");
  const auto records = judged_cheats();
  EXPECT_EQ(records.size(), expected.size());
  for (const auto& [path, row] : expected) {
    SCOPED_TRACE(path);
    const auto state = std::ranges::find(kStates, row.state, &StateRow::name);
    ASSERT_NE(state, std::end(kStates)) << row.state;
    const auto found = records.find(path);
    ASSERT_NE(found, records.end());
    const Record& record = found->second;
    if (lacks_shared_memory(record)) continue;
    const auto said = fmt::format("{}: {}", record.cause.str(), record.message);
    EXPECT_NE(record.outcome, Outcome::kHarnessFault) << said;
    const bool correct = record.outcome == Outcome::kCorrect;
    // If a change catches a cheat, its state must change, too.
    if (state->found != Found::kEither) {
      EXPECT_EQ(correct, state->found == Found::kRight) << said;
    }
    if (row.state == "either" && !correct) {
      EXPECT_THAT(record.outcome, testing::AnyOf(Outcome::kMismatch, Outcome::kCheat)) << said;
    }
    if (row.state == "flagged") {
      EXPECT_THAT(record.flags, testing::Contains(row.reason.substr(0, row.reason.find(':'))));
    }
    if (row.state == "library") {
      EXPECT_NE(record.kernel_class, "own");
    }
  }
}

/// A state whose cheats are found with an option.
struct OptionRow {
  std::string state;
  std::vector<std::string> options;
  std::string_view cause;  ///< of all their records; empty: they differ
};

/// Makes the test's name equal in every build.
void PrintTo(const OptionRow& row, std::ostream* out) { *out << row.state; }

class FoundByAnOption : public Hostile, public testing::WithParamInterface<OptionRow> {};

TEST_P(FoundByAnOption, IsNotCorrect) {
  if (kDevice == "cuda" && GetParam().state == "unclean") GTEST_SKIP() << "the executor's finding";
  std::vector<fs::path> paths;
  for (const auto& [path, row] : expected_of("cheats"))
    if (row.state == GetParam().state) paths.emplace_back(path);
  EXPECT_FALSE(paths.empty());
  const auto records = judged("cheats", paths, GetParam().options);
  EXPECT_EQ(records.size(), paths.size());
  for (const auto& [path, record] : records) {
    SCOPED_TRACE(path);
    const auto said = fmt::format("{}: {}", record.cause.str(), record.message);
    EXPECT_NE(record.outcome, Outcome::kCorrect);
    EXPECT_NE(record.outcome, Outcome::kHarnessFault) << said;
    if (!GetParam().cause.empty()) {
      EXPECT_EQ(record.outcome, Outcome::kRejected) << said;
      EXPECT_EQ(record.cause, GetParam().cause) << said;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, FoundByAnOption,
    testing::Values(OptionRow{"library", {"--require", "own-kernels"}, "not_own_kernels"},
                    OptionRow{"sized", {"--sizes", "odd,large"}, ""},
                    OptionRow{"unclean", {"--sanitize", "all", "--require", "clean"}, ""}),
    [](const auto& row) { return row.param.state; });

TEST_F(Hostile, HonestCounterpartsAreRight) {
  const auto expected = expected_of("honest");
  const auto records = judged("honest", {"honest"});
  EXPECT_EQ(records.size(), expected.size());
  for (const auto& [path, row] : expected) {
    SCOPED_TRACE(path);
    const auto found = records.find(path);
    ASSERT_NE(found, records.end());
    if (lacks_shared_memory(found->second)) continue;
    EXPECT_EQ(to_string(found->second.outcome), row.state == "right" ? "correct" : row.state)
        << found->second.cause.str() << ": " << found->second.message;
    if (row.reason.starts_with("own:")) {
      EXPECT_EQ(found->second.kernel_class, "own");
    }
  }
}

}  // namespace
}  // namespace kbench::test
