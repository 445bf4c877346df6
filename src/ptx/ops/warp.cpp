// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>

#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"
#include "ptx/machine/warp_sync.hpp"
#include "ptx/memory/lane_memory.hpp"

// Instructions that lanes of a warp execute together.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u32 first_lane(u32 mask) { return static_cast<u32>(std::countr_zero(mask)); }

/// Continues with lanes whose partners have all arrived; the others wait. `operand`: each lane's
/// mask of partners. False if no lane can continue.
bool converge(Context& c, const Instr& in, u32 operand) {
  if (in.guard != kNone && !enter_guard(c, in)) return false;
  const u32* members = c.source<u32>(operand);
  if ((operand & kConstantBit) != 0) {
    const u32 all = members[0];
    if ((all & c.warp->live & ~c.mask) == 0 && (c.mask & ~all) == 0) return true;
  }
  u32 ready = 0;
  u32 stranger = 0;
  for_lanes(c.mask, [&](unsigned i) {
    ready |= u32{(members[i] & c.warp->live & ~c.mask) == 0} << i;
    stranger |= u32{((members[i] >> i) & 1U) == 0} << i;
  });
  if (stranger != 0) {
    raise(c, in, first_lane(stranger), FaultKind::kTrap,
          "executes a warp-synchronous instruction whose mask does not include the thread");
    return false;
  }
  if (ready == c.mask) return true;
  if (ready == 0) {
    c.wait = Wait::kConverge;
    c.ip = &in;
    c.merge_ip = nullptr;
    return false;
  }
  Fragment rest;
  rest.mask = c.mask & ~ready;
  rest.ip = &in;
  rest.frame = c.frame;
  rest.wait = Wait::kConverge;
  c.warp->fragments.push_back(rest);
  c.mask = ready;
  c.full = false;
  c.merge_ip = nullptr;
  return true;
}

enum class Shuffle : std::uint8_t { kUp, kDown, kButterfly, kIndex };

/// Source lane by PTX's rule; c holds the segment mask and the clamp.
bool shuffle_source(Shuffle mode, u32 lane, u32 b, u32 c, u32& source) {
  const u32 clamp = c & 31U, segment = (c >> 8) & 31U;
  const u32 high = (lane & segment) | (clamp & ~segment);
  const u32 low = lane & segment;
  b &= 31U;
  bool inside = false;
  switch (mode) {
    case Shuffle::kUp:
      source = lane - b;
      inside = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(high);
      break;
    case Shuffle::kDown:
      source = lane + b;
      inside = source <= high;
      break;
    case Shuffle::kButterfly:
      source = lane ^ b;
      inside = source <= high;
      break;
    case Shuffle::kIndex:
      source = low | (b & ~segment & 31U);
      inside = source <= high;
      break;
  }
  if (!inside) source = lane;
  return inside;
}

template <Shuffle mode, bool kWide>
struct Exchange {
  static void run(Context& c, const Instr& in) {
    const u32* a = c.source<u32>(in.s[0]);
    const u32* b = c.source<u32>(in.s[1]);
    const u32* bounds = c.source<u32>(in.s[2]);
    alignas(64) std::array<u32, kLanes> source;
    u32 inside = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      u32 from = 0;
      inside |= u32{shuffle_source(mode, i, b[i], bounds[i], from)} << i;
      source[i] = from & 31U;
    }
    take(c.target<u32>(in.d), a, source, c.mask);
    if (in.extra == kNone) return;
    c.set_predicate(in.extra, inside);
  }

 private:
  static void take(u32* d, const u32* a, const std::array<u32, kLanes>& source, u32 mask) {
#ifdef KBENCH_PTX_INTRINSICS
    if constexpr (kWide) return wide::permute(d, a, source.data(), mask);
#endif
    alignas(64) std::array<u32, kLanes> values;
    for (unsigned i = 0; i < kLanes; ++i) values[i] = a[source[i]];
    put(d, mask, values.data());
  }
};

template <Shuffle mode>
Execute exchange() {
  return pick<Exchange<mode, false>, Exchange<mode, true>>();
}

void shuffle(Context& c, const Instr& in) {
  if (!converge(c, in, in.s[3])) return;
  static const std::array<Execute, 4> kModes{exchange<Shuffle::kUp>(), exchange<Shuffle::kDown>(),
                                             exchange<Shuffle::kButterfly>(),
                                             exchange<Shuffle::kIndex>()};
  kModes[in.aux](c, in);
}

/// Takes the destination: d or d|p, where p is a predicate.
void decode_pair(Decode& d, Type type) {
  const Operand& target = d.operand(0);
  d.out.d = d.destination(target, type);
  if (target.second.empty() || target.second == "_") return;
  Operand second;
  second.name = target.second;
  d.out.extra = d.predicate(second);
}

