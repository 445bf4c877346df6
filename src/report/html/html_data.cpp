// SPDX-License-Identifier: MIT
#include "report/html/html_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "base/json/dumped.hpp"
#include "base/version.hpp"
#include "report/model/charts.hpp"
#include "report/model/leaderboard.hpp"
#include "report/model/model_tables.hpp"
#include "report/model/tables.hpp"
#include "report/model/verdicts.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

void append_digits(fmt::memory_buffer& out, std::optional<double> value, int digits = 6) {
  if (value && std::isfinite(*value)) {
    fmt::format_to(std::back_inserter(out), "{:.{}g}", *value, digits);
  } else {
    out.append(std::string_view("null"));
  }
}

/// The candidates' rows as columns, because 100,000 objects would repeat the fields' names.
class Columns {
 public:
  explicit Columns(const Report& report) : report_(report) {}

  template <typename Text>
  void texts(std::string_view singular, std::string_view plural, Text text_of) {
    std::unordered_map<std::string, std::size_t> places;
    json names = json::array();
    name(singular);
    each([&](const Record& record) {
      std::string value = text_of(record);
      const auto [place, is_new] = places.try_emplace(std::move(value), places.size());
      if (is_new) names.push_back(place->first);
      fmt::format_to(std::back_inserter(out_), "{}", place->second);
    });
    name(plural);
    out_.append(dumped(names));
  }

  template <typename Number>
  void numbers(std::string_view column, Number number, int digits = 6) {
    name(column);
    each([&](const Record& record) { append_digits(out_, number(record), digits); });
  }

  void outcomes() {
    name("outcome");
    each([&](const Record& record) {
      fmt::format_to(std::back_inserter(out_), "{}", static_cast<std::size_t>(record.outcome));
    });
    json rows = json::array();
    for (const OutcomeRow& row : kbench::outcomes())
      rows.push_back(
          {{"name", row.name}, {"label", row.label}, {"good", row.outcome == Outcome::kCorrect}});
    name("outcomes");
    out_.append(dumped(rows));
  }

  std::string whole() const { return "{" + fmt::to_string(out_) + "}"; }
  void name(std::string_view name) {
    fmt::format_to(std::back_inserter(out_), "{}\"{}\":", out_.size() == 0 ? "" : ",", name);
  }
  void append(std::string_view text) { out_.append(text); }

 private:
  template <typename Write>
  void each(Write write) {
    char separator = '[';
    for (const std::size_t index : report_.candidates) {
      out_.push_back(separator);
      separator = ',';
      write(report_.run.records[index]);
    }
    out_.append(std::string_view(separator == '[' ? "[]" : "]"));
  }

  const Report& report_;
  fmt::memory_buffer out_;
};

/// The start of the first candidate, in seconds since 1970.
std::optional<double> began_at(const Report& report) {
  std::optional<double> start;
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    if (!record.ended_at) continue;
    const double began = *record.ended_at - (std::isfinite(record.seconds) ? record.seconds : 0);
    start = std::min(start.value_or(began), began);
  }
  return start;
}

std::string rows(const Report& report, const std::optional<double>& start) {
  Columns columns(report);
  columns.name("count");
  columns.append(std::to_string(report.candidates.size()));
  columns.texts("problem", "problems", [](const Record& r) { return r.problem.str(); });
  columns.texts("model", "models", [](const Record& r) { return r.model.str(); });
  columns.numbers("level", [](const Record& r) { return std::optional<double>(r.level); });
  columns.numbers("sample", [](const Record& r) { return std::optional<double>(r.sample); });
  columns.outcomes();
  columns.texts("cause", "causes", [](const Record& r) { return r.cause.str(); });
  columns.texts("class", "classes", [](const Record& r) { return r.kernel_class.str(); });
  columns.texts("trust", "trusts",
                [](const Record& r) { return r.timing ? r.timing->trust.str() : std::string(); });
  columns.texts("judge", "judges", [](const Record& r) { return r.judge.str(); });
  columns.texts("flags", "flag_sets",
                [](const Record& r) { return fmt::format("{}", fmt::join(r.flags, ", ")); });
  columns.numbers("time_ms", [](const Record& r) { return time_ms(r, "candidate"); });
  columns.numbers("baseline_ms", [&](const Record& r) { return time_ms(r, report.baseline); });
  const auto speedup = [&](double Speedup::*field) {
    return [&report, field](const Record& r) {
      const Speedup* over = report.on_cpu ? nullptr : speedup_over(r, report.baseline);
      return over == nullptr ? std::nullopt : std::optional(over->*field);
    };
  };
  columns.numbers("speedup", speedup(&Speedup::value));
  columns.numbers("lo", speedup(&Speedup::lo));
  columns.numbers("hi", speedup(&Speedup::hi));
  columns.numbers("limit_ms",
                  [](const Record& r) { return r.sol ? r.sol->limit_ms : std::nullopt; });
  columns.numbers("limit_share",
                  [](const Record& r) { return r.sol ? r.sol->share : std::nullopt; });
  columns.numbers("seconds", [](const Record& r) { return std::optional<double>(r.seconds); });
  columns.numbers(
      "ended",
      [&](const Record& r) {
        return r.ended_at && start ? std::optional(*r.ended_at - *start) : std::nullopt;
      },
      9);
  return columns.whole();
}

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(std::round(*value * 1e6) / 1e6) : json();
}

