// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/json/view.hpp"
#include "kbench/record.hpp"

/// The public `*_from_json()` functions for JsonViews of a run file's lines. They throw the same
/// errors.
namespace kbench {

Finding finding_from(JsonView object);

/// How much of a record's trials, findings and profile is read.
enum class Trials : std::uint8_t {
  kAll,
  /// Keeps one trial: the first with a wrong element, else the one with the largest error. Trials
  /// are most of a record. Record::allclose_at covers the others. Record::left says if findings and
  /// profile were left out.
  kShown,
};
Record record_from(JsonView line, Trials trials);

}  // namespace kbench
