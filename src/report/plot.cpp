// SPDX-License-Identifier: MIT
#include "kbench/plot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "charts.hpp"
#include "kbench/error.hpp"
#include "text.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using report::Curve;

constexpr std::size_t kLongestTitle = 60;
constexpr int kNoCommand = 127;  // as the shell says it

/// A string of gnuplot's that it takes as it is; it has no way to write a quote at its beginning.
std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char c : report::fitted(report::printable(text), kLongestTitle)) {
    // Its SVG has these three as they are, and XML forbids them.
    if (c == '>' && result.ends_with("]]")) result += ' ';
    result += c == '\'' ? std::string("’") : std::string(1, c);
  }
  return result + "'";
}

/// One chart as what gnuplot is told: data blocks, settings, and the plot command.
struct Plot {
  std::string name;
  std::string script;
};

std::string data_block(const std::string& name, const std::string& lines) {
  return fmt::format("${} << KBENCH_END\n{}KBENCH_END\n", name, lines);
}

std::string point(double x, const Estimate& estimate) {
  const double value = estimate.value.value_or(0);
  return fmt::format("{} {} {} {}\n", x, value, estimate.lo.value_or(value),
                     estimate.hi.value_or(value));
}

/// Curves with the bands of their intervals, one colour a name.
std::string curves_script(const std::vector<Curve>& curves, bool steps) {
  std::string data, plot;
  std::map<std::string, std::size_t> colors;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve& curve = curves[i];
    const std::size_t color = colors.emplace(curve.name, colors.size() + 1).first->second;
    std::string lines;
    for (std::size_t j = 0; j < curve.x.size(); ++j) lines += point(curve.x[j], curve.values[j]);
    const std::string block = fmt::format("curve{}", i);
    data += data_block(block, lines);
    plot += fmt::format(
        "{}${} using 1:3:4 with filledcurves linetype {} fillstyle transparent solid 0.15 "
        "noborder notitle, ${} using 1:2 with {} linetype {} linewidth 2 {} title {}",
        plot.empty() ? "plot " : ", \\\n ", block, color, block,
        curve.x.size() == 1 ? "points"
        : steps             ? "steps"
                            : "linespoints",
        color, curve.metric == "fast_1@k" ? "dashtype 2" : "",
        gnuplot_string(curve.metric == "fast_p" ? curve.name : curve.name + ", " + curve.metric));
  }
  return data + "set yrange [0:1]\n" + plot + "\n";
}

/// Records of the report with a speedup, by model.
std::map<std::string, std::vector<const Record*>> timed(const Report& report) {
  std::map<std::string, std::vector<const Record*>> models;
  if (report.on_cpu) return models;
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    const Speedup* over = report::speedup_over(record, report.baseline);
    if (over != nullptr && over->value > 0) models[record.model.str()].push_back(&record);
  }
  return models;
}

/// A range that holds all of the positive values with some room, also where all are alike.
std::string log_range(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.empty()) return "[0.1:10]";
  const auto [low, high] = std::ranges::minmax(values);
  return fmt::format("[{}:{}]", low / 1.5, high * 1.5);
}

Plot speedups_plot(const Report& report) {
  // Bins of a tenth of a decade, so that those of two reports can be laid over one another.
  constexpr double kPerDecade = 10;
  std::string data, plot;
  std::vector<double> values;
  int number = 0;
  for (const auto& [model, records] : timed(report)) {
    std::map<int, int> counts;
    for (const Record* record : records)
      values.push_back(report::speedup_over(*record, report.baseline)->value);
    for (const Record* record : records)
      ++counts[static_cast<int>(std::floor(
          std::log10(report::speedup_over(*record, report.baseline)->value) * kPerDecade))];
    std::string lines;
    for (const auto& [bin, count] : counts)
      lines += fmt::format("{} {}\n", std::pow(10, (bin + 0.5) / kPerDecade), count);
    const std::string block = fmt::format("bins{}", number++);
    data += data_block(block, lines);
    plot +=
        fmt::format("{}${} using 1:2:($1*0.23) with boxes fillstyle transparent solid 0.5 title {}",
                    plot.empty() ? "plot " : ", \\\n ", block, gnuplot_string(model));
  }
  if (plot.empty()) return {};
  return {"speedups",
          data +
              fmt::format("set logscale x\nset xrange {}\nset xlabel {}\n"
                          "set ylabel 'candidates'\n"
                          "set yrange [0:*]\nset arrow from 1, graph 0 to 1, graph 1 "
                          "nohead dashtype 2\n",
                          log_range(values), gnuplot_string("speedup over " + report.baseline)) +
              plot + "\n"};
}

