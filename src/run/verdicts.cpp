// SPDX-License-Identifier: MIT
#include "run/verdicts.hpp"

#include <filesystem>

namespace kbench::run {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Messages name a candidate's file by its path or, before a line's number, by its name alone.
std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
  const auto file = [](const std::string& id) {
    return std::filesystem::path(id).filename().string() + ":";
  };
  const std::string by_path = replaced(text, from, to);
  return by_path == text ? replaced(text, file(from), file(to)) : by_path;
}

}  // namespace

std::string Verdicts::key_of(const Record& record) {
  std::string key;
  for (const std::string& part :
       {record.problem.str(), record.problem_hash.str(), record.candidate_hash,
        std::string(to_string(record.kind)), record.precision.str(), record.judge.str()})
    key += part + '\n';
  return key;
}

std::optional<Record> Verdicts::find(const Record& blank) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(key_of(blank));
  if (found == records_.end()) return std::nullopt;
  Record record = found->second;
  record.reused_from = record.candidate;
  record.model = blank.model;
  record.sample = blank.sample;
  record.candidate = blank.candidate;
  record.seconds = 0;
  record.details.reset();
  record.message = renamed(record.message, record.reused_from, record.candidate);
  for (Finding& finding : record.findings) {
    if (finding.file == record.reused_from) finding.file = record.candidate;
    finding.message = renamed(finding.message, record.reused_from, record.candidate);
  }
  return record;
}

void Verdicts::keep(const Record& judged) {
  if (judged.outcome == Outcome::kHarnessFault) return;
  const std::lock_guard lock(mutex_);
  if (!records_.insert_or_assign(key_of(judged), judged).second) return;
  order_.push_back(key_of(judged));
  if (order_.size() <= kept_) return;
  records_.erase(order_.front());
  order_.pop_front();
}

}  // namespace kbench::run
