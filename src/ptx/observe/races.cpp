// SPDX-License-Identifier: MIT
#include "ptx/observe/races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/observe/races_global.hpp"
#include "ptx/observe/races_shared.hpp"

namespace kbench::ptx {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool begins(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// Observes one host thread.
class RaceObserver final : public Observer {
 public:
  RaceObserver(GlobalRaces& global, const CodeIndex& code) : global_(global), code_(code) {}

  void instruction(Context& c, const Instr& in) override {
    BlockOrdering& block = ordering(c);
    settle(c, block);
    block.device_released = false;
    if (block.device_acquires) {
      block.device_acquires = false;
      global_.acquire(block);
    }
    block.instruction(c, code_.traits(number(c, in)));
  }
  void access(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
              std::uint64_t bytes, Access kind) override {
    if (space == Space::kLocal || space == Space::kParam) return;
    BlockOrdering& block = ordering(c);
    settle(c, block);
    const std::uint32_t at = number(c, in);
    LaneAccess access{c, in, lane, address, bytes, kind, code_.traits(at), at};
    if (access.traits.ignored) return;
    if (space == Space::kShared) return block.shared(access, code_);
    access.time = block.time(c);
    block.synchronize(access, address);
    global_.access(access, block, pages_, rewrites_);
  }
  void arrives(Context& c, unsigned id) override { ordering(c).arrives(c, id); }
  void completes(Context& c, unsigned id) override { ordering(c).completes(c, id); }

 private:
  BlockOrdering& ordering(const Context& c) {
    if (!c.block->observation) c.block->observation = std::make_unique<BlockOrdering>(*c.block);
    return static_cast<BlockOrdering&>(*c.block->observation);
  }
  void settle(Context& c, BlockOrdering& block) {
    block.settle(c, code_);
    if (!rewrites_.empty()) global_.settle(c, rewrites_);
  }
  std::uint32_t number(const Context& c, const Instr& in) {
    const Function* function = c.frame->function;
    if (function != function_) {
      function_ = function;
      first_ = code_.of(function).first;
    }
    return first_ + static_cast<std::uint32_t>(&in - function->code.data());
  }

  GlobalRaces& global_;
  const CodeIndex& code_;
  const Function* function_ = nullptr;
  std::uint32_t first_ = 0;
  PageCache pages_;
  std::vector<GlobalRewrite> rewrites_;
};

}  // namespace

OrderTraits order_traits(std::string_view text) {
  OrderTraits traits;
  traits.atomic = begins(text, {"atom.", "red."}) && !has(text, ".async");
  traits.silent = traits.atomic && begins(text, {"red."});
  const bool accesses = begins(text, {"ld.", "st.", "multimem."}) || traits.atomic;
  const bool releases = has(text, ".release") || has(text, ".acq_rel");
  traits.strong =
      traits.atomic || (accesses && (has(text, ".volatile") || has(text, ".relaxed") ||
                                     has(text, ".acquire") || releases || has(text, ".mmio")));
  traits.releases = accesses && releases;
  traits.fence = begins(text, {"membar", "fence"});
  traits.device_fence = traits.fence && !has(text, ".cta");
  traits.warp_sync = begins(text, {"bar.warp", "barrier.warp", "shfl.", "vote.", "match.", "redux.",
                                   "elect.", "activemask"});
  traits.collective = begins(text, {"wmma.", "mma.", "ldmatrix.", "stmatrix."});
  traits.mbarrier = begins(text, {"mbarrier.", "cp.async.mbarrier", "barrier.cluster"});
  traits.ignored = begins(text, {"mbarrier.", "cp.async.mbarrier", "cp.async.bulk",
                                 "cp.reduce.async", "st.async", "red.async", "wgmma."});
  return traits;
}

CodeIndex::CodeIndex(const Program& program) {
  for (const auto& function : program.functions) {
    auto entry = std::make_unique<Entry>();
    entry->function = function.get();
    entry->first = static_cast<std::uint32_t>(traits_.size());
    for (const std::string& text : function->texts) traits_.push_back(order_traits(text));
    entries_[function.get()] = entry.get();
    list_.push_back(std::move(entry));
  }
}

std::string CodeIndex::source(const Program& program, std::uint32_t number) const {
  const auto after = std::find_if(list_.begin(), list_.end(),
                                  [&](const auto& entry) { return entry->first > number; });
  if (after == list_.begin()) return {};
  const Entry& entry = **std::prev(after);
  const Position& position = entry.function->positions[number - entry.first];
  const auto file = static_cast<std::size_t>(position.file);
  if (position.file <= 0 || file >= program.files.size()) return {};
  return fmt::format(" ({}:{})", program.files[file], position.line);
}

std::string clash_text(const Context& c, const CodeIndex& code, bool writes, std::uint64_t bytes,
                       const std::string& place, std::uint32_t other, bool other_writes,
                       std::uint32_t number) {
  const auto& block = c.grid->launch->block;
  const bool one_warp = other / kLanes == c.warp->index;
  return fmt::format("{} {} bytes at {}, which thread ({}, {}, {}) {}{} with no {} in between",
                     writes ? "writes" : "reads", bytes, place, other % block[0],
                     other / block[0] % block[1], other / block[0] / block[1],
                     other_writes ? "writes" : "reads", code.source(*c.grid->program, number),
                     one_warp ? "__syncwarp" : "barrier");
}

Races::Races(Grid& grid)
    : code_(*grid.program), global_(std::make_unique<GlobalRaces>(grid, code_)) {}
Races::~Races() = default;

std::unique_ptr<Observer> Races::observer() {
  return std::make_unique<RaceObserver>(*global_, code_);
}

}  // namespace kbench::ptx
