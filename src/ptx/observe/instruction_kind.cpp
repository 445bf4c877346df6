// SPDX-License-Identifier: MIT

#include "base/text.hpp"
#include "ptx/observe/counters.hpp"

// Derives an instruction's class for the counters from its opcode and modifiers.
namespace kbench::ptx {
namespace {

enum class By : std::uint8_t {
  kRow,    ///< always the class of the row
  kType,   ///< by the last type modifier; integer if that is not a float
  kSpace,  ///< by state space
};

struct KindRow {
  std::string_view opcode;
  By by = By::kRow;
  InstructionClass instruction_class = InstructionClass::kInteger;
  std::uint32_t flops = 0;  ///< per float
};

using Class = InstructionClass;

/// An opcode without a row counts as integer, or by its type if that is a float.
constexpr KindRow kRows[] = {
    {"add", By::kType, Class::kInteger, 1},
    {"sub", By::kType, Class::kInteger, 1},
    {"mul", By::kType, Class::kInteger, 1},
    {"mad", By::kType, Class::kInteger, 2},
    {"fma", By::kType, Class::kInteger, 2},
    {"div", By::kType, Class::kSpecial, 1},
    {"rcp", By::kRow, Class::kSpecial, 1},
    {"sqrt", By::kRow, Class::kSpecial, 1},
    {"rsqrt", By::kRow, Class::kSpecial, 1},
    {"ex2", By::kRow, Class::kSpecial, 1},
    {"lg2", By::kRow, Class::kSpecial, 1},
    {"sin", By::kRow, Class::kSpecial, 1},
    {"cos", By::kRow, Class::kSpecial, 1},
    {"tanh", By::kRow, Class::kSpecial, 1},
    {"cvt", By::kRow, Class::kConvert},
    {"mov", By::kRow, Class::kMove},
    {"cvta", By::kRow, Class::kMove},
    {"mapa", By::kRow, Class::kMove},
    {"isspacep", By::kRow, Class::kMove},
    {"ld", By::kSpace},
    {"ldu", By::kSpace},
    {"st", By::kSpace},
    {"prefetch", By::kSpace},
    {"prefetchu", By::kSpace},
    {"wmma", By::kSpace},
    {"ldmatrix", By::kRow, Class::kShared},
    {"stmatrix", By::kRow, Class::kShared},
    {"movmatrix", By::kRow, Class::kWarp},
    {"mma", By::kRow, Class::kTensor},
    {"wgmma", By::kRow, Class::kBarrier},
    {"atom", By::kRow, Class::kAtomic},
    {"red", By::kRow, Class::kAtomic},
    {"multimem", By::kRow, Class::kAtomic},
    {"cp", By::kRow, Class::kBarrier},
    {"bar", By::kRow, Class::kBarrier},
    {"barrier", By::kRow, Class::kBarrier},
    {"membar", By::kRow, Class::kBarrier},
    {"fence", By::kRow, Class::kBarrier},
    {"mbarrier", By::kRow, Class::kBarrier},
    {"griddepcontrol", By::kRow, Class::kBarrier},
    {"bra", By::kRow, Class::kControl},
    {"brx", By::kRow, Class::kControl},
    {"call", By::kRow, Class::kControl},
    {"ret", By::kRow, Class::kControl},
    {"exit", By::kRow, Class::kControl},
    {"trap", By::kRow, Class::kControl},
    {"brkpt", By::kRow, Class::kControl},
    {"nanosleep", By::kRow, Class::kControl},
    {"setmaxnreg", By::kRow, Class::kControl},
    {"shfl", By::kRow, Class::kWarp},
    {"vote", By::kRow, Class::kWarp},
    {"match", By::kRow, Class::kWarp},
    {"redux", By::kRow, Class::kWarp},
    {"activemask", By::kRow, Class::kWarp},
    {"elect", By::kRow, Class::kWarp},
};

struct FloatRow {
  std::string_view modifier;
  Class instruction_class;
  FlopType type;
  std::uint32_t values = 1;  ///< values in a register
};

constexpr FloatRow kFloats[] = {
    {"f64", Class::kFp64, FlopType::kFp64},       {"f32", Class::kFp32, FlopType::kFp32},
    {"f32x2", Class::kFp32, FlopType::kFp32, 2},  {"f16", Class::kFp16, FlopType::kFp16},
    {"f16x2", Class::kFp16, FlopType::kFp16, 2},  {"bf16", Class::kFp16, FlopType::kBf16},
    {"bf16x2", Class::kFp16, FlopType::kBf16, 2},
};

constexpr struct {
  std::string_view modifier;
  FlopType type;
} kMatrixTypes[] = {
    {"f64", FlopType::kFp64}, {"tf32", FlopType::kTf32}, {"bf16", FlopType::kBf16},
    {"f16", FlopType::kFp16}, {"f32", FlopType::kFp32},  {"e4m3", FlopType::kFp8},
    {"e5m2", FlopType::kFp8}, {"s8", FlopType::kInt8},   {"u8", FlopType::kInt8},
    {"s4", FlopType::kInt4},  {"u4", FlopType::kInt4},   {"s32", FlopType::kInt8},
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

const FloatRow* float_type(const std::vector<std::string_view>& parts) {
  const FloatRow* found = nullptr;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool integer = parts[i].size() >= 2 && parts[i].size() <= 4 &&
                         std::string_view("subp").find(parts[i][0]) != std::string_view::npos &&
                         parts[i][1] >= '0' && parts[i][1] <= '9';
    if (integer) found = nullptr;
    for (const FloatRow& row : kFloats)
      if (row.modifier == parts[i]) found = &row;
  }
  return found;
}

Class class_of_space(const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    if (part.starts_with("shared")) return Class::kShared;
    if (part == "local") return Class::kLocal;
    if (part.starts_with("param") || part == "const") return Class::kMove;
  }
  return Class::kGlobal;
}

/// m · n · k of "m16n8k16"; 0 if the text is not a shape.
std::uint32_t volume(std::string_view shape) {
  std::uint32_t product = 1;
  for (const char axis : {'m', 'n', 'k'}) {
    if (shape.empty() || shape[0] != axis) return 0;
    std::uint32_t extent = 0;
    shape.remove_prefix(1);
    if (!take_number(shape, extent)) return 0;
    product *= extent;
  }
  return shape.empty() ? product : 0;
}

/// Operations of a warp, 2 · m · n · k, in the type of the factors.
InstructionKind matrix_kind(const std::vector<std::string_view>& parts) {
  InstructionKind kind;
  std::vector<FlopType> types;  // of d, a, b, c; f16 wmma names d and c only
  for (const std::string_view part : parts) {
    if (const std::uint32_t found = volume(part); found != 0) kind.tensor_flops = 2 * found;
    for (const auto& row : kMatrixTypes)
      if (row.modifier == part) types.push_back(row.type);
  }
  if (kind.tensor_flops == 0) return kind;
  kind.instruction_class = Class::kTensor;
  const bool halves = parts[0] == "wmma" && types.size() < 4;
  kind.flop_type = halves || types.size() < 2 ? FlopType::kFp16 : types[1];
  // Four warps execute one warpgroup instruction together.
  if (parts[0] == "wgmma") kind.tensor_flops /= 4;
  return kind;
}

}  // namespace

