// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "kbench/run.hpp"
#include "run/schedule/signature_source.hpp"

namespace kbench::run {

/// The sizes of a run's problems, chosen once for each problem. For one thread at a time.
class SizeChoice {
 public:
  /// Keeps references to all arguments but the device class.
  SizeChoice(SignatureSource& source, const EvalOptions& options, std::string device_class,
             Observer& observer)
      : source_(source),
        options_(options),
        device_class_(std::move(device_class)),
        observer_(observer) {}

  /// The sizes of a problem; the reference stays valid. Throws like
  /// SignatureSource::choose_sizes().
  const ChosenSizes& of(const Problem& problem);

 private:
  SignatureSource& source_;
  const EvalOptions& options_;
  std::string device_class_;
  Observer& observer_;
  std::map<std::string, ChosenSizes> chosen_;  ///< by the problem's key
  std::chrono::steady_clock::duration spent_{};
  bool told_ = false;
};

}  // namespace kbench::run
