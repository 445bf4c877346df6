// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/stopwatch.hpp"
#include "kbench/profile.hpp"
#include "kbench/record.hpp"
#include "protocol/protocol.hpp"

namespace kbench::run {

/// A judge's answer about a candidate.
struct JudgeAnswer {
  Record record;
  nlohmann::json raw_ms, findings, operators, candidate_operators;
  nlohmann::json distributions_left_out;  ///< name → why
  nlohmann::json failed_baselines;        ///< name → why
  nlohmann::json device_states;  ///< subject of a timing → the state at each of its blocks
  bool counted = false;          ///< true if all of the candidate's work was counted
  Phases phases_s;
  std::uint64_t free_bytes = 0;  ///< device memory at the time of the verdict
};

/// Throws kbench::Error if the message is not a verdict.
JudgeAnswer read_answer(const protocol::Message& message);

/// Copies an answer to the candidate's record and details. Adds an estimate for the GPU
/// `estimate_for`, which may be empty.
void take_answer(JudgeAnswer answer, const std::string& estimate_for, Record& record,
                 nlohmann::json& details);

}  // namespace kbench::run
