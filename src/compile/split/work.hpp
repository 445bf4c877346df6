// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace kbench {

/// Limits the work of one split. Otherwise a source of a few kilobytes could take hours, by macros
/// or by scans that start again at each token. The counts are per thread, so the many small
/// functions that use them need no parameter.
class SplitWork {
 public:
  SplitWork();   ///< starts the counts of this thread
  ~SplitWork();  ///< restores the former counts
  SplitWork(const SplitWork&) = delete;
  SplitWork& operator=(const SplitWork&) = delete;

 private:
  std::size_t outer_steps_, outer_bytes_;
};

/// Counts inspected tokens. Throws SplitRefusal `too_large` if the split has used up its steps.
/// Counts nothing outside of a SplitWork.
void spend_steps(std::size_t steps, int line = 1);
/// Counts bytes that are copied or made, in the same way.
void spend_bytes(std::size_t bytes, int line = 1);

/// The steps for a macro's use, a token's copy, and a name's lookup in a set.
inline constexpr std::size_t kMacroSteps = 128;
inline constexpr std::size_t kCopySteps = 40;
inline constexpr std::size_t kLookupSteps = 16;

}  // namespace kbench
