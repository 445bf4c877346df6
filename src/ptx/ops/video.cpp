// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"

// Video instructions on two or four parts of a word (vadd2 … vset4). Those on one part (vadd …
// vset) are refused, because GPUs deviate from PTX's description when these saturate or merge.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

enum class VideoOp : std::uint8_t { kAdd, kSub, kDifference, kMin, kMax, kSet, kAverage };
enum class VideoRelation : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

/// Bits of a word.
struct Part {
  std::uint8_t first, bits;
};

/// One decoded instruction, stored in Instr::list.
struct Video {
  VideoOp op = VideoOp::kAdd;
  VideoRelation relation = VideoRelation::kEq;
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturate = false, adds = false;
  // Number of parts, origin of each in b:a, and mask of the parts of d that are written.
  std::uint8_t parts = 2, mask = 0;
  std::array<std::uint8_t, 4> a_from{}, b_from{};
};
static_assert(std::is_trivially_copyable_v<Video>);

s64 select(u32 word, Part part, bool sign) {
  const u32 up = 32U - part.bits;
  const u32 left = (word >> part.first) << up;
  return sign ? s64{static_cast<s32>(left) >> up} : s64{left >> up};
}

s64 clamp_bits(s64 x, unsigned bits, bool sign) {
  const s64 high = (s64{1} << (sign ? bits - 1 : bits)) - 1;
  return std::clamp(x, sign ? -high - 1 : s64{0}, high);
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

s64 apply(const Video& v, s64 a, s64 b) {
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
    case VideoOp::kSet:
      return holds(v.relation, a, b) ? 1 : 0;
    case VideoOp::kAverage:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
  }
  return 0;
}

u32 compute(const Video& v, u32 a, u32 b, u32 c) {
  const auto bits = static_cast<std::uint8_t>(32U / v.parts);
  const u32 ones = (1U << bits) - 1U;
  const auto get = [&](std::uint8_t from, bool sign) {
    const auto at = static_cast<std::uint8_t>(from % v.parts * bits);
    return select(from < v.parts ? a : b, Part{at, bits}, sign);
  };
  u32 result = v.adds ? c : 0;
  for (unsigned i = 0; i < v.parts; ++i) {
    const bool written = ((v.mask >> i) & 1U) != 0;
    s64 value = apply(v, get(v.a_from[i], v.a_signed), get(v.b_from[i], v.b_signed));
    if (v.saturate) value = clamp_bits(value, bits, v.d_signed);
    const auto word = static_cast<u32>(value);
    if (v.adds) {
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
  for_lanes(c.mask, [&](unsigned i) { d[i] = compute(v, a[i], b[i], e[i]); });
}

/// Splits "%r1.h10" into the register and its selector.
Operand without_selector(const Operand& operand, std::string& selector) {
  Operand plain = operand;
  const auto dot =
      operand.kind == Operand::Kind::kName ? operand.name.find('.') : std::string::npos;
  selector = dot == std::string::npos ? "" : operand.name.substr(dot + 1);
  if (dot != std::string::npos) plain.name = operand.name.substr(0, dot);
  return plain;
}

/// Digits of ".h32" or ".b7654", from the right; each must be less than `below`.
std::vector<std::uint8_t> digits_of(Decode& d, const std::string& selector, unsigned below) {
  std::vector<std::uint8_t> digits;
  for (std::size_t i = selector.size(); i-- > 1;) {
    const auto digit = static_cast<unsigned>(selector[i] - '0');
    if (digit >= below) d.reject("the selector is not supported");
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
  if (digits.size() != v.parts) d.reject("the selector is not supported");
  std::copy(digits.begin(), digits.end(), from.begin());
}

void take_operands(Decode& d, Video& v) {
  std::string selectors[3];
  const Operand target = without_selector(d.operand(0), selectors[0]);
  d.out.d = d.destination(target, Type::kB32);
  for (std::size_t i = 0; i < 2; ++i) {
    d.out.s[i] = d.source(without_selector(d.operand(i + 1), selectors[i + 1]), Type::kB32);
  }
  d.out.s[2] = d.source(d.operand(3), Type::kB32);
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
  v.adds = d.flag("add");
  d.expect_operands(4, 4);
  take_operands(d, v);
  std::vector<u32> list((sizeof v + 3) / 4);
  std::memcpy(list.data(), &v, sizeof v);
  d.out.list = d.keep(list);
  d.each(&run_video);
}

[[noreturn]] void refuse_video(Decode& d) {
  d.reject("scalar video instructions are not supported");
}

constexpr OpcodeRow kRows[] = {
    {"vadd2", decode_video<VideoOp::kAdd, 2>},
    {"vadd4", decode_video<VideoOp::kAdd, 4>},
    {"vsub2", decode_video<VideoOp::kSub, 2>},
    {"vsub4", decode_video<VideoOp::kSub, 4>},
    {"vabsdiff2", decode_video<VideoOp::kDifference, 2>},
    {"vabsdiff4", decode_video<VideoOp::kDifference, 4>},
    {"vmin2", decode_video<VideoOp::kMin, 2>},
    {"vmin4", decode_video<VideoOp::kMin, 4>},
    {"vmax2", decode_video<VideoOp::kMax, 2>},
    {"vmax4", decode_video<VideoOp::kMax, 4>},
    {"vset2", decode_video<VideoOp::kSet, 2>},
    {"vset4", decode_video<VideoOp::kSet, 4>},
    {"vavrg2", decode_video<VideoOp::kAverage, 2>},
    {"vavrg4", decode_video<VideoOp::kAverage, 4>},
    {"vadd", refuse_video},
    {"vsub", refuse_video},
    {"vabsdiff", refuse_video},
    {"vmin", refuse_video},
    {"vmax", refuse_video},
    {"vshl", refuse_video},
    {"vshr", refuse_video},
    {"vmad", refuse_video},
    {"vset", refuse_video},
};

}  // namespace

std::span<const OpcodeRow> video_opcodes() { return kRows; }

}  // namespace kbench::ptx
