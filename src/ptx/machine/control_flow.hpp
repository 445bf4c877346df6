// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// Control flow of a function: basic blocks, post-dominators and loops.
namespace kbench::ptx {

struct Function;

struct BasicBlock {
  static constexpr std::uint32_t kEnd = 0xffffffffU;    ///< instead of a block: the function ends
  static constexpr std::uint32_t kNoEnd = 0xfffffffeU;  ///< the function cannot end from here
  std::uint32_t begin = 0, end = 0;                     ///< instructions
  std::vector<std::uint32_t> next;                      ///< blocks that may follow, or kEnd
  std::uint32_t post_dominator = kNoEnd;                ///< the immediate one; a block or kEnd
  std::uint32_t loop = 0;  ///< number of the outermost loop around it; 0: none
};

/// Blocks of a function, in the order of its code. The instructions `last` end a block, as branches
/// do. A trap has no successor.
std::vector<BasicBlock> basic_blocks(const Function& function, const std::vector<bool>& last);

/// "bar" of "bar.sync"
std::string_view opcode_of(std::string_view text);

}  // namespace kbench::ptx
