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

/// Makes signatures by running problem files, and caches them by content. Starts the worker only if
/// a signature is not cached.
class SignatureSource {
 public:
  /// `host`: a running worker, which must outlive this object; null: starts one if needed.
  SignatureSource(const Installation& installation, int cancel_fd, run::WorkerHost* host = nullptr);
  ~SignatureSource();
  /// The sizes of a problem on a device class. `overrides` have precedence over sizes.json, and
  /// that over the problem file. They are reduced if `reduce_sizes` requests it. Throws
  /// kbench::Error if the worker cannot run. A problem that fails keeps its sizes, and get()
  /// reports why.
  ChosenSizes choose_sizes(const Problem& problem, std::string_view device_class,
                           const Sizes& overrides, const ReduceSizesOptions& reduce_sizes);
  /// A future of a problem's signature, or of the message of its failure. Several problems are
  /// described in parallel, in the order of the calls. The future throws kbench::Error if the
  /// worker cannot run.
  std::shared_future<std::variant<Signature, std::string>> ask(const Problem& problem,
                                                               const Sizes& sizes,
                                                               std::string_view precision,
                                                               bool eval_mode = false);
  /// The same for several problems; waits for all.
  std::vector<std::variant<Signature, std::string>> get(
      const std::vector<std::pair<Problem, Sizes>>& problems, std::string_view precision);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
