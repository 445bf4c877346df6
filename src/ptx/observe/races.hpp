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

/// Races: accesses to the same bytes by threads that nothing orders, of which one writes. Where it
/// is not certain that nothing orders them, they count as ordered.
namespace kbench::ptx {

/// What an instruction means for the order of accesses.
struct OrderTraits {
  bool strong : 1 = false;        ///< atomic, volatile, relaxed, acquire or release
  bool atomic : 1 = false;        ///< reads and writes at once
  bool releases : 1 = false;      ///< without a fence before it
  bool fence : 1 = false;         ///< of a block at least
  bool device_fence : 1 = false;  ///< of the device at least
  bool warp_sync : 1 = false;     ///< lanes of a warp meet
  bool collective : 1 = false;    ///< the warp accesses memory as one
  bool mbarrier : 1 = false;      ///< arrives or waits at an mbarrier or the cluster's barrier
  bool ignored : 1 = false;       ///< its accesses are made later, by hardware
  bool plain() const { return !(fence || device_fence || warp_sync || collective || mbarrier); }
};

OrderTraits order_traits(std::string_view instruction);

/// The instructions of a program by number, and their traits.
class CodeIndex {
 public:
  explicit CodeIndex(const Program& program);
  struct Entry {
    const Function* function = nullptr;
    std::uint32_t first = 0;  ///< number of its first instruction
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
  /// Looks on for one host thread. Outlived by this.
  std::unique_ptr<Observer> observer();

 private:
  CodeIndex code_;
  std::unique_ptr<GlobalRaces> global_;
};

/// One lane's access, as the checks see it.
struct LaneAccess {
  Context& c;
  const Instr& in;
  unsigned lane = 0;
  std::uint64_t address = 0, bytes = 0;
  Access kind = Access::kRead;
  OrderTraits traits;
  std::uint32_t number = 0;  ///< of the instruction
};

}  // namespace kbench::ptx
