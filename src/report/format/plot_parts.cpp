// SPDX-License-Identifier: MIT
#include "report/format/plot_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

// Those of the page in its light theme (html/page.css).
constexpr std::array<std::string_view, 8> kModelColors = {
    "#0072b2", "#d55e00", "#007d5c", "#b0478a", "#8a6d00", "#3b8fc4", "#6b4fa0", "#c2334d"};
constexpr std::string_view kOthersColor = "#aab1ba";
constexpr std::string_view kCorrectColor = "#00795a";
constexpr std::array<std::string_view, 11> kFailureColors = {
    "#c75300", "#0072b2", "#b0478a", "#c9a200", "#6b4fa0", "#b3261e",
    "#59636e", "#7a3b10", "#3ba3c7", "#5a7d00", "#e07b91"};
constexpr std::size_t kKeyColumns = 34;

/// How good each model is, to choose those that have a colour: fast_1, and where they are equal, or
/// there are no times, pass@1.
std::map<std::string, double> scores_of(const Charts& charts) {
  std::map<std::string, double> scores;
  for (const Curve& curve : charts.fast_p) {
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (curve.x[i] == 1) scores[curve.name] += curve.values[i].value.value_or(0);
  }
  for (const Curve& curve : charts.at_k)
    if (curve.metric == "pass@k")
      scores[curve.name] += 1e-3 * curve.values.front().value.value_or(0);
  return scores;
}

}  // namespace

std::string gnuplot_string(std::string_view text, std::size_t width) {
  // It has no way to write a quote at a string's beginning.
  std::string result = "'";
  for (const char c : fitted(printable(text), width)) {
    // Its SVG has these three as they are, and XML forbids them.
    if (c == '>' && result.ends_with("]]")) result += ' ';
    result += c == '\'' ? std::string("’") : std::string(1, c);
  }
  return result + "'";
}

std::string tick(std::string_view text, double at, std::size_t width) {
  std::string result;
  // The text is a format for the number.
  for (const char c : gnuplot_string(text, width)) result += c == '%' ? "%%" : std::string(1, c);
  return fmt::format("{} {:.6g}", result, at);
}

std::string data_block(std::string_view name, std::string_view lines) {
  return fmt::format("${} << KBENCH_END\n{}KBENCH_END\n", name, lines);
}

void add_drawing(std::string& plot, std::string_view drawing) {
  plot += plot.empty() ? "plot " : ", \\\n ";
  plot += drawing;
}

std::string log_axis(std::string_view axis, std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.empty()) values = {0.1, 10};
  const double low = std::ranges::min(values) / 1.5, high = std::ranges::max(values) * 1.5;
  const double decades = std::log10(high / low);
  const std::vector<double> steps = decades < 1.8 ? std::vector<double>{1, 2, 5}
                                    : decades < 4 ? std::vector<double>{1, 3}
                                                  : std::vector<double>{1};
  std::string tics;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power) {
    for (const double step : steps) {
      const double at = step * std::pow(10, power);
      if (at >= low && at <= high)
        tics += fmt::format("{}'{:.4g}' {:.6g}", tics.empty() ? "" : ", ", at, at);
    }
  }
  return fmt::format("set logscale {0}\nset {0}range [{1:.6g}:{2:.6g}]\nset {0}tics ({3})\n", axis,
                     low, high, tics);
}

ModelColors::ModelColors(std::vector<std::string> names, const Charts& charts)
    : names_(std::move(names)) {
  std::ranges::sort(names_);
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  if (names_.size() <= kModelColors.size()) return;
  std::map<std::string, double> scores = scores_of(charts);
  std::ranges::stable_sort(names_, std::ranges::greater(),
                           [&](const std::string& name) { return scores[name]; });
}

bool ModelColors::has_own(std::string_view name) const {
  const auto place = std::ranges::find(names_, name) - names_.begin();
  return static_cast<std::size_t>(place) < kModelColors.size();
}

std::string_view ModelColors::of(std::string_view name) const {
  const auto place = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  return place < kModelColors.size() ? kModelColors[place] : kOthersColor;
}

std::string ModelColors::title(std::string_view name) {
  if (names_.size() == 1) return "notitle";
  if (has_own(name)) return "title " + gnuplot_string(name, kKeyColumns);
  if (are_others_named_) return "notitle";
  are_others_named_ = true;
  return fmt::format("title '{} others'", names_.size() - kModelColors.size());
}

std::vector<std::string> ModelColors::layers() const {
  std::vector<std::string> layers = names_;
  std::stable_partition(layers.begin(), layers.end(),
                        [&](const std::string& name) { return !has_own(name); });
  return layers;
}

std::string_view outcome_color(Outcome outcome, const std::vector<Outcome>& present) {
  if (outcome == Outcome::kCorrect) return kCorrectColor;
  std::size_t place = 0;
  for (const Outcome other : present) {
    if (other == outcome) break;
    place += other != Outcome::kCorrect;
  }
  return kFailureColors[place % kFailureColors.size()];
}

std::vector<Outcome> present_outcomes(const Report& report) {
  std::set<Outcome> present;
  for (const std::size_t index : report.candidates)
    present.insert(report.run.records[index].outcome);
  return {present.begin(), present.end()};
}

}  // namespace kbench::report