InstructionKind classify(std::string_view text) {
  const auto parts = split(text);
  const std::string_view sub = parts.size() > 1 ? parts[1] : std::string_view();
  if (parts[0] == "mma" || (parts[0] == "wmma" && sub == "mma") ||
      (parts[0] == "wgmma" && sub == "mma_async"))
    return matrix_kind(parts);
  InstructionKind kind;
  // A cp.async that copies names both spaces; cp.async instructions about groups name none.
  if (parts[0] == "cp" && text.find(".global") != std::string_view::npos) {
    kind.instruction_class = Class::kGlobal;
    return kind;
  }
  const FloatRow* type = float_type(parts);
  if (type != nullptr) kind.flop_type = type->type;
  const KindRow* row = nullptr;
  for (const KindRow& known : kRows)
    if (known.opcode == parts[0]) row = &known;
  if (row == nullptr || row->by == By::kType) {
    if (type == nullptr) return kind;
    const bool special = row != nullptr && row->instruction_class == Class::kSpecial;
    kind.instruction_class = special ? Class::kSpecial : type->instruction_class;
    kind.flops = (row == nullptr ? 0 : row->flops) * type->values;
    return kind;
  }
  kind.instruction_class = row->by == By::kSpace ? class_of_space(parts) : row->instruction_class;
  kind.flops = type == nullptr ? 0 : row->flops * type->values;
  return kind;
}

}  // namespace kbench::ptx
