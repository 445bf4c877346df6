// SPDX-License-Identifier: MIT
// The table of metrics by name; metric.cpp computes them.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "kbench/metrics.hpp"

namespace kbench {
namespace {

using Problems = std::span<const ProblemSamples>;

// Columns: name, headline, at_zero, ratio, needs_speedup.
constexpr std::array kMetrics = {
    MetricRow{"fast_{p}", true, true, false, false,
              [](Problems problems, const Metric& of) { return fast_p(problems, of.p); }},
    MetricRow{"fast_{p}@ci", false, false, false, false,
              [](Problems problems, const Metric& of) { return fast_p_ci(problems, of.p); }},
    MetricRow{"fast_{p} own", false, true, false, false,
              [](Problems problems, const Metric& of) { return fast_p_own(problems, of.p); }},
    MetricRow{"pass@{k}", true, false, false, false,
              [](Problems problems, const Metric& of) { return pass_at_k(problems, of.k); }},
    MetricRow{
        "fast_{p}@{k}", false, false, false, false,
        [](Problems problems, const Metric& of) { return fast_p_at_k(problems, of.p, of.k); }},
    MetricRow{"geomean", true, false, true, true,
              [](Problems problems, const Metric&) { return geometric_mean(problems).estimate; }},
    MetricRow{"geomean_all", false, false, true, true,
              [](Problems problems, const Metric&) { return geometric_mean_of_all(problems); }},
    MetricRow{"best@{k}", false, false, true, true,
              [](Problems problems, const Metric& of) { return best_of_k(problems, of.k); }},
    MetricRow{"correct", false, false, false, false,
              [](Problems problems, const Metric&) { return share_correct(problems); }},
    MetricRow{"allclose_{t}", false, false, false, false,
              [](Problems problems, const Metric& of) { return share_allclose(problems, of.t); }},
};

std::optional<Metric> match(const MetricRow& row, std::string_view name) {
  Metric metric{.row = &row};
  for (std::string_view pattern = row.pattern; !pattern.empty();) {
    if (pattern.starts_with("{p}")) {
      if (!take_number(name, metric.p) || !std::isfinite(metric.p) || metric.p < 0) return {};
      pattern.remove_prefix(3);
    } else if (pattern.starts_with("{k}")) {
      if (!take_number(name, metric.k) || metric.k < 1) return {};
      pattern.remove_prefix(3);
    } else if (pattern.starts_with("{t}")) {
      if (!take_number(name, metric.t) || !std::isfinite(metric.t) || metric.t < 0) return {};
      pattern.remove_prefix(3);
    } else {
      if (name.empty() || name.front() != pattern.front()) return {};
      name.remove_prefix(1);
      pattern.remove_prefix(1);
    }
  }
  if (!name.empty()) return {};
  return metric;
}

}  // namespace

std::span<const MetricRow> metric_rows() { return kMetrics; }

std::string Metric::name() const {
  return fmt::format(fmt::runtime(row->pattern), fmt::arg("p", p), fmt::arg("k", k),
                     fmt::arg("t", t));
}

bool Metric::needs_speedup() const { return row->needs_speedup || (row->takes_p() && p > 0); }

Estimate Metric::compute(std::span<const ProblemSamples> problems) const {
  return row->compute(problems, *this);
}

std::vector<Metric> metrics_for(std::span<const double> p, std::span<const int> k) {
  std::vector<Metric> metrics;
  for (const MetricRow& row : kMetrics) {
    const auto every_k = [&](double at) {
      if (!row.takes_k()) {
        metrics.push_back({.row = &row, .p = at});
      } else {
        for (const int draws : k) metrics.push_back({.row = &row, .p = at, .k = draws});
      }
    };
    if (row.takes_t()) {
      for (const double t : kTolerances) metrics.push_back({.row = &row, .t = t});
    } else if (!row.takes_p()) {
      every_k(0);
    } else {
      for (const double at : p) {
        if (at > 0 || row.at_zero) every_k(at);
      }
    }
  }
  return metrics;
}

Metric metric_from_name(std::string_view name) {
  std::string known;
  std::vector<std::string> examples;
  for (const MetricRow& row : kMetrics) {
    if (const auto metric = match(row, name)) return *metric;
    known +=
        (known.empty() ? "" : ", ") + fmt::format(fmt::runtime(row.pattern), fmt::arg("p", "P"),
                                                  fmt::arg("k", "K"), fmt::arg("t", "T"));
    examples.push_back(fmt::format(fmt::runtime(row.pattern), fmt::arg("p", 1), fmt::arg("k", 1),
                                   fmt::arg("t", 0.01)));
  }
  throw UsageError(
      fmt::format("there is no metric \"{}\"; there are {} (P: a speedup, K: a number of samples, "
                  "T: a tolerance){}",
                  name, known, did_you_mean(name, examples)));
}

}  // namespace kbench
