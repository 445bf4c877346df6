// SPDX-License-Identifier: MIT
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

#include "base/json/dumped.hpp"
#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/list_table.hpp"
#include "cli/options/format_option.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/problem_set.hpp"
#include "cli/options/reduce_sizes_option.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/tell.hpp"
#include "cli/terminal/terminal.hpp"
#include "kbench/ptx.hpp"
#include "kbench/run.hpp"
#include "os/device_probe.hpp"
#include "os/installation.hpp"
#include "run/schedule/signature_source.hpp"

namespace kbench::cli {
namespace {

struct ListArguments {
  std::string problem_set;  ///< --problems
  std::vector<std::string> problems, settings;
  std::string device = "auto", reduce_sizes = "auto";
  bool names = false, json = false;
};

/// Checks only the device file, because listing must not wait for a driver. If it exists, eval uses
/// the GPU.
bool lists_for_gpu(const std::string& device) {
  if (device != "auto") return device == "cuda";
  std::error_code error;
  return std::filesystem::exists("/dev/nvidiactl", error);
}

/// Values of a plan's `device.*` names. Without a GPU: those of the GPU that the CPU executor
/// emulates.
DeviceLimits device_limits(bool gpu) {
  if (gpu) {
    for (const GpuInfo& info : probe_gpus()) return {info.sms, info.shared_bytes_per_block};
  }
  const ptx::DeviceModel model;
  return {model.sms, model.shared_bytes_per_block, model.max_threads_per_block};
}

/// Prints progress on a terminal if listing takes longer than 0.3 s.
class Ticker {
 public:
  ~Ticker() {
    if (shown_) tell("\r\x1b[K");
  }
  void done(std::size_t count, std::size_t total) {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    if (!terminal_ || elapsed < std::chrono::milliseconds(300)) return;
    tell("\rlooking into problems: {}/{}\x1b[K", count, total);
    shown_ = true;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

/// Fills in the sizes and the signature of each problem.
void add_signatures(std::vector<ListedProblem>& listed, std::string_view device_class,
                    const Sizes& overrides, const ReduceSizesOptions& reduce_sizes,
                    const Installation& installation) {
  // The results of a finished group are kept if the next group is interrupted.
  constexpr std::size_t kGroup = 10;
  SignatureSource source(installation, install_cancel());
  Ticker ticker;
  for (std::size_t begin = 0; begin < listed.size(); begin += kGroup) {
    const std::span group =
        std::span(listed).subspan(begin).first(std::min(kGroup, listed.size() - begin));
    std::vector<std::pair<Problem, Sizes>> asked;
    for (ListedProblem& item : group) {
      ChosenSizes chosen = source.choose_sizes(item.problem, device_class, overrides, reduce_sizes);
      item.sizes = std::move(chosen.sizes);
      item.reduced_sizes = chosen.reduced_sizes;
      asked.emplace_back(item.problem, item.sizes);
    }
    auto found = source.get(asked, "native");
    for (std::size_t i = 0; i < group.size(); ++i) group[i].found = std::move(found[i]);
    ticker.done(begin + group.size(), listed.size());
  }
}

std::vector<ListedProblem> listed_problems(const ListArguments& options, bool gpu) {
  const Installation installation = find_installation();
  const std::vector<Problem> problems =
      find_problems(options.problems, problem_sets(options.problem_set, installation));
  const Sizes overrides = parse_overrides(options.settings, problems);
  std::vector<ListedProblem> listed;
  listed.reserve(problems.size());
  for (const Problem& problem : problems) listed.push_back({problem, {}, {}, {}});
  add_signatures(listed, gpu ? "gpu" : "cpu", overrides, parse_reduce_sizes(options.reduce_sizes),
                 installation);
  return listed;
}

void print_names(std::span<const ListedProblem> problems, const DeviceLimits& limits) {
  bool first = true;
  for (const ListedProblem& listed : problems) {
    std::cout << (first ? "" : "\n") << names_text(listed, limits);
    first = false;
  }
}

void print_json(std::span<const ListedProblem> problems, const ListArguments& options, bool gpu) {
  nlohmann::json list = list_json(problems, gpu ? "gpu" : "cpu");
  if (options.names) {
    const DeviceLimits limits = device_limits(gpu);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      list["problems"][i]["names"] = names_text(problems[i], limits);
    }
  }
  // A path may hold bytes that are not UTF-8.
  std::cout << dumped(list, 2) << '\n';
}

int list(const ListArguments& options) {
  const bool gpu = lists_for_gpu(options.device);
  const std::vector<ListedProblem> problems = listed_problems(options, gpu);
  if (options.json) {
    print_json(problems, options, gpu);
  } else if (options.names) {
    print_names(problems, device_limits(gpu));
  } else {
    std::cout << list_text(problems, gpu ? "gpu" : "cpu", output_width());
  }
  std::cout.flush();
  return 0;
}

}  // namespace

Subcommand add_list(CLI::App& app) {
  auto options = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand(
      "list", "Show problems: inputs, parameters, bytes, sizes, and the names a plan may use");
  command->option_defaults()->group(group::kShown);
  add_problem_set_option(*command, options->problem_set);
  command->add_option("PROBLEM", options->problems,
                      "a file, a folder, a glob, or a name in a set; none: all of the default set");
  command
      ->add_option("--set", options->settings,
                   "override a constant of the problems; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  add_reduce_sizes_option(*command, options->reduce_sizes);
  command
      ->add_option("--device", options->device,
                   "sizes for this device: auto, cpu or cuda; auto: cuda if there is a GPU")
      ->check(one_of({"auto", "cpu", "cuda"}))
      ->type_name("DEVICE")
      ->capture_default_str();
  command->option_defaults()->group(group::kOutput);
  command->add_flag("--names", options->names,
                    "every name that a plan may use, and a skeleton that compiles");
  add_format_option(*command, options->json);
  return {command, [options] { return list(*options); }};
}

}  // namespace kbench::cli
