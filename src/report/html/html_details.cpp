// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/json/dumped.hpp"
#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/html/html_data.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

// Limits for the messages of failures without details: for all together, and the most and least for
// each.
constexpr std::size_t kMostBriefBytes = 12u << 20, kLongestBrief = 600, kShortestBrief = 80;

/// The size of each candidate's details; smaller if there are many candidates.
struct Budget {
  std::size_t log_bytes, source_bytes, measurements, other_bytes;
};
constexpr Budget kFew{32u << 10, 128u << 10, 400, 16u << 10};
constexpr Budget kMany{4u << 10, 16u << 10, 60, 2u << 10};
constexpr std::size_t kFewAre = 500;

/// Keeps `most` evenly spaced elements of an array.
void thin(json& list, std::size_t most) {
  const std::size_t count = list.size();
  if (count <= most) return;
  json kept = json::array();
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(list[i * count / most]));
  list = std::move(kept);
}

/// The start of `text`, at most `most` bytes, cut at a line end; else between two characters.
std::string first_part(const std::string& text, std::size_t most) {
  std::size_t end = text.rfind('\n', most);
  if (end == std::string::npos || end < most / 2) {
    end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  }
  return text.substr(0, end);
}

class Details {
 public:
  Details(const Report& report, std::size_t most_bytes)
      : report_(report),
        files_(report.run),
        budget_(report.candidates.size() <= kFewAre ? kFew : kMany),
        most_bytes_(most_bytes) {}

  PageDetails write() {
    std::vector<std::string> lines(report_.candidates.size());
    std::size_t written = 0, told = 0, failures_told = 0;
    for (const std::size_t place : order()) {
      if (written >= most_bytes_) break;
      lines[place] = line(record_at(place));
      written += lines[place].size();
      ++told;
      failures_told += record_at(place).outcome != Outcome::kCorrect;
    }
    PageDetails details;
    if (told < lines.size()) {
      add_briefs(lines);
      details.notes.push_back(fmt::format(
          "The page is too small for all details of {} candidates. {} of {} failures and {} of {} "
          "others have their source, logs and measurements; the rest have row, cause and message. "
          "kbench show has everything.",
          lines.size(), failures_told, failures(), told - failures_told,
          lines.size() - failures()));
    }
    if (thinned_ > 0)
      details.notes.push_back(fmt::format(
          "Of {}, the page shows at most {} raw measurements per subject; the run's details have "
          "all.",
          counted(thinned_, "candidate"), budget_.measurements));
    if (cut_ > 0)
      details.notes.push_back(
          fmt::format("Long logs or sources of {} are cut.", counted(cut_, "candidate")));
    for (std::string& text : lines) {
      details.lines += text;
      details.lines += '\n';
      text = {};
    }
    return details;
  }

 private:
  const Record& record_at(std::size_t place) const {
    return report_.run.records[report_.candidates[place]];
  }

  std::size_t failures() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(report_.candidates, [&](std::size_t index) {
          return report_.run.records[index].outcome != Outcome::kCorrect;
        }));
  }

  /// Indices into Report::candidates: the first failure of each cause, then the other failures,
  /// then the rest. Each part is in jumps through the run, so that its start covers the run evenly.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order, failed, correct;
    std::set<std::pair<Outcome, Interned>> causes;
    for (std::size_t i = 0; i < report_.candidates.size(); ++i) {
      const Record& record = record_at(i);
      if (record.outcome == Outcome::kCorrect) {
        correct.push_back(i);
      } else if (causes.emplace(record.outcome, record.cause).second) {
        order.push_back(i);
      } else {
        failed.push_back(i);
      }
    }
    for (const std::vector<std::size_t>& places : {failed, correct}) {
      // With steps of the golden ratio, all gaps are about equal.
      const std::size_t count = places.size();
      std::size_t step = std::max<std::size_t>(1, count * 618 / 1000);
      while (std::gcd(step, count) > 1) ++step;
      for (std::size_t i = 0, at = 0; i < count; ++i, at = (at + step) % count)
        order.push_back(places[at]);
    }
    return order;
  }

  /// Adds the messages of failures without details.
  void add_briefs(std::vector<std::string>& lines) const {
    const auto is_brief = [&](std::size_t place) {
      return lines[place].empty() && record_at(place).outcome != Outcome::kCorrect;
    };
    std::size_t count = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) count += is_brief(i);
    const std::size_t longest = std::clamp(kMostBriefBytes / std::max<std::size_t>(1, count),
                                           kShortestBrief, kLongestBrief);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!is_brief(i)) continue;
      const json brief = {{"message", fitted(failure_text(record_at(i)), longest)}};
      lines[i] = without_markup(dumped(brief));
    }
  }

  std::string line(const Record& record) {
    std::string why_none;
    json details = files_.details(record, why_none, kLongestDetails);
    json cut = json::array();
    const std::string log = log_of(details);
    json whole = files_.line(record);
    json page = {{"record", whole.is_null() ? to_json(record) : std::move(whole)},
                 {"details", shortened(std::move(details), cut)},
                 {"annotations", annotations_json(files_.whole(record), log)}};
    if (!why_none.empty()) page["details_note"] = why_none;
    add_source(record, page, cut);
    for (const json& part : cut) {
      if (part == "raw_ms") {
        ++thinned_;
      } else {
        ++cut_;
      }
    }
    page["cut"] = std::move(cut);
    return without_markup(dumped(page));
  }

  json shortened(json details, json& cut) const {
    if (!details.is_object()) return {};
    json kept = json::object();
    for (auto& [key, value] : details.items()) {
      if (value.is_string()) {
        auto& text = value.get_ref<std::string&>();
        if (text.size() > budget_.log_bytes) {
          text = first_part(text, budget_.log_bytes);
          cut.push_back(key);
        }
        kept[key] = std::move(value);
      } else if (key == "raw_ms" && value.is_object()) {
        bool is_thinned = false;
        for (json& side : value) {
          is_thinned = is_thinned || side.size() > budget_.measurements;
          if (side.is_array()) thin(side, budget_.measurements);
        }
        if (is_thinned) cut.push_back(key);
        kept[key] = std::move(value);
      } else if (dumped(value).size() <= budget_.other_bytes) {
        kept[key] = std::move(value);
      } else {
        cut.push_back(key);
      }
    }
    return kept;
  }

  static json annotations_json(const Record& record, const std::string& log) {
    json annotations = json::array();
    for (const Annotation& annotation : annotations_of(record, log))
      annotations.push_back({{"line", annotation.line},
                             {"severity", annotation.severity},
                             {"text", annotation.text}});
    return annotations;
  }

  void add_source(const Record& record, json& page, json& cut) const {
    page["source"] = nullptr;
    Source source = source_of(record, files_);
    if (!source.why_none.empty()) {
      page["source_note"] = source.why_none;
      return;
    }
    const bool is_long = source.text.size() > budget_.source_bytes;
    if (is_long) cut.push_back("source");
    page["source"] = {
        {"name", record.source ? record.candidate
                               : std::filesystem::path(record.candidate).filename().string()},
        {"language", record.kind == CandidateKind::kModule ? "python" : "cuda"},
        {"text", is_long ? first_part(source.text, budget_.source_bytes) : source.text},
        {"cut", is_long}};
  }

  const Report& report_;
  RunDetails files_;
  const Budget& budget_;
  const std::size_t most_bytes_;
  std::size_t thinned_ = 0, cut_ = 0;
};

}  // namespace

PageDetails page_details(const Report& report, std::size_t most_bytes) {
  return Details(report, most_bytes).write();
}

}  // namespace kbench::report
