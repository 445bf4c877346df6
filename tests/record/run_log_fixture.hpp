// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_folder.hpp"
#include "kbench/run_file.hpp"
#include "record/run_samples.hpp"

namespace kbench::test {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void put(const std::filesystem::path& path, std::string_view text, bool append = false) {
  std::ofstream out(path, append ? std::ios::app | std::ios::binary : std::ios::binary);
  out << text;
}

inline RunHeader header() {
  RunHeader run;
  run.run_id = "run 1";
  run.started = "2026-01-31T09:30:00Z";
  run.kbench_version = "0.1.0";
  run.options = {{"seed", "secret"}};
  run.left_out = {.count = 7, .first = {"alpha/20_Tanh/0.cu"}};
  return run;
}

inline std::vector<ManifestEntry> manifest(int count) {
  std::vector<ManifestEntry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    entries.push_back(
        {.problem = "level1/19_ReLU", .level = 1, .model = "alpha", .sample = i, .tags = {}});
  }
  return entries;
}

/// The examples of a document in src/record by their type.
inline std::map<std::string, nlohmann::json> documented_lines(const std::string& name) {
  std::ifstream in(KBENCH_SOURCE_DIR "/src/record/" + name);
  std::map<std::string, nlohmann::json> examples;
  std::string line, text;
  bool inside = false;
  while (std::getline(in, line)) {
    if (line == "```json") {
      inside = true;
      text.clear();
    } else if (line == "```" && inside) {
      inside = false;
      nlohmann::json example = nlohmann::json::parse(text);
      const std::string type = example.at("type");
      examples[type] = std::move(example);
    } else if (inside) {
      text += line + "\n";
    }
  }
  return examples;
}

/// Tests around one run file in a folder of its own.
class RunLog : public testing::Test {
 protected:
  /// A file with a run line, a manifest of `planned`, `written` records and an end line.
  void write_run(int planned, int written) const {
    RunWriter writer(path_, false);
    writer.write(header());
    writer.write(manifest(planned));
    for (int i = 0; i < written; ++i) {
      writer.write(samples::correct("alpha", "level1/19_ReLU", i), {{"log", "hello"}});
    }
    writer.write_end("the secret", planned == written);
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_.path() / "run.jsonl";
};

}  // namespace kbench::test
