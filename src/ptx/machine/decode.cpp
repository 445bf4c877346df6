// SPDX-License-Identifier: MIT
#include "ptx/machine/decode.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace kbench::ptx {
namespace {

/// Bits of a literal, converted to the type.
std::uint64_t literal_bits(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kFloat32 && size_bytes(type) == 8) {
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    return std::bit_cast<std::uint64_t>(static_cast<double>(narrow));
  }
  if (operand.kind == Operand::Kind::kFloat64 && type == Type::kF32) {
    const auto wide = std::bit_cast<double>(operand.bits);
    return std::bit_cast<std::uint32_t>(static_cast<float>(wide));
  }
  return operand.bits;
}

}  // namespace

void guarded(Context& c, const Instr& in) {
  const std::uint32_t holds = c.predicate_source(in.guard) ^ (in.guard_negated ? kAllLanes : 0U);
  const std::uint32_t mask = c.mask & holds;
  if (mask == 0) return;
  if (mask == c.mask) {
    (c.full ? in.body_full : in.body_masked)(c, in);
    return;
  }
  const std::uint32_t whole = c.mask;
  const bool full = c.full;
  c.mask = mask;
  c.full = false;
  in.body_masked(c, in);
  c.mask = whole;
  c.full = full;
}

std::uint32_t ConstantPool::add(std::uint64_t bits, unsigned bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [entry, fresh] = offsets_.try_emplace({bits, bytes}, 0U);
  if (fresh) {
    data_.resize((data_.size() + 63) / 64 * 64);
    entry->second = static_cast<std::uint32_t>(data_.size()) | kConstantBit;
    data_.resize(data_.size() + std::size_t{kLanes} * bytes);
    std::byte* at = data_.data() + (entry->second & ~kConstantBit);
    for (unsigned i = 0; i < kLanes; ++i) std::memcpy(at + std::size_t{i} * bytes, &bits, bytes);
  }
  return entry->second;
}

Bytes ConstantPool::finish() const {
  Bytes bytes(data_.size());
  if (!data_.empty()) std::memcpy(bytes.data(), data_.data(), data_.size());
  return bytes;
}

const OpcodeRow* find_opcode(std::string_view name) {
  static const auto kRows = [] {
    std::unordered_map<std::string_view, const OpcodeRow*> rows;
    for (const auto& table :
         {integer_opcodes(), packed_opcodes(),   carry_opcodes(),   video_opcodes(),
          bit_opcodes(),     field_opcodes(),    float_opcodes(),   compare_opcodes(),
          convert_opcodes(), move_opcodes(),     memory_opcodes(),  address_opcodes(),
          async_opcodes(),   mbarrier_opcodes(), cluster_opcodes(), atomic_opcodes(),
          warp_opcodes(),    barrier_opcodes(),  matrix_opcodes(),  control_opcodes(),
          call_opcodes()}) {
      for (const OpcodeRow& row : table) rows.emplace(row.name, &row);
    }
    return rows;
  }();
  const auto found = kRows.find(name);
  return found == kRows.end() ? nullptr : found->second;
}

Instr Decode::run() {
  const OpcodeRow* row = find_opcode(statement_.opcode);
  if (row == nullptr) reject("this instruction is not supported");
  row->decode(*this);
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i])
      reject(fmt::format("the modifier .{} is not supported", statement_.modifiers[i]));
  }
  if (!statement_.guard.empty()) {
    const auto guard = find_register(statement_.guard);
    if (!guard || !guard->predicate) reject("the guard is not a predicate");
    out.guard = guard->offset;
    out.guard_negated = statement_.guard_negated;
    if (!own_guard_) {
      out.body_full = out.full;
      out.body_masked = out.masked;
      out.full = out.masked = &guarded;
    }
  }
  return out;
}

bool Decode::flag(std::string_view name) {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i] && statement_.modifiers[i] == name) {
      used_[i] = true;
      return true;
    }
  }
  return false;
}

std::optional<std::string> Decode::one_of(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (flag(name)) return std::string(name);
  }
  return std::nullopt;
}

Type Decode::type() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    if (const auto type = parse_type(statement_.modifiers[i])) {
      used_[i] = true;
      return *type;
    }
  }
  reject("the type is missing or not supported");
}

