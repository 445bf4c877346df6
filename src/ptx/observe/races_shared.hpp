// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ptx/observe/races.hpp"

/// Races between a block's threads on its shared memory.
namespace kbench::ptx {

/// A vector clock: a time for each warp of the block.
using WarpClock = std::vector<std::uint32_t>;

/// Accesses of one block's threads, and their order.
///
/// Each warp has a time. It advances when lanes of the warp meet, and when the warp releases its
/// accesses: at barriers, and at strong writes after a fence. All lanes of an instruction release
/// the same time. An access precedes another warp's accesses once that warp has acquired its time
/// or a later one of the first warp.
class BlockOrdering final : public BlockObservation {
 public:
  explicit BlockOrdering(const Block& block);

  /// Call before each instruction. Applies its traits, and the delayed effects of the previous
  /// instruction.
  void instruction(const Context& c, OrderTraits traits) {
    const WarpState& warp = warps_[c.warp->index];
    if (warp.acquires || warp.meets || warp.released || !traits.plain()) order(c, traits);
  }
  /// Warps arrive at a barrier, and continue when it completes.
  void arrives(const Context& c, unsigned id);
  void completes(const Context& c, unsigned id);
  /// A strong access, or the first write after a fence; `place` identifies the address.
  void synchronize(const LaneAccess& access, std::uint64_t place) {
    const bool first_write =
        access.kind != Access::kRead && warps_[access.c.warp->index].fence_pending;
    if (access.traits.strong || first_write) synchronize_now(access, place);
  }

  /// Checks an access to shared memory.
  void shared(const LaneAccess& access, const CodeIndex& code);
  /// Checks if writes to words that another thread had written changed the value.
  void settle(const Context& c, const CodeIndex& code) {
    if (!rewrites_.empty()) settle_now(c, code);
  }

  /// The time of the running warp.
  std::uint32_t time(const Context& c) const { return warps_[c.warp->index].time; }
  /// True if an access of another thread of the block precedes this one.
  bool precedes(std::uint32_t thread, std::uint32_t time, const LaneAccess& access) const {
    const std::uint32_t warp = thread / kLanes, self = access.c.warp->index;
    return warp == self ? time < warps_[self].time : warps_[self].known[warp] >= time;
  }
  /// A release to other blocks, and a read of what they may have released. Between the two, another
  /// block may pass the order on from warp to warp of this block.
  void release_to_device(unsigned warp) { release_to(device_, warp); }
  void acquire_from_device(unsigned warp) { acquire(device_, warp); }

  // State for the races between blocks, see GlobalRaces.
  const std::uint64_t linear_index;  ///< of the block in the grid
  std::uint32_t device_acquired = 0;
  std::uint8_t device_epoch = 0;
  bool device_fenced = false;
  bool device_fence_pending = false;  ///< no write since the last fence
  bool device_released = false;       ///< the current instruction has released
  bool device_acquires = false;       ///< a strong read takes effect at the next instruction
  bool device_learned = false;        ///< a strong read has returned a value

 private:
  void order(const Context& c, OrderTraits traits);
  void synchronize_now(const LaneAccess& access, std::uint64_t place);
  void settle_now(const Context& c, const CodeIndex& code);

  struct Past {
    std::uint32_t time = 0, number = 0;
    std::uint16_t thread = 0;
    std::uint8_t bytes = 0;  ///< bit per byte of the word; 0: no access recorded
    bool strong = false;
    bool many = false;  ///< other threads wrote the same value
  };
  struct Word {
    Past write;
    std::array<Past, 2> reads;
  };
  struct WarpState {
    std::uint32_t time = 1;
    bool fenced = false, fence_pending = false;
    // These take effect at its next instruction.
    bool acquires = false, meets = false, released = false;
    WarpClock known;
  };
  /// A write to a word that another thread has written: a race if it changes the value.
  struct Rewrite {
    const Warp* warp = nullptr;
    const Instr* in = nullptr;
    unsigned lane = 0;
    std::uint64_t word = 0;
    std::uint32_t before = 0;
    std::uint8_t bytes = 0;
    Past other;
    std::uint64_t access_bytes = 0;
  };

  bool before(const Past& past, const Past& now) const;
  bool conflicts(const Past& past, const Past& now, const LaneAccess& access) const;
  void read(const LaneAccess& access, Word& word, const Past& now, const CodeIndex& code);
  void write(const LaneAccess& access, std::uint64_t index, const Past& now, const CodeIndex& code);
  void report(Context& c, const Instr& in, unsigned lane, const CodeIndex& code, const Past& other,
              bool other_writes, bool writes, std::uint64_t offset, std::uint64_t bytes) const;
  void release_to(WarpClock& clock, unsigned warp);
  void acquire(const WarpClock& clock, unsigned warp);
  std::uint32_t word_at(const Block& block, std::uint64_t index) const;

  std::vector<WarpState> warps_;
  std::array<WarpClock, 16> barriers_;
  WarpClock loose_;   ///< released to mbarriers, and to addresses beyond the table
  WarpClock device_;  ///< released to other blocks
  std::unordered_map<std::uint64_t, WarpClock> places_;
  std::vector<Word> words_;
  std::vector<Rewrite> rewrites_;
};

}  // namespace kbench::ptx
