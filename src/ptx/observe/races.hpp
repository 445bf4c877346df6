// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/machine/findings.hpp"
#include "ptx/machine/machine.hpp"
#include "ptx/machine/observer.hpp"
#include "ptx/memory/access.hpp"

/// A race is two accesses to the same bytes by threads that nothing orders, if at least one is a
/// write. Accesses of uncertain order are treated as ordered.
namespace kbench::ptx {

/// Effect of an instruction on the order of accesses.
struct OrderTraits {
  bool strong : 1 = false;        ///< atomic, volatile, relaxed, acquire or release
  bool atomic : 1 = false;        ///< reads and writes in one operation
  bool silent : 1 = false;        ///< an atomic that returns nothing
  bool releases : 1 = false;      ///< needs no fence before it
  bool fence : 1 = false;         ///< of block scope or wider
  bool device_fence : 1 = false;  ///< of device scope or wider
  bool warp_sync : 1 = false;     ///< orders the lanes of a warp
  bool collective : 1 = false;    ///< the whole warp accesses memory together
  bool mbarrier : 1 = false;      ///< arrives or waits at an mbarrier or the cluster's barrier
  bool ignored : 1 = false;       ///< hardware makes its accesses later
  bool plain() const { return !(fence || device_fence || warp_sync || collective || mbarrier); }
};

OrderTraits order_traits(std::string_view instruction);

/// Numbers the instructions of a program and stores their traits.
class CodeIndex {
 public:
  explicit CodeIndex(const Program& program);
  struct Entry {
    const Function* function = nullptr;
    std::uint32_t first = 0;  ///< number of the function's first instruction
  };
  const Entry& of(const Function* function) const { return *entries_.at(function); }
  OrderTraits traits(std::uint32_t number) const { return traits_[number]; }
  /// " (kernel.cu:4)"
  std::string source(const Program& program, std::uint32_t number) const;

 private:
  std::vector<std::unique_ptr<Entry>> list_;
  std::unordered_map<const Function*, Entry*> entries_;
  std::vector<OrderTraits> traits_;
};

class GlobalRaces;

/// The race checks of one launch.
class Races {
 public:
  explicit Races(Grid& grid);
  ~Races();
  /// Creates the observer of one host thread. This object must outlive it.
  std::unique_ptr<Observer> observer();

 private:
  CodeIndex code_;
  std::unique_ptr<GlobalRaces> global_;
};

/// One lane's access, as the race checks need it.
struct LaneAccess {
  Context& c;
  const Instr& in;
  unsigned lane = 0;
  std::uint64_t address = 0, bytes = 0;
  Access kind = Access::kRead;
  OrderTraits traits;
  std::uint32_t number = 0;  ///< number of the instruction
  std::uint32_t time = 0;    ///< in global memory: of the warp, before the access releases anything

  /// Number of the lane's thread in its block.
  unsigned thread() const { return c.warp->index * kLanes + lane; }
};

/// "writes 4 bytes at offset 0 of y, which thread (1, 0, 0) reads (kernel.cu:4) with no barrier in
/// between". `other`: a thread of the same block, which accesses the place by instruction `number`.
std::string clash_text(const Context& c, const CodeIndex& code, bool writes, std::uint64_t bytes,
                       const std::string& place, std::uint32_t other, bool other_writes,
                       std::uint32_t number);

}  // namespace kbench::ptx
