// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kbench/ptx.hpp"

/// What the sanitizers of a launch have seen: one entry for each kind and instruction.
namespace kbench::ptx {

struct Cluster;
struct Context;
struct Extent;
struct Instr;
struct Warp;

/// The entries of a launch, in the order of their first occurrence. Guarded by Grid::mutex.
class Findings {
 public:
  /// Adds to the count of an entry. A fresh one is returned, to be described; else null.
  Finding* count(FindingKind kind, const Instr* in, std::uint64_t threads, std::size_t most);
  /// Hands out the entries, the fault first, and at most `most`.
  std::vector<Finding> take(const Finding* fault, std::size_t most);
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::deque<Finding> found_;
  std::map<std::pair<FindingKind, const Instr*>, Finding*> entries_;  ///< null: left out
  std::uint64_t left_out_ = 0;
};

/// Lanes of a warp that a finding has counted.
struct Reported {
  const Instr* in = nullptr;
  FindingKind kind = FindingKind::kFault;
  std::uint32_t lanes = 0;
};

/// What a fault of a launch knows beyond Fault itself. Guarded by Grid::mutex.
struct FaultDetails {
  const Instr* in = nullptr;
  std::uint64_t warp = 0;        ///< number of the warp in the grid
  std::uint64_t threads = 0;     ///< of the launch, that did the same
  std::uint64_t warp_lanes = 0;  ///< of the warp
  std::string source;            ///< " (kernel.cu:4)"
};

/// Where a lane is.
Site site_of(const Context& c, const Instr& in, unsigned lane);

/// " (kernel.cu:4)", or nothing where there is no line information.
std::string source_of(const Context& c, const Instr& in);

/// "offset 40 of y, which has 40 bytes (index 10 of 10 elements)"
std::string place_text(const std::string& region, std::int64_t offset, std::uint64_t region_bytes,
                       std::uint64_t access_bytes);

/// Counts lanes that did something; true where the text of a new entry is wanted, in `entry`.
bool note(Context& c, const Instr& in, FindingKind kind, std::uint32_t lanes, Finding*& entry);

/// Fills a new entry. `what` completes "thread (…) of block (…) …".
void describe(const Context& c, const Instr& in, unsigned lane, const std::string& what,
              Finding& entry);

/// Before lanes of a warp arrive at a barrier: whether others of it did by another instruction.
void check_divergence(Context& c, const Instr& in, unsigned id);

/// Lanes of the running fragment that have faulted leave, and the others try again.
void settle_faults(Context& c);

/// Whether a launch that has faulted may still go on, to see who else does the same.
bool may_go_on(Context& c);

/// The launch's end where no thread of a cluster can go on: who waits where.
void report_deadlock(Context& c, Cluster& cluster);

/// The message of the fault, complete: with the number of threads of its warp.
void finish_fault(Fault& fault, const FaultDetails& details);

}  // namespace kbench::ptx
