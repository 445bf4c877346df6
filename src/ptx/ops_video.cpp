// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ptx/arithmetic.hpp"
#include "ptx/decode.hpp"

// Video instructions: on one part of a word (vadd … vset) and on two or four (vadd2 … vset4).
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

enum class VideoOp : std::uint8_t {
  kAdd,
  kSub,
  kDifference,
  kMin,
  kMax,
  kShl,
  kShr,
  kMad,
  kSet,
  kAverage
};
enum class Second : std::uint8_t { kNone, kAdd, kMin, kMax };
enum class VideoRelation : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

/// Bits of a word: a byte, a half, or all.
struct Part {
  std::uint8_t first = 0, bits = 32;
};

/// One instruction. Instr::list holds it.
struct Video {
  VideoOp op = VideoOp::kAdd;
  Second second = Second::kNone;
  VideoRelation relation = VideoRelation::kEq;
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturate = false, wrap = false, merges = false;
  std::uint8_t scale = 0;
  Part d, a, b;
  // Several parts at once: how many, where each comes from in b:a, which of d are written.
  std::uint8_t parts = 1, mask = 0;
  std::array<std::uint8_t, 4> a_from{}, b_from{};
};
static_assert(std::is_trivially_copyable_v<Video>);

s64 select(u32 word, Part part, bool sign) {
  const u32 up = 32U - part.bits;
  const u32 left = (word >> part.first) << up;
  return sign ? s64{static_cast<s32>(left) >> up} : s64{left >> up};
}

/// Holds a word shifted by 32 and the product of two words.
using Value = __int128;

s64 clamp_bits(Value x, unsigned bits, bool sign) {
  const s64 high = (s64{1} << (sign ? bits - 1 : bits)) - 1;
  return static_cast<s64>(std::clamp<Value>(x, sign ? -high - 1 : s64{0}, high));
}

bool holds(VideoRelation relation, s64 a, s64 b) {
  switch (relation) {
    case VideoRelation::kEq:
      return a == b;
    case VideoRelation::kNe:
      return a != b;
    case VideoRelation::kLt:
      return a < b;
    case VideoRelation::kLe:
      return a <= b;
    case VideoRelation::kGt:
      return a > b;
    case VideoRelation::kGe:
      return a >= b;
  }
  return false;
}

Value apply(const Video& v, s64 a, s64 b) {
  const s64 distance = v.wrap ? b & 31 : std::min<s64>(b, 32);
  switch (v.op) {
    case VideoOp::kAdd:
      return a + b;
    case VideoOp::kSub:
      return a - b;
    case VideoOp::kDifference:
      return std::abs(a - b);
    case VideoOp::kMin:
      return std::min(a, b);
    case VideoOp::kMax:
      return std::max(a, b);
    case VideoOp::kShl:
      return Value{a} * (Value{1} << distance);
    case VideoOp::kShr:
      return a >> distance;
    case VideoOp::kMad:
      return Value{a} * b;
    case VideoOp::kSet:
      return holds(v.relation, a, b) ? 1 : 0;
    case VideoOp::kAverage:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
  }
  return 0;
}

/// The word as the result's type reads it.
s64 as_result(const Video& v, u32 word) { return select(word, Part{}, v.d_signed); }

u32 one_part(const Video& v, u32 a, u32 b, u32 c) {
  Value value = apply(v, select(a, v.a, v.a_signed), select(b, v.b, v.b_signed));
  if (v.op == VideoOp::kMad) {
    const Value sum = (value + as_result(v, c)) >> v.scale;
    return static_cast<u32>(v.saturate ? clamp_bits(sum, 32, v.d_signed) : sum);
  }
  if (v.saturate) value = clamp_bits(value, v.d.bits, v.d_signed);
  const auto word = static_cast<u32>(value);
  if (v.merges) {
    const u32 ones = (v.d.bits == 32 ? ~0U : (1U << v.d.bits) - 1U) << v.d.first;
    return ((word << v.d.first) & ones) | (c & ~ones);
  }
  switch (v.second) {
    case Second::kAdd:
      return word + c;
    case Second::kMin:
      return static_cast<u32>(std::min(as_result(v, word), as_result(v, c)));
    case Second::kMax:
      return static_cast<u32>(std::max(as_result(v, word), as_result(v, c)));
    default:
      return word;
  }
}

