// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kbench/ptx.hpp"

/// Findings of a launch's sanitizers: one entry for each kind and instruction.
namespace kbench::ptx {

struct Cluster;
struct Context;
struct Extent;
struct Instr;
struct Warp;

/// The entries of a launch, in order of first occurrence. Guarded by Grid::mutex.
class Findings {
 public:
  /// Adds `threads` to an entry's count. Returns a new entry, which the caller must fill, else
  /// null.
  Finding* count(FindingKind kind, const Instr* in, std::uint64_t threads, std::size_t most);
  /// Moves out at most `most` entries, the fault first.
  std::vector<Finding> take(const Finding* fault, std::size_t most);
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::deque<Finding> found_;
  std::map<std::pair<FindingKind, const Instr*>, Finding*> entries_;  ///< null: left out
  std::uint64_t left_out_ = 0;
};

/// Lanes of a warp that an entry has already counted.
struct Reported {
  const Instr* in = nullptr;
  FindingKind kind = FindingKind::kFault;
  std::uint32_t lanes = 0;
};

/// Details of a launch's fault, in addition to Fault. Guarded by Grid::mutex.
struct FaultDetails {
  const Instr* in = nullptr;
  std::uint64_t warp = 0;        ///< number of the faulting warp in the grid
  std::uint64_t threads = 0;     ///< threads of the launch with the same fault
  std::uint64_t warp_lanes = 0;  ///< lanes of that warp with the same fault
  std::string source;            ///< " (kernel.cu:4)"
};

/// Position of a lane in the code and in the grid.
Site site_of(const Context& c, const Instr& in, unsigned lane);

/// " (kernel.cu:4)"; empty without line information.
std::string source_of(const Context& c, const Instr& in);

/// "offset 40 of y, which has 40 bytes (index 10 of 10 elements)"
std::string place_text(const std::string& region, std::int64_t offset, std::uint64_t region_bytes,
                       std::uint64_t access_bytes);

/// Counts lanes for a finding. True if the entry is new; the caller must then fill `entry`.
bool note(Context& c, const Instr& in, FindingKind kind, std::uint32_t lanes, Finding*& entry);

/// Fills a new entry. `what` completes the sentence "thread (…) of block (…) …".
void describe(const Context& c, const Instr& in, unsigned lane, const std::string& what,
              Finding& entry);

/// Ends the faulted lanes of the running fragment; the others repeat the instruction.
void settle_faults(Context& c);

/// True if a launch that has faulted may continue, to count further threads with the same fault.
bool may_go_on(Context& c);

/// Ends the launch because no thread of a cluster can continue; the message lists the waiting
/// threads.
void report_deadlock(Context& c, Cluster& cluster);

/// Completes the fault's message with the number of threads of its warp and the source position.
void finish_fault(Fault& fault, const FaultDetails& details);

}  // namespace kbench::ptx
