// SPDX-License-Identifier: MIT
#include "ptx/machine/joins.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ptx/machine/control_flow.hpp"
#include "ptx/machine/warp_sync.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

/// Joins kept for one barrier, besides the last ones, so that unrolled code takes no quadratic
/// space.
constexpr std::size_t kMostJoins = 64;

/// Can the passing of this instruction be counted? Such an instruction neither branches nor waits
/// for lanes, so the running lanes execute it once.
bool countable(const Instr& in, std::string_view text) {
  static constexpr std::array<std::string_view, 9> kOthers{
      "bra", "brx", "call", "ret", "exit", "trap", "brkpt", "bar", "barrier"};
  if (std::ranges::find(kOthers, opcode_of(text)) != kOthers.end()) return false;
  if (find_sync(in) != nullptr) return false;
  return in.guard == kNone || in.body_full != nullptr;
}

class Joins {
 public:
  explicit Joins(Program& program) : program_(program) {}

  void run() {
    for (const auto& function : program_.functions) known_.insert(function.get());
    find_waiting();
    for (const auto& function : program_.functions) {
      if (waiting_.contains(function.get())) place(*function);
    }
    program_.sites = std::move(sites_);
  }

 private:
  /// Finds the functions that have barriers, or call such functions.
  void find_waiting() {
    std::unordered_map<const Function*, std::vector<const Function*>> callers;
    std::vector<const Function*> indirect, found;
    for (const auto& function : program_.functions) {
      bool waits = false;
      for (std::size_t i = 0; i < function->code.size(); ++i) {
        waits = waits || is_aligned_barrier(function->texts[i]);
        if (opcode_of(function->texts[i]) != "call") continue;
        const void* const callee = function->code[i].object;
        if (callee == nullptr) indirect.push_back(function.get());
        if (known_.contains(callee)) {
          callers[static_cast<const Function*>(callee)].push_back(function.get());
        }
      }
      if (waits) found.push_back(function.get());
    }
    while (!found.empty()) {
      const Function* function = found.back();
      found.pop_back();
      if (!waiting_.insert(function).second) continue;
      if (!function->entry && !called_waits_) {
        called_waits_ = true;
        found.insert(found.end(), indirect.begin(), indirect.end());
      }
      const auto& above = callers[function];
      found.insert(found.end(), above.begin(), above.end());
    }
  }

  /// A call of a function with barriers. Calls through registers count if any function has one.
  bool calls_waiting(const Instr& in, std::string_view text) const {
    if (opcode_of(text) != "call") return false;
    if (in.object == nullptr) return called_waits_;
    return known_.contains(in.object) && waiting_.contains(static_cast<const Function*>(in.object));
  }

  void place(Function& function) {
    std::vector<bool> last(function.code.size());
    bool avoidable = !function.entry;
    for (std::size_t i = 0; i < last.size(); ++i) {
      const bool calls = calls_waiting(function.code[i], function.texts[i]);
      last[i] = calls || is_aligned_barrier(function.texts[i]);
      avoidable = avoidable || calls || (last[i] && function.code[i].guard != kNone);
    }
    std::vector<BasicBlock> blocks = basic_blocks(function, last);
    std::vector<bool> always(blocks.size());
    for (u32 b = 0; b < blocks.size(); b = blocks[b].post_dominator) always[b] = true;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      avoidable = avoidable || (last[blocks[b].end - 1] && !(always[b] && blocks[b].loop == 0));
    }
    if (!avoidable) return;
    function.has_sites = true;
    for (const BasicBlock& block : blocks) {
      if (last[block.end - 1]) add_site(function, blocks, block);
    }
  }

  void add_site(Function& function, const std::vector<BasicBlock>& blocks,
                const BasicBlock& block) {
    const Instr& in = function.code[block.end - 1];
    const bool once = function.entry && block.loop == 0;
    std::vector<u32> rows;
    // Code that repeats may be the role of one warp. So of the joins in loops only the last ones
    // count: all threads that end have passed them.
    u32 inside = 0, after = 0, distance = 0;
    for (u32 b = block.post_dominator; b < blocks.size(); b = blocks[b].post_dominator) {
      ++distance;
      const u32 row = row_of(function, blocks[b]);
      if (row == 0) continue;
      if (function.entry && blocks[b].loop == 0 && rows.size() < kMostJoins) {
        rows.push_back(row);
      } else {
        (blocks[b].loop == block.loop ? inside : after) = row;
      }
    }
    for (const u32 row : {inside, after}) {
      if (row != 0) rows.push_back(row);
    }
    if (once && is_aligned_barrier(function.texts[block.end - 1])) own_row(in);
    BarrierSite& site = sites_->of[&in];
    site.joins = std::move(rows);
    site.distance = distance;
    site.once = once && site.own != 0;
  }

  /// The row that counts passes of a block; 0 if it has no code but branches, calls and returns.
  u32 row_of(Function& function, const BasicBlock& block) {
    for (u32 i = block.end; i-- > block.begin;) {
      Instr& in = function.code[i];
      if (!countable(in, function.texts[i])) continue;
      if (in.join == 0) in.join = next_row();
      return in.join;
    }
    const Instr& in = function.code[block.end - 1];
    if (!is_aligned_barrier(function.texts[block.end - 1]) || in.guard != kNone) return 0;
    return own_row(in);
  }

  u32 own_row(const Instr& in) {
    u32& own = sites_->of[&in].own;
    if (own == 0) own = next_row();
    return own;
  }

  u32 next_row() { return sites_->rows++; }

  Program& program_;
  std::unique_ptr<BarrierSites> sites_ = std::make_unique<BarrierSites>();
  std::unordered_set<const void*> known_;        ///< all functions
  std::unordered_set<const Function*> waiting_;  ///< that have or call barriers
  bool called_waits_ = false;                    ///< one of them is not a kernel
};

}  // namespace

bool is_aligned_barrier(std::string_view text) {
  const std::string_view opcode = opcode_of(text);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (opcode != "bar" && !(opcode == "barrier" && has(".aligned"))) return false;
  return !has(".warp") && !has(".cluster") && !has(".arrive");
}

void find_joins(Program& program) { Joins(program).run(); }

}  // namespace kbench::ptx
