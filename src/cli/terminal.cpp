// SPDX-License-Identifier: MIT
#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace kbench::cli {

void fit_terminal(bool& color, int& width) {
  color = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width = size.ws_col;
}

}  // namespace kbench::cli
