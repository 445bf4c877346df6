// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kbench/problem.hpp"
#include "os/installation.hpp"

namespace kbench {
namespace run {
class WorkerHost;
}

/// Makes signatures by running problem files, remembered by content. The worker starts only when
/// something is not known yet.
class SignatureSource {
 public:
  /// `host`: a worker that runs anyway and is to be used; it has to outlive this.
  SignatureSource(const Installation& installation, int cancel_fd, run::WorkerHost* host = nullptr);
  ~SignatureSource();
  /// The sizes that a problem is to run with on a device class: its sizes.json's, with `overrides`
  /// over them, else its file's, reduced where `shrink` says so. Throws kbench::Error where the
  /// worker cannot run; a problem that fails keeps its sizes, and get() tells why.
  ChosenSizes choose_sizes(const Problem& problem, std::string_view device_class,
                           const Sizes& overrides, const ShrinkOptions& shrink);
  /// A problem's signature, or the sentence of its failure, as soon as it is known; several are
  /// made at once, in the order of asking. The future throws kbench::Error where the worker cannot
  /// run.
  std::shared_future<std::variant<Signature, std::string>> ask(const Problem& problem,
                                                               const Sizes& sizes,
                                                               std::string_view precision,
                                                               bool eval_mode = false);
  /// The same for several problems, waiting for all.
  std::vector<std::variant<Signature, std::string>> get(
      const std::vector<std::pair<Problem, Sizes>>& problems, std::string_view precision);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
