// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/test_folder.hpp"

/// KernelBench run folders as its scripts write them.
namespace kbench::samples {

inline constexpr const char* kHardware = "NVIDIA H100 80GB HBM3";

inline nlohmann::json stats(double mean) {
  return {{"mean", mean},      {"std", 0.05},           {"min", mean * 0.9}, {"max", mean * 1.25},
          {"num_trials", 100}, {"hardware", kHardware}, {"device", "cuda:0"}};
}

/// A result; `runtime` is in ms, −1 for none.
inline nlohmann::json result(int sample, bool compiled, bool correct,
                             nlohmann::json metadata = nlohmann::json::object(),
                             double runtime = -1) {
  metadata["hardware"] = kHardware;
  metadata["device"] = "cuda:0";
  return {{"sample_id", sample},
          {"compiled", compiled},
          {"correctness", correct},
          {"metadata", std::move(metadata)},
          {"runtime", runtime},
          {"runtime_stats", runtime < 0 ? nlohmann::json::object() : stats(runtime)}};
}

/// Four problems of level 1 with two samples of the last: right, does not build, wrong, timed out,
/// right and wrong.
inline nlohmann::json results() {
  return {
      {"1", {result(0, true, true, {{"correctness_trials", "(5 / 5)"}}, 1.25)}},
      {"2",
       {result(0, false, false,
               {{"compilation_error_name", "builtins.RuntimeError"},
                {"compilation_error",
                 "Error building extension 'add': [1/2] nvcc\nadd.cu(3): error: no \"x\"\n"}})}},
      {"3",
       {result(0, true, false,
               {{"max_difference", {"0.125000", "nan"}},
                {"correctness_issue", "Output mismatch"},
                {"correctness_trials", "(3 / 5)"}})}},
      {"19",
       {result(0, true, true, nlohmann::json{{"excessive_speedup", true}}, 0.5),
        result(1, false, false,
               {{"cuda_error", "CUDA Error: an illegal memory access was encountered"}})}},
  };
}

/// Baseline times of problems 1, 2 and 19.
inline nlohmann::json timing(double factor = 1) {
  return {{"level1",
           {{"1_Square.py", stats(2.5 * factor)},
            {"2_Standard.py", stats(3 * factor)},
            {"19_ReLU.py", stats(0.25 * factor)}}},
          {"level2", {{"1_Other.py", stats(9)}}}};
}

/// Writes the run folder `run/` and the baseline times `timing/`.
inline void write_run(const test::ScratchFolder& folder, const std::string& results_text) {
  folder.write("run/eval_results.json", results_text);
  folder.write("run/generation_config.yaml",
               "dataset_src: local\nlevel: 1\nmodel_name: maker/model-1\nprecision: fp32\n");
  folder.write("run/level_1_problem_1_sample_0_kernel.py", "class ModelNew: pass\n");
  folder.write("run/level_1_problem_19_sample_0_kernel.py", "class ModelNew: pass # 19\n");
  folder.write("timing/baseline_time_torch.json", timing().dump());
  folder.write("timing/baseline_time_torch_compile_inductor_default.json", timing(0.5).dump());
  folder.write("timing/notes.json", "no timing at all");
}

/// A problem file of that name below `level1/`.
inline void write_problem(const test::ScratchFolder& folder, const std::string& stem) {
  folder.write("level1/" + stem + ".py", "class Model: pass\ndef get_inputs(): return []\n");
}

}  // namespace kbench::samples
