// SPDX-License-Identifier: MIT
// Charts of outcomes: how many of each, by problem and sample, and over the run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "report/format/plot_parts.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kMostCells = 20'000;
constexpr std::size_t kMostBars = 2000, kMostLanes = 24, kRateBins = 120;
constexpr std::size_t kMostNamedProblems = 100, kMostNamedModels = 16;

/// Boxes by outcome: a data block each, and what draws it.
class Boxes {
 public:
  explicit Boxes(const Report& report) : present_(present_outcomes(report)) {}

  void add(Outcome outcome, double x_low, double x_high, double y_low, double y_high) {
    fmt::format_to(std::back_inserter(lines_[outcome]),
                   "{:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g}\n", x_low, y_low, x_low, x_high,
                   y_low, y_high);
  }

  std::string script() const {
    std::string data, plot;
    for (const auto& [outcome, lines] : lines_) {
      const OutcomeRow& row = outcomes()[static_cast<std::size_t>(outcome)];
      const std::string block = fmt::format("boxes_{}", row.name);
      data += data_block(block, lines);
      add_drawing(plot, fmt::format("${} using 1:2:3:4:5:6 with boxxyerror linecolor rgb '{}' "
                                    "title '{}'",
                                    block, outcome_color(outcome, present_), row.label));
    }
    return data + "set style fill solid noborder\nunset grid\n" + plot + "\n";
  }

 private:
  std::vector<Outcome> present_;
  std::map<Outcome, std::string> lines_;
};

/// Where the names of one axis of the map stand.
std::map<std::string, std::size_t> places_of(const Report& report, Interned Record::*name) {
  std::map<std::string, std::size_t> places;
  for (const std::size_t index : report.candidates)
    places.try_emplace((report.run.records[index].*name).str(), places.size());
  return places;
}

std::string tics_of(const std::map<std::string, std::size_t>& places, double each, double from,
                    std::size_t width) {
  std::string tics;
  for (const auto& [name, place] : places)
    tics +=
        (tics.empty() ? "" : ", ") + tick(name, from + each * static_cast<double>(place), width);
  return tics;
}

double began(const Record& record) {
  return *record.ended_at - (std::isfinite(record.seconds) ? record.seconds : 0);
}

std::vector<const Record*> ended(const Report& report) {
  std::vector<const Record*> records;
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    if (record.ended_at && std::isfinite(*record.ended_at)) records.push_back(&record);
  }
  std::ranges::sort(records, {}, [](const Record* record) { return began(*record); });
  return records;
}

/// Each bar in the first lane that is free when it begins.
Plot lanes_plot(const Report& report, const std::vector<const Record*>& records, double start) {
  Boxes boxes(report);
  std::vector<double> free;
  double end = 0;
  for (const Record* record : records) {
    std::size_t lane = 0;
    while (lane < free.size() && free[lane] > began(*record) + 1e-3) ++lane;
    if (lane == free.size() && lane < kMostLanes) free.push_back(0);
    if (lane == free.size())
      lane = static_cast<std::size_t>(std::ranges::min_element(free) - free.begin());
    free[lane] = *record->ended_at;
    end = std::max(end, *record->ended_at - start);
    const double y = -static_cast<double>(lane);
    boxes.add(record->outcome, began(*record) - start, *record->ended_at - start, y - 0.9, y);
  }
  return {
      .name = "timeline",
      .script = fmt::format("set xlabel 'seconds'\nunset ytics\nset xrange [0:{:.6g}]\nset yrange "
                            "[{}:0.2]\n",
                            end, -static_cast<double>(free.size())) +
                boxes.script(),
      .height = 190 + 18 * static_cast<int>(free.size())};
}

Plot rate_plot(const std::vector<const Record*>& records, double start) {
  double end = 0;
  for (const Record* record : records) end = std::max(end, *record->ended_at - start);
  const double each = std::max(end, 1e-3) / kRateBins;
  std::vector<int> counts(kRateBins);
  for (const Record* record : records)
    ++counts[std::min(kRateBins - 1,
                      static_cast<std::size_t>(std::max(0.0, (*record->ended_at - start) / each)))];
  std::string lines = "0 0\n";
  for (std::size_t i = 0; i < kRateBins; ++i)
    lines += fmt::format("{:.6g} {:.6g}\n", static_cast<double>(i + 1) * each, counts[i] / each);
  return {.name = "timeline",
          .script = data_block("rate", lines) +
                    fmt::format("set xlabel 'seconds'\nset ylabel 'verdicts a second'\nset xrange "
                                "[0:{:.6g}]\nset yrange [0:*]\nset style fill solid 0.4\nplot "
                                "$rate using 1:2 with fillsteps linecolor rgb '#0072b2' notitle\n",
                                end),
          .height = 300};
}

/// What stands where in the map: problems downwards, models and their samples to the right.
struct Layout {
  std::map<std::string, std::size_t> problems, models;
  std::map<int, std::size_t> samples;
  double width = 0, gap = 0;  ///< of a model's block, in samples, and between two of them

