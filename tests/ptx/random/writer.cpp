// SPDX-License-Identifier: MIT
#include "ptx/random/writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/random/data.hpp"

namespace kbench::ptx::random {
namespace {

constexpr std::string_view kPrefixes[] = {"%p", "%h", "%r", "%d"};

/// Index of the register file that holds a kind.
std::size_t file_of(Kind kind) {
  switch (bytes_of(kind)) {
    case 0:
      return 0;
    case 2:
      return 1;
    case 4:
      return 2;
    default:
      return 3;
  }
}

std::string_view move_type(Kind kind) {
  constexpr std::string_view kTypes[] = {"pred", "b16", "b32", "b64"};
  return kTypes[file_of(kind)];
}

Kind kind_of(char letter) {
  constexpr std::string_view kLetters = "phrdegEGfF";
  return static_cast<Kind>(kLetters.find(letter));
}

/// Chooses one of each `<a|b>`.
std::string choose_alternatives(Rng& rng, std::string_view text) {
  std::string chosen;
  while (!text.empty()) {
    const auto open = text.find('<');
    chosen += text.substr(0, open);
    if (open == text.npos) break;
    const auto close = text.find('>', open);
    std::string_view list = text.substr(open + 1, close - open - 1);
    const auto count = static_cast<std::uint32_t>(std::count(list.begin(), list.end(), '|')) + 1;
    for (std::uint32_t skip = rng.below(count); skip > 0; --skip) {
      list.remove_prefix(list.find('|') + 1);
    }
    chosen += list.substr(0, list.find('|'));
    text.remove_prefix(close + 1);
  }
  return chosen;
}

/// The text with each $0, $1, … replaced.
std::string with_operands(std::string_view text, const std::vector<std::string>& operands) {
  std::string written;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$') {
      written += text[at];
    } else {
      written += operands[static_cast<std::size_t>(text[++at] - '0')];
    }
  }
  return written;
}

/// Whether ptxas keeps to a guard: for `set`, `testp` and others it writes several instructions, of
/// which it guards the first. Compilers put no guard on these.
bool may_be_guarded(std::string_view text) {
  static constexpr std::string_view kOpcodes[] = {
      "add.",  "sub.",  "mul.",  "mad.", "fma.",  "min.", "max.",  "neg.", "abs.", "and.",
      "or.",   "xor.",  "not.",  "shl.", "shr.",  "shf.", "mov.",  "ld.",  "st.",  "red.",
      "atom.", "setp.", "selp.", "cvt.", "popc.", "clz.", "brev.", "bfe.", "bfi.", "lop3.b32"};
  static constexpr std::string_view kOthers[] = {";",    "relu", "xorsign", "satfinite",
                                                 "pack", "tf32", "x2",      "hi."};
  const auto is_in = [&](std::string_view part) { return text.find(part) != text.npos; };
  return std::any_of(std::begin(kOpcodes), std::end(kOpcodes),
                     [&](std::string_view opcode) { return text.starts_with(opcode); }) &&
         std::none_of(std::begin(kOthers), std::end(kOthers), is_in);
}

bool has_state_space(std::string_view text) {
  return text.find(".global") != text.npos || text.find(".const") != text.npos ||
         text.find(".local") != text.npos || text.find("ldu") == 0;
}

}  // namespace

Writer::Writer(Rng& rng_, std::string name, bool whole_warps)
    : rng(rng_), name_(std::move(name)), whole_warps_(whole_warps) {}

void Writer::line(std::string_view text) {
  text_ += "  ";
  text_ += text;
  text_ += text.ends_with(':') || text == "}" ? "\n" : ";\n";
}

std::string Writer::fresh(Kind kind) {
  const std::size_t file = file_of(kind);
  return fmt::format("{}{}", kPrefixes[file], registers_[file]++);
}

std::string Writer::label() { return fmt::format("${}_{}", name_, labels_++); }

std::string Writer::literal(Kind kind) {
  const std::uint64_t bits = sample(rng, kind);
  switch (kind) {
    case Kind::kF32:
      return fmt::format("0f{:08X}", bits);
    case Kind::kF64:
      return fmt::format("0d{:016X}", bits);
    case Kind::kB16:
      return fmt::format("{}", static_cast<std::int16_t>(bits & 0xffff));
    case Kind::kB32:
      return fmt::format("{}", static_cast<std::int32_t>(bits));
    default:
      return fmt::format("0x{:x}", bits);
  }
}

std::string Writer::source(Kind kind, bool literal_allowed) {
  const bool has_literals = kind == Kind::kB16 || kind == Kind::kB32 || kind == Kind::kB64 ||
                            kind == Kind::kF32 || kind == Kind::kF64;
  if (literal_allowed && has_literals && rng.chance(12)) return literal(kind);
  auto& values = values_[static_cast<std::size_t>(kind)];
  const auto count = static_cast<std::uint32_t>(values.size());
  std::uint32_t at = rng.below(count);
  if (rng.chance(60)) {  // the latest of those that nobody read
    for (std::uint32_t i = count; i-- > 0;) {
      if (values[i].uses == 0) {
        at = i;
        break;
      }
    }
  } else if (rng.chance(60)) {
    at = count - 1 - at % std::min(count, 8U);
  }
  ++values[at].uses;
  return values[at].name;
}

