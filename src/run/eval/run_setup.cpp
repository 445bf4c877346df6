// SPDX-License-Identifier: MIT
#include "run/eval/run_setup.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/version.hpp"
#include "os/device_probe.hpp"
#include "run/environment.hpp"
#include "run/eval_options.hpp"
#include "run/judge_hash.hpp"
#include "run/schedule/gpu_lock.hpp"

namespace kbench::run {

using nlohmann::json;

RunSetup::RunSetup(Installation from, EvalOptions asked, const WorkerLimits& limits,
                   Observer& observer, int cancel)
    : installation(std::move(from)), options(std::move(asked)), cancel_fd(cancel) {
  // The fork server imports torch while the rest is set up.
  host.emplace(installation, cancel_fd, limits, options.hidden);
  host->sandbox_candidates(options.sandbox);
  devices = choose_devices(options.device,
                           options.device == "cpu" ? std::vector<GpuInfo>{} : probe_gpus());
  for (const auto& device : devices)
    if (device.gpu) locks.push_back(lock_gpu(*device.gpu));
  host->show_gpu(devices.front().visible_gpu());
  source.emplace(installation, cancel_fd, &*host);
  sizes.emplace(*source, options, std::string(device_class()), observer);
  secret = by_kernelbench(options) ? "kernelbench"
           : options.seed          ? fmt::format("public:{}", *options.seed)
                                   : protocol::random_hex(32);
  options_hash =
      sha256_hex(options_json(options).dump() +
                 (options.seed ? std::to_string(*options.seed) : "") + options.times_hash);
}

RunHeader RunSetup::header(std::vector<std::string> arguments, std::string problem_set_hash,
                           const std::string& nvrtc_version) const {
  RunHeader header;
  header.run_id = protocol::random_hex(8);
  header.started = iso_now();
  header.kbench_version = kVersion;
  header.arguments = std::move(arguments);
  header.options = options_json(options);
  // Not part of the options' hash: it only changes sizes, which the problem's hash covers.
  header.options["reduce_sizes"] = to_json(options.reduce_sizes);
  header.environment = environment_of(installation, devices, nvrtc_version);
  header.problem_set_hash = std::move(problem_set_hash);
  return header;
}

template <typename Line>
Line RunSetup::blank(const Problem& problem) {
  const auto& [chosen, reduced_sizes] = sizes->of(problem);
  Line line;
  line.problem = problem.key;
  line.level = problem.level;
  line.problem_hash = problem_hash(problem, chosen);
  line.options_hash = options_hash;
  line.judge_hash = kJudgeHash;
  line.device = devices.front().model;
  line.torch = installation.torch_version;
  if (!chosen.empty()) line.sizes = json(chosen).dump();
  line.reduced_sizes = reduced_sizes;
  return line;
}
template Record RunSetup::blank(const Problem& problem);
template ProblemAudit RunSetup::blank(const Problem& problem);

}  // namespace kbench::run
