// SPDX-License-Identifier: MIT
#include "report/format/plot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "kbench/error.hpp"
#include "report/format/plot_parts.hpp"
#include "report/model/charts.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using report::Plot;

constexpr int kNoCommand = 127;  // as the shell says it

std::vector<Plot> plots_of(const Report& report) {
  const report::Charts charts = report::build_charts(report);
  std::vector<Plot> plots = {
      report::fast_p_plot(charts),           report::at_k_plot(charts),
      report::speedups_plot(report, charts), report::times_plot(report, charts),
      report::outcomes_plot(report),         report::map_plot(report),
      report::timeline_plot(report)};
  std::erase_if(plots, [](const Plot& plot) { return plot.script.empty(); });
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
      // Keys stand below the charts, where they cover nothing.
      "set encoding utf8\nset key noenhanced below center horizontal Left reverse "
      "samplen 1.5 width -3 height 0.5\n"
      "set grid linecolor 'gray90'\nset border 3\nset tics noenhanced nomirror\n"
      "set xlabel noenhanced offset 0,0.3\nset ylabel noenhanced\n";
  for (const Plot& plot : plots_of(report)) {
    const int width = report::kPlotWidth;
    const std::string font = "background 'white' font 'Helvetica,14'";
    for (const auto& [extension, terminal] :
         {std::pair("svg", fmt::format("svg size {},{} dynamic {}", width, plot.height, font)),
          // Everything twice as large.
          std::pair("png",
                    fmt::format("pngcairo size {},{} fontscale 2 linewidth 2 pointscale 2 {}",
                                2 * width, 2 * plot.height, font))}) {
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
