// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/cancel.hpp"
#include "cli/commands.hpp"
#include "cli/list_table.hpp"
#include "kbench/device_probe.hpp"
#include "kbench/installation.hpp"
#include "kbench/ptx.hpp"
#include "kbench/run.hpp"
#include "run/judge_client.hpp"

namespace kbench::cli {
namespace {

constexpr int kInterrupted = 130;

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

/// Says on a terminal how far it has come, where that takes longer than one wants to wait.
class Ticker {
 public:
  ~Ticker() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  void done(std::size_t count, std::size_t total) {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    if (!terminal_ || elapsed < std::chrono::milliseconds(300)) return;
    fmt::print(stderr, "\rlooking into problems: {}/{}\x1b[K", count, total);
    shown_ = true;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

std::vector<ListedProblem> described(std::vector<std::pair<Problem, Sizes>> asked,
                                     const Installation& installation) {
  // What one group found is kept when the next is interrupted.
  constexpr std::size_t kGroup = 10;
  SignatureSource source(installation, install_cancel());
  Ticker ticker;
  std::vector<ListedProblem> listed;
  while (listed.size() < asked.size()) {
    const auto first = asked.begin() + static_cast<std::ptrdiff_t>(listed.size());
    const auto count = std::min<std::ptrdiff_t>(kGroup, asked.end() - first);
    auto found = source.get({first, first + count}, "native");
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      listed.push_back({std::move(first[i].first), std::move(first[i].second),
                        std::move(found[static_cast<std::size_t>(i)])});
    }
    ticker.done(listed.size(), asked.size());
  }
  return listed;
}

std::vector<ListedProblem> listed_problems(const Options& options, bool gpu) {
  const Installation installation = find_installation();
  const std::vector<Problem> problems = find_problems(options.problems, {installation.problems});
  const Sizes overrides = parse_overrides(options.settings, problems);
  std::vector<std::pair<Problem, Sizes>> asked;
  asked.reserve(problems.size());
  for (const Problem& problem : problems) {
    asked.emplace_back(problem, sizes_for(problem, gpu ? "gpu" : "cpu", overrides));
  }
  return described(std::move(asked), installation);
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

int list(const Options& options) {
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
  CLI::App* command = app.add_subcommand(
      "list", "Show problems: inputs, parameters, bytes, sizes, and the names a plan may use");
  command->add_option("PROBLEM", options->problems,
                      "File, folder, glob, or name in the set; none: all shipped problems");
  command->add_option("--set", options->settings, "Override a constant of the problems: NAME=VALUE")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command
      ->add_option("--device", options->device,
                   "Sizes for this device; auto: cuda where there is a GPU")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->type_name("auto|cpu|cuda");
  command->add_flag("--names", options->names,
                    "Every name that a plan may use, and a skeleton that compiles");
  command->add_flag("--json", options->json, "JSON instead of text");
  const auto run_it = [options] {
    try {
      return list(*options);
    } catch (const run::Cancelled&) {
      return kInterrupted;
    }
  };
  return {command, run_it};
}

}  // namespace kbench::cli
