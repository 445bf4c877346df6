// SPDX-License-Identifier: MIT
#include "ptx/ops/matrix/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace kbench::ptx::matrix {
namespace {

struct TypeRow {
  std::string_view name;
  Element element;
  unsigned bits;
};

constexpr TypeRow kTypes[] = {
    {"f16", Element::kF16, 16},  {"bf16", Element::kBf16, 16}, {"tf32", Element::kTf32, 32},
    {"e4m3", Element::kE4m3, 8}, {"e5m2", Element::kE5m2, 8},  {"s8", Element::kS8, 8},
    {"u8", Element::kU8, 8},     {"s4", Element::kS4, 4},      {"u4", Element::kU4, 4},
    {"b1", Element::kB1, 1},     {"f64", Element::kF64, 64},
};

struct ShapeRow {
  Shape shape;
  Element element;  ///< see first_of_its_size()
  bool wmma;
};

constexpr ShapeRow kShapes[] = {
    {{16, 8, 8}, Element::kF16, false},   {{16, 8, 16}, Element::kF16, false},
    {{16, 8, 8}, Element::kBf16, false},  {{16, 8, 16}, Element::kBf16, false},
    {{16, 8, 4}, Element::kTf32, false},  {{16, 8, 8}, Element::kTf32, false},
    {{16, 8, 16}, Element::kE4m3, false}, {{16, 8, 32}, Element::kE4m3, false},
    {{8, 8, 16}, Element::kS8, false},    {{16, 8, 16}, Element::kS8, false},
    {{16, 8, 32}, Element::kS8, false},   {{8, 8, 32}, Element::kS4, false},
    {{16, 8, 32}, Element::kS4, false},   {{16, 8, 64}, Element::kS4, false},
    {{8, 8, 128}, Element::kB1, false},   {{16, 8, 128}, Element::kB1, false},
    {{16, 8, 256}, Element::kB1, false},  {{8, 8, 4}, Element::kF64, false},
    {{16, 8, 4}, Element::kF64, false},   {{16, 8, 8}, Element::kF64, false},
    {{16, 8, 16}, Element::kF64, false},  {{16, 16, 16}, Element::kF16, true},
    {{8, 32, 16}, Element::kF16, true},   {{32, 8, 16}, Element::kF16, true},
    {{16, 16, 16}, Element::kBf16, true}, {{8, 32, 16}, Element::kBf16, true},
    {{32, 8, 16}, Element::kBf16, true},  {{16, 16, 16}, Element::kS8, true},
    {{8, 32, 16}, Element::kS8, true},    {{32, 8, 16}, Element::kS8, true},
    {{16, 16, 8}, Element::kTf32, true},  {{8, 8, 4}, Element::kF64, true},
    {{8, 8, 32}, Element::kS4, true},     {{8, 8, 128}, Element::kB1, true},
};

Element first_of_its_size(Element element) {
  switch (element) {
    case Element::kE5m2:
      return Element::kE4m3;
    case Element::kU8:
      return Element::kS8;
    case Element::kU4:
      return Element::kS4;
    default:
      return element;
  }
}

/// "m16n8k32"; all zero if the text is not a shape.
Shape parse_shape(std::string_view text) {
  Shape shape;
  const auto number = [&](char letter, unsigned& value) {
    if (text.empty() || text[0] != letter) return false;
    text.remove_prefix(1);
    return take_number(text, value);
  };
  const bool whole = number('m', shape.m) && number('n', shape.n) && number('k', shape.k);
  return whole && text.empty() ? shape : Shape{};
}

bool is_type(std::string_view name) {
  constexpr std::string_view kAccumulators[] = {"f32", "s32"};
  return std::ranges::find(kTypes, name, &TypeRow::name) != std::end(kTypes) ||
         std::ranges::find(kAccumulators, name) != std::end(kAccumulators);
}

constexpr OpcodeRow kRows[] = {
    {"mma", decode_mma},           {"wmma", decode_wmma},         {"wgmma", decode_wgmma},
    {"ldmatrix", decode_ldmatrix}, {"stmatrix", decode_stmatrix}, {"movmatrix", decode_movmatrix},
};

}  // namespace

unsigned bits_of(Element element) { return kTypes[static_cast<std::size_t>(element)].bits; }

Geometry geometry(const Shape& shape, Element element) {
  Geometry g;
  g.row_blocks = static_cast<std::uint8_t>(std::max(shape.m / 16, 1U));
  g.halves = shape.m == 8 ? 1 : 2;
  g.column_blocks = static_cast<std::uint8_t>(shape.n / 8);
  const unsigned per_word = std::max(32 / bits_of(element), 1U);
  g.k_blocks = static_cast<std::uint8_t>(shape.k / (4 * per_word));
  return g;
}

Modifiers take_modifiers(Decode& d) {
  if (!d.flag("sync")) d.reject("the modifier .sync is missing");
  if (!d.flag("aligned")) d.reject("the modifier .aligned is missing");
  Modifiers modifiers;
  for (const std::string& name : d.statement().modifiers) {
    const Shape shape = parse_shape(name);
    if (shape.m != 0) {
      modifiers.shape = shape;
    } else if (name == "row" || name == "col") {
      modifiers.layouts.push_back(name);
    } else if (is_type(name)) {
      modifiers.types.push_back(name);
    } else {
      continue;
    }
    d.flag(name);
  }
  return modifiers;
}

Element element_of(Decode& d, std::string_view name) {
  const auto* row = std::ranges::find(kTypes, name, &TypeRow::name);
  if (row == std::end(kTypes)) d.reject(fmt::format("the type .{} is not supported", name));
  return row->element;
}

bool multiplies(const Shape& shape, Element element, bool wmma) {
  return std::ranges::any_of(kShapes, [&](const ShapeRow& row) {
    return row.shape == shape && row.element == first_of_its_size(element) && row.wmma == wmma;
  });
}

void take_registers(Decode& d, const Operand& operand, std::size_t count, Type type,
                    std::vector<std::uint32_t>& list, bool written) {
  const bool vector = operand.kind == Operand::Kind::kVector;
  if ((vector ? operand.items.size() : 1) != count) {
    d.reject("the number of registers does not match the shape");
  }
  const std::span<const Operand> items = vector ? std::span(operand.items) : std::span(&operand, 1);
  for (const Operand& item : items) {
    list.push_back(written ? d.destination(item, type) : d.source(item, type));
  }
}

bool converge_warp(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return false;
  if (c.mask == kAllLanes) return true;
  if (c.mask == c.warp->live) {
    raise(c, in, static_cast<unsigned>(std::countr_zero(c.mask)), FaultKind::kTrap,
          fmt::format("executes an instruction of a whole warp, but {} lanes of the warp have "
                      "exited or do not exist",
                      kLanes - static_cast<unsigned>(std::popcount(c.mask))));
    return false;
  }
  c.wait = Wait::kConverge;
  c.ip = &in;
  c.merge_ip = nullptr;
  return false;
}

}  // namespace kbench::ptx::matrix

namespace kbench::ptx {

std::span<const OpcodeRow> matrix_opcodes() { return matrix::kRows; }

}  // namespace kbench::ptx
