// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/list_table.hpp"
#include "kbench/device_probe.hpp"
#include "kbench/installation.hpp"
#include "kbench/ptx.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {
namespace {

struct Options {
  std::vector<std::string> problems, settings;
  std::string device = "auto";
  bool names = false, json = false;
};

/// Listing must not wait for a driver: where the device file is, eval will use the GPU.
bool lists_for_gpu(const std::string& device) {
  if (device != "auto") return device == "cuda";
  std::error_code error;
  return std::filesystem::exists("/dev/nvidiactl", error);
}

/// What a plan's `device.*` stand for; without a GPU, the device that the executor models.
DeviceLimits device_limits(bool gpu) {
  if (gpu) {
    for (const GpuInfo& info : probe_gpus()) return {info.sms, info.shared_bytes_per_block};
  }
  const ptx::DeviceModel model;
  return {model.sms, model.shared_bytes_per_block, model.max_threads_per_block};
}

std::vector<ListedProblem> listed_problems(const Options& options, bool gpu) {
  const Installation installation = find_installation();
  const std::vector<Problem> problems = find_problems(options.problems, {installation.problems});
  const Sizes overrides = parse_overrides(options.settings, problems);
  std::vector<std::pair<Problem, Sizes>> asked;
  for (const Problem& problem : problems) {
    asked.emplace_back(problem, sizes_for(problem, gpu ? "gpu" : "cpu", overrides));
  }
  SignatureSource source(installation, -1);
  auto found = source.get(asked, "native");
  std::vector<ListedProblem> listed;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    listed.push_back({std::move(asked[i].first), std::move(asked[i].second), std::move(found[i])});
  }
  return listed;
}

void print_names(std::span<const ListedProblem> problems, const DeviceLimits& limits) {
  bool first = true;
  for (const ListedProblem& listed : problems) {
    std::cout << (first ? "" : "\n") << names_text(listed, limits);
    first = false;
  }
}

void print_json(std::span<const ListedProblem> problems, const Options& options, bool gpu) {
  nlohmann::json list = list_json(problems, gpu ? "gpu" : "cpu");
  if (options.names) {
    const DeviceLimits limits = device_limits(gpu);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      list["problems"][i]["names"] = names_text(problems[i], limits);
    }
  }
  // A path may hold any bytes.
  std::cout << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

int run(const Options& options) {
  const bool gpu = lists_for_gpu(options.device);
  const std::vector<ListedProblem> problems = listed_problems(options, gpu);
  if (options.json) {
    print_json(problems, options, gpu);
  } else if (options.names) {
    print_names(problems, device_limits(gpu));
  } else {
    std::cout << list_text(problems, gpu ? "gpu" : "cpu");
  }
  std::cout.flush();
  return 0;
}

}  // namespace

Subcommand add_list(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* list = app.add_subcommand(
      "list", "Show problems: inputs, parameters, bytes, sizes, and the names a plan may use");
  list->add_option("PROBLEM", options->problems,
                   "File, folder, glob, or name in the set; none: all shipped problems");
  list->add_option("--set", options->settings, "Override a constant of the problems: NAME=VALUE")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  list->add_option("--device", options->device,
                   "Sizes for this device; auto: cuda where there is a GPU")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->type_name("auto|cpu|cuda");
  list->add_flag("--names", options->names,
                 "Every name that a plan may use, and a skeleton that compiles");
  list->add_flag("--json", options->json, "JSON instead of text");
  return {list, [options] { return run(*options); }};
}

}  // namespace kbench::cli
