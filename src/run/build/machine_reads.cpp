// SPDX-License-Identifier: MIT
#include "run/build/machine_reads.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "compile/elf.hpp"

namespace kbench::run {
namespace {

/// Clocks are not listed because they have a flag of their own (`read_clock`). %envreg1 and
/// %envreg2 are not listed because cooperative groups use them for the grid's barrier.
constexpr std::string_view kRegisters[] = {
    "smid",   "nsmid",           "warpid",         "nwarpid",
    "gridid", "total_smem_size", "aggr_smem_size", "current_graph_exec"};
/// Performance monitors: this prefix and a number.
constexpr std::string_view kNumbered = "pm";

bool tells(std::string_view name) {
  if (std::ranges::find(kRegisters, name) != std::end(kRegisters)) return true;
  return name.starts_with(kNumbered) && name.size() > kNumbered.size() &&
         std::isdigit(static_cast<unsigned char>(name[kNumbered.size()])) != 0;
}

}  // namespace

bool reads_machine(std::string_view image) {
  if (image.starts_with(kElf)) return false;
  for (auto at = image.find('%'); at != std::string_view::npos; at = image.find('%', at + 1)) {
    const auto* end = std::find_if_not(image.begin() + at + 1, image.end(), is_word_char);
    if (tells(image.substr(at + 1, static_cast<std::size_t>(end - image.begin()) - at - 1)))
      return true;
  }
  return false;
}

}  // namespace kbench::run
