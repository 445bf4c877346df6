// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kbench/run_file.hpp"
#include "record/run_details.hpp"

namespace kbench::run {

/// A verdict of an earlier run for a candidate of this one.
struct EarlierVerdict {
  Record record;           ///< as reused() makes it
  nlohmann::json details;  ///< its log and raw measurements; null if there are none
};

/// Verdicts of an earlier run, found by what decides them (Verdicts::key_of) and not by the names
/// of models and files. Leaves out those that --resume would not skip.
class EarlierVerdicts {
 public:
  /// Reads a run file; throws as read_run().
  explicit EarlierVerdicts(const std::filesystem::path& file);

  /// The verdict for the candidate `blank`; nothing if there is none, or if the file has changed.
  std::optional<EarlierVerdict> find(const Record& blank) const;

 private:
  RunFile run_;
  RunDetails details_;
  std::map<std::string, std::size_t> places_;  ///< indices of records by key
};

}  // namespace kbench::run
