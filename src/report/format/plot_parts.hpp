// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/report.hpp"
#include "report/model/charts.hpp"

/// The charts of --plot as what gnuplot is told.
namespace kbench::report {

/// One chart; its script is empty where there is nothing to draw.
struct Plot {
  std::string name;    ///< of its files
  std::string script;  ///< data blocks, settings, and the plot command
  int height = 500;    ///< its width is 800
};
inline constexpr int kPlotWidth = 800;

Plot fast_p_plot(const Charts& charts);
Plot at_k_plot(const Charts& charts);
Plot speedups_plot(const Report& report, const Charts& charts);
Plot times_plot(const Report& report, const Charts& charts);
Plot outcomes_plot(const Report& report);
/// The heat map of outcomes, problems by samples.
Plot map_plot(const Report& report);
Plot timeline_plot(const Report& report);

/// A string of gnuplot's that it takes as it is, of at most `width` columns.
std::string gnuplot_string(std::string_view text, std::size_t width = 60);
/// A tick with a text instead of a number, as in "set xtics (…)".
std::string tick(std::string_view text, double at, std::size_t width);
/// `lines` as the data block "$name".
std::string data_block(std::string_view name, std::string_view lines);
/// Adds one more thing to draw to the plot command that `plot` is.
void add_drawing(std::string& plot, std::string_view drawing);

/// Ticks of few digits for a logarithmic axis of these values, and its range with some room:
/// "set xrange …", "set xtics …" where `axis` is "x".
std::string log_axis(std::string_view axis, std::vector<double> values);

/// Colours of models. Of more than eight those that are best have one, and the others are grey: a
/// ninth would be taken for one of the eight.
class ModelColors {
 public:
  ModelColors(std::vector<std::string> names, const Charts& charts);
  std::string_view of(std::string_view name) const;
  bool has_own(std::string_view name) const;
  /// Its name in the key, as gnuplot's "title …"; the grey ones are named once, together.
  std::string title(std::string_view name);
  /// All names, those without a colour first, so that the others lie above them.
  std::vector<std::string> layers() const;

 private:
  std::vector<std::string> names_;  ///< the best first, where there are more than colours
  bool are_others_named_ = false;
};

/// The colour of an outcome among those that occur (in their order).
std::string_view outcome_color(Outcome outcome, const std::vector<Outcome>& present);
/// The outcomes of the report's candidates, each once and in their order.
std::vector<Outcome> present_outcomes(const Report& report);

}  // namespace kbench::report
