// SPDX-License-Identifier: MIT
#include "run/eval/verdicts.hpp"

#include <cctype>
#include <filesystem>
#include <string_view>

namespace kbench::run {
namespace {

bool is_of_file_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view("_.-/").find(letter) != std::string_view::npos;
}

/// Replaces `from` by `to`, but only if it is a whole file name.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const std::size_t end = at + from.size();
    const bool is_name = (at == 0 || !is_of_file_name(text[at - 1])) &&
                         (end == text.size() || !is_of_file_name(text[end]));
    if (is_name) text.replace(at, from.size(), to);
    at += is_name ? to.size() : from.size();
  }
  return text;
}

/// Messages name a candidate's file by its path or by its name alone. An id without an extension is
/// not a file name and might match other text, so it is not replaced.
std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
  const std::filesystem::path file = from;
  if (file.extension().empty()) return text;
  const std::string by_path = replaced(text, from, to);
  if (by_path != text) return by_path;
  return replaced(text, file.filename().string(), std::filesystem::path(to).filename().string());
}

}  // namespace

Record reused(Record record, const Record& blank) {
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

std::string Verdicts::key_of(const Record& record) {
  std::string key;
  for (const std::string& part :
       {record.problem.str(), record.problem_hash.str(), record.candidate_hash,
        std::string(to_string(record.kind)), record.precision.str(), record.judge.str(),
        record.device.str(), record.torch.str(), record.options_hash.str(),
        record.judge_hash.str()})
    key += part + '\n';
  return key;
}

std::optional<Record> Verdicts::find(const Record& blank) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(key_of(blank));
  if (found == records_.end()) return std::nullopt;
  return reused(found->second, blank);
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

void Verdicts::clear() {
  const std::scoped_lock lock(mutex_);
  records_.clear();
  order_.clear();
}

}  // namespace kbench::run
