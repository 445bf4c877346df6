// SPDX-License-Identifier: MIT
#include <utility>

#include "ptx/machine/machine.hpp"

namespace kbench::ptx {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMaxKept = 0;  // keeps nothing, so that the sanitizer sees uses after free
#else
constexpr std::size_t kMaxKept = std::size_t{4} << 20;
#endif
constexpr std::size_t kMaxSizes = 16;

void release(std::byte* p) { ::operator delete (p, std::align_val_t{64}); }

thread_local bool thread_ends = false;

/// Freed memory that a host thread keeps for its next blocks.
class Spare {
 public:
  Spare() = default;
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;
  ~Spare() {
    thread_ends = true;
    clear();
  }
  std::byte* take(std::size_t size) {
    for (auto& [bytes, free] : sizes_) {
      if (bytes != size || free.empty()) continue;
      std::byte* p = free.back();
      free.pop_back();
      kept_ -= size;
      return p;
    }
    return nullptr;
  }
  bool keep(std::byte* p, std::size_t size) {
    if (size > kMaxKept) return false;
    if (kept_ + size > kMaxKept || sizes_.size() > kMaxSizes) clear();
    kept_ += size;
    for (auto& [bytes, free] : sizes_) {
      if (bytes != size) continue;
      free.push_back(p);
      return true;
    }
    sizes_.emplace_back(size, std::vector<std::byte*>{p});
    return true;
  }

 private:
  void clear() {
    for (const auto& [bytes, free] : sizes_) {
      for (std::byte* p : free) release(p);
    }
    sizes_.clear();
    kept_ = 0;
  }

  std::vector<std::pair<std::size_t, std::vector<std::byte*>>> sizes_;
  std::size_t kept_ = 0;
};

Spare& spare() {
  thread_local Spare kept;
  return kept;
}

}  // namespace

std::byte* Bytes::allocate(std::size_t size) {
  std::byte* p = thread_ends ? nullptr : spare().take(size);
  return p != nullptr ? p : static_cast<std::byte*>(::operator new (size, std::align_val_t{64}));
}

void Bytes::free(std::byte* p, std::size_t size) noexcept {
  if (thread_ends || !spare().keep(p, size)) release(p);
}

}  // namespace kbench::ptx