u32 several_parts(const Video& v, u32 a, u32 b, u32 c) {
  const auto bits = static_cast<std::uint8_t>(32U / v.parts);
  const u32 ones = (1U << bits) - 1U;
  const auto get = [&](std::uint8_t from, bool sign) {
    const auto at = static_cast<std::uint8_t>(from % v.parts * bits);
    return select(from < v.parts ? a : b, Part{at, bits}, sign);
  };
  const bool adds = v.second == Second::kAdd;
  u32 result = adds ? c : 0;
  for (unsigned i = 0; i < v.parts; ++i) {
    const bool written = ((v.mask >> i) & 1U) != 0;
    Value value = apply(v, get(v.a_from[i], v.a_signed), get(v.b_from[i], v.b_signed));
    if (v.saturate) value = clamp_bits(value, bits, v.d_signed);
    const auto word = static_cast<u32>(value);
    if (adds) {
      result += written ? word : 0;
    } else {
      result |= written ? (word & ones) << (bits * i) : c & (ones << (bits * i));
    }
  }
  return result;
}

void run_video(Context& c, const Instr& in) {
  Video v;
  std::memcpy(static_cast<void*>(&v), in.list, sizeof v);
  u32* d = c.target<u32>(in.d);
  const u32* a = c.source<u32>(in.s[0]);
  const u32* b = c.source<u32>(in.s[1]);
  const u32* e = c.source<u32>(in.s[2]);
  for_lanes(c.mask, [&](unsigned i) {
    d[i] = v.parts == 1 ? one_part(v, a[i], b[i], e[i]) : several_parts(v, a[i], b[i], e[i]);
  });
}

/// Splits "%r1.h0" into the register and its selector.
Operand without_selector(const Operand& operand, std::string& selector) {
  Operand plain = operand;
  const auto dot =
      operand.kind == Operand::Kind::kName ? operand.name.find('.') : std::string::npos;
  selector = dot == std::string::npos ? "" : operand.name.substr(dot + 1);
  if (dot != std::string::npos) plain.name = operand.name.substr(0, dot);
  return plain;
}

Part part_of(Decode& d, const std::string& selector) {
  if (selector.empty()) return {};
  const unsigned index = static_cast<unsigned>(selector.back() - '0');
  if (selector.size() == 2 && selector[0] == 'b' && index < 4) {
    return {static_cast<std::uint8_t>(8 * index), 8};
  }
  if (selector.size() == 2 && selector[0] == 'h' && index < 2) {
    return {static_cast<std::uint8_t>(16 * index), 16};
  }
  d.reject("the selector is not known");
}

/// Digits of ".h32" or ".b7654", from the right; each below `below`.
std::vector<std::uint8_t> digits_of(Decode& d, const std::string& selector, unsigned below) {
  std::vector<std::uint8_t> digits;
  for (std::size_t i = selector.size(); i-- > 1;) {
    const auto digit = static_cast<unsigned>(selector[i] - '0');
    if (digit >= below) d.reject("the selector is not known");
    digits.push_back(static_cast<std::uint8_t>(digit));
  }
  return digits;
}

void take_sources(Decode& d, Video& v, const std::string& selector, bool second) {
  auto& from = second ? v.b_from : v.a_from;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<std::uint8_t>(second ? v.parts + i : i);
  }
  if (selector.empty()) return;
  const auto digits = digits_of(d, selector, 2U * v.parts);
  if (digits.size() != v.parts) d.reject("the selector is not known");
  std::copy(digits.begin(), digits.end(), from.begin());
}