Plot times_plot(const Report& report) {
  std::string data, plot;
  std::vector<double> times, references;
  int number = 0;
  for (const auto& [model, records] : timed(report)) {
    std::string lines;
    for (const Record* record : records) {
      const auto time = report::time_ms(*record, "candidate");
      const auto reference = report::time_ms(*record, report.baseline);
      if (!time || !reference) continue;
      lines += fmt::format("{} {}\n", *reference, *time);
      times.push_back(*time);
      references.push_back(*reference);
    }
    if (lines.empty()) continue;
    const std::string block = fmt::format("times{}", number++);
    data += data_block(block, lines);
    plot += fmt::format(
        ", \\\n ${} using 1:2 with points linetype {} pointtype 7 pointsize 0.9 title {}", block,
        number, gnuplot_string(model));
  }
  if (plot.empty()) return {};
  return {"times", data +
                       fmt::format("set logscale xy\nset xrange {}\nset yrange {}\nset xlabel {}\n"
                                   "set ylabel 'candidate (ms)'\n"
                                   "plot x with lines dashtype 2 linecolor 'gray' notitle",
                                   log_range(references), log_range(times),
                                   gnuplot_string("reference, " + report.baseline + " (ms)")) +
                       plot + "\n"};
}

Plot outcomes_plot(const Report& report) {
  std::map<Outcome, int> counts;
  for (const std::size_t index : report.candidates) ++counts[report.run.records[index].outcome];
  if (counts.empty()) return {};
  std::string lines;
  for (const auto& [outcome, count] : counts)
    lines += fmt::format("\"{}\" {}\n", outcomes()[static_cast<std::size_t>(outcome)].label, count);
  return {"outcomes", data_block("counts", lines) +
                          "set ylabel 'candidates'\nset yrange [0:*]\nset boxwidth 0.7\n"
                          "set style fill solid 0.8\nset xtics rotate by -30\nunset key\n"
                          "plot $counts using 0:2:xtic(1) with boxes, "
                          "'' using 0:2:2 with labels offset 0,0.7\n"};
}

std::vector<Plot> plots_of(const Report& report) {
  const report::Charts charts = report::build_charts(report);
  std::vector<Plot> plots;
  if (!charts.fast_p.empty())
    plots.push_back({"fast_p", "set xlabel 'p (speedup)'\nset ylabel 'fast_p'\n" +
                                   curves_script(charts.fast_p, true)});
  if (!charts.at_k.empty())
    plots.push_back({"pass_at_k",
                     "set xlabel 'k (samples)'\nset ylabel 'share of problems'\n"
                     "set xrange [0.8:*]\nset key bottom right\n" +
                         curves_script(charts.at_k, false)});
  for (Plot& plot : std::vector{speedups_plot(report), times_plot(report), outcomes_plot(report)})
    if (!plot.script.empty()) plots.push_back(std::move(plot));
  return plots;
}

void run_gnuplot(const std::string& script) {
  // It would tell of its own of data that is all alike.
  FILE* gnuplot = ::popen("gnuplot 2>/dev/null", "w");
  if (gnuplot == nullptr) throw Error("no process can be started for gnuplot");
  const bool is_told = std::fputs(script.c_str(), gnuplot) >= 0;
  const int status = ::pclose(gnuplot);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoCommand)
    throw UsageError("--plot draws with gnuplot, which is not there: install Debian's gnuplot-nox");
  if (!is_told || status != 0)
    throw Error(
        fmt::format("gnuplot ended with status {} while it drew a chart of --plot", status));
}

}  // namespace

std::vector<fs::path> write_plots(const Report& report, const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!fs::is_directory(folder, failure))
    throw UsageError(
        fmt::format("--plot {}: it is no folder, and none can be made there", folder.string()));
  std::vector<fs::path> files;
  std::string script =
      "set encoding utf8\nset colorsequence podo\nset key noenhanced\nset grid linecolor 'gray90'\n"
      "set tics noenhanced\nset xlabel noenhanced\nset ylabel noenhanced\n";
  for (const Plot& plot : plots_of(report)) {
    for (const auto& [extension, terminal] :
         {std::pair("svg", "svg size 800,500 dynamic background 'white' font 'Helvetica,14'"),
          std::pair("png", "pngcairo size 1600,1000 background 'white' font 'Helvetica,28'")}) {
      const fs::path file = folder / (plot.name + "." + extension);
      fs::remove(file, failure);
      // Settings of one chart are not the next one's.
      run_gnuplot(fmt::format("{}set terminal {}\nset output '{}'\n{}", script, terminal,
                              report::printable(file.string()), plot.script));
      if (!fs::exists(file))
        throw UsageError(
            fmt::format("--plot: gnuplot did not write {}: may it be written, and does "
                        "its name hold a quote?",
                        file.string()));
      files.push_back(file);
    }
  }
  return files;
}

}  // namespace kbench
