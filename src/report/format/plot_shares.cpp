// SPDX-License-Identifier: MIT
// Charts of shares of models: fast_p over p, pass@k and fast_1@k over k.
#include <fmt/format.h>

#include <algorithm>

#include "report/format/plot_parts.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kMostBands = 4;

std::vector<std::string> names_of(const std::vector<Curve>& curves) {
  std::vector<std::string> names;
  names.reserve(curves.size());
  for (const Curve& curve : curves) names.push_back(curve.name);
  return names;
}

/// The points of a curve with its interval; `is_stepped`: it keeps its value up to the next x, and
/// so does its band, which gnuplot's own steps would leave slanted.
std::string points_of(const Curve& curve, bool is_stepped) {
  std::string lines;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const Estimate& estimate = curve.values[i];
    const double value = estimate.value.value_or(0);
    const auto point = [&](double x) {
      lines += fmt::format("{} {} {} {}\n", x, value, estimate.lo.value_or(value),
                           estimate.hi.value_or(value));
    };
    point(curve.x[i]);
    if (is_stepped && i + 1 < curve.x.size()) point(curve.x[i + 1]);
  }
  return lines;
}

std::string curves_script(const std::vector<Curve>& curves, const Charts& charts, bool is_stepped) {
  ModelColors colors(names_of(curves), charts);
  std::string data, bands, lines;
  int number = 0;
  for (const std::string& name : colors.layers()) {
    for (const Curve& curve : curves) {
      if (curve.name != name) continue;
      const std::string block = fmt::format("curve{}", number++);
      data += data_block(block, points_of(curve, is_stepped));
      // Bands of many models would be one grey area.
      if (curves.size() <= 2 * kMostBands)
        add_drawing(bands, fmt::format("${} using 1:3:4 with filledcurves linecolor rgb '{}' "
                                       "fillstyle transparent solid {} noborder notitle",
                                       block, colors.of(name),
                                       0.3 / (1 + static_cast<double>(curves.size()))));
      const bool is_second = curve.metric == "fast_1@k";
      add_drawing(lines, fmt::format("${} using 1:2 with {} linecolor rgb '{}' linewidth {} "
                                     "pointtype 7 pointsize 0.6 {} {}",
                                     block, is_stepped ? "lines" : "linespoints", colors.of(name),
                                     colors.has_own(name) ? 2 : 1, is_second ? "dashtype 2" : "",
                                     is_second ? "notitle" : colors.title(name)));
    }
  }
  // Lines lie above all bands.
  if (!bands.empty()) lines.replace(0, 5, ", \\\n ");
  return data + "set yrange [0:1]\n" + bands + lines + "\n";
}

/// With one sample a problem there is no curve: a dot for each model, with its interval.
Plot dots_plot(const std::vector<Curve>& curves, const Charts& charts) {
  std::vector<std::string> names;
  std::vector<const Curve*> sorted;
  for (const Curve& curve : curves)
    if (curve.metric == "pass@k") sorted.push_back(&curve);
  std::ranges::stable_sort(
      sorted, {}, [](const Curve* curve) { return curve->values.front().value.value_or(0); });
  names.reserve(sorted.size());
  for (const Curve* curve : sorted) names.push_back(curve->name);
  ModelColors colors(names, charts);
  std::string data, plot, tics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    tics += (i == 0 ? "" : ", ") + tick(names[i], static_cast<double>(i), 40);
    for (const Curve& curve : curves) {
      if (curve.name != names[i]) continue;
      const bool is_second = curve.metric == "fast_1@k";
      const Estimate& estimate = curve.values.front();
      const double value = estimate.value.value_or(0);
      const std::string block = fmt::format("dot{}_{}", i, is_second ? 1 : 0);
      data +=
          data_block(block, fmt::format("{} {} {} {}\n", value,
                                        static_cast<double>(i) + (is_second ? -0.16 : 0.16),
                                        estimate.lo.value_or(value), estimate.hi.value_or(value)));
      add_drawing(plot,
                  fmt::format("${} using 1:2:3:4 with xerrorbars linecolor rgb '{}' linewidth "
                              "2 pointtype {} pointsize 1 notitle",
                              block, colors.of(names[i]), is_second ? 6 : 7));
    }
  }
  const bool has_fast = curves.size() > sorted.size();
  return {.name = "pass_at_k",
          .script = data + fmt::format(
                               "set ytics ({})\nset yrange [-0.6:{}]\nset xrange [0:1]\nset xlabel "
                               "'share of problems: pass@1{}'\n{}\n",
                               tics, static_cast<double>(names.size()) - 0.4,
                               has_fast ? ", hollow: fast_1@1" : "", plot),
          .height = std::clamp(120 + 26 * static_cast<int>(names.size()), 220, 1600)};
}

}  // namespace

Plot fast_p_plot(const Charts& charts) {
  if (charts.fast_p.empty()) return {};
  return {.name = "fast_p",
          .script = "set xlabel 'p (speedup)'\nset ylabel 'fast_p'\n" +
                    curves_script(charts.fast_p, charts, true)};
}

Plot at_k_plot(const Charts& charts) {
  if (charts.at_k.empty()) return {};
  if (std::ranges::all_of(charts.at_k, [](const Curve& curve) { return curve.x.size() == 1; }))
    return dots_plot(charts.at_k, charts);
  const bool has_fast = std::ranges::any_of(
      charts.at_k, [](const Curve& curve) { return curve.metric == "fast_1@k"; });
  double most = 1;
  for (const Curve& curve : charts.at_k) most = std::max(most, curve.x.back());
  const std::string axis = most > 20 ? "set logscale x\n"
                                     : fmt::format("set xrange [0.8:{}]\nset xtics 1, {}\n",
                                                   most + 0.2, most > 10 ? 2 : 1);
  return {.name = "pass_at_k",
          .script = fmt::format("set xlabel 'k (samples)'\nset ylabel 'pass@k{}'\n{}",
                                has_fast ? " (dashed: fast_1@k)" : "", axis) +
                    curves_script(charts.at_k, charts, false)};
}

}  // namespace kbench::report
