// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "run/devices.hpp"
#include "run/process/worker_host.hpp"
#include "run/schedule/judge_kernels.hpp"
#include "run/schedule/signature_source.hpp"
#include "run/schedule/size_choice.hpp"

namespace kbench::run {

/// What evaluations and audits share: options, devices and their locks, the fork server, the sizes
/// of problems, and the secret.
struct RunSetup {
  RunSetup(Installation from, EvalOptions asked, const WorkerLimits& limits, Observer& observer,
           int cancel);

  std::string_view device_class() const { return devices.front().gpu ? "gpu" : "cpu"; }
  bool cancelled() const { return is_readable(cancel_fd); }
  /// The header of the run's file.
  RunHeader header(std::vector<std::string> arguments, std::string problem_set_hash,
                   const std::string& nvrtc_version) const;
  /// A record or an audit with the fields that its problem and the run decide.
  template <typename Line>
  Line blank(const Problem& problem);

  Installation installation;
  EvalOptions options;
  int cancel_fd;
  std::vector<QueueDevice> devices;
  std::vector<Fd> locks;
  std::string secret, options_hash;
  std::optional<WorkerHost> host;
  OwnKernels own_kernels;
  std::optional<SignatureSource> source;
  std::optional<SizeChoice> sizes;  ///< for one thread at a time
};

}  // namespace kbench::run
