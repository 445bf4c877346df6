// SPDX-License-Identifier: MIT
#pragma once

namespace kbench::cli {

/// Sets colour and width (in columns) from the terminal. If standard output is not a terminal: no
/// colour, and `width` stays.
void fit_terminal(bool& color, int& width);

}  // namespace kbench::cli
