// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "worker/device/spin_lock.hpp"

namespace kbench::worker {

/// Detects host code that computes instead of kernels. On the CPU, kernels use the process's own
/// memory, so host code could read it. In inspected calls, host code cannot access memory that
/// would be on a GPU: the inputs, and every allocation that a kernel, or a copy by torch or CUDA,
/// has written from them. The pages are open only while a kernel or such a copy runs.
///
/// What that proves: no input data reaches host code. So a right answer to new inputs was made by
/// kernels, and by copies, casts, concatenations and fills of their results. It does not matter if
/// the host code recognises the call, or what it does in others. Host code that accesses hidden
/// memory continues normally, and the bytes are counted.
///
/// What that does not prove: the candidate's code runs in the same process. Host code that changes
/// the pages' protection, reads them through /proc/self/mem, or reads them in another thread while
/// a kernel runs, is not detected. Allocations are hidden as a whole, so the parts that a kernel
/// reads are not known.
class HiddenMemory {
 public:
  /// The instance of this process. Never destroyed.
  static HiddenMemory& instance();

  HiddenMemory() = default;
  HiddenMemory(const HiddenMemory&) = delete;
  HiddenMemory& operator=(const HiddenMemory&) = delete;

  /// Adds an allocation of `bytes` that kernels may receive. No other allocation shares its pages.
  void add(std::span<std::byte> pages, std::size_t bytes);
  /// Removes an allocation. Called before its pages are freed.
  void remove(std::byte* pages);

  struct Input {
    std::span<std::byte> data;
    bool is_writable = false;
  };
  /// Hides the inputs, and from now on everything computed from them.
  void begin(std::span<const Input> inputs);
  /// Opens everything again. Returns the bytes of hidden allocations that host code accessed.
  std::size_t end();
  /// Opens everything until end(), because a library computes the answer and nothing is left to
  /// prove.
  void give_up();
  bool is_active() const { return active_; }
  bool has_given_up() const { return given_up_; }

  /// The kind of data at an address.
  struct Content {
    bool is_derived = false;  ///< an input, or computed from inputs
    bool is_written = false;  ///< written by a kernel, or a copy of such data
  };
  Content content(const void* address);
  /// Records that a copy of derived data was written there. False if the address is in no known
  /// allocation.
  bool derive(const void* address, bool is_written);
  /// Records that host code has received this many bytes.
  void count(std::size_t bytes);

  /// Copies or fills like CUDA's functions, in hidden and other memory.
  void copy(void* target, const void* source, std::size_t bytes);
  void fill(void* target, int value, std::size_t bytes);

  enum class Reader : std::uint8_t {
    kKernel,  ///< the data that it writes is derived
    kCopy,    ///< derive() records the data that it writes
  };
  void open(Reader reader);
  void close(Reader reader);
  /// Calls open(), and close() in its destructor.
  class Opening {
   public:
    explicit Opening(Reader reader) : reader_(reader) { instance().open(reader_); }
    ~Opening() { instance().close(reader_); }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

   private:
    Reader reader_;
  };

  /// Called by the handler of SIGSEGV. True if the access can be repeated.
  bool take_fault(void* address);

 private:
  struct Allocation {
    std::size_t pages_bytes = 0, bytes = 0;
    int rights = 0;  ///< access rights of the original mapping
    int now = 0;
    bool is_input = false;
    Content content = {};
    bool is_shown = false;  ///< host code has accessed it since it was written
  };
  using Allocations = std::map<std::byte*, Allocation>;

  Allocations::iterator find(const void* address);
  int wanted(const Allocation& allocation) const;
  void protect(std::byte* pages, Allocation& allocation, int rights);
  void protect_all();

  SpinLock lock_;
  Allocations allocations_;  ///< by address of the first page
  std::atomic<bool> active_ = false;
  std::atomic<bool> given_up_ = false;
  unsigned readers_ = 0, kernels_ = 0;  ///< numbers of calls of open() without close()
  std::size_t touched_bytes_ = 0;
  std::uint64_t changes_ = 0;  ///< number of changes of protections
};

/// Rounds up to a multiple of the page size.
std::size_t whole_pages(std::size_t bytes);

/// True if the host read so much of the inputs that it may have computed with it: more than sizes,
/// offsets and single results.
bool is_read_back(std::size_t touched_bytes, std::size_t input_bytes);

}  // namespace kbench::worker