std::string Writer::target(Kind kind, bool existing) {
  auto& values = values_[static_cast<std::size_t>(kind)];
  if (!values.empty() && (existing || rng.chance(20))) {
    Value& value = rng.one_of(values);
    value.uses = 0;
    return value.name;
  }
  values.push_back({fresh(kind), 0});
  return values.back().name;
}

std::string Writer::placeholder(std::string_view text, std::size_t& at, bool generic,
                                std::array<std::string, 4>& temporaries) {
  const char sign = text[at];
  const char letter = text[at + 1];
  if (sign == '?') {
    at += 2;
    const Kind kind = kind_of(letter);
    std::string& name = temporaries[file_of(kind)];
    if (name.empty()) name = fresh(kind);
    return name;
  }
  if (sign == '#') {
    at += 2;
    if (letter == 'w') return fmt::format("{}", 1 + rng.below(31));
    return letter == 'b' ? fmt::format("{:x}", rng.below(256)) : fmt::format("{}", rng.below(40));
  }
  std::size_t end = at + 2;
  while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
  const std::string spelled(text.substr(at + 1, end - at - 1));
  at = end;
  if (spelled == "M") return place.mask;
  if (spelled != "C" && spelled != "U") return address(spelled, generic);
  // The last warp may have fewer lanes than 32: none may read from a lane that is not there.
  if (!whole_warps_) return spelled == "U" ? "0" : "%clamp";
  static constexpr unsigned kSegments[] = {0, 0, 0, 16, 24, 28, 30, 31, 5, 18};
  const unsigned segment = rng.one_of(kSegments);
  const unsigned bound = rng.chance(70) ? (spelled == "U" ? 0 : 31) : rng.below(32);
  return fmt::format("{}", segment << 8 | bound);
}

std::string Writer::fill_in(std::string_view text, bool generic) {
  own_address_.clear();
  std::array<std::string, 4> temporaries;
  std::string written;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '?' || c == '#' || c == '@') {
      written += placeholder(text, at, generic, temporaries);
    } else {
      written += c;
      ++at;
    }
  }
  return written;
}

std::vector<std::string> Writer::targets(std::string_view letters, bool existing) {
  std::vector<std::string> names;
  for (const char letter : letters) {
    std::string name;
    do {
      name = target(kind_of(letter), existing);
    } while (std::find(names.begin(), names.end(), name) != names.end());
    names.push_back(name);
  }
  return names;
}

void Writer::row(const Row& row, bool guarded) {
  std::string text = choose_alternatives(rng, row.text);
  const auto space = row.signature.find(' ');
  const std::string_view target_letters = row.signature.substr(0, space);
  std::string_view source_letters = row.signature.substr(space + 1);
  const bool literals = !source_letters.ends_with('!');
  if (!literals) source_letters.remove_suffix(1);
  std::string guard;
  if (guarded && target_letters.size() <= 1 && may_be_guarded(text)) {
    guard = rng.chance(50) ? "@!" : "@";
    guard += source(Kind::kPred) + " ";
  }
  std::vector<std::string> sources;
  for (const char letter : source_letters) {
    sources.push_back(source(kind_of(letter), literals && !sources.empty()));
  }
  text = fill_in(text, !has_state_space(text));
  // Targets come last: until the row is written, a new register holds nothing.
  std::vector<std::string> operands = targets(target_letters, !guard.empty());
  operands.insert(operands.end(), sources.begin(), sources.end());
  const bool named = row.text.find('$') != row.text.npos;
  std::string written = text;
  if (named) {
    written = with_operands(text, operands);
  } else {
    for (std::size_t i = 0; i < operands.size(); ++i) written += (i ? ", " : " ") + operands[i];
  }
  line(guard + written);
}

Writer::Mark Writer::mark() const {
  Mark mark;
  for (std::size_t kind = 0; kind < kKinds; ++kind) mark[kind] = values_[kind].size();
  return mark;
}

void Writer::leave(const Mark& mark) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    auto& values = values_[kind];
    std::vector<std::string> kept;
    for (std::size_t i = mark[kind]; i < values.size(); ++i) {
      if (values[i].uses == 0) kept.push_back(values[i].name);
    }
    values.resize(mark[kind]);
    if (values.empty()) continue;
    for (std::size_t i = 0; i < kept.size() && i < 2; ++i) {
      Value& outer = rng.one_of(values);
      outer.uses = 0;
      line(fmt::format("mov.{} {}, {}", move_type(static_cast<Kind>(kind)), outer.name, kept[i]));
    }
  }
}

std::vector<std::string> Writer::values(Kind kind, bool all) const {
  std::vector<std::string> names;
  for (const Value& value : values_[static_cast<std::size_t>(kind)]) {
    if (all || value.uses == 0) names.push_back(value.name);
  }
  return names;
}

std::string Writer::declarations() const {
  constexpr std::string_view kTypes[] = {".pred", ".b16", ".b32", ".b64"};
  std::string text;
  for (std::size_t file = 0; file < 4; ++file) {
    text += fmt::format("  .reg {} {}<{}>;\n", kTypes[file], kPrefixes[file], registers_[file] + 1);
  }
  return text + "  .reg .b32 %mask, %clamp, %linear;\n  .reg .b64 %in, %own, %counters;\n";
}

}  // namespace kbench::ptx::random