  explicit Layout(const Report& report)
      : problems(places_of(report, &Record::problem)), models(places_of(report, &Record::model)) {
    for (const std::size_t index : report.candidates)
      samples.emplace(report.run.records[index].sample, 0);
    std::size_t count = 0;
    for (auto& [sample, place] : samples) place = count++;
    width = static_cast<double>(count);
    gap = std::max(0.2, width * 0.06);
  }
  double left(const Record& record) const {
    return static_cast<double>(models.at(record.model)) * (width + gap);
  }
  double top(const Record& record) const {
    return -static_cast<double>(problems.at(record.problem));
  }
};

void add_cells(const Report& report, const Layout& layout, Boxes& boxes) {
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    const double x = layout.left(record) + static_cast<double>(layout.samples.at(record.sample));
    const double y = layout.top(record);
    boxes.add(record.outcome, x + 0.04, x + 0.96, y - 0.94, y - 0.06);
  }
}

/// Of very many samples a block shows how many came to what, in a box for each outcome.
void add_shares(const Report& report, const Layout& layout, Boxes& boxes) {
  std::map<std::pair<double, double>, std::map<Outcome, int>> blocks;
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    ++blocks[{layout.left(record), layout.top(record)}][record.outcome];
  }
  for (const auto& [place, counts] : blocks) {
    auto [x, y] = place;
    for (const auto& [outcome, count] : counts) {
      boxes.add(outcome, x, x + count, y - 0.94, y - 0.06);
      x += count;
    }
  }
}

}  // namespace

Plot outcomes_plot(const Report& report) {
  std::map<Outcome, int> counts;
  for (const std::size_t index : report.candidates) ++counts[report.run.records[index].outcome];
  if (counts.empty()) return {};
  const std::vector<Outcome> present = present_outcomes(report);
  std::string data, plot, tics;
  for (std::size_t i = 0; i < present.size(); ++i) {
    const OutcomeRow& row = outcomes()[static_cast<std::size_t>(present[i])];
    const std::string block = fmt::format("count{}", i);
    data += data_block(block, fmt::format("{} {}\n", i, counts[present[i]]));
    tics += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", row.label, i);
    add_drawing(plot, fmt::format("${0} using 1:2 with boxes linecolor rgb '{1}', ${0} using 1:2:2 "
                                  "with labels offset 0,0.7",
                                  block, outcome_color(present[i], present)));
  }
  return {
      .name = "outcomes",
      .script = data +
                fmt::format("set ylabel 'candidates'\nset yrange [0:*]\nset offsets 0, 0, graph "
                            "0.08, 0\nset xrange [-0.6:{}]\nset xtics ({}) rotate by -30\nset "
                            "boxwidth 0.7\nset style fill solid noborder\nunset key\n",
                            static_cast<double>(present.size()) - 0.4, tics) +
                plot + "\n"};
}

Plot map_plot(const Report& report) {
  const Layout layout(report);
  if (layout.problems.empty()) return {};
  Boxes boxes(report);
  (report.candidates.size() > kMostCells ? add_shares : add_cells)(report, layout, boxes);
  const auto models = static_cast<double>(layout.models.size());
  const auto problems = static_cast<double>(layout.problems.size());
  std::string script =
      fmt::format("set xrange [{}:{}]\nset yrange [{}:0.3]\nset tics scale 0\n", -layout.gap,
                  models * (layout.width + layout.gap), -problems - 0.3);
  const bool names_problems = layout.problems.size() <= kMostNamedProblems;
  script += names_problems ? fmt::format("set ytics ({})\n", tics_of(layout.problems, -1, -0.5, 34))
                           : "unset ytics\nset ylabel 'problems'\n";
  // In pixels: names, the key, and for each problem a line of text.
  constexpr double kLeft = 290, kKey = 90, kLetter = 8.5, kTop = 12;
  double longest = 0, below = kKey + 30;
  for (const auto& [name, place] : layout.models)
    longest =
        std::max(longest, kLetter * static_cast<double>(std::min<std::size_t>(28, columns(name))));
  if (layout.models.size() > kMostNamedModels) {
    script +=
        fmt::format("unset xtics\nset xlabel '{} models, {} samples each'\n", models, layout.width);
  } else {
    const bool is_steep = longest * models > kPlotWidth - kLeft;
    if (is_steep) below += longest / 2;
    script += fmt::format("set xtics ({}) {}\n",
                          tics_of(layout.models, layout.width + layout.gap, layout.width / 2, 28),
                          is_steep ? "rotate by 30 right" : "");
  }
  const double height =
      std::clamp(kTop + below + (names_problems ? 22 : 4) * problems, 240.0, 2400.0);
  script += fmt::format("set bmargin at screen {}\nset tmargin at screen {}\n", below / height,
                        1 - kTop / height);
  return {
      .name = "outcome_map", .script = script + boxes.script(), .height = static_cast<int>(height)};
}

Plot timeline_plot(const Report& report) {
  const std::vector<const Record*> records = ended(report);
  if (records.empty()) return {};
  const double start = began(*records.front());
  return records.size() > kMostBars ? rate_plot(records, start)
                                    : lanes_plot(report, records, start);
}

}  // namespace kbench::report
