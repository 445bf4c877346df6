// SPDX-License-Identifier: MIT
#include "worker/device/hidden_memory.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX's
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

namespace kbench::worker {
namespace {

constexpr int kOpen = PROT_READ | PROT_WRITE;
/// Sizes, offsets and single results are less than 1/kReadBackShare of the bytes that a call has to
/// read.
constexpr std::size_t kReadBackShare = 8;
constexpr std::size_t kLeastReadBack = 256;
/// With more allocations than this, those that kernels have not written stay write-protected after
/// the first launch. Opening all of them after each launch would take longer than the kernels.
constexpr std::size_t kReopened = 64;

struct sigaction previous;

/// The last fault at an address that was already open, and the number of changes of protections
/// until then.
struct OpenFault {
  const void* address = nullptr;
  std::uint64_t changes = 0;
  bool operator==(const OpenFault&) const = default;
};
thread_local OpenFault last_open;

void on_fault(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && HiddenMemory::instance().take_fault(info->si_addr)) return;
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr)
    return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  // The access is repeated, and ends the process as without this handler.
  sigaction(SIGSEGV, &previous, nullptr);
}

bool is_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_fault;
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  struct sigaction before {};
  sigaction(SIGSEGV, nullptr, &before);
  if (is_handler(before)) return;
  previous = before;
  sigaction(SIGSEGV, &action, nullptr);
}

void remove_handler() {
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  if (is_handler(now)) sigaction(SIGSEGV, &previous, nullptr);
}

std::size_t page_bytes() {
  static const auto kBytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return kBytes;
}

}  // namespace

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

bool is_read_back(std::size_t touched_bytes, std::size_t input_bytes) {
  return touched_bytes >= std::max(input_bytes / kReadBackShare, kLeastReadBack);
}

HiddenMemory& HiddenMemory::instance() {
  static auto* const kMemory = new HiddenMemory;
  return *kMemory;
}

HiddenMemory::Allocations::iterator HiddenMemory::find(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  auto after = allocations_.upper_bound(const_cast<std::byte*>(at));
  if (after == allocations_.begin()) return allocations_.end();
  --after;
  return at < after->first + after->second.pages_bytes ? after : allocations_.end();
}

int HiddenMemory::wanted(const Allocation& allocation) const {
  if (!active_ || given_up_) return allocation.rights;
  const bool is_hidden = allocation.content.is_derived && !allocation.is_shown;
  if (is_hidden && readers_ == 0) return PROT_NONE;
  // take_fault() sees a kernel's first write there.
  const bool is_known = is_hidden && allocation.content.is_written;
  const int read_only = allocation.rights & ~PROT_WRITE;
  const bool stays = !is_hidden && allocation.now == read_only && allocations_.size() > kReopened;
  return stays || (kernels_ > 0 && !is_known) ? read_only : allocation.rights;
}

void HiddenMemory::protect(std::byte* pages, Allocation& allocation, int rights) {
  if (allocation.now == rights) return;
  if (mprotect(pages, allocation.pages_bytes, rights) != 0) return;
  allocation.now = rights;
  ++changes_;
}

void HiddenMemory::protect_all() {
  for (auto& [pages, allocation] : allocations_) protect(pages, allocation, wanted(allocation));
}

void HiddenMemory::add(std::span<std::byte> pages, std::size_t bytes) {
  const std::lock_guard lock(lock_);
  allocations_[pages.data()] = {pages.size(), bytes, kOpen, kOpen, false, {}, false};
}

void HiddenMemory::remove(std::byte* pages) {
  const std::lock_guard lock(lock_);
  const auto found = allocations_.find(pages);
  if (found == allocations_.end()) return;
  protect(pages, found->second, found->second.rights);
  allocations_.erase(found);
}

void HiddenMemory::begin(std::span<const Input> inputs) {
  const std::lock_guard lock(lock_);
  active_ = true;
  given_up_ = false;
  touched_bytes_ = 0;
  readers_ = kernels_ = 0;
  for (const Input& input : inputs) {
    if (input.data.empty()) continue;
    const auto past = reinterpret_cast<std::uintptr_t>(input.data.data()) % page_bytes();
    const int rights = input.is_writable ? kOpen : PROT_READ;
    allocations_[input.data.data() - past] = {whole_pages(past + input.data.size()),
                                              input.data.size(),
                                              rights,
                                              rights,
                                              true,
                                              {.is_derived = true},
                                              false};
  }
  install_handler();
  protect_all();
}

std::size_t HiddenMemory::end() {
  const std::lock_guard lock(lock_);
  active_ = false;
  protect_all();
  std::erase_if(allocations_, [](const auto& known) { return known.second.is_input; });
  for (auto& [pages, allocation] : allocations_) {
    allocation.content = {};
    allocation.is_shown = false;
  }
  remove_handler();
  return touched_bytes_;
}

void HiddenMemory::give_up() {
  const std::lock_guard lock(lock_);
  if (!active_ || given_up_) return;
  given_up_ = true;
  protect_all();
}

HiddenMemory::Content HiddenMemory::content(const void* address) {
  const std::lock_guard lock(lock_);
  const auto found = find(address);
  return found != allocations_.end() ? found->second.content : Content();
}

bool HiddenMemory::derive(const void* address, bool is_written) {
  const std::lock_guard lock(lock_);
  const auto found = find(address);
  if (found == allocations_.end()) return false;
  Content& content = found->second.content;
  content = {true, content.is_written || is_written};
  found->second.is_shown = false;
  protect(found->first, found->second, wanted(found->second));
  return true;
}

void HiddenMemory::count(std::size_t bytes) {
  const std::lock_guard lock(lock_);
  touched_bytes_ += bytes;
}

void HiddenMemory::copy(void* target, const void* source, std::size_t bytes) {
  const Opening open(Reader::kCopy);
  std::memmove(target, source, bytes);
  if (!active_) return;
  const Content copied = content(source);
  if (copied.is_derived && !derive(target, copied.is_written)) count(bytes);
}

void HiddenMemory::fill(void* target, int value, std::size_t bytes) {
  const Opening open(Reader::kCopy);
  std::memset(target, value, bytes);
}

void HiddenMemory::open(Reader reader) {
  const std::lock_guard lock(lock_);
  ++readers_;
  kernels_ += reader == Reader::kKernel ? 1 : 0;
  if (active_ && !given_up_) protect_all();
}

void HiddenMemory::close(Reader reader) {
  const std::lock_guard lock(lock_);
  if (readers_ > 0) --readers_;
  if (reader == Reader::kKernel && kernels_ > 0) --kernels_;
  if (active_ && !given_up_) protect_all();
}

bool HiddenMemory::take_fault(void* address) {
  const std::lock_guard lock(lock_);
  const auto found = find(address);
  if (found == allocations_.end()) return false;
  Allocation& allocation = found->second;
  if (allocation.now == allocation.rights) {
    // Either another thread has opened the pages, or the code writes to read-only memory. In the
    // second case the same fault follows without a change between.
    const OpenFault fault{address, changes_};
    return std::exchange(last_open, fault) != fault;
  }
  if (allocation.now == PROT_NONE) {
    if (readers_ == 0) {
      touched_bytes_ += allocation.bytes;
      allocation.is_shown = true;
    }
  } else if (kernels_ > 0) {  // a kernel writes there
    allocation.content = {true, true};
    allocation.is_shown = false;
  }
  protect(found->first, allocation, allocation.rights);
  return allocation.now == allocation.rights;
}

}  // namespace kbench::worker