void decode_shfl(Decode& d) {
  if (!d.flag("sync")) d.reject("shfl without .sync does not exist on this architecture");
  std::uint8_t mode = 0;
  for (const std::string_view name : {"up", "down", "bfly", "idx"}) {
    if (d.flag(name)) break;
    ++mode;
  }
  if (mode == 4 || d.type() != Type::kB32) d.reject("this form is not supported");
  d.expect_operands(5, 5);
  decode_pair(d, Type::kB32);
  for (std::size_t i = 0; i < 4; ++i) d.out.s[i] = d.source(d.operand(i + 1), Type::kB32);
  d.out.aux = mode;
  d.control(&shuffle);
}

enum class Vote : std::uint8_t { kAll, kAny, kUniform, kBallot };

void vote(Context& c, const Instr& in) {
  if (!converge(c, in, in.s[1])) return;
  const u32 predicate = c.predicate_source(in.s[0]) ^ (in.flags != 0 ? kAllLanes : 0U);
  const u32* members = c.source<u32>(in.s[1]);
  const auto kind = static_cast<Vote>(in.aux);
  u32 holds = 0;
  for_lanes(c.mask, [&](unsigned i) {
    const u32 voters = members[i] & c.warp->live;
    const u32 yes = predicate & voters;
    if (kind == Vote::kBallot) {
      c.target<u32>(in.d)[i] = yes;
    } else {
      const bool all = yes == voters, any = yes != 0;
      const bool result = kind == Vote::kAll ? all : kind == Vote::kAny ? any : all || !any;
      holds |= u32{result} << i;
    }
  });
  if (kind == Vote::kBallot) return;
  u32& p = c.predicate(in.d);
  p = (p & ~c.mask) | holds;
}

void decode_vote(Decode& d) {
  if (!d.flag("sync")) d.reject("vote without .sync does not exist on this architecture");
  std::uint8_t kind = 0;
  for (const std::string_view name : {"all", "any", "uni", "ballot"}) {
    if (d.flag(name)) break;
    ++kind;
  }
  const Type type = d.type();
  d.expect_operands(3, 3);
  d.out.d = d.destination(d.operand(0), type);
  bool negated = false;
  d.out.s[0] = d.predicate_source(d.operand(1), negated);
  d.out.s[1] = d.source(d.operand(2), Type::kB32);
  d.out.aux = kind;
  d.out.flags = negated ? 1 : 0;
  if (kind > 3 || (type == Type::kPred) != (kind != 3)) d.reject("this form is not supported");
  d.control(&vote);
}

template <class T, bool all>
void match(Context& c, const Instr& in) {
  if (!converge(c, in, in.s[1])) return;
  const T* a = c.source<T>(in.s[0]);
  const u32* members = c.source<u32>(in.s[1]);
  std::array<u32, kLanes> result{};
  u32 holds = 0;
  for_lanes(c.mask, [&](unsigned i) {
    const u32 group = members[i] & c.warp->live;
    u32 same = 0;
    for_lanes(group, [&](unsigned k) { same |= u32{a[k] == a[i]} << k; });
    result[i] = all && same != group ? 0 : same;
    holds |= u32{same == group} << i;
  });
  for_lanes(c.mask, [&](unsigned i) { c.target<u32>(in.d)[i] = result[i]; });
  if (in.extra == kNone) return;
  u32& p = c.predicate(in.extra);
  p = (p & ~c.mask) | holds;
}

void decode_match(Decode& d) {
  const bool all = d.flag("all");
  if (!all && !d.flag("any")) d.reject("one of .any, .all is missing");
  if (!d.flag("sync")) d.reject("the modifier .sync is missing");
  const Type type = d.type();
  d.expect_operands(3, 3);
  decode_pair(d, Type::kB32);
  d.out.s[0] = d.source(d.operand(1), type);
  d.out.s[1] = d.source(d.operand(2), Type::kB32);
  if (type == Type::kB32) return d.control(all ? &match<u32, true> : &match<u32, false>);
  if (type != Type::kB64) d.reject("the type is not supported");
  d.control(all ? &match<u64, true> : &match<u64, false>);
}

enum class Reduction : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

/// Bits of in.flags for f32 reductions.
constexpr std::uint16_t kAbsolute = 1, kKeepsNan = 2;

template <class T>
T combine(Reduction kind, T a, T b, std::uint16_t) {
  switch (kind) {
    case Reduction::kAdd:
      return static_cast<T>(static_cast<u32>(a) + static_cast<u32>(b));
    case Reduction::kMin:
      return std::min(a, b);
    case Reduction::kMax:
      return std::max(a, b);
    case Reduction::kAnd:
      return a & b;
    case Reduction::kOr:
      return a | b;
    case Reduction::kXor:
      return a ^ b;
  }
  return a;
}

float combine(Reduction kind, float a, float b, std::uint16_t flags) {
  if ((flags & kKeepsNan) != 0 && (a != a || b != b)) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return kind == Reduction::kMin ? min_number(a, b) : max_number(a, b);
}

