// SPDX-License-Identifier: MIT
#include "report/text/paint.hpp"

#include <fmt/format.h>

namespace kbench::report {

std::string painted(bool color, Tone tone, std::string_view text) {
  if (!color || tone == Tone::kPlain) return std::string(text);
  const char* code = tone == Tone::kBold      ? "1"
                     : tone == Tone::kGood    ? "32"
                     : tone == Tone::kBad     ? "31"
                     : tone == Tone::kWarning ? "1;33"
                                              : "2";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace kbench::report
