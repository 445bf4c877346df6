// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/machine/exec.hpp"
#include "ptx/parse/types.hpp"

/// Decodes statements into instructions. Each opcode is a table row, whose function reads the
/// statement's modifiers and operands and chooses the code that runs it.
namespace kbench::ptx {

class Decode;

struct OpcodeRow {
  std::string_view name;
  void (*decode)(Decode&);
};

/// Tables of opcodes, by kind of instruction.
std::span<const OpcodeRow> integer_opcodes();
std::span<const OpcodeRow> packed_opcodes();
std::span<const OpcodeRow> carry_opcodes();
std::span<const OpcodeRow> video_opcodes();
std::span<const OpcodeRow> bit_opcodes();
std::span<const OpcodeRow> field_opcodes();
std::span<const OpcodeRow> float_opcodes();
std::span<const OpcodeRow> compare_opcodes();
std::span<const OpcodeRow> convert_opcodes();
std::span<const OpcodeRow> move_opcodes();
std::span<const OpcodeRow> memory_opcodes();
std::span<const OpcodeRow> address_opcodes();
std::span<const OpcodeRow> async_opcodes();
std::span<const OpcodeRow> mbarrier_opcodes();
std::span<const OpcodeRow> cluster_opcodes();
std::span<const OpcodeRow> atomic_opcodes();
std::span<const OpcodeRow> warp_opcodes();
std::span<const OpcodeRow> matrix_opcodes();
std::span<const OpcodeRow> barrier_opcodes();
std::span<const OpcodeRow> control_opcodes();
std::span<const OpcodeRow> call_opcodes();

/// The row of an opcode; null if there is none.
const OpcodeRow* find_opcode(std::string_view name);

struct Register {
  std::uint32_t offset = 0;
  unsigned bytes = 0;
  bool predicate = false;
};

/// State space and address of a named variable.
struct Symbol {
  Space space = Space::kGlobal;
  std::uint64_t address = 0;
  bool frame_relative = false;  ///< local memory: the address is relative to the frame's base
  std::uint64_t bytes = 0;
};

struct Names {
  std::unordered_map<std::string, Symbol> symbols;
  std::unordered_map<std::string, const Function*> functions;
};

/// Constants of a function, each replicated for 32 lanes.
class ConstantPool {
 public:
  std::uint32_t add(std::uint64_t bits, unsigned bytes);
  Bytes finish() const;

 private:
  std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t> offsets_;
  std::vector<std::byte> data_;
};

/// State while one function is decoded.
struct FunctionDecode {
  Function* function = nullptr;
  const FunctionText* text = nullptr;
  const Names* module_names = nullptr;
  std::unordered_map<std::string, Symbol> symbols;  ///< of this function
  std::unordered_map<std::string, Register> registers;
  std::unordered_map<std::string, std::size_t> labels;
  std::unordered_map<std::string, const BranchTargets*> branch_targets;
  std::unordered_map<std::string, const CallPrototype*> prototypes;
  std::unordered_map<std::string, const CallTargets*> call_targets;
  ConstantPool constants;
  std::map<std::uint32_t, std::vector<std::size_t>> addresses;  ///< ld and st, by register
  std::uint32_t* slots = nullptr;
};

/// Statements that a backward branch repeats.
struct Loop {
  std::size_t begin = 0, end = 0;
};

/// Assigns shape records to the loads and stores in `addresses`. Call it when the code is complete.
void give_shape_records(FunctionDecode& state, const std::vector<Loop>& loops);

/// Runs an instruction's body for the lanes whose guard is true.
void guarded(Context& c, const Instr& in);

/// One statement being decoded. Modifiers that its row does not take are refused.
class Decode {
 public:
  Decode(FunctionDecode& function, const Statement& statement)
      : function_(function), statement_(statement), used_(statement.modifiers.size(), false) {}

  /// Decodes the statement. Throws Rejected if the executor cannot run it.
  Instr run();

  /// Takes the modifier of this name; false if it is absent.
  bool flag(std::string_view name);
  /// Takes the first modifier that is among `names`.
  std::optional<std::string> one_of(std::initializer_list<std::string_view> names);
  /// Takes the next modifier that is a type.
  Type type();
  [[noreturn]] void reject(const std::string& why) const;

  std::size_t operands() const { return statement_.operands.size(); }
  const Operand& operand(std::size_t i) const;
  const FunctionDecode& function() const { return function_; }
  const Statement& statement() const { return statement_; }

  /// Registers and literals whose size is exactly that of the type.
  std::uint32_t destination(const Operand& operand, Type type);
  std::uint32_t source(const Operand& operand, Type type);
  /// A register of at least `bytes` bytes (ld, st, cvt), with its actual size.
  Register wide_register(const Operand& operand, unsigned bytes) const;
  std::uint32_t predicate(const Operand& operand) const;
  /// A predicate or the literals 0 and 1. `negated`: set to true for "!p".
  std::uint32_t predicate_source(const Operand& operand, bool& negated);
  std::optional<Register> find_register(const std::string& name) const;
  const Symbol* find_symbol(const std::string& name) const;
  std::uint32_t constant(std::uint64_t bits, unsigned bytes) {
    return function_.constants.add(bits, bytes);
  }
  /// Marks the instruction as a load or store that uses a Shape of the addresses in s[0].
  void use_shape() { function_.addresses[out.s[0]].push_back(function_.function->code.size()); }
  std::uint32_t next_slot() { return (*function_.slots)++; }
  const std::uint32_t* keep(const std::vector<std::uint32_t>& list);
  std::size_t label(const std::string& name) const;
  void expect_operands(std::size_t least, std::size_t most) const;

  /// Sets `out` to run F on each lane: destination type D, source types S; operands must be set.
  template <class D, class... S, class F>
  void lanes(F) {
    out.full = pick<Full<F, D, S...>>();
    out.masked = pick<Masked<F, D, S...>>();
  }
  /// Sets d and the sources from the operands, by type. Call lanes() afterwards.
  void plain_operands(Type destination_type, std::initializer_list<Type> sources);
  /// Uses one function for both forms; that function applies the mask.
  void each(Execute execute) { out.full = out.masked = execute; }
  /// Like each(), but the function also evaluates the guard.
  void control(Execute execute) {
    each(execute);
    own_guard_ = true;
  }

  /// Sets a label as the target; it becomes an address when the code is complete.
  void branch_to(const std::string& name) { target = label(name); }

  Instr out;
  std::optional<std::size_t> target;     ///< statement that bra goes to
  const BranchTargets* table = nullptr;  ///< of brx.idx

 private:
  FunctionDecode& function_;
  const Statement& statement_;
  std::vector<bool> used_;
  bool own_guard_ = false;
};

}  // namespace kbench::ptx