void take_operands(Decode& d, Video& v) {
  std::string selectors[3];
  const Operand target = without_selector(d.operand(0), selectors[0]);
  d.out.d = d.destination(target, Type::kB32);
  for (std::size_t i = 0; i < 2; ++i) {
    d.out.s[i] = d.source(without_selector(d.operand(i + 1), selectors[i + 1]), Type::kB32);
  }
  const bool third = d.operands() == 4;
  d.out.s[2] = third ? d.source(d.operand(3), Type::kB32) : d.constant(0, 4);
  if (v.parts == 1) {
    v.d = part_of(d, selectors[0]);
    v.merges = !selectors[0].empty();
    v.a = part_of(d, selectors[1]);
    v.b = part_of(d, selectors[2]);
    const bool wanted = v.merges || v.second != Second::kNone || v.op == VideoOp::kMad;
    if (wanted != third || (v.merges && v.second != Second::kNone)) {
      d.reject("the operands do not fit the form");
    }
    return;
  }
  if (!third) d.reject("operands are missing");
  v.mask = static_cast<std::uint8_t>((1U << v.parts) - 1);
  if (!selectors[0].empty()) v.mask = 0;
  for (const auto digit : digits_of(d, selectors[0], v.parts)) {
    v.mask = static_cast<std::uint8_t>(v.mask | (1U << digit));
  }
  take_sources(d, v, selectors[1], false);
  take_sources(d, v, selectors[2], true);
}

VideoRelation take_video_relation(Decode& d) {
  static constexpr std::pair<std::string_view, VideoRelation> kNames[] = {
      {"eq", VideoRelation::kEq}, {"ne", VideoRelation::kNe}, {"lt", VideoRelation::kLt},
      {"le", VideoRelation::kLe}, {"gt", VideoRelation::kGt}, {"ge", VideoRelation::kGe}};
  for (const auto& [name, relation] : kNames) {
    if (d.flag(name)) return relation;
  }
  d.reject("the comparison is missing");
}

bool take_sign(Decode& d) {
  const Type type = d.type();
  if (type != Type::kU32 && type != Type::kS32) d.reject("the type is not supported");
  return type == Type::kS32;
}

template <VideoOp op, unsigned parts>
void decode_video(Decode& d) {
  Video v;
  v.op = op;
  v.parts = parts;
  if (op != VideoOp::kSet) v.d_signed = take_sign(d);
  v.a_signed = take_sign(d);
  v.b_signed = take_sign(d);
  if (op == VideoOp::kSet) v.relation = take_video_relation(d);
  if (op != VideoOp::kSet) v.saturate = d.flag("sat");
  if (op == VideoOp::kShl || op == VideoOp::kShr) {
    v.wrap = d.flag("wrap");
    if (!v.wrap && !d.flag("clamp")) d.reject("one of .wrap, .clamp is missing");
  }
  if (op == VideoOp::kMad) {
    v.scale = d.flag("shr7") ? 7 : d.flag("shr15") ? 15 : 0;
  } else if (d.flag("add")) {
    v.second = Second::kAdd;
  } else if (parts == 1 && d.flag("min")) {
    v.second = Second::kMin;
  } else if (parts == 1 && d.flag("max")) {
    v.second = Second::kMax;
  }
  d.expect_operands(3, 4);
  take_operands(d, v);
  std::vector<u32> list((sizeof v + 3) / 4);
  std::memcpy(list.data(), &v, sizeof v);
  d.out.list = d.keep(list);
  d.each(&run_video);
}

#define KBENCH_VIDEO_ROWS(name, op)                                                 \
  {name, decode_video<VideoOp::op, 1>}, {name "2", decode_video<VideoOp::op, 2>}, { \
    name "4", decode_video<VideoOp::op, 4>                                          \
  }
constexpr OpcodeRow kRows[] = {
    KBENCH_VIDEO_ROWS("vadd", kAdd),
    KBENCH_VIDEO_ROWS("vsub", kSub),
    KBENCH_VIDEO_ROWS("vabsdiff", kDifference),
    KBENCH_VIDEO_ROWS("vmin", kMin),
    KBENCH_VIDEO_ROWS("vmax", kMax),
    KBENCH_VIDEO_ROWS("vset", kSet),
    {"vavrg2", decode_video<VideoOp::kAverage, 2>},
    {"vavrg4", decode_video<VideoOp::kAverage, 4>},
    {"vshl", decode_video<VideoOp::kShl, 1>},
    {"vshr", decode_video<VideoOp::kShr, 1>},
    {"vmad", decode_video<VideoOp::kMad, 1>},
};
#undef KBENCH_VIDEO_ROWS

}  // namespace

std::span<const OpcodeRow> video_opcodes() { return kRows; }

}  // namespace kbench::ptx