json summary_json(const Report& report) {
  std::vector<std::size_t> shown = shown_metrics(report);
  // The result comes first; a narrow screen shows only the first columns.
  std::ranges::stable_partition(
      shown, [lead = leading_metric(report)](std::size_t metric) { return lead == metric; });
  json metrics = json::array(), rows = json::array();
  for (const std::size_t metric : shown) metrics.push_back(report.metrics[metric].name());
  for (const SummaryRow& row : report.summary) {
    json cells = json::array();
    for (const std::size_t metric : shown)
      cells.push_back({{"text", cell_text(report, row, metric)},
                       {"interval", interval_text(row.estimates[metric])},
                       {"value", number_or_null(row.estimates[metric].value)}});
    rows.push_back(
        {{"name", row_name(report, row)},
         {"rank", row.rank == 0 ? json() : json(row.rank)},
         {"level", row.level < 0 ? json() : json(row.level)},
         {"problems", row.problems},
         {"correct", correct_text(row)},
         {"correct_share", row.samples == 0 ? json()
                                            : number_or_null(static_cast<double>(row.correct) /
                                                             static_cast<double>(row.samples))},
         {"cells", std::move(cells)}});
  }
  return {{"metrics", std::move(metrics)},
          {"rows", std::move(rows)},
          {"notes", reading_notes(report)},
          {"remarks", model_texts(report)}};
}

json failures_json(const Report& report) {
  std::unordered_map<std::size_t, std::size_t> places;
  for (const std::size_t index : report.candidates) places.emplace(index, places.size());
  json groups = json::array();
  for (const FailureGroup& group : report.failures) {
    json members = json::array(), texts = json::array();
    for (std::size_t i = 0; i < std::min(group.records.size(), kShownPerFailure); ++i) {
      members.push_back(places.at(group.records[i]));
      texts.push_back(failure_text(report.run.records[group.records[i]]));
    }
    groups.push_back({{"outcome", static_cast<std::size_t>(group.outcome)},
                      {"cause", group.cause.str()},
                      {"judge", judge_suffix(group.judge)},
                      {"count", group.records.size()},
                      {"rows", std::move(members)},
                      {"texts", std::move(texts)}});
  }
  return groups;
}

json curve_json(const Curve& curve, const char* parameter) {
  json values = json::array(), lo = json::array(), hi = json::array();
  for (const Estimate& estimate : curve.values) {
    values.push_back(number_or_null(estimate.value));
    lo.push_back(number_or_null(estimate.lo));
    hi.push_back(number_or_null(estimate.hi));
  }
  return {{"metric", curve.metric},     {"model", curve.name}, {parameter, curve.x},
          {"value", std::move(values)}, {"lo", std::move(lo)}, {"hi", std::move(hi)}};
}

json charts_json(const Report& report, const std::optional<double>& start) {
  const Charts charts = build_charts(report);
  json fast_p, at_k = json::array();
  for (const Curve& curve : charts.fast_p) fast_p.push_back(curve_json(curve, "p"));
  for (const Curve& curve : charts.at_k) at_k.push_back(curve_json(curve, "k"));
  return {{"fast_p", std::move(fast_p)},
          {"at_k", std::move(at_k)},
          {"timeline_start", start ? json(*start) : json()}};
}

}  // namespace

std::string without_markup(std::string json) {
  std::size_t count = static_cast<std::size_t>(std::ranges::count(json, '<'));
  if (count == 0) return json;
  std::string result;
  result.reserve(json.size() + count * 5);
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string page_data(const Report& report, const std::vector<std::string>& notes) {
  const std::optional<double> start = began_at(report);
  json head = {{"format", 1},
               {"title", "kbench: " + status_text(report)},
               {"status", status_text(report)},
               {"complete", report.complete},
               {"on_cpu", report.on_cpu},
               {"version", kVersion},
               {"baseline", report.baseline.empty() ? json() : json(report.baseline)},
               {"time_label", time_label(report)},
               {"result", result_text(report)},
               {"warnings", report.warnings},
               {"notes", notes},
               {"run_summary", report.run_summary},
               {"summary", summary_json(report)},
               {"failures", failures_json(report)},
               {"charts", charts_json(report, start)}};
  std::string text = dumped(head);
  text.pop_back();
  text += ",\"rows\":" + rows(report, start) + "}";
  return without_markup(std::move(text));
}

}  // namespace kbench::report
