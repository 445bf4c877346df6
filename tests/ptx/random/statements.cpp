// SPDX-License-Identifier: MIT
#include "ptx/random/statements.hpp"

#include <fmt/format.h>

namespace kbench::ptx::random {
namespace {

constexpr unsigned kDeepest = 3;

constexpr Row kTogether[] = {{"redux.sync.add.u32 $0, $1, @M", "r r"},
                             {"vote.sync.ballot.b32 $0, $1, @M", "r p!"},
                             {"match.any.sync.b32 $0, $1, @M", "r r"}};

}  // namespace

void Statements::first_values(unsigned each) {
  w_.line(fmt::format("mov.b32 {}, %linear", w_.target(Kind::kB32)));
  static constexpr Row kFirst[] = {
      {"ld.global.b16 $0, [@i2]", "h "}, {"ld.global.b32 $0, [@i4]", "r "},
      {"ld.global.b64 $0, [@i8]", "d "}, {"ld.global.b16 $0, [@e2]", "e "},
      {"ld.global.b16 $0, [@g2]", "g "}, {"ld.global.b32 $0, [@e4]", "E "},
      {"ld.global.b32 $0, [@g4]", "G "}, {"ld.global.f32 $0, [@f4]", "f "},
      {"ld.global.f64 $0, [@F8]", "F "}, {"setp.lt.s32 $0, $1, $2", "p rr"}};
  for (unsigned i = 0; i < each; ++i) {
    for (const Row& row : kFirst) w_.row(row, false);
  }
}

void Statements::instruction() {
  std::uint32_t total = 0;
  const auto allowed = [&](std::size_t group) {
    if (group == static_cast<std::size_t>(Group::kMasked)) return !w_.place.mask.empty();
    if (group == static_cast<std::size_t>(Group::kConverged)) return w_.place.converged;
    return true;
  };
  for (std::size_t g = 0; g < kGroups; ++g) total += allowed(g) ? plan_.weights[g] : 0;
  std::uint32_t roll = rng_.below(total);
  std::size_t group = 0;
  for (;; ++group) {
    const std::uint32_t weight = allowed(group) ? plan_.weights[group] : 0;
    if (roll < weight) break;
    roll -= weight;
  }
  const bool together = group >= static_cast<std::size_t>(Group::kMasked);
  const auto table = rows(static_cast<Group>(group));
  const Row& row = rng_.one_of(table);
  w_.row(row, !together && rng_.chance(12));
}

void Statements::any() {
  const std::uint32_t roll = rng_.below(100);
  if (roll < 78 || (!control(roll) && !together(roll))) instruction();
}

bool Statements::control(std::uint32_t roll) {
  if (roll >= 92 || w_.place.depth >= kDeepest) return false;
  if (roll < 83) {
    branch();
  } else if (roll < 87) {
    loop();
  } else if (roll < 89) {
    cases();
  } else if (!plan_.callees.empty()) {
    const Callee& callee = rng_.one_of(plan_.callees);
    std::string depth;
    if (callee.recursive) {
      const std::string any = w_.source(Kind::kB32);
      depth = w_.fresh(Kind::kB32);
      w_.line(fmt::format("and.b32 {}, {}, 3", depth, any));
    }
    call(callee, depth);
  } else {
    return false;
  }
  return true;
}

bool Statements::together(std::uint32_t roll) {
  if (w_.place.mask.empty()) return false;
  if (roll < 94 && w_.place.depth < kDeepest) {
    masked_branch();
    return true;
  }
  if (!w_.place.converged) return false;
  if (roll < 97) {
    exchange();
  } else if (roll < 99) {
    tally();
  } else {
    barrier_reduction();
  }
  return true;
}

Place Statements::inner(bool uniform) const {
  Place place;
  if (uniform) place = w_.place;
  place.depth = w_.place.depth + 1;
  return place;
}

void Statements::body(unsigned statements) {
  const auto mark = w_.mark();
  for (unsigned i = 0; i < statements; ++i) any();
  w_.leave(mark);
}

/// A predicate to branch on; uniform ones are the same in the whole block.
std::string Statements::condition(bool uniform) {
  if (!uniform && rng_.chance(50)) return w_.source(Kind::kPred);
  const std::string bits = w_.fresh(Kind::kB32), p = w_.fresh(Kind::kPred);
  if (uniform) {
    w_.line(fmt::format("mov.u32 {}, %ctaid.x", bits));
  } else {
    const std::string from = rng_.chance(50) ? std::string("%linear") : w_.source(Kind::kB32);
    w_.line(fmt::format("shr.u32 {}, {}, {}", bits, from, rng_.below(5)));
  }
  w_.line(fmt::format("and.b32 {0}, {0}, {1}", bits, 1 + rng_.below(3)));
  w_.line(fmt::format("setp.{}.u32 {}, {}, 1", rng_.chance(50) ? "eq" : "lt", p, bits));
  return p;
}

void Statements::branch() {
  const bool uniform = rng_.chance(15);
  const std::string p = condition(uniform), otherwise = w_.label(), end = w_.label();
  const Place outer = w_.place;
  w_.place = inner(uniform);
  w_.line(fmt::format("@{} bra {}", p, otherwise));
  body(2 + rng_.below(4));
  if (rng_.chance(60)) {
    w_.line(fmt::format("bra {}", end));
    w_.line(otherwise + ":");
    body(1 + rng_.below(4));
    w_.line(end + ":");
  } else {
    w_.line(otherwise + ":");
  }
  w_.place = outer;
}

/// A branch whose lanes know each other.
void Statements::masked_branch() {
  const std::string p = condition(false), mask = w_.fresh(Kind::kB32), end = w_.label();
  w_.line(fmt::format("vote.sync.ballot.b32 {}, {}, {}", mask, p, w_.place.mask));
  const Place outer = w_.place;
  w_.place = inner(false);
  w_.place.mask = mask;
  w_.line(fmt::format("@!{} bra {}", p, end));
  const auto mark = w_.mark();
  body(2 + rng_.below(3));
  w_.row(rng_.one_of(kTogether), false);
  w_.leave(mark);
  w_.line(end + ":");
  w_.place = outer;
}

void Statements::loop() {
  const bool uniform = rng_.chance(30);
  const std::string count = w_.fresh(Kind::kB32), limit = w_.fresh(Kind::kB32),
                    p = w_.fresh(Kind::kPred), begin = w_.label(), end = w_.label();
  if (uniform) {
    w_.line(fmt::format("mov.u32 {}, {}", limit, 2 + rng_.below(2)));
  } else {
    const std::string from = w_.source(Kind::kB32);
    w_.line(fmt::format("and.b32 {}, {}, {}", limit, from, rng_.chance(50) ? 3 : 7));
  }
  const Place outer = w_.place;
  w_.place = inner(uniform);
  const bool test_first = rng_.chance(50);
  w_.line(fmt::format("mov.u32 {}, 0", count));
  w_.line(begin + ":");
  if (test_first) {
    w_.line(fmt::format("setp.ge.u32 {}, {}, {}", p, count, limit));
    w_.line(fmt::format("@{} bra {}", p, end));
  }
  const auto mark = w_.mark();
  w_.line(fmt::format("mov.u32 {}, {}", w_.target(Kind::kB32), count));
  body(1 + rng_.below(4));
  if (!uniform && rng_.chance(30)) {
    const std::string leave = condition(false);
    w_.line(fmt::format("@{} bra {}", leave, end));
  }
  body(1 + rng_.below(3));
  w_.leave(mark);
  w_.line(fmt::format("add.u32 {0}, {0}, 1", count));
  if (test_first) {
    w_.line(fmt::format("bra {}", begin));
  } else {
    w_.line(fmt::format("setp.lt.u32 {}, {}, {}", p, count, limit));
    w_.line(fmt::format("@{} bra {}", p, begin));
  }
  w_.line(end + ":");
  w_.place = outer;
}

void Statements::cases() {
  const std::uint32_t count = 2 + rng_.below(4);
  const std::string from = w_.source(Kind::kB32), index = w_.fresh(Kind::kB32), table = w_.label(),
                    end = w_.label();
  w_.line(fmt::format("rem.u32 {}, {}, {}", index, from, count));
  std::vector<std::string> labels;
  std::string list;
  for (std::uint32_t i = 0; i < count; ++i) {
    labels.push_back(w_.label());
    list += (i ? ", " : " ") + labels.back();
  }
  w_.line(table + ": .branchtargets" + list);
  w_.line(fmt::format("brx.idx {}, {}", index, table));
  const Place outer = w_.place;
  w_.place = inner(false);
  for (const std::string& label : labels) {
    w_.line(label + ":");
    body(1 + rng_.below(3));
    if (rng_.chance(80)) w_.line(fmt::format("bra {}", end));
  }
  w_.line(end + ":");
  w_.place = outer;
}

}  // namespace kbench::ptx::random
