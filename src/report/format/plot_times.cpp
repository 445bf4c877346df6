// SPDX-License-Identifier: MIT
// Charts of times: speedups, and candidates against the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/format/plot_parts.hpp"
#include "report/model/standings.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kMostDots = 5000;

/// Records of the report with a speedup: those of a model, or of all models without a colour.
struct Layer {
  std::string_view color;
  std::string title;
  std::vector<const Record*> records;
};

double speedup(const Record& record, const Report& report) {
  const Speedup* over = earned_speedup(report, record);
  return over == nullptr ? 0 : over->value;
}

/// The grey layer first, so that the others lie above it.
std::vector<Layer> layers_of(const Report& report, const Charts& charts) {
  std::map<std::string, std::vector<const Record*>> models;
  std::vector<std::string> names;
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    if (!(speedup(record, report) > 0)) continue;
    if (models[record.model].empty()) names.push_back(record.model);
    models[record.model].push_back(&record);
  }
  ModelColors colors(names, charts);
  std::vector<Layer> layers;
  for (const std::string& name : colors.layers()) {
    if (layers.empty() || colors.has_own(name))
      layers.push_back({.color = colors.of(name), .title = colors.title(name), .records = {}});
    std::ranges::copy(models.at(name), std::back_inserter(layers.back().records));
  }
  return layers;
}

/// Points of a layer, every `each`-th of them; those that have none are left out.
std::string points_of(const Layer& layer, const Report& report, std::size_t each,
                      std::vector<double>& times, std::vector<double>& references) {
  std::string lines;
  for (std::size_t i = 0; i < layer.records.size(); i += each) {
    const auto time = time_ms(*layer.records[i], "candidate");
    const auto reference = time_ms(*layer.records[i], report.baseline);
    if (!time || !reference) continue;
    lines += fmt::format("{:.6g} {:.6g}\n", *reference, *time);
    times.push_back(*time);
    references.push_back(*reference);
  }
  return lines;
}

/// What the device could do at most, once for each problem and limit: a short line at the
/// reference's time, as x, y, and how far it goes; on a logarithmic axis all are equally long.
std::string limits_of(const std::vector<Layer>& layers, const Report& report,
                      std::vector<double>& times) {
  std::set<std::pair<Interned, double>> known;
  std::string lines;
  for (const Layer& layer : layers) {
    for (const Record* record : layer.records) {
      const auto limit = record->sol ? record->sol->limit_ms : std::nullopt;
      const auto reference = time_ms(*record, report.baseline);
      if (!limit || !(*limit > 0) || !reference) continue;
      if (known.size() == kMostDots || !known.emplace(record->problem, *limit).second) continue;
      lines +=
          fmt::format("{:.6g} {:.6g} {:.6g} 0\n", *reference / 1.07, *limit, *reference * 0.14);
      times.push_back(*limit);
    }
  }
  return lines;
}

}  // namespace

Plot speedups_plot(const Report& report, const Charts& charts) {
  // Bins of a tenth of a decade, so that those of two reports can be laid over one another.
  constexpr double kPerDecade = 10;
  std::vector<Layer> layers = layers_of(report, charts);
  if (layers.empty()) return {};
  // The grey ones on top: the others begin at the axis.
  std::ranges::reverse(layers);
  std::string data, plot;
  std::vector<double> values{1};
  std::map<int, int> heights;  // bars of layers stand on one another
  for (std::size_t number = 0; number < layers.size(); ++number) {
    std::map<int, int> counts;
    for (const Record* record : layers[number].records) {
      values.push_back(speedup(*record, report));
      ++counts[static_cast<int>(std::floor(std::log10(values.back()) * kPerDecade))];
    }
    std::string lines;
    for (const auto& [bin, count] : counts) {
      const auto edge = [from = bin](double of) { return std::pow(10, (from + of) / kPerDecade); };
      int& height = heights[bin];
      lines += fmt::format("{:.6g} {} {:.6g} {:.6g} {} {}\n", edge(0.5), height, edge(0.03),
                           edge(0.97), height, height + count);
      height += count;
    }
    const std::string block = fmt::format("bins{}", number);
    data += data_block(block, lines);
    add_drawing(plot, fmt::format("${} using 1:2:3:4:5:6 with boxxyerror linecolor rgb '{}' {}",
                                  block, layers[number].color, layers[number].title));
  }
  return {.name = "speedups",
          .script = data + log_axis("x", values) +
                    fmt::format("set xlabel {}\nset ylabel 'candidates'\nset style fill solid "
                                "noborder\nset yrange [0:*]\nset arrow from 1, graph 0 to 1, "
                                "graph 1 nohead dashtype 2 front\n{}\n",
                                gnuplot_string("speedup over " + report.baseline), plot)};
}

Plot times_plot(const Report& report, const Charts& charts) {
  const std::vector<Layer> layers = layers_of(report, charts);
  std::size_t count = 0;
  for (const Layer& layer : layers) count += layer.records.size();
  const std::size_t each = 1 + count / kMostDots;
  std::string data, plot = "plot x with lines dashtype 2 linecolor 'gray' notitle";
  std::vector<double> times, references;
  for (std::size_t number = 0; number < layers.size(); ++number) {
    const std::string lines = points_of(layers[number], report, each, times, references);
    if (lines.empty()) continue;
    const std::string block = fmt::format("times{}", number);
    data += data_block(block, lines);
    add_drawing(plot, fmt::format("${} using 1:2 with points linecolor rgb '{}' pointtype 7 "
                                  "pointsize 0.5 {}",
                                  block, layers[number].color, layers[number].title));
  }
  if (references.empty()) return {};
  const std::string limits = limits_of(layers, report, times);
  if (!limits.empty()) {
    data += data_block("limits", limits);
    add_drawing(plot,
                "$limits using 1:2:3:4 with vectors nohead linewidth 1.5 linecolor rgb '#1a1d21' "
                "title 'the device’s limit'");
  }
  const std::string shown = each == 1 ? "" : fmt::format("; one in {} is shown", each);
  return {.name = "times",
          .script =
              data + log_axis("x", references) + log_axis("y", times) +
              fmt::format("set xlabel {}\nset ylabel 'candidate (ms)'\n{}\n",
                          gnuplot_string("reference, " + report.baseline + " (ms)" + shown), plot)};
}

}  // namespace kbench::report