template <class T>
void reduce(Context& c, const Instr& in) {
  if (!converge(c, in, in.s[1])) return;
  std::array<T, kLanes> value{};
  const T* a = c.source<T>(in.s[0]);
  std::copy(a, a + kLanes, value.begin());
  if constexpr (std::is_same_v<T, float>) {
    if ((in.flags & kAbsolute) != 0) {
      for (float& x : value) x = std::fabs(x);
    }
  }
  const u32* members = c.source<u32>(in.s[1]);
  for_lanes(c.mask, [&](unsigned i) {
    const u32 group = members[i] & c.warp->live;
    T result = value[first_lane(group)];
    for_lanes(group & (group - 1), [&](unsigned k) {
      result = combine(static_cast<Reduction>(in.aux), result, value[k], in.flags);
    });
    c.target<T>(in.d)[i] = result;
  });
}

void decode_redux(Decode& d) {
  if (!d.flag("sync")) d.reject("the modifier .sync is missing");
  std::uint8_t kind = 0;
  for (const std::string_view name : {"add", "min", "max", "and", "or", "xor"}) {
    if (d.flag(name)) break;
    ++kind;
  }
  const Type type = d.type();
  const bool real = type == Type::kF32 && (kind == 1 || kind == 2);
  if (kind == 6 || size_bytes(type) != 4 || (is_float(type) && !real)) {
    d.reject("this form is not supported");
  }
  if (real && d.flag("abs")) d.out.flags |= kAbsolute;
  if (real && d.flag("NaN")) d.out.flags |= kKeepsNan;
  d.plain_operands(type, {type, Type::kB32});
  d.out.aux = kind;
  if (real) return d.control(&reduce<float>);
  d.control(is_signed(type) ? &reduce<std::int32_t> : &reduce<u32>);
}

void active_mask(Context& c, const Instr& in) {
  for_lanes(c.mask, [&](unsigned i) { c.target<u32>(in.d)[i] = c.mask; });
}

void decode_activemask(Decode& d) {
  d.plain_operands(d.type(), {});
  d.each(&active_mask);
}

void elect(Context& c, const Instr& in) {
  if (!converge(c, in, in.s[0])) return;
  const u32* members = c.source<u32>(in.s[0]);
  u32 chosen = 0;
  for_lanes(c.mask, [&](unsigned i) {
    const u32 leader = first_lane(members[i] & c.warp->live);
    if (in.d != kNone) c.target<u32>(in.d)[i] = leader;
    chosen |= u32{leader == i} << i;
  });
  u32& p = c.predicate(in.extra);
  p = (p & ~c.mask) | chosen;
}

void decode_elect(Decode& d) {
  if (!d.flag("sync")) d.reject("the modifier .sync is missing");
  d.expect_operands(2, 2);
  const Operand& target = d.operand(0);
  if (target.second.empty()) d.reject("the predicate is missing");
  if (target.kind != Operand::Kind::kSink) d.out.d = d.destination(target, Type::kB32);
  Operand second;
  second.name = target.second;
  d.out.extra = d.predicate(second);
  d.out.s[0] = d.source(d.operand(1), Type::kB32);
  d.control(&elect);
}

constexpr OpcodeRow kRows[] = {
    {"shfl", decode_shfl},   {"vote", decode_vote},   {"match", decode_match},
    {"redux", decode_redux}, {"elect", decode_elect}, {"activemask", decode_activemask},
};

constexpr SyncRow kSyncRows[] = {
    {&shuffle, {Lanes::k32, Lanes::k32, Lanes::k32, Lanes::k32}, Lanes::k32, 3},
    {&vote, {Lanes::kPredicate, Lanes::k32}, Lanes::kPredicate, 1},
    {&match<u32, false>, {Lanes::k32, Lanes::k32}, Lanes::k32, 1},
    {&match<u32, true>, {Lanes::k32, Lanes::k32}, Lanes::k32, 1},
    {&match<u64, false>, {Lanes::k64, Lanes::k32}, Lanes::k32, 1},
    {&match<u64, true>, {Lanes::k64, Lanes::k32}, Lanes::k32, 1},
    {&reduce<u32>, {Lanes::k32, Lanes::k32}, Lanes::k32, 1},
    {&reduce<std::int32_t>, {Lanes::k32, Lanes::k32}, Lanes::k32, 1},
    {&reduce<float>, {Lanes::k32, Lanes::k32}, Lanes::k32, 1},
    {&elect, {Lanes::k32}, Lanes::k32, 0},
};

}  // namespace

const SyncRow* find_sync(const Instr& in) {
  static constexpr SyncRow kBallot{&vote, {Lanes::kPredicate, Lanes::k32}, Lanes::k32, 1};
  const auto ballot = static_cast<std::uint8_t>(Vote::kBallot);
  if (in.full == kBallot.execute && in.aux == ballot) return &kBallot;
  for (const SyncRow& row : kSyncRows) {
    if (row.execute == in.full) return &row;
  }
  return nullptr;
}

std::span<const OpcodeRow> warp_opcodes() { return kRows; }

}  // namespace kbench::ptx
