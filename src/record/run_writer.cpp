// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/json/dumped.hpp"
#include "base/line_file.hpp"
#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/run_lines.hpp"

namespace kbench {
namespace {

// Keeps a manifest line near 100 kB, so that threads can parse the lines in parallel.
constexpr std::size_t kManifestEntriesPerLine = 1000;

/// Throws UsageError for a file that does not begin with a run line.
void check_run_line(const LineFile& file) {
  JsonReader reader;
  try {
    if (reader.parse(file.first_line()) &&
        std::holds_alternative<RunHeader>(run_line_from(reader.root())))
      return;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} {}", file.path().string(), error.what()));
  } catch (const Error&) {
    // The UsageError below covers this case.
  }
  throw UsageError(fmt::format(
      "cannot resume {}: its first line is not a run line; name another file with --out",
      file.path().string()));
}

}  // namespace

struct RunWriter::Impl {
  explicit Impl(const std::filesystem::path& path) : run(path) {}

  void append(LineFile& file, const nlohmann::json& line) {
    static_cast<void>(append_text(file, dumped(line)));
  }

  std::uint64_t append_text(LineFile& file, const std::string& text) {
    if (const auto offset = file.append(text)) return *offset;
    const int error = errno;
    throw Error(fmt::format(
        "cannot write {}: {}; the {} records that this run wrote before are kept: free some space "
        "and continue with --resume",
        file.path().string(), std::strerror(error), records));
  }

  DetailsRef append_details(const std::string& text) {
    return {.offset = append_text(*details, text), .length = text.size()};
  }

  LineFile run;
  std::optional<LineFile> details;
  std::unordered_map<std::string, DetailsRef> sources;  ///< by candidate_hash
  std::size_t records = 0;
};

RunWriter::RunWriter(const std::filesystem::path& path, bool resume)
    : impl_(std::make_unique<Impl>(path)) {
  impl_->run.lock();
  if (impl_->run.begin(resume)) {
    check_run_line(impl_->run);
    impl_->run.find_torn_end();
  }
  impl_->details.emplace(details_path(path));
  impl_->details->find_torn_end();
}

RunWriter::~RunWriter() = default;

void RunWriter::write(const RunHeader& header) { impl_->append(impl_->run, to_json(header)); }

void RunWriter::write(const std::vector<ManifestEntry>& manifest) {
  const std::span<const ManifestEntry> all = manifest;
  for (std::size_t i = 0; i < all.size(); i += kManifestEntriesPerLine) {
    impl_->append(impl_->run,
                  to_json(all.subspan(i, std::min(kManifestEntriesPerLine, all.size() - i))));
  }
}

std::string RunWriter::write(Record record, const nlohmann::json& details) {
  if (!details.is_null()) record.details = impl_->append_details(dumped(details));
  if (const auto kept = impl_->sources.find(record.candidate_hash); kept != impl_->sources.end())
    record.source = kept->second;
  std::string line = dumped(to_json(record));
  impl_->append_text(impl_->run, line);
  ++impl_->records;
  return line;
}

void RunWriter::keep_source(const std::string& candidate_hash, const std::string& source) {
  if (impl_->sources.contains(candidate_hash)) return;
  impl_->sources.emplace(
      candidate_hash, impl_->append_details(dumped(
                          nlohmann::json{{"candidate_hash", candidate_hash}, {"source", source}})));
}

void RunWriter::take_sources(const RunFile& earlier) {
  const std::uint64_t size = impl_->details->size();
  for (const Record& record : earlier.records) {
    const auto& source = record.source;
    if (source && source->offset <= size && source->length <= size - source->offset)
      impl_->sources.emplace(record.candidate_hash, *source);
  }
}

void RunWriter::write_end(const std::string& secret, bool complete) {
  impl_->append(impl_->run, to_json(RunEnd{.secret = secret, .complete = complete}));
}

std::filesystem::path details_path(const std::filesystem::path& path) {
  return path.parent_path() / (path.stem().string() + ".details.jsonl");
}

}  // namespace kbench
