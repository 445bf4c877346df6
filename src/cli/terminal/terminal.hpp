// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace kbench::cli {

/// Sets colour and width (in columns) from the terminal. If standard output is not a terminal: no
/// colour, and `width` stays.
void fit_terminal(bool& color, int& width);

/// The width of standard output's terminal in columns; SIZE_MAX if it is no terminal.
std::size_t output_width();

}  // namespace kbench::cli
