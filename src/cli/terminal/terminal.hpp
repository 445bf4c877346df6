// SPDX-License-Identifier: MIT
#pragma once

namespace kbench::cli {

/// Colour and width (in columns) as the terminal has them; where standard output is none, no colour
/// and `width` as it was.
void fit_terminal(bool& color, int& width);

}  // namespace kbench::cli
