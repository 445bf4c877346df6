// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/json/dumped.hpp"
#include "base/line_file.hpp"
#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/run_lines.hpp"

namespace kbench {
namespace {

using nlohmann::json;

constexpr const char* kHeaderType = "audit_run";

std::string type_of(const json& line) {
  const auto type = line.is_object() ? line.find("type") : line.end();
  return line.is_object() && type != line.end() && type->is_string() ? type->get<std::string>()
                                                                     : std::string();
}

/// Reads files line by line; they are short.
class Reader {
 public:
  void read(const std::filesystem::path& path, const std::string& prefix) {
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path))
      throw UsageError(fmt::format("cannot read {}: {}", path.string(),
                                   in ? "it is a folder" : std::strerror(errno)));
    const std::size_t headers = file_.headers.size();
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      const bool whole = !in.eof();
      try {
        take(json::parse(line));
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("{} {}", path.string(), error.what()));
      } catch (const json::exception&) {
        file_.torn = file_.torn || !whole;
        if (whole) add_bad(prefix, number, "is not JSON (cut off or damaged)");
      } catch (const Error& error) {
        add_bad(prefix, number, error.what());
      }
    }
    if (file_.headers.size() == headers)
      throw UsageError(
          fmt::format("{} is not an audit file: it has no {} line", path.string(), kHeaderType));
  }

  AuditFile finish() { return std::move(file_); }

 private:
  void add_bad(const std::string& prefix, std::size_t number, std::string_view what) {
    file_.bad_lines.push_back(fmt::format("{}line {}: {}", prefix, number, what));
  }

  void take(const json& line) {
    const std::string type = type_of(line);
    if (type == kHeaderType)
      file_.headers.push_back(run_header_from_json(line, kAuditSchemaMajor));
    else if (type == "audit")
      add(problem_audit_from_json(line));
    else if (type != "end")
      throw Error(fmt::format("has the unknown type \"{}\"", type));
  }

  void add(ProblemAudit audit) {
    const auto [found, inserted] = places_.try_emplace(audit_key(audit), file_.audits.size());
    if (inserted) return file_.audits.push_back(std::move(audit));
    if (audit.outcome != AuditOutcome::kHarnessFault)
      file_.audits[found->second] = std::move(audit);
  }

  AuditFile file_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

AuditFile read_audits(const std::vector<std::filesystem::path>& paths) {
  Reader reader;
  for (const auto& path : paths) reader.read(path, paths.size() > 1 ? path.string() + ", " : "");
  return reader.finish();
}

struct AuditWriter::Impl {
  explicit Impl(const std::filesystem::path& path) : file(path) {}

  void append(const json& line) {
    if (file.append(dumped(line))) return;
    throw Error(
        fmt::format("cannot write {}: {}; the audits written before are kept: free some space "
                    "and continue with --resume",
                    file.path().string(), std::strerror(errno)));
  }

  LineFile file;
};

AuditWriter::AuditWriter(const std::filesystem::path& path, bool resume)
    : impl_(std::make_unique<Impl>(path)) {
  impl_->file.lock();
  if (!impl_->file.begin(resume)) return;
  read_audits({path});  // throws if it is not an audit file
  impl_->file.find_torn_end();
}

AuditWriter::~AuditWriter() = default;

void AuditWriter::write(const RunHeader& header) {
  json line = to_json(header);
  line["type"] = kHeaderType;
  line["schema"] = fmt::format("{}.{}", kAuditSchemaMajor, kAuditSchemaMinor);
  impl_->append(line);
}

void AuditWriter::write(const ProblemAudit& audit) { impl_->append(to_json(audit)); }

void AuditWriter::write_end(const std::string& secret, bool complete) {
  impl_->append(to_json(RunEnd{.secret = secret, .complete = complete}));
}

}  // namespace kbench
