// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/run_blocks.hpp"
#include "record/run_lines.hpp"

namespace kbench {
namespace {

/// Hashes and compares the rows at indices by the fields that `kFields` ties.
template <typename Row, auto kFields>
struct By {
  const std::vector<Row>* rows;
  std::size_t operator()(std::uint32_t index) const {
    std::size_t seed = 0;
    const auto mix = [&](const auto& field) {
      seed ^= std::hash<std::remove_cvref_t<decltype(field)>>()(field) + 0x9e3779b97f4a7c15ull +
              (seed << 6) + (seed >> 2);
    };
    std::apply([&](const auto&... field) { (mix(field), ...); }, kFields((*rows)[index]));
    return seed;
  }
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return kFields((*rows)[a]) == kFields((*rows)[b]);
  }
};

/// By the fields that make a sample unique in a report: its precision, device and judge, too.
using BySample = By<Record, [](const Record& record) {
  return std::tie(record.sample, record.model, record.problem, record.precision, record.device,
                  record.judge);
}>;
using ByEntry = By<ManifestEntry, [](const ManifestEntry& entry) {
  return std::tie(entry.sample, entry.problem, entry.model);
}>;

/// Compares the records at two indices by their whole keys.
struct SameKey {
  const std::vector<Record>* records;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return same_key((*records)[a], (*records)[b]);
  }
};

/// Merges the blocks of one or several files.
class Merger {
 public:
  Merger()
      : by_key_(0, BySample{&run_.records}, SameKey{&run_.records}),
        planned_(0, ByEntry{&run_.manifest}, ByEntry{&run_.manifest}) {}
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;

  /// Adds a file; `prefix` precedes the messages about its bad lines.
  void add(const std::filesystem::path& path, const std::string& prefix) {
    const BlockFile file(path);
    run_.files.push_back(path);
    FileState state;
    BlockParser parser(file);
    for (std::size_t i = 0; i < file.blocks(); ++i) {
      Block block = parser.take();
      if (block.failure) rethrow(block.failure, path);
      // Reserves the estimated number of records, because a growing vector would hold them twice.
      if (i == 0) {
        run_.records.reserve(run_.records.size() + block.records.size() * file.blocks() * 11 / 10);
      }
      for (Record& record : block.records)
        record.place.file = static_cast<std::uint32_t>(run_.files.size() - 1);
      add_block(std::move(block), state);
    }
    if (!state.any_header) {
      throw UsageError(
          fmt::format("{} has no run line: it is not a run file, or was cut off in its first line",
                      path.string()));
    }
    std::ranges::sort(state.bad);
    for (const auto& [line, what] : state.bad) {
      run_.bad_lines.push_back(fmt::format("{}line {}: {}", prefix, line, what));
    }
    all_ended_ = all_ended_ && state.ended;
  }

  RunFile finish() {
    if (run_.files.size() > 1) add_conflicts();
    by_key_.clear();
    planned_.clear();
    run_.ended = all_ended_;
    return std::move(run_);
  }

 private:
  struct FileState {
    bool any_header = false, ended = false, newer_minor = false;
    std::size_t lines = 0;
    std::vector<std::pair<std::size_t, std::string>> bad;
  };

  [[noreturn]] static void rethrow(const std::exception_ptr& failure,
                                   const std::filesystem::path& path) {
    try {
      std::rethrow_exception(failure);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{} {}", path.string(), error.what()));
    }
  }

  void add_block(Block block, FileState& state) {
    for (auto& mark : block.marks) {
      if (auto* header = std::get_if<RunHeader>(&mark)) {
        state.any_header = true;
        state.ended = false;
        state.newer_minor = state.newer_minor || header->schema_minor > kSchemaMinor;
        run_.headers.push_back(std::move(*header));
      } else {
        state.ended = true;
        run_.secret = std::move(std::get<RunEnd>(mark).secret);
      }
    }
    for (ManifestEntry& entry : block.manifest) {
      run_.manifest.push_back(std::move(entry));
      if (!planned_.insert(static_cast<std::uint32_t>(run_.manifest.size() - 1)).second) {
        run_.manifest.pop_back();
      }
    }
    for (Record& record : block.records) add_record(std::move(record));
    for (auto& [line, what] : block.bad)
      state.bad.emplace_back(state.lines + line, std::move(what));
    for (const auto& [line, type] : block.unknown) {
      if (state.newer_minor) continue;
      state.bad.emplace_back(state.lines + line, fmt::format("has the unknown type \"{}\"", type));
    }
    run_.torn = run_.torn || block.torn;
    state.lines += block.lines;
  }

