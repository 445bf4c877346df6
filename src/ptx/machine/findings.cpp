// SPDX-License-Identifier: MIT
#include "ptx/machine/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "ptx/machine/exec.hpp"
#include "ptx/machine/names.hpp"

namespace kbench::ptx {
namespace {

/// After a fault, a host thread runs this many more warp instructions, to count threads with the
/// same fault.
constexpr std::uint64_t kAfterFault = std::uint64_t{1} << 18;

/// Faults of a single thread; other threads of the grid can continue for a while.
bool of_one_thread(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIllegalWrite:
    case FaultKind::kIllegalRead:
    case FaultKind::kIllegalAddress:
    case FaultKind::kMisaligned:
    case FaultKind::kTrap:
      return true;
    default:
      return false;
  }
}

bool holds(const Function& function, const Instr& in) {
  return std::greater_equal<>()(&in, function.code.data()) &&
         std::less<>()(&in, function.code.data() + function.code.size());
}

/// The function that contains the instruction. It need not be the frame's, because lanes of one
/// warp may meet in another function.
const Function& function_of(const Context& c, const Instr& in) {
  for (const auto& function : c.grid->program->functions) {
    if (holds(*function, in)) return *function;
  }
  return *c.frame->function;
}

std::uint64_t warp_number(const Context& c) {
  const auto& grid = c.grid->launch->grid;
  const auto& at = c.block->index;
  const std::uint64_t block = (std::uint64_t{at[2]} * grid[1] + at[1]) * grid[0] + at[0];
  return block * c.block->warps.size() + c.warp->index;
}

/// The lanes that this warp has not yet counted for this entry.
std::uint32_t fresh_lanes(Warp& warp, const Instr& in, FindingKind kind, std::uint32_t lanes) {
  for (Reported& reported : warp.reported) {
    if (reported.in != &in || reported.kind != kind) continue;
    const std::uint32_t fresh = lanes & ~reported.lanes;
    reported.lanes |= lanes;
    return fresh;
  }
  warp.reported.push_back({&in, kind, lanes});
  return lanes;
}

std::string sentence(const Site& site, const std::string& what) {
  return fmt::format("{}: thread ({}, {}, {}) of block ({}, {}, {}) {}", site.kernel,
                     site.thread[0], site.thread[1], site.thread[2], site.block[0], site.block[1],
                     site.block[2], what);
}

void first_fault(Context& c, const Instr& in, FaultKind kind, const Site& site,
                 const std::string& what) {
  Fault fault;
  static_cast<Site&>(fault) = site;
  fault.kind = kind;
  fault.message = sentence(site, what);
  c.grid->fault = std::move(fault);
  c.grid->fault_details = {&in, warp_number(c), 1, 1, source_of(c, in)};
}

/// Handles a fault after the first: the same fault in another thread, or a different one in a block
/// that had none.
void later_fault(Context& c, const Instr& in, unsigned lane, const Site& site,
                 const std::string& what, bool block_was_whole) {
  Grid& grid = *c.grid;
  FaultDetails& first = grid.fault_details;
  if (first.in == &in) {
    if (fresh_lanes(*c.warp, in, FindingKind::kFault, 1U << lane) == 0) return;
    ++first.threads;
    if (first.warp == warp_number(c)) ++first.warp_lanes;
    return;
  }
  // Once a thread of the block is gone, faults of the others may be a consequence.
  if (!block_was_whole) return;
  Finding* entry = grid.findings.count(FindingKind::kFault, &in, 1, grid.options->max_findings);
  if (entry == nullptr) return;
  static_cast<Site&>(*entry) = site;
  entry->message = sentence(site, what) + source_of(c, in);
}

/// Threads that wait at one instruction.
struct Waiting {
  const Instr* in = nullptr;
  const Function* function = nullptr;
  std::uint32_t threads = 0;
};

void add_waiting(const Fragment& fragment, std::vector<Waiting>& waiting) {
  // After a barrier the fragment's ip is already at the next instruction.
  const Instr* at = fragment.wait == Wait::kConverge ? fragment.ip : fragment.ip - 1;
  auto found = std::find_if(waiting.begin(), waiting.end(),
                            [&](const Waiting& other) { return other.in == at; });
  if (found == waiting.end()) {
    found = waiting.insert(found, {at, fragment.frame->function, 0});
  }
  found->threads += static_cast<std::uint32_t>(std::popcount(fragment.mask));
}

/// "32 threads wait at bar.sync in line 12"
std::string text_of(const Waiting& group) {
  const auto at = static_cast<std::size_t>(group.in - group.function->code.data());
  const int line = group.function->positions[at].line;
  const bool one = group.threads == 1;
  std::string text = fmt::format("{} thread{} wait{} at {}", group.threads, one ? "" : "s",
                                 one ? "s" : "", group.function->texts[at]);
  if (line > 0) text += fmt::format(" in line {}", line);
  return text;
}

}  // namespace

Finding* Findings::count(FindingKind kind, const Instr* in, std::uint64_t threads,
                         std::size_t most) {
  const auto [at, fresh] = entries_.try_emplace({kind, in}, nullptr);
  if (!fresh) {
    if (at->second != nullptr) at->second->count += threads;
    return nullptr;
  }
  if (found_.size() >= most) {
    ++left_out_;
    return nullptr;
  }
  Finding& made = found_.emplace_back();
  made.kind = kind;
  made.count = threads;
  at->second = &made;
  return &made;
}

