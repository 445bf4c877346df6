// SPDX-License-Identifier: MIT
#include "compile/compiler_turns.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kbench {
namespace {

/// State of all compilers of this process. Pools for different languages share one machine.
struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t next = 0, serving = 0;  ///< numbers of requests
  unsigned running = 0;                 ///< compilers that run alongside others
  bool alone = false;
  std::chrono::nanoseconds alone_for{0};  ///< granted by take_time_alone()
};

constexpr std::chrono::minutes kFirstAlone{1};
constexpr int kShareAlone = 4;

// Leaked, because a compile may end while the process exits.
Turns& turns() {
  static auto* const kTurns = new Turns;
  return *kTurns;
}

}  // namespace

bool take_time_alone(std::chrono::nanoseconds limit) {
  static const auto kStart = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - kStart;
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  if (all.alone_for + limit > kFirstAlone + elapsed / kShareAlone) return false;
  all.alone_for += limit;
  return true;
}

CompilerTurn::CompilerTurn(Kind kind) : kind_(kind) {
  Turns& all = turns();
  std::unique_lock lock(all.mutex);
  const std::uint64_t number = all.next++;
  all.changed.wait(lock, [&] {
    return all.serving == number && !all.alone && (kind == Kind::kWithOthers || all.running == 0);
  });
  ++all.serving;
  if (kind == Kind::kAlone)
    all.alone = true;
  else
    ++all.running;
  all.changed.notify_all();
}

CompilerTurn::~CompilerTurn() {
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  if (kind_ == Kind::kAlone)
    all.alone = false;
  else
    --all.running;
  all.changed.notify_all();
}

}  // namespace kbench
