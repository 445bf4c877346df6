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

/// What a judge says of a candidate.
struct JudgeAnswer {
  Record record;
  nlohmann::json raw_ms, findings, operators, candidate_operators;
  nlohmann::json families_left_out;  ///< name → why
  nlohmann::json failed_baselines;   ///< name → why
  nlohmann::json device_states;      ///< side → of each of its blocks
  nlohmann::json others_on_device;   ///< looks for others' work, by when
  bool counted = false;              ///< all that the candidate did
  Phases phases_s;
  std::uint64_t free_bytes = 0;  ///< of the device's memory, when the verdict was given
};

/// Throws kbench::Error where the message is no verdict.
JudgeAnswer read_answer(const protocol::Message& message);

/// Puts it on the candidate's record and into its details, with an estimate for that GPU; its name
/// may be empty.
void take_answer(JudgeAnswer answer, const std::string& estimate_for, Record& record,
                 nlohmann::json& details);

}  // namespace kbench::run
