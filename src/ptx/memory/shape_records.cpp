// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/machine/decode.hpp"
#include "ptx/machine/warp_sync.hpp"
#include "ptx/memory/access.hpp"
#include "ptx/memory/shape.hpp"

// The pattern of the addresses in a register is computed once for all loads and stores between two
// writes of the register. Its record, a Shape, is stored after the frame's registers and names the
// lanes that it describes. Each instruction that writes the register clears the record.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

// Called after the instruction, because the instruction itself may use the record.
void clear_records(const Context& c, const Instr& in) {
  for (const u32* record = in.clears; *record != kNone; ++record) {
    c.target<Shape>(*record)->mask = 0;
  }
}

void clearing_full(Context& c, const Instr& in) {
  in.body_full(c, in);
  clear_records(c, in);
}

void clearing_masked(Context& c, const Instr& in) {
  in.body_masked(c, in);
  clear_records(c, in);
}

void clearing_guarded(Context& c, const Instr& in) {
  guarded(c, in);
  clear_records(c, in);
}

/// A PTX instruction writes only registers in its first operand.
void collect_written(const FunctionDecode& state, const Operand& operand, std::size_t statement,
                     std::map<u32, std::vector<std::size_t>>& writers) {
  if (operand.kind == Operand::Kind::kAddress) return;
  for (const std::string& name : {operand.name, operand.second}) {
    const auto found = state.registers.find(name);
    if (found != state.registers.end()) writers[found->second.offset].push_back(statement);
  }
  for (const Operand& item : operand.items) collect_written(state, item, statement, writers);
}

/// True if a loop contains `use` and no write of the register.
bool invariant(const std::vector<Loop>& loops, const std::vector<std::size_t>& writers,
               std::size_t use) {
  return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
    const auto inside = [&](std::size_t at) { return loop.begin <= at && at <= loop.end; };
    return inside(use) && std::none_of(writers.begin(), writers.end(), inside);
  });
}

void clear_behind(Instr& in) {
  if (in.full == &guarded) {
    in.full = in.masked = &clearing_guarded;
    return;
  }
  in.body_full = in.full;
  in.body_masked = in.masked;
  in.full = &clearing_full;
  in.masked = &clearing_masked;
}

}  // namespace

void give_shape_records(FunctionDecode& state, const std::vector<Loop>& loops) {
  Function& function = *state.function;
  std::map<u32, std::vector<std::size_t>> writers;
  std::map<u32, std::vector<std::size_t>> returned;  // written by calls: later, in another frame
  for (std::size_t i = 0; i < state.text->statements.size(); ++i) {
    const Statement& statement = state.text->statements[i];
    if (statement.operands.empty()) continue;
    const bool call = statement.opcode == "call";
    collect_written(state, statement.operands[0], i, call ? returned : writers);
  }
  const u32 scratch = function.shapes_offset = function.register_bytes;
  function.register_bytes += sizeof(Shape);
  std::map<std::size_t, std::vector<u32>> clears;
  for (const auto& [address, uses] : state.addresses) {
    const auto& written = writers[address];
    // Lanes that meet at copies of a warp-synchronous instruction get its result without `clears`.
    const bool meets = std::any_of(written.begin(), written.end(), [&](std::size_t at) {
      return find_sync(function.code[at]) != nullptr;
    });
    const bool keep = !meets && returned.count(address) == 0 &&
                      (uses.size() > 1 || invariant(loops, written, uses[0]));
    const u32 record = keep ? function.register_bytes : scratch;
    if (keep) function.register_bytes += sizeof(Shape);
    for (const std::size_t use : uses) {
      function.code[use].extra = record;
      if (!keep) function.code[use].flags |= kNoRecord;
    }
    for (const std::size_t writer : written) {
      if (keep) clears[writer].push_back(record);
    }
  }
  for (auto& [writer, records] : clears) {
    records.push_back(kNone);
    auto list = std::make_unique<u32[]>(records.size());
    std::copy(records.begin(), records.end(), list.get());
    function.code[writer].clears = list.get();
    function.lists.push_back(std::move(list));
    clear_behind(function.code[writer]);
  }
}

Bytes make_registers(const Function& function) {
  Bytes registers(function.register_bytes);
  for (u32 at = function.shapes_offset; at < function.register_bytes; at += sizeof(Shape)) {
    reinterpret_cast<Shape*>(registers.data() + at)->mask = 0;
  }
  return registers;
}

}  // namespace kbench::ptx
