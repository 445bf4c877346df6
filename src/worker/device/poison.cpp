// SPDX-License-Identifier: MIT
#include "worker/device/poison.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

namespace kbench::worker {
namespace {

constexpr std::array<PoisonKind, kPoisonKinds> kAllKinds = {
    PoisonKind::kNaN, PoisonKind::kZero, PoisonKind::kLoud, PoisonKind::kPlausible,
    PoisonKind::kData};
constexpr std::array kTimedKinds = {PoisonKind::kNaN, PoisonKind::kLoud, PoisonKind::kPlausible};
/// In fp32 and bf16: 0.75, 3, 12, -1.5, -6, -24. In fp16: 1.8 to 2.9 with these signs.
constexpr std::array<Poison, 6> kPlausible = {0x3f, 0x40, 0x41, 0xbf, 0xc0, 0xc1};

/// Limit of the input's content that is repeated in newly allocated memory.
constexpr std::size_t kMostData = 64 << 10;

/// The content that fill_new_memory() writes. Never destroyed, because tensors may outlive static
/// objects.
struct NewMemory {
  std::mutex mutex;
  Poison poison = kPoison;
  std::vector<std::byte> data;
};
NewMemory& new_memory() {
  static auto* memory = new NewMemory;
  return *memory;
}

}  // namespace

PoisonKind poison_kind(Poison poison) {
  if (poison >= kDataPoison) return PoisonKind::kData;
  if (poison == kPoison) return PoisonKind::kNaN;
  if (poison == kZeroPoison) return PoisonKind::kZero;
  return poison == kLoudPoison ? PoisonKind::kLoud : PoisonKind::kPlausible;
}

std::uint8_t poison_byte(Poison poison) {
  return static_cast<std::uint8_t>(poison < kDataPoison ? poison : kPlausible.front());
}

std::size_t poison_offset(Poison poison, std::size_t data_bytes) {
  constexpr std::size_t kWidest = 8;
  const std::size_t place = poison < kDataPoison ? 0 : (poison - kDataPoison) % kDataPlaces;
  return data_bytes / kWidest * place / kDataPlaces * kWidest;
}

Poison PoisonOrder::poison_of(PoisonKind kind) {
  switch (kind) {
    case PoisonKind::kNaN:
      return kPoison;
    case PoisonKind::kZero:
      return kZeroPoison;
    case PoisonKind::kLoud:
      return kLoudPoison;
    case PoisonKind::kPlausible:
      break;
    case PoisonKind::kData:
      return kDataPoison + static_cast<Poison>(random_() % kDataPlaces);
  }
  return kPlausible[random_() % kPlausible.size()];
}

Poison PoisonOrder::next() {
  if (left_.empty()) {
    left_.assign(kAllKinds.begin(), kAllKinds.end());
    std::shuffle(left_.begin(), left_.end(), random_);
    if (!std::exchange(begun_, true))
      std::iter_swap(std::ranges::find(left_, PoisonKind::kNaN), left_.end() - 1);
  }
  const PoisonKind kind = left_.back();
  left_.pop_back();
  return poison_of(kind);
}

Poison PoisonOrder::next_timed() { return poison_of(kTimedKinds[random_() % kTimedKinds.size()]); }

std::vector<Poison> PoisonOrder::not_compared() {
  std::vector<Poison> poisons;
  for (const PoisonKind kind : kAllKinds)
    if (!compared_.contains(kind)) poisons.push_back(poison_of(kind));
  return poisons;
}

void set_memory_poison(Poison poison, std::span<const std::byte> data) {
  NewMemory& memory = new_memory();
  const std::lock_guard lock(memory.mutex);
  memory.poison = poison;
  const auto kept = data.first(std::min(data.size(), poison < kDataPoison ? 0 : kMostData));
  memory.data.assign(kept.begin(), kept.end());
}

void fill_new_memory(std::byte* memory, std::size_t size_bytes) {
  NewMemory& known = new_memory();
  const std::lock_guard lock(known.mutex);
  if (known.data.empty())
    std::memset(memory, poison_byte(known.poison), size_bytes);
  else
    spread_data(memory, size_bytes, known.poison, known.data,
                [](std::byte* to, const std::byte* from, std::size_t bytes) {
                  std::memcpy(to, from, bytes);
                });
}

}  // namespace kbench::worker
