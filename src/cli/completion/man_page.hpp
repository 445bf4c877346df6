// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace kbench::cli {

/// The manual's pages (section 1) by name, "kbench" and "kbench-eval", in roff, made of the app's
/// own description of itself.
std::vector<std::pair<std::string, std::string>> man_pages(const CLI::App& app);

}  // namespace kbench::cli
