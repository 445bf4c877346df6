// SPDX-License-Identifier: MIT
#include "cli/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace kbench::cli {

namespace {

/// An empty NO_COLOR counts as unset (https://no-color.org).
bool takes_color() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

void fit_terminal(bool& color, int& width) {
  color = takes_color();
  if (const std::size_t columns = output_width(); columns != SIZE_MAX)
    width = static_cast<int>(columns);
}

std::size_t output_width() {
  winsize size{};
  const bool is_terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal ? size.ws_col : SIZE_MAX;
}

}  // namespace kbench::cli