std::vector<Finding> Findings::take(const Finding* fault, std::size_t most) {
  std::vector<Finding> all;
  if (fault != nullptr) all.push_back(*fault);
  std::move(found_.begin(), found_.end(), std::back_inserter(all));
  if (all.size() > most) {
    left_out_ += all.size() - most;
    all.resize(most);
  }
  return all;
}

Site site_of(const Context& c, const Instr& in, unsigned lane) {
  const Function& function = function_of(c, in);
  const auto at = static_cast<std::size_t>(&in - function.code.data());
  Site site;
  site.kernel = readable_name(c.grid->launch->kernel);
  site.block = c.block->index;
  for (std::size_t axis = 0; axis < 3; ++axis) site.thread[axis] = c.warp->tid[axis][lane];
  site.instruction = function.texts[at];
  const Position& position = function.positions[at];
  const auto& files = c.grid->program->files;
  if (position.file > 0 && static_cast<std::size_t>(position.file) < files.size()) {
    site.file = files[static_cast<std::size_t>(position.file)];
    site.line = position.line;
  }
  return site;
}

std::string source_of(const Context& c, const Instr& in) {
  const Function& function = function_of(c, in);
  const auto at = static_cast<std::size_t>(&in - function.code.data());
  const std::string place = readable_place(c.grid->program->files, function.positions[at]);
  return place.empty() ? place : fmt::format(" ({})", place);
}

std::string place_text(const std::string& region, std::int64_t offset, std::uint64_t region_bytes,
                       std::uint64_t access_bytes) {
  std::string text =
      fmt::format("offset {} of {}, which has {} bytes", offset, region, region_bytes);
  const auto step = static_cast<std::int64_t>(access_bytes);
  if (step > 1 && offset % step == 0 && region_bytes % access_bytes == 0) {
    text += fmt::format(" (index {} of {} elements)", offset / step, region_bytes / access_bytes);
  }
  return text;
}

bool note(Context& c, const Instr& in, FindingKind kind, std::uint32_t lanes, Finding*& entry) {
  // Once a thread of the block is gone, findings in the others may be a consequence.
  if (c.block->faulted) return false;
  const std::uint32_t fresh = fresh_lanes(*c.warp, in, kind, lanes);
  if (fresh == 0) return false;
  const std::lock_guard lock(c.grid->mutex);
  entry = c.grid->findings.count(kind, &in, static_cast<std::uint64_t>(std::popcount(fresh)),
                                 c.grid->options->max_findings);
  return entry != nullptr;
}

void describe(const Context& c, const Instr& in, unsigned lane, const std::string& what,
              Finding& entry) {
  static_cast<Site&>(entry) = site_of(c, in, lane);
  entry.message = sentence(entry, what) + source_of(c, in);
}

void raise(Context& c, const Instr& in, unsigned lane, FaultKind kind, const std::string& what,
           const Extent* extent, std::uint64_t address) {
  c.merge_ip = nullptr;
  Grid& grid = *c.grid;
  const bool block_was_whole = !c.block->faulted;
  c.block->faulted = true;
  const std::lock_guard lock(grid.mutex);
  if (grid.options->sanitize != Sanitize::kNone && of_one_thread(kind)) {
    c.faulted_lanes |= 1U << lane;
    c.faulted_ip = &in;
    grid.faulted.store(true, std::memory_order_relaxed);
  } else {
    grid.stop.store(true);
    if (grid.fault) return;
  }
  Site site = site_of(c, in, lane);
  if (extent != nullptr) {
    site.region = extent->name;
    site.offset_bytes = static_cast<std::int64_t>(address - extent->begin);
  }
  if (grid.fault) return later_fault(c, in, lane, site, what, block_was_whole);
  fresh_lanes(*c.warp, in, FindingKind::kFault, 1U << lane);
  first_fault(c, in, kind, site, what);
}

void settle_faults(Context& c) {
  const std::uint32_t gone = c.faulted_lanes & c.mask;
  c.faulted_lanes = 0;
  c.ip = c.faulted_ip;
  c.wait = Wait::kReady;
  exit_lanes(c, gone);
}

bool may_go_on(Context& c) {
  if (c.faulted_limit == 0) c.faulted_limit = c.executed + kAfterFault;
  return c.executed < c.faulted_limit;
}

void report_deadlock(Context& c, Cluster& cluster) {
  std::vector<Waiting> waiting;
  Warp* first = nullptr;
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      if (first == nullptr && !warp.fragments.empty()) first = &warp;
      for (const Fragment& fragment : warp.fragments) add_waiting(fragment, waiting);
    }
  }
  if (first == nullptr) return;
  std::string who;
  for (const Waiting& group : waiting) who += (who.empty() ? "" : ", ") + text_of(group);
  const Fragment& fragment = first->fragments[0];
  c.warp = first;
  c.block = first->block;
  c.frame = fragment.frame;
  const bool mbarrier = fragment.wait == Wait::kMbarrier;
  raise(
      c, *waiting[0].in, static_cast<unsigned>(std::countr_zero(fragment.mask)),
      FaultKind::kDeadlock,
      fmt::format(
          "waits for {}: no thread of the block can continue; {}",
          mbarrier ? "an mbarrier whose phase never completes" : "threads that never arrive", who));
}

void finish_fault(Fault& fault, const FaultDetails& details) {
  if (details.warp_lanes > 1) {
    const std::uint64_t more = details.warp_lanes - 1;
    fault.message += fmt::format(", and {} more thread{} of its warp", more, more == 1 ? "" : "s");
  }
  fault.message += details.source;
}

}  // namespace kbench::ptx
