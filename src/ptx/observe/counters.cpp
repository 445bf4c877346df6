// SPDX-License-Identifier: MIT
#include "ptx/observe/counters.hpp"

#include <algorithm>
#include <bit>

#include "kbench/profile.hpp"

namespace kbench::ptx {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::size_t kBanks = 32;
constexpr std::uint64_t kBankBytes = 4;

/// One lane's part of a memory instruction.
struct LaneAccess {
  unsigned lane = 0;
  std::uint64_t address = 0, bytes = 0;
  bool read = false, written = false;
};

void mark(std::vector<std::atomic<std::uint64_t>>& bits, std::uint64_t index) {
  auto& word = bits[index / 64];
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  // Most sectors are touched repeatedly, and a load is cheaper than a write.
  if ((word.load(std::memory_order_relaxed) & bit) == 0)
    word.fetch_or(bit, std::memory_order_relaxed);
}

/// The passes over the banks that lanes served together need: the most distinct words in one bank.
std::uint64_t passes(std::vector<std::uint64_t>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<std::uint32_t, kBanks> load{};
  for (const std::uint64_t word : words) ++load[word % kBanks];
  return *std::max_element(load.begin(), load.end());
}

/// The passes beyond those that the accesses' width needs. Accesses of 8 and 16 bytes are served by
/// half and by quarter warps.
std::uint64_t bank_conflicts(const std::vector<LaneAccess>& accesses,
                             std::vector<std::uint64_t>& words) {
  std::uint64_t widest = 4;
  for (const LaneAccess& access : accesses) widest = std::max(widest, access.bytes);
  const auto lanes =
      static_cast<unsigned>(kBanks * kBankBytes / std::min<std::uint64_t>(widest, 16));
  std::uint64_t conflicts = 0;
  for (unsigned first = 0; first < kLanes; first += lanes) {
    words.clear();
    for (const LaneAccess& access : accesses) {
      if (access.lane < first || access.lane >= first + lanes) continue;
      const std::uint64_t end = (access.address + access.bytes - 1) / kBankBytes;
      for (std::uint64_t word = access.address / kBankBytes; word <= end; ++word)
        words.push_back(word);
    }
    if (!words.empty()) conflicts += passes(words) - 1;
  }
  return conflicts;
}

}  // namespace

