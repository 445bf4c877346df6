// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "ptx/random/cases.hpp"
#include "ptx/random/outputs.hpp"

namespace kbench::ptx::random {

/// What a GPU made of one case: its name, a hash of its PTX, and either a hash of all that it wrote
/// with the first words of thread 0, or, of approximate instructions, each word.
struct Golden {
  Case c;
  std::uint64_t ptx_hash = 0, output_hash = 0;
  std::vector<std::uint64_t> words;
};

Golden golden(const Case& c, const Kernel& kernel, const Outputs& outputs);
/// One line of text, and back.
std::string to_line(const Golden& golden);
Golden parse_golden(const std::string& line);

/// How outputs differ from golden ones; nothing where they agree.
std::optional<std::string> disagreement(const Golden& golden, const Kernel& kernel,
                                        const Outputs& outputs);

}  // namespace kbench::ptx::random