  void add_record(Record record) {
    run_.records.push_back(std::move(record));
    const auto [found, inserted] =
        by_key_.insert(static_cast<std::uint32_t>(run_.records.size() - 1));
    if (inserted) return;
    Record later = std::move(run_.records.back());
    run_.records.pop_back();
    Record& earlier = run_.records[*found];
    if (is_verdict(later) && is_verdict(earlier) && later.outcome != earlier.outcome &&
        later.place.file != earlier.place.file)
      run_.conflicts.push_back(conflict(earlier, later, ""));
    if (is_verdict(later) || !is_verdict(earlier)) earlier = std::move(later);
  }

  static bool is_verdict(const Record& record) { return record.outcome != Outcome::kHarnessFault; }

  std::string conflict(const Record& earlier, const Record& later, std::string_view how) const {
    return fmt::format("{} {} {}: {} in {}, {} in {}{}", later.problem, later.model, later.sample,
                       to_string(earlier.outcome), run_.files[earlier.place.file].string(),
                       to_string(later.outcome), run_.files[later.place.file].string(), how);
  }

  /// Adds a conflict for each sample that has verdicts in two files under different keys, if the
  /// code or the verdicts differ.
  void add_conflicts() {
    std::unordered_map<std::uint32_t, std::uint32_t, BySample, BySample> latest(
        run_.records.size(), BySample{&run_.records}, BySample{&run_.records});
    for (std::uint32_t i = 0; i < run_.records.size(); ++i) {
      const Record& later = run_.records[i];
      if (!is_verdict(later)) continue;
      const auto [found, is_new] = latest.try_emplace(i, i);
      if (is_new) continue;
      const Record& earlier = run_.records[std::exchange(found->second, i)];
      if (earlier.place.file == later.place.file) continue;
      const std::string_view how = unlike(earlier, later);
      if (how == kOtherCode || earlier.outcome != later.outcome)
        run_.conflicts.push_back(conflict(earlier, later, how));
    }
  }

  static constexpr std::string_view kOtherCode = " (other code)";
  static std::string_view unlike(const Record& a, const Record& b) {
    return a.candidate_hash != b.candidate_hash ? kOtherCode
           : a.problem_hash != b.problem_hash   ? " (another version or sizes of the problem)"
           : a.options_hash != b.options_hash   ? " (other options)"
                                                : " (another version of torch or the judge)";
  }

  RunFile run_;
  std::unordered_set<std::uint32_t, BySample, SameKey> by_key_;
  std::unordered_set<std::uint32_t, ByEntry, ByEntry> planned_;
  bool all_ended_ = true;
};

}  // namespace

RunFile read_run(const std::filesystem::path& path) {
  Merger merger;
  merger.add(path, "");
  return merger.finish();
}

RunFile read_runs(const std::vector<std::filesystem::path>& paths) {
  if (paths.size() == 1) return read_run(paths[0]);
  Merger merger;
  for (const std::filesystem::path& path : paths) merger.add(path, path.string() + ", ");
  return merger.finish();
}

std::unordered_map<std::string, std::size_t> resumable_keys(const RunFile& run) {
  std::unordered_map<std::string, std::size_t> keys;
  keys.reserve(run.records.size());
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& record = run.records[i];
    const bool lacked = record.outcome == Outcome::kLoadFailure && record.cause == kMissingPackage;
    if (record.outcome != Outcome::kHarnessFault && !lacked) keys.emplace(record_key(record), i);
  }
  return keys;
}

}  // namespace kbench
