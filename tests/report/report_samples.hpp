// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "kbench/report.hpp"
#include "record/run_samples.hpp"

/// Runs for reports with approved texts.
namespace kbench::samples {

inline ManifestEntry planned(const char* model, const char* problem, int level, int sample) {
  return {.problem = problem, .level = level, .model = model, .sample = sample, .tags = {}};
}

inline RunHeader header(const char* device) {
  RunHeader run;
  run.run_id = "5f0c2a9be1d34c77";
  run.started = "2026-01-31T09:30:00Z";
  run.kbench_version = "0.1.0";
  run.problem_set_hash = "9d3b7c0f6a5e4d2c1b0a9988";
  run.options = {{"precision", "native"},
                 {"baselines", {"eager", "compile"}},
                 {"l2", "cold"},
                 {"trials", 5},
                 {"seed", "secret"}};
  run.environment = {{"device", device},
                     {"cpu", "AMD EPYC 9654"},
                     {"torch", "2.11.0+cu130"},
                     {"nvrtc", "NVRTC 13.0"}};
  if (std::string_view(device) == "cuda") {
    run.environment["driver"] = "580.159";
    run.environment["cuda"] = "13.0";
  }
  return run;
}

/// A run on a GPU: two models, two levels, two samples each. One sample has no verdict yet, one is
/// a harness fault, one problem is excluded, and several candidates fail.
inline RunFile gpu_run() {
  RunFile run;
  run.headers = {header("cuda")};
  run.ended = false;
  for (const char* model : {"alpha", "beta"}) {
    for (int sample = 0; sample < 2; ++sample) {
      run.manifest.push_back(planned(model, "level1/2_Softmax", 1, sample));
      run.manifest.push_back(planned(model, "level1/19_ReLU", 1, sample));
      run.manifest.push_back(planned(model, "level2/3_MatmulGelu", 2, sample));
    }
  }
  const auto add = [&](Record record, int level) {
    record.level = level;
    run.records.push_back(std::move(record));
  };
  add(correct("alpha", "level1/2_Softmax", 0, 1.9), 1);
  add(correct("alpha", "level1/2_Softmax", 1, 0.6), 1);
  add(correct("alpha", "level1/19_ReLU", 0, 1.0), 1);
  add(mismatch("alpha", "level1/19_ReLU", 1), 1);
  add(failed(Outcome::kProblemFailure, "random_reference",
             "the reference gives another answer under another random state", "alpha",
             "level2/3_MatmulGelu", 0),
      2);
  add(failed(Outcome::kProblemFailure, "random_reference",
             "the reference gives another answer under another random state", "alpha",
             "level2/3_MatmulGelu", 1),
      2);
  Record library = correct("beta", "level1/2_Softmax", 0, 2.5);
  library.kernel_class = "library";
  library.timing->method = library.timing->trust = "bounded";
  library.timing->sides["candidate"].median_ms = 12.34;
  library.timing->sides["candidate"].wall_ms = 12.5;
  library.timing->sides["eager"].wall_ms = 0.05;
  add(library, 1);
  add(failed(Outcome::kCompileFailure, "syntax_error",
             "softmax.cu:12: expected a \";\" | before `}`", "beta", "level1/2_Softmax", 1),
      1);
  add(mismatch("beta", "level1/19_ReLU", 0), 1);
  add(failed(Outcome::kHarnessFault, "judge_died", "the judge ended by signal 9", "beta",
             "level1/19_ReLU", 1),
      1);
  add(correct("beta", "level2/3_MatmulGelu", 0, 0.8), 2);
  add(correct("gamma", "level1/19_ReLU", 0, 9.0), 1);  // on no manifest
  run.bad_lines = {"line 7: is not JSON (cut off or damaged)"};
  return run;
}

/// A complete run of the same problems without a GPU.
inline RunFile cpu_run() {
  RunFile run;
  run.headers = {header("cpu")};
  run.ended = true;
  run.secret = "8f14e45fceea167a";
  const auto add = [&](Record record, int level) {
    record.level = level;
    record.device = "cpu";
    if (record.timing) {
      record.timing->method = "wall";
      record.sol->limit_ms = record.sol->share = {};
      record.sol->limited_by = {};
      record.timing->sides["candidate"].median_ms = 35.0;
    }
    run.manifest.push_back(
        planned(record.model.c_str(), record.problem.c_str(), level, record.sample));
    run.records.push_back(std::move(record));
  };
  Record watched = correct("alpha", "level1/2_Softmax", 0);
  const Record observed = samples::observed();
  watched.flags = observed.flags;
  watched.findings = observed.findings;
  watched.findings.front().file = watched.candidate;
  watched.findings_count = 4;
  watched.profile = observed.profile;
  watched.estimate = observed.estimate;
  watched.sizes = R"j({"dim":"(512, 4)","rows":"64"})j";
  watched.reduced_sizes = ReducedSizes{
      .bytes = 48 << 20, .flops = 3e8, .full_bytes = 12e9, .full_flops = 6e10, .within = true};
  add(watched, 1);
  Record large = mismatch("alpha", "level1/19_ReLU", 0);
  large.reduced_sizes = ReducedSizes{.bytes = 512 << 20,
                                     .flops = 3e10,
                                     .full_bytes = 512 << 20,
                                     .full_flops = 3e10,
                                     .within = false};
  add(large, 1);
  add(failed(Outcome::kUnsupported, "opcode", "wgmma is not run on the CPU", "alpha",
             "level2/3_MatmulGelu", 0),
      2);
  return run;
}

/// gpu_run() with one degenerate problem, which its record names, and a first sample that runs no
/// kernel.
inline RunFile degenerate_run() {
  RunFile run = gpu_run();
  for (Record& record : run.records) {
    const bool is_first = record.model == "alpha" && record.sample == 0;
    if (record.problem == "level1/19_ReLU" && is_first)
      record.degenerate_problem = {{"constant", "zeros"}};
    if (record.problem == "level1/2_Softmax") record.degenerate_problem.emplace();
    if (record.problem != "level1/2_Softmax" || !is_first) continue;
    record.kernel_class = "none";
    record.flags = {"no_kernels", "faster_than_memory"};
  }
  return run;
}

/// A metric of a summary row: −1 if the row does not have it. Fails if there is no such row.
inline double value(const Report& report, const char* model, int level, const char* metric,
                    bool without_degenerate = false) {
  for (const SummaryRow& row : report.summary) {
    if (row.model != model || row.level != level) continue;
    if (row.without_degenerate != without_degenerate) continue;
    for (std::size_t i = 0; i < report.metrics.size(); ++i) {
      if (report.metrics[i].name() == metric) return row.estimates[i].value.value_or(-1);
    }
  }
  ADD_FAILURE() << "no " << metric << " of " << model;
  return -2;
}

}  // namespace kbench::samples
