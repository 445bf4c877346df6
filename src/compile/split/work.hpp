// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace kbench {

/// The work that one split may cost. A source of a few kilobytes can ask for hours of it, by macros
/// or by scans that begin again at each token. The counts are the thread's: a hundred small
/// functions spend from them, and all of them work on the same source.
class SplitWork {
 public:
  SplitWork();   ///< starts the counts of this thread
  ~SplitWork();  ///< restores those that it found
  SplitWork(const SplitWork&) = delete;
  SplitWork& operator=(const SplitWork&) = delete;

 private:
  std::size_t outer_steps_, outer_bytes_;
};

/// Counts tokens that are inspected. Throws SplitRefusal `too_large` when the split has none left;
/// counts nothing outside of a SplitWork.
void spend_steps(std::size_t steps, int line = 1);
/// Counts bytes that are copied or made. Throws the same.
void spend_bytes(std::size_t bytes, int line = 1);

/// A use of a macro, a copy of a token, and a lookup of a name in a set, in steps.
inline constexpr std::size_t kMacroSteps = 128;
inline constexpr std::size_t kCopySteps = 40;
inline constexpr std::size_t kLookupSteps = 16;

}  // namespace kbench
