// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <utility>

#include "report/report_samples.hpp"

/// Runs for comparisons.
namespace kbench::samples {

/// A correct record. Its candidate's median has an interval of ± `share`.
inline Record timed(const char* problem, double candidate_ms, double share = 0.002,
                    double eager_ms = 0.019) {
  Record record = correct("alpha", problem, 0, eager_ms / candidate_ms);
  SideTiming& side = record.timing->sides["candidate"];
  side.median_ms = side.mean_ms = candidate_ms;
  side.lo_ms = candidate_ms * (1 - share);
  side.hi_ms = candidate_ms * (1 + share);
  record.sol->share = *record.sol->limit_ms / candidate_ms;
  Speedup& speedup = record.speedup[0];
  speedup.lo = speedup.value * (1 - share);
  speedup.hi = speedup.value * (1 + share);
  return record;
}

/// A complete run of these records, which are all on its manifest.
inline RunFile run_of(std::vector<Record> records, const char* device = "cuda") {
  RunFile run;
  run.headers = {header(device)};
  run.ended = true;
  for (const Record& record : records)
    run.manifest.push_back(
        planned(record.model.c_str(), record.problem.c_str(), record.level, record.sample));
  run.records = std::move(records);
  return run;
}

/// Two runs with one sample for each kind of change between them.
inline std::pair<RunFile, RunFile> changed_runs() {
  Record other_sizes = timed("level1/8_Sizes", 0.01);
  other_sizes.sizes = R"({"rows":"64"})";
  RunFile before = run_of({timed("level1/1_Faster", 0.010), timed("level1/2_Slower", 0.010),
                           timed("level1/3_Same", 0.010), timed("level1/4_Ambiguous", 0.010, 0.05),
                           mismatch("alpha", "level1/5_Fixed"), timed("level1/6_Broken", 0.010),
                           mismatch("alpha", "level1/7_BothWrong"), timed("level1/8_Sizes", 0.010),
                           timed("level1/9_LittleSlower", 0.010),
                           timed("level1/10_OnlyBefore", 0.010), timed("level1/11_NotYet", 0.010)});
  RunFile after =
      run_of({timed("level1/1_Faster", 0.005), timed("level1/2_Slower", 0.012),
              timed("level1/3_Same", 0.01001), timed("level1/4_Ambiguous", 0.0102, 0.05),
              timed("level1/5_Fixed", 0.010), mismatch("alpha", "level1/6_Broken"),
              mismatch("alpha", "level1/7_BothWrong"), other_sizes,
              timed("level1/9_LittleSlower", 0.0103), timed("level1/12_OnlyAfter", 0.010)});
  after.headers[0].run_id = "77aa0b1c2d3e4f50";
  after.manifest.push_back(planned("alpha", "level1/11_NotYet", 1, 0));
  return {before, after};
}

}  // namespace kbench::samples