SectorMap::SectorMap(const Program& program, std::span<const Region> regions) {
  const auto add = [&](const std::byte* base, std::uint64_t bytes) {
    if (bytes == 0) return;
    const auto begin = reinterpret_cast<std::uint64_t>(base);
    Stretch stretch;
    stretch.first = begin / kSectorBytes;
    stretch.count = (begin + bytes - 1) / kSectorBytes - stretch.first + 1;
    stretch.read = std::vector<std::atomic<std::uint64_t>>((stretch.count + 63) / 64);
    stretch.written = std::vector<std::atomic<std::uint64_t>>((stretch.count + 63) / 64);
    stretches_.push_back(std::move(stretch));
  };
  for (const Region& region : regions) add(region.base, region.size_bytes);
  for (const Program::Global& global : program.globals) add(global.storage.data(), global.bytes);
  std::sort(stretches_.begin(), stretches_.end(),
            [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
}

void SectorMap::touch(std::uint64_t sector, bool read, bool written) {
  auto above = std::upper_bound(
      stretches_.begin(), stretches_.end(), sector,
      [](std::uint64_t value, const Stretch& stretch) { return value < stretch.first; });
  if (above == stretches_.begin()) return;
  Stretch& stretch = *--above;
  const std::uint64_t index = sector - stretch.first;
  if (index >= stretch.count) return;
  if (read) mark(stretch.read, index);
  if (written) mark(stretch.written, index);
}

std::uint64_t SectorMap::bytes_in(const std::vector<Stretch>& stretches,
                                  std::vector<std::atomic<std::uint64_t>> Stretch::*bits) {
  std::uint64_t sectors = 0;
  for (const Stretch& stretch : stretches)
    for (const auto& word : stretch.*bits)
      sectors += static_cast<std::uint64_t>(std::popcount(word.load(std::memory_order_relaxed)));
  return sectors * kSectorBytes;
}

std::uint64_t SectorMap::read_bytes() const { return bytes_in(stretches_, &Stretch::read); }
std::uint64_t SectorMap::written_bytes() const { return bytes_in(stretches_, &Stretch::written); }

/// Counts of one host thread. Accesses arrive lane by lane and are combined when the next
/// instruction begins.
class LaunchCounters::Thread final : public Observer {
 public:
  explicit Thread(LaunchCounters& launch) : launch_(launch) {}
  ~Thread() override {
    end_instruction();
    const std::lock_guard lock(launch_.mutex_);
    launch_.sum_ += counters_;
  }

  void instruction(Context& c, const Instr& in) override {
    end_instruction();
    if (c.frame->function != function_) {
      function_ = c.frame->function;
      kinds_ = launch_.kinds_.at(function_).data();
    }
    kind_ = kinds_[&in - function_->code.data()];
    std::uint32_t mask = c.mask;
    if (in.guard != kNone)
      mask &= c.predicate_source(in.guard) ^ (in.guard_negated ? kAllLanes : 0U);
    threads_ = static_cast<std::uint64_t>(std::popcount(mask));
    count(1);
  }

  void undone(Context&, const Instr&) override { count(~std::uint64_t{0}); }

  void access(Context&, const Instr&, unsigned lane, Space space, std::uint64_t address,
              std::uint64_t bytes, Access kind) override {
    const LaneAccess access{lane, address, bytes, kind != Access::kWrite, kind != Access::kRead};
    if (space == Space::kGlobal) {
      global_.push_back(access);
      counters_.global_bytes += bytes;
      if (kind == Access::kAtomic) ++counters_.global_atomics;
    } else if (space == Space::kShared) {
      shared_.push_back(access);
      if (kind == Access::kAtomic) ++counters_.shared_atomics;
    }
  }

 private:
  /// `times` = −1 undoes the count of an instruction that only waited.
  void count(std::uint64_t times) {
    auto& executed = counters_.executed[static_cast<std::size_t>(kind_.instruction_class)];
    executed.warps += times;
    executed.threads += times * threads_;
    const auto type = static_cast<std::size_t>(kind_.flop_type);
    counters_.flops[type] += times * kind_.flops * threads_;
    if (threads_ != 0) counters_.tensor_flops[type] += times * kind_.tensor_flops;
  }

  void end_instruction() {
    if (!global_.empty()) {
      ++counters_.global_requests;
      counters_.global_sectors += touch_sectors();
      global_.clear();
    }
    if (!shared_.empty()) {
      ++counters_.shared_requests;
      counters_.shared_conflicts += bank_conflicts(shared_, scratch_);
      shared_.clear();
    }
  }

  std::uint64_t touch_sectors() {
    scratch_.clear();
    for (const LaneAccess& access : global_) {
      const std::uint64_t last = (access.address + access.bytes - 1) / kSectorBytes;
      for (std::uint64_t sector = access.address / kSectorBytes; sector <= last; ++sector) {
        if (!scratch_.empty() && scratch_.back() == sector) continue;
        launch_.sectors_.touch(sector, access.read, access.written);
        scratch_.push_back(sector);
      }
    }
    std::sort(scratch_.begin(), scratch_.end());
    return static_cast<std::uint64_t>(std::unique(scratch_.begin(), scratch_.end()) -
                                      scratch_.begin());
  }

  LaunchCounters& launch_;
  const Function* function_ = nullptr;
  const InstructionKind* kinds_ = nullptr;
  InstructionKind kind_;
  std::uint64_t threads_ = 0;
  Counters counters_;
  std::vector<LaneAccess> global_, shared_;
  std::vector<std::uint64_t> scratch_;
};

LaunchCounters::LaunchCounters(const Program& program, std::span<const Region> regions)
    : sectors_(program, regions) {
  for (const auto& function : program.functions) {
    auto& kinds = kinds_[function.get()];
    for (const std::string& text : function->texts) kinds.push_back(classify(text));
  }
}

LaunchCounters::~LaunchCounters() = default;

std::unique_ptr<Observer> LaunchCounters::observer() { return std::make_unique<Thread>(*this); }

Counters LaunchCounters::total() const {
  const std::lock_guard lock(mutex_);
  Counters total = sum_;
  total.unique_read_bytes = sectors_.read_bytes();
  total.unique_written_bytes = sectors_.written_bytes();
  return total;
}

}  // namespace kbench::ptx
