// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "worker/device/spin_lock.hpp"

namespace kbench::worker {

/// On the CPU a kernel's memory is the process's own, and host code could compute in its place. So
/// in calls that are inspected, host code cannot touch what a GPU's memory would hold: the inputs,
/// and every allocation that a kernel, or a copy of torch's or of CUDA's, has written from there.
/// Its pages are open while a kernel or such a copy runs, and at no other time.
///
/// What that proves: nothing of the inputs reaches host code, so a right answer to inputs that are
/// new in this call was made by kernels, and by copies, casts, concatenations and fills of what
/// they made. It does not matter how the host code knows the call, nor what it does in others.
/// Host code that touches hidden memory goes on as if nothing were hidden, and the bytes count.
///
/// What that does not prove: the pages are those of a process that runs the candidate's code. Host
/// code that changes their protection, reads them through /proc/self/mem, or in another thread
/// while a kernel runs, is not seen. Allocations are hidden as a whole, so what a kernel reads of
/// them is not known.
class HiddenMemory {
 public:
  /// Of this process. Never destroyed.
  static HiddenMemory& instance();

  HiddenMemory() = default;
  HiddenMemory(const HiddenMemory&) = delete;
  HiddenMemory& operator=(const HiddenMemory&) = delete;

  /// An allocation of so many bytes that kernels may be given; it has these pages to itself.
  void add(std::span<std::byte> pages, std::size_t bytes);
  /// Before they are freed.
  void remove(std::byte* pages);

  struct Input {
    std::span<std::byte> data;
    bool is_writable = false;
  };
  /// Hides the inputs, and from now on what is made of them.
  void begin(std::span<const Input> inputs);
  /// Shows everything again. The bytes of hidden allocations that host code touched.
  std::size_t end();
  /// Shows everything until end(): a library computes, and nothing is left to prove.
  void give_up();
  bool is_active() const { return active_; }
  bool has_given_up() const { return given_up_; }

  /// What lies at an address.
  struct Content {
    bool is_derived = false;  ///< an input, or what was made of them
    bool is_written = false;  ///< by a kernel, or it is a copy of that
  };
  Content content(const void* address);
  /// A copy of such content has come there. False if that is no known allocation.
  bool derive(const void* address, bool is_written);
  /// Host code has been given so many bytes.
  void count(std::size_t bytes);

  /// Copies or fills as CUDA's functions do, wherever the memory is.
  void copy(void* target, const void* source, std::size_t bytes);
  void fill(void* target, int value, std::size_t bytes);

  enum class Reader : std::uint8_t {
    kKernel,  ///< what it writes is derived
    kCopy,    ///< what it writes is said by derive()
  };
  void open(Reader reader);
  void close(Reader reader);
  /// Opens while it lives.
  class Opening {
   public:
    explicit Opening(Reader reader) : reader_(reader) { instance().open(reader_); }
    ~Opening() { instance().close(reader_); }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

   private:
    Reader reader_;
  };

  /// From the handler of SIGSEGV: whether the access goes on.
  bool take_fault(void* address);

 private:
  struct Allocation {
    std::size_t pages_bytes = 0, bytes = 0;
    int rights = 0;  ///< as it was mapped
    int now = 0;
    bool is_input = false;
    Content content = {};
    bool is_shown = false;  ///< host code has touched it since it was written
  };
  using Allocations = std::map<std::byte*, Allocation>;

  Allocations::iterator find(const void* address);
  int wanted(const Allocation& allocation) const;
  void protect(std::byte* pages, Allocation& allocation, int rights);
  void protect_all();

  SpinLock lock_;
  Allocations allocations_;  ///< by their first page
  std::atomic<bool> active_ = false;
  std::atomic<bool> given_up_ = false;
  unsigned readers_ = 0, kernels_ = 0;  ///< that have it open
  std::size_t touched_bytes_ = 0;
  std::uint64_t changes_ = 0;  ///< of protections
};

/// A multiple of the page size.
std::size_t whole_pages(std::size_t bytes);

/// Whether that is so much of the inputs that the host may have computed with it: more than sizes,
/// offsets and single results.
bool is_read_back(std::size_t touched_bytes, std::size_t input_bytes);

}  // namespace kbench::worker
