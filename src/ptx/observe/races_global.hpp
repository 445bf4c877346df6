// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ptx/observe/races_threads.hpp"

/// Races on global memory: between blocks, and between threads of one block.
namespace kbench::ptx {

constexpr std::uint64_t kPageBytes = 4096;

/// The last accesses to a word. Fields of `blocks`: writer's block (20 bits) and epoch (8), bytes
/// written (4), reader's block (20) and epoch (8), two flags, bytes read (2).
struct ShadowWord {
  std::atomic<std::uint64_t> blocks{0};
  ThreadShadow threads;
};

/// The words of a page that was written.
struct ShadowPage {
  std::array<ShadowWord, kPageBytes / 4> words{};
  /// Instructions that last wrote and read, for each 128 bytes. Used only for messages.
  std::array<std::atomic<std::uint32_t>, kPageBytes / 128> writers{}, readers{};
};

/// A host thread's cache of recently used pages.
struct PageCache {
  struct Entry {
    std::uint64_t page = ~std::uint64_t{0};
    ShadowPage* shadow = nullptr;
    std::uint64_t stamp = 0;  ///< number of pages when the lookup found none
  };
  std::array<Entry, 64> entries{};
};

/// The earlier access of a race.
struct OtherAccess {
  bool same_block = false;
  std::uint32_t by = 0;  ///< number of the block; in the same block, number of the thread
  std::uint32_t number = 0;
  bool writes = false;
};

/// A write to a word that another block or thread has accessed: a race if it changes the value.
struct GlobalRewrite {
  const Warp* warp = nullptr;
  const Instr* in = nullptr;
  const Extent* extent = nullptr;
  unsigned lane = 0;
  std::uint64_t word = 0, bytes = 0;  ///< host address; mask of bytes
  std::uint32_t before = 0;
  OtherAccess other;
  std::uint64_t address = 0, access_bytes = 0;
};

/// Accesses of a launch to global memory, and the order between its blocks.
///
/// A block releases its accesses by a strong write after a fence. By a strong read, it acquires
/// everything that any block has released so far, at any address. So in doubt, blocks are treated
/// as ordered. BlockOrdering holds the order between the threads of a block.
class GlobalRaces {
 public:
  GlobalRaces(const Grid& grid, const CodeIndex& code);

  void access(const LaneAccess& access, BlockOrdering& block, PageCache& cache,
              std::vector<GlobalRewrite>& rewrites);
  /// Call after the instruction of a strong read.
  void acquire(BlockOrdering& block) const { block.device_acquired = clock_.load(); }
  void settle(Context& c, std::vector<GlobalRewrite>& rewrites);

 private:
  static constexpr std::size_t kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::unique_ptr<ShadowPage>> pages;
  };
  struct Place {
    ShadowPage* page = nullptr;
    std::size_t word = 0;
    std::uint64_t bytes = 0;  ///< mask of bytes in the word
  };

  ShadowPage* find(std::uint64_t page, bool make, PageCache& cache);
  void release(BlockOrdering& block);
  bool ordered(std::uint32_t block, std::uint64_t epoch, const BlockOrdering& now);
  void read(const LaneAccess& access, BlockOrdering& block, const Place& place);
  void write(const LaneAccess& access, BlockOrdering& block, const Place& place,
             std::uint64_t address, std::vector<GlobalRewrite>& rewrites);
  void report(Context& c, const Instr& in, unsigned lane, const Extent& extent,
              std::uint64_t address, std::uint64_t bytes, bool writes, const OtherAccess& other);
  std::string describe_race(const Context& c, const std::string& place, std::uint64_t bytes,
                            bool writes, const OtherAccess& other) const;

  const Grid& grid_;
  const CodeIndex& code_;
  const std::uint64_t blocks_;
  const bool unique_;         ///< no two blocks have the same number
  const std::uint64_t heap_;  ///< malloc may give memory that another thread has freed
  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> pages_made_{0};
  std::atomic<std::uint32_t> clock_{0};
  std::mutex mutex_;                                                        ///< guards releases_
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> releases_;  ///< times, by block
};

}  // namespace kbench::ptx
