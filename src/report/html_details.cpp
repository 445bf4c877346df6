// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "html_data.hpp"
#include "kbench/run_details.hpp"
#include "marks.hpp"
#include "text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

// A page of some ten megabytes opens at once; what is not in it is in the run's files.
constexpr std::size_t kMostBytes = 24u << 20;
constexpr std::size_t kMostDetailed = 5000;

/// How much is told of each candidate: the more there are, the less.
struct Budget {
  std::size_t log_bytes, source_bytes, measurements, other_bytes;
};
constexpr Budget kFew{32u << 10, 128u << 10, 400, 16u << 10};
constexpr Budget kMany{4u << 10, 16u << 10, 60, 2u << 10};
constexpr std::size_t kFewAre = 500;

/// Evenly chosen elements of an array.
void thin(json& list, std::size_t most) {
  const std::size_t count = list.size();
  if (count <= most) return;
  json kept = json::array();
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(list[i * count / most]));
  list = std::move(kept);
}

/// The start of `text` up to the last whole line, else whole character, that fits.
std::string start_of(const std::string& text, std::size_t most) {
  std::size_t end = text.rfind('\n', most);
  if (end == std::string::npos || end < most / 2) {
    end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  }
  return text.substr(0, end);
}

class Details {
 public:
  explicit Details(const Report& report)
      : report_(report),
        files_(report.run),
        budget_(report.candidates.size() <= kFewAre ? kFew : kMany) {}

  PageDetails write() {
    std::vector<std::string> lines(report_.candidates.size());
    std::size_t written = 0, told = 0;
    for (const std::size_t place : order()) {
      if (told == kMostDetailed || written >= kMostBytes) break;
      lines[place] = line(report_.run.records[report_.candidates[place]]);
      written += lines[place].size();
      ++told;
    }
    PageDetails details;
    details.lines.reserve(written + lines.size());
    for (const std::string& text : lines) {
      details.lines += text;
      details.lines += '\n';
    }
    if (told < lines.size())
      details.notes.push_back(fmt::format(
          "{} candidates are too many to hold everything about each: {} can be opened with their "
          "source, logs and measurements, failures first; kbench show tells of the others.",
          lines.size(), told));
    if (thinned_ > 0)
      details.notes.push_back(fmt::format(
          "Raw measurements of {} are thinned to {} a side; all are in the run's details.",
          counted(static_cast<std::int64_t>(thinned_), "candidate"), budget_.measurements));
    if (cut_ > 0)
      details.notes.push_back(fmt::format("Logs or sources of {} are cut where they are long.",
                                          counted(static_cast<std::int64_t>(cut_), "candidate")));
    return details;
  }

 private:
  /// Places in Report::candidates: of failures the first of each cause, then all failures, then
  /// the others evenly over the run.
  std::vector<std::size_t> order() const {
    const std::size_t count = report_.candidates.size();
    std::vector<std::size_t> order;
    order.reserve(count);
    std::vector<bool> taken(count);
    const auto take = [&](std::size_t place) {
      if (!taken[place]) order.push_back(place);
      taken[place] = true;
    };
    std::set<std::pair<Outcome, Interned>> causes;
    const auto record_at = [&](std::size_t place) -> const Record& {
      return report_.run.records[report_.candidates[place]];
    };
    for (std::size_t i = 0; i < count; ++i)
      if (causes.emplace(record_at(i).outcome, record_at(i).cause).second) take(i);
    const std::size_t step = std::max<std::size_t>(1, count / kMostDetailed);
    // Where there are too many failures as well, every n-th of all gives a fair picture.
    for (std::size_t i = 0; i < count && step == 1; ++i)
      if (record_at(i).outcome != Outcome::kCorrect) take(i);
    for (std::size_t first = 0; first < step; ++first)
      for (std::size_t i = first; i < count; i += step) take(i);
    return order;
  }

  std::string line(const Record& record) {
    std::string why_none;
    json details = files_.details(record, why_none, kLongestDetails);
    json cut = json::array();
    const std::string log = log_of(details);
    json whole = files_.line(record);
    json page = {{"record", whole.is_null() ? to_json(record) : std::move(whole)},
                 {"details", shortened(std::move(details), cut)},
                 {"marks", marks_json(files_.whole(record), log)}};
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
    return without_markup(page.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  json shortened(json details, json& cut) const {
    if (!details.is_object()) return {};
    json kept = json::object();
    for (auto& [key, value] : details.items()) {
      if (value.is_string()) {
        auto& text = value.get_ref<std::string&>();
        if (text.size() > budget_.log_bytes) {
          text = start_of(text, budget_.log_bytes);
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
      } else if (value.dump(-1, ' ', false, json::error_handler_t::replace).size() <=
                 budget_.other_bytes) {
        kept[key] = std::move(value);
      } else {
        cut.push_back(key);
      }
    }
    return kept;
  }

  static json marks_json(const Record& record, const std::string& log) {
    json marks = json::array();
    for (const Mark& mark : marks_of(record, log))
      marks.push_back({{"line", mark.line}, {"severity", mark.severity}, {"text", mark.text}});
    return marks;
  }

  void add_source(const Record& record, json& page, json& cut) const {
    page["source"] = nullptr;
    Source source = source_of(record);
    if (!source.why_none.empty()) {
      page["source_note"] = source.why_none;
      return;
    }
    const bool is_long = source.text.size() > budget_.source_bytes;
    if (is_long) cut.push_back("source");
    page["source"] = {{"name", std::filesystem::path(record.candidate).filename().string()},
                      {"language", record.kind == CandidateKind::kModule ? "python" : "cuda"},
                      {"text", is_long ? start_of(source.text, budget_.source_bytes) : source.text},
                      {"cut", is_long}};
  }

  const Report& report_;
  RunDetails files_;
  const Budget& budget_;
  std::size_t thinned_ = 0, cut_ = 0;
};

}  // namespace

PageDetails page_details(const Report& report) { return Details(report).write(); }

}  // namespace kbench::report
