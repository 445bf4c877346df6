// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/json/view.hpp"
#include "kbench/record.hpp"

/// Reads lines of a run file from a JsonView: counterparts of the public functions whose names end
/// in _from_json(), with the same errors.
namespace kbench {

Finding finding_from(JsonView object);

/// How much of a record's trials, findings and profile is kept.
enum class Trials : std::uint8_t {
  kAll,
  /// Keeps one trial, because trials are most of a record: the first with a wrong element, else the
  /// one with the largest error. Record::allclose_at covers the others. Record::left says if
  /// findings and profile were left out.
  kShown,
};
Record record_from(JsonView line, Trials trials);

}  // namespace kbench
