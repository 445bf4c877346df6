// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "base/json/view.hpp"
#include "kbench/record.hpp"

/// What a run file's lines hold, read from any JsonView: the functions of the public headers whose
/// names end in _from_json(), with the same errors.
namespace kbench {

Finding finding_from(JsonView object);

/// What becomes of a record's trials, findings and profile.
enum class Trials : std::uint8_t {
  kAll,
  /// The first with a wrong element is kept, else the one with the largest error: trials are most
  /// of a record. Of the others Record::allclose_at tells; of findings and profile Record::left.
  kShown,
};
Record record_from(JsonView line, Trials trials);

}  // namespace kbench
