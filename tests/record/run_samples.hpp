// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/record.hpp"

/// Records that several tests start from.
namespace kbench::samples {

inline Record correct(const char* model = "alpha", const char* problem = "level1/19_ReLU",
                      int sample = 0, double speedup = 1.9) {
  Record record;
  record.model = model;
  record.problem = problem;
  record.level = 1;
  record.sample = sample;
  record.candidate = std::string(model) + "/" + problem + "/" + std::to_string(sample) + ".cu";
  record.device = "NVIDIA H200";
  record.torch = "2.11.0+cu130";
  record.problem_hash = "p0";
  record.candidate_hash = "c0";
  record.options_hash = "o0";
  record.judge_hash = "j0";
  record.outcome = Outcome::kCorrect;
  record.stage = Stage::kDone;
  record.compile = CompileInfo{.seconds = 0.025,
                               .cached = false,
                               .way = "nvcc 13.0.88 + g++ 12.2.0",
                               .host_s = 0.5,
                               .fallback = "device_lambda: a.py:3: a device lambda captures this"};
  TrialResult trial;
  trial.max_abs_error = 1e-7;
  trial.max_rel_error = 2e-7;
  trial.error_ratio = 1.5;
  trial.allclose_at = 3e-7;
  record.correctness = {trial};
  record.allclose_at = trial.allclose_at;
  record.timing = Timing{
      .method = "gated",
      .trust = "own_clock",
      .sides = {{"candidate", {0.010, 0.0101, 0.0002, 0.0098, 0.0109, 120, 1980.0, 0.0099, 0.0103}},
                {"eager",
                 {0.010 * speedup, 0.0192, 0.0003, 0.0188, 0.0201, 120, 1980.0, 0.0190, 0.0194}}}};
  record.speedup = {
      {.baseline = "eager", .value = speedup, .lo = speedup * 0.98, .hi = speedup * 1.02}};
  record.sol = SpeedOfLight{.work = {.read_bytes = 12'000'000, .written_bytes = 12'000'000},
                            .limit_ms = 0.005,
                            .limited_by = "memory",
                            .share = 0.5};
  record.launches = 1;
  record.kernel_class = "own";
  record.seconds = 0.8;
  record.ended_at = 1769851801.25;
  record.details = DetailsRef{.offset = 4096, .length = 512};
  return record;
}

/// What `--profile` adds, and what the sanitizers found.
inline Record observed() {
  Record record = correct();
  record.device = "cpu";
  record.flags = {"uninitialized_read"};
  Finding finding;
  finding.kind = "uninitialized_read";
  finding.kernel = "scale";
  finding.file = "alpha/19_ReLU/0.cu";
  finding.line = 7;
  finding.block = {3, 0, 1};
  finding.thread = {31, 2, 0};
  finding.region = "scratch partial";
  finding.offset_bytes = 124;
  finding.message =
      "scale: thread (31, 2, 0) of block (3, 0, 1) reads 4 bytes at offset 124 of scratch partial, "
      "which nobody has written (alpha/19_ReLU/0.cu:7)";
  finding.count = 64;
  record.findings = {finding};
  record.findings_count = 1;
  KernelProfile profile;
  profile.kernel = "scale";
  profile.grid = {128, 1, 1};
  profile.block = {256, 1, 1};
  profile.launches = 2;
  profile.counters.executed[static_cast<std::size_t>(InstructionClass::kFp32)] = {2048, 60000};
  profile.counters.executed[static_cast<std::size_t>(InstructionClass::kGlobal)] = {2048, 65536};
  profile.counters.flops[static_cast<std::size_t>(FlopType::kFp32)] = 120000;
  profile.counters.tensor_flops[static_cast<std::size_t>(FlopType::kBf16)] = 8192;
  profile.counters.global_requests = 2048;
  profile.counters.global_sectors = 8192;
  profile.counters.global_bytes = 262144;
  profile.counters.unique_read_bytes = 131072;
  profile.counters.unique_written_bytes = 131072;
  profile.counters.shared_requests = 64;
  profile.counters.shared_conflicts = 31;
  profile.counters.global_atomics = 5;
  profile.counters.shared_atomics = 7;
  record.profile = {profile};
  record.estimate = TimeEstimate{.gpu = "H200", .candidate_ms = 0.0046, .reference_ms = 0.0075};
  return record;
}

inline Record failed(Outcome outcome, const char* cause, const char* message,
                     const char* model = "alpha", const char* problem = "level1/19_ReLU",
                     int sample = 0) {
  Record record = correct(model, problem, sample);
  record.outcome = outcome;
  record.stage = Stage::kCorrectness;
  record.cause = cause;
  record.message = message;
  record.timing.reset();
  record.speedup.clear();
  record.sol.reset();
  record.correctness.clear();
  record.allclose_at = {};
  record.kernel_class = "none";
  record.launches = 0;
  return record;
}

inline Record mismatch(const char* model = "alpha", const char* problem = "level1/19_ReLU",
                       int sample = 0) {
  Record record = failed(Outcome::kMismatch, "values",
                         "3 of 64 elements of output 0 miss the tolerance", model, problem, sample);
  TrialResult trial;
  trial.max_abs_error = 0.25;
  trial.max_rel_error = 0.5;
  trial.wrong_elements = 3;
  trial.first_wrong = WrongElement{.output = 0, .index = {3, 17}, .expected = "0.5", .got = "0.25"};
  record.correctness = {trial};
  record.correct_at = "fp16";
  record.flags = {"nondeterministic_bits"};
  return record;
}

}  // namespace kbench::samples
