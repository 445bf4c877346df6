// SPDX-License-Identifier: MIT
#include "ptx/machine/control_flow.hpp"

#include <algorithm>
#include <utility>

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using Blocks = std::vector<BasicBlock>;
constexpr u32 kEnd = BasicBlock::kEnd;

/// Where control may go from an instruction. `ends`: it ends its block.
struct Exits {
  bool ends = false, falls_through = true, leaves = false;
  std::vector<const Instr*> targets;
};

Exits exits_of(const Instr& in, std::string_view opcode) {
  Exits exits;
  const bool guarded = in.guard != kNone;
  if (opcode == "bra") {
    exits = {true, guarded, false, {in.target}};
  } else if (opcode == "brx" && in.object != nullptr) {
    exits = {true, guarded, false, *static_cast<const std::vector<const Instr*>*>(in.object)};
  } else if (opcode == "ret" || opcode == "exit") {
    exits = {true, guarded, true, {}};
  } else if (opcode == "trap" || opcode == "brkpt") {
    exits = {true, guarded, false, {}};
  }
  std::erase(exits.targets, nullptr);
  return exits;
}

/// Immediate post-dominators, by the algorithm of Cooper, Harvey and Kennedy. The end of the
/// function is node `blocks.size()`.
class PostDominators {
 public:
  explicit PostDominators(Blocks& blocks)
      : blocks_(blocks),
        end_(static_cast<u32>(blocks.size())),
        before_(blocks.size() + 1),
        number_(blocks.size() + 1, kUnseen),
        parent_(blocks.size() + 1, kUnseen) {
    for (u32 b = 0; b < end_; ++b) {
      for (const u32 to : blocks[b].next) before_[to == kEnd ? end_ : to].push_back(b);
    }
  }

  void run() {
    number_blocks();
    parent_[end_] = end_;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = order_.size() - 1; i-- > 0;) changed |= update(order_[i]);
    }
    for (u32 b = 0; b < end_; ++b) {
      if (number_[b] == kUnseen) continue;
      blocks_[b].post_dominator = parent_[b] == end_ ? kEnd : parent_[b];
    }
  }

 private:
  static constexpr u32 kUnseen = BasicBlock::kNoEnd;

  /// Depth-first from the end, against the flow; order_ is in postorder.
  void number_blocks() {
    std::vector<std::pair<u32, std::size_t>> path{{end_, 0}};
    std::vector<bool> seen(before_.size());
    seen[end_] = true;
    while (!path.empty()) {
      auto& [node, child] = path.back();
      if (child < before_[node].size()) {
        const u32 to = before_[node][child++];
        if (!seen[to]) path.emplace_back(to, 0);
        seen[to] = true;
        continue;
      }
      number_[node] = static_cast<u32>(order_.size());
      order_.push_back(node);
      path.pop_back();
    }
  }

  bool update(u32 b) {
    u32 parent = kUnseen;
    for (const u32 next : blocks_[b].next) {
      const u32 to = next == kEnd ? end_ : next;
      if (parent_[to] == kUnseen) continue;
      parent = parent == kUnseen ? to : common(parent, to);
    }
    return std::exchange(parent_[b], parent) != parent;
  }

  u32 common(u32 a, u32 b) const {
    while (a != b) {
      while (number_[a] < number_[b]) a = parent_[a];
      while (number_[b] < number_[a]) b = parent_[b];
    }
    return a;
  }

  Blocks& blocks_;
  u32 end_;
  std::vector<std::vector<u32>> before_;
  std::vector<u32> number_, parent_, order_;
};

/// Finds outermost loops: the strongly connected components, by Tarjan's algorithm.
class Loops {
 public:
  explicit Loops(Blocks& blocks) : blocks_(blocks), seen_(blocks.size()) {}

  void run() {
    for (u32 b = 0; b < blocks_.size(); ++b) {
      if (seen_[b].number == 0) visit(b);
    }
  }

 private:
  struct Seen {
    u32 number = 0, lowest = 0;  ///< 0: not yet seen
    bool open = false;           ///< its component is not complete
  };

  void open(u32 b) {
    ++count_;
    seen_[b] = {count_, count_, true};
    open_.push_back(b);
    path_.emplace_back(b, 0);
  }

  void visit(u32 first) {
    open(first);
    while (!path_.empty()) {
      auto& [b, child] = path_.back();
      if (child < blocks_[b].next.size()) {
        const u32 to = blocks_[b].next[child++];
        if (to == kEnd) continue;
        if (seen_[to].number == 0) {
          open(to);
        } else if (seen_[to].open) {
          seen_[b].lowest = std::min(seen_[b].lowest, seen_[to].number);
        }
        continue;
      }
      const u32 done = b;
      path_.pop_back();
      if (!path_.empty()) {
        u32& above = seen_[path_.back().first].lowest;
        above = std::min(above, seen_[done].lowest);
      }
      if (seen_[done].lowest == seen_[done].number) close(done);
    }
  }

  void close(u32 root) {
    const auto& next = blocks_[root].next;
    const bool cycle = open_.back() != root || std::ranges::find(next, root) != next.end();
    if (cycle) ++loops_;
    u32 b = 0;
    do {
      b = open_.back();
      open_.pop_back();
      seen_[b].open = false;
      if (cycle) blocks_[b].loop = loops_;
    } while (b != root);
  }

  Blocks& blocks_;
  std::vector<Seen> seen_;
  std::vector<u32> open_;
  std::vector<std::pair<u32, std::size_t>> path_;
  u32 count_ = 0, loops_ = 0;
};

}  // namespace

std::string_view opcode_of(std::string_view text) { return text.substr(0, text.find('.')); }

std::vector<BasicBlock> basic_blocks(const Function& function, const std::vector<bool>& last) {
  const std::size_t count = function.code.size();
  const Instr* const code = function.code.data();
  std::vector<Exits> exits(count);
  std::vector<bool> begins(count + 1);
  begins[0] = begins[count] = true;
  for (std::size_t i = 0; i < count; ++i) {
    exits[i] = exits_of(code[i], opcode_of(function.texts[i]));
    if (exits[i].ends || last[i]) begins[i + 1] = true;
    for (const Instr* target : exits[i].targets)
      begins[static_cast<std::size_t>(target - code)] = true;
  }
  Blocks blocks;
  std::vector<u32> number(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (begins[i]) blocks.emplace_back().begin = static_cast<u32>(i);
    number[i] = static_cast<u32>(blocks.size() - 1);
    blocks.back().end = static_cast<u32>(i + 1);
  }
  for (BasicBlock& block : blocks) {
    const Exits& out = exits[block.end - 1];
    for (const Instr* target : out.targets) {
      block.next.push_back(number[static_cast<std::size_t>(target - code)]);
    }
    if (out.leaves) block.next.push_back(kEnd);
    if (out.falls_through) block.next.push_back(block.end < count ? number[block.end] : kEnd);
  }
  PostDominators(blocks).run();
  Loops(blocks).run();
  return blocks;
}

}  // namespace kbench::ptx