void Decode::reject(const std::string& why) const {
  throw Rejected{statement_.text(), why, statement_.position};
}

const Operand& Decode::operand(std::size_t i) const {
  if (i >= statement_.operands.size()) reject("operands are missing");
  return statement_.operands[i];
}

void Decode::expect_operands(std::size_t least, std::size_t most) const {
  if (operands() < least || operands() > most) reject("this number of operands is not supported");
}

std::optional<Register> Decode::find_register(const std::string& name) const {
  const auto found = function_.registers.find(name);
  if (found == function_.registers.end()) return std::nullopt;
  return found->second;
}

const Symbol* Decode::find_symbol(const std::string& name) const {
  if (const auto found = function_.symbols.find(name); found != function_.symbols.end()) {
    return &found->second;
  }
  const auto& global = function_.module_names->symbols;
  const auto found = global.find(name);
  return found == global.end() ? nullptr : &found->second;
}

Register Decode::wide_register(const Operand& operand, unsigned bytes) const {
  const auto found = find_register(operand.name);
  if (operand.kind != Operand::Kind::kName || !found || found->predicate) {
    reject(fmt::format("'{}' is not a register", operand.name));
  }
  if (found->bytes < bytes) reject(fmt::format("register {} is too narrow", operand.name));
  if (operand.negated || operand.offset != 0) {
    reject(fmt::format("'{}' has a sign or an offset, which is not supported", operand.name));
  }
  return *found;
}

std::uint32_t Decode::destination(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kSink) reject("'_' is not supported here");
  if (type == Type::kPred) return predicate(operand);
  const Register found = wide_register(operand, size_bytes(type));
  if (found.bytes != size_bytes(type)) {
    reject(fmt::format("the size of register {} does not match the instruction", operand.name));
  }
  return found.offset;
}

std::uint32_t Decode::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat32:
    case Operand::Kind::kFloat64:
      return constant(literal_bits(operand, type), size_bytes(type));
    case Operand::Kind::kName:
      break;
    default:
      reject("this form of operand is not supported");
  }
  if (!operand.second.empty()) reject("a pair of operands is not supported here");
  if (operand.name == "WARP_SZ") return constant(kLanes, size_bytes(type));
  if (!find_register(operand.name)) {
    const Symbol* symbol = find_symbol(operand.name);
    if (symbol == nullptr) reject(fmt::format("unknown name '{}'", operand.name));
    if (symbol->frame_relative) reject("the address of a local variable is not supported here");
    return constant(symbol->address + static_cast<std::uint64_t>(operand.offset), size_bytes(type));
  }
  return destination(operand, type);
}

std::uint32_t Decode::predicate(const Operand& operand) const {
  const auto found = find_register(operand.name);
  if (operand.kind != Operand::Kind::kName || !found || !found->predicate) {
    reject(fmt::format("'{}' is not a predicate", operand.name));
  }
  return found->offset;
}

std::uint32_t Decode::predicate_source(const Operand& operand, bool& negated) {
  negated = operand.negated;
  if (operand.kind == Operand::Kind::kInteger) {
    return constant(operand.bits != 0 ? kAllLanes : 0U, 4);
  }
  return predicate(operand);
}

const std::uint32_t* Decode::keep(const std::vector<std::uint32_t>& list) {
  auto& lists = function_.function->lists;
  lists.push_back(std::make_unique<std::uint32_t[]>(list.size()));
  std::copy(list.begin(), list.end(), lists.back().get());
  return lists.back().get();
}

std::size_t Decode::label(const std::string& name) const {
  const auto found = function_.labels.find(name);
  if (found == function_.labels.end()) reject(fmt::format("unknown label '{}'", name));
  return found->second;
}

void Decode::plain_operands(Type destination_type, std::initializer_list<Type> sources) {
  expect_operands(1 + sources.size(), 1 + sources.size());
  out.d = destination(operand(0), destination_type);
  std::size_t i = 0;
  for (const Type type : sources) {
    out.s[i] = source(operand(i + 1), type);
    ++i;
  }
}

}  // namespace kbench::ptx
