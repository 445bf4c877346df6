// SPDX-License-Identifier: MIT
#include "compile/compiler_turns.hpp"

#include <condition_variable>
#include <mutex>

namespace kbench {
namespace {

/// All compilers of this process: pools for different languages share the machine.
struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t next = 0, serving = 0;  ///< numbers of those that ask
  unsigned beside = 0;                  ///< that run now
  bool alone = false;
};

// Leaked, since a compile may end while the process does.
Turns& turns() {
  static auto* const kTurns = new Turns;
  return *kTurns;
}

}  // namespace

CompilerTurn::CompilerTurn(Kind kind) : kind_(kind) {
  Turns& all = turns();
  std::unique_lock lock(all.mutex);
  const std::uint64_t number = all.next++;
  all.changed.wait(lock, [&] {
    return all.serving == number && !all.alone && (kind == Kind::kBesideOthers || all.beside == 0);
  });
  ++all.serving;
  if (kind == Kind::kAlone)
    all.alone = true;
  else
    ++all.beside;
  all.changed.notify_all();
}

CompilerTurn::~CompilerTurn() {
  Turns& all = turns();
  const std::lock_guard lock(all.mutex);
  if (kind_ == Kind::kAlone)
    all.alone = false;
  else
    --all.beside;
  all.changed.notify_all();
}

}  // namespace kbench
