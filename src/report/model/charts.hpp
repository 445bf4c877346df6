// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench::report {

/// A metric of one row of the summary, over p or over k.
struct Curve {
  std::string metric;            ///< "fast_p", "pass@k", "fast_1@k"
  std::string name;              ///< row_name()
  std::vector<double> x;         ///< p or k
  std::vector<Estimate> values;  ///< at each x
};

/// The data of the page's charts that is not in the records.
struct Charts {
  std::vector<Curve> fast_p;  ///< fast_p_steps() from p = 0 to 3; empty on the CPU
  std::vector<Curve> at_k;    ///< from k = 1 to the least number of samples, thinned above 10
};
Charts build_charts(const Report& report);

}  // namespace kbench::report
