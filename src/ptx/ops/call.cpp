// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptx/launch/natives.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/memory/written.hpp"

// Calls, returns, and stack allocation.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Location of an argument or result. Instr::list holds the arguments, then the results: first
/// their number, then `kWords` words each.
enum class Where : u32 { kLocal, kRegister, kNowhere };

struct Actual {
  Where where = Where::kLocal;
  u32 offset = 0, bytes = 0;
};

constexpr std::size_t kWords = 3;

class Actuals {
 public:
  explicit Actuals(const u32* list) : list_(list) {}
  std::size_t size() const { return list_[0]; }
  Actual operator[](std::size_t k) const {
    const u32* at = list_ + 1 + kWords * k;
    return {static_cast<Where>(at[0]), at[1], at[2]};
  }
  Actuals next() const { return Actuals(list_ + 1 + kWords * size()); }

 private:
  const u32* list_;
};

Place place_of(const Context& c, const Frame& frame, const Actual& actual) {
  switch (actual.where) {
    case Where::kLocal:
      return {c.warp->local.data() + frame.local_base + actual.offset, c.warp->local_stride,
              u64{frame.local_base} + actual.offset};
    case Where::kRegister: {
      const bool constant = (actual.offset & kConstantBit) != 0;
      std::byte* base = constant ? frame.function->constants.data() : frame.registers.data();
      return {base + (actual.offset & ~kConstantBit), actual.bytes, {}};
    }
    default:
      return {};
  }
}

Place place_of(const Context& c, const Frame& frame, const ParameterSlot& slot) {
  const Where where = slot.in_register ? Where::kRegister : Where::kLocal;
  return place_of(c, frame, Actual{where, slot.offset, slot.bytes});
}

void copy_lanes(const Context& c, const Place& to, const Place& from, std::size_t bytes) {
  if (to.lanes == nullptr) return;
  for_lanes(c.mask, [&](unsigned i) {
    std::memcpy(to.lanes + i * to.stride, from.lanes + i * from.stride, bytes);
    if (to.local) mark_local(*c.warp, i, *to.local, bytes);
  });
}

void switch_frame(Context& c, Frame* frame, const Instr* ip) {
  c.frame = frame;
  c.base = {frame->registers.data(), frame->function->constants.data()};
  c.ip = ip;
  c.merge_ip = nullptr;
}

void return_from(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  Frame* frame = c.frame;
  if (frame->caller == nullptr) return exit_lanes(c, c.mask);
  const Function& function = *frame->function;
  const Actuals results = Actuals(frame->call->list).next();
  for (std::size_t k = 0; k < results.size(); ++k) {
    copy_lanes(c, place_of(c, *frame->caller, results[k]), place_of(c, *frame, function.returns[k]),
               function.returns[k].bytes);
  }
  Frame* caller = frame->caller;
  const Instr* ip = frame->return_ip;
  frame->lanes &= ~c.mask;
  if (frame->lanes == 0) {
    std::erase_if(c.warp->frames, [&](const auto& held) { return held.get() == frame; });
  }
  switch_frame(c, caller, ip);
}

void overflow(Context& c, const Instr& in, const std::string& what) {
  raise(c, in, static_cast<unsigned>(std::countr_zero(c.mask)), FaultKind::kIllegalAddress,
        fmt::format("{} and overflows the stack of {} bytes", what, c.warp->local_stride));
}

void enter_function(Context& c, const Instr& in, const Function& function) {
  const u64 base = c.frame->local_end;
  if (base + function.local_bytes > c.warp->local_stride) {
    return overflow(c, in, fmt::format("calls {} at depth {}", function.name, c.frame->depth + 1));
  }
  auto frame = std::make_unique<Frame>();
  frame->function = &function;
  frame->caller = c.frame;
  frame->return_ip = c.ip;
  frame->call = &in;
  frame->lanes = c.mask;
  frame->depth = c.frame->depth + 1;
  frame->local_base = static_cast<u32>(base);
  frame->local_end = frame->local_base + function.local_bytes;
  frame->registers = make_registers(function);
  const Actuals arguments(in.list);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    copy_lanes(c, place_of(c, *frame, function.parameters[k]), place_of(c, *c.frame, arguments[k]),
               function.parameters[k].bytes);
  }
  Frame* entered = frame.get();
  c.warp->frames.push_back(std::move(frame));
  switch_frame(c, entered, function.code.data());
}

void call_direct(Context& c, const Instr& in) {
  if (enter_guard(c, in)) enter_function(c, in, *static_cast<const Function*>(in.object));
}

bool fits(const std::vector<ParameterSlot>& slots, const Actuals& actuals) {
  if (slots.size() != actuals.size()) return false;
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (actuals[k].where != Where::kNowhere && slots[k].bytes != actuals[k].bytes) return false;
  }
  return true;
}

void call_indirect(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const u64* address = c.source<u64>(in.s[0]);
  const auto first = static_cast<unsigned>(std::countr_zero(c.mask));
  u32 same = 0;
  for_lanes(c.mask, [&](unsigned i) { same |= u32{address[i] == address[first]} << i; });
  const u64 index = address[first] - kFunctionWindow;
  const auto& functions = c.grid->program->functions;
  const Actuals arguments(in.list);
  const bool known = index < functions.size() && !functions[index]->entry &&
                     fits(functions[index]->parameters, arguments) &&
                     fits(functions[index]->returns, arguments.next());
  if (!known) {
    return raise(
        c, in, first, FaultKind::kIllegalAddress,
        fmt::format("calls {:#x}, which is not a function with these parameters", address[first]));
  }
  if (same != c.mask) keep_only(c, in, same);
  enter_function(c, in, *functions[index]);
}

void call_native(Context& c, const Instr& in) {
  if (!enter_guard(c, in)) return;
  const Actuals arguments(in.list);
  NativeCall call;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    call.arguments[k] = place_of(c, *c.frame, arguments[k]);
  }
  const Actuals results = arguments.next();
  if (results.size() != 0) call.result = place_of(c, *c.frame, results[0]);
  static_cast<const NativeRow*>(in.object)->run(c, in, call);
}

/// Bytes of each parameter, or of each result.
using Formals = std::vector<u64>;

Formals formals_of(const std::vector<ParameterSlot>& slots) {
  Formals formals;
  for (const ParameterSlot& slot : slots) formals.push_back(slot.bytes);
  return formals;
}

Formals formals_of(const std::vector<Variable>& variables) {
  Formals formals;
  for (const Variable& variable : variables) formals.push_back(variable.bytes());
  return formals;
}

/// Decodes an argument or result: a .param variable, a register, or a literal (arguments only).
Actual actual(Decode& d, const Operand& operand, u64 wanted, bool result) {
  if (operand.kind == Operand::Kind::kSink && result) return {Where::kNowhere, 0, 0};
  Actual made;
  if (const auto found = d.find_register(operand.name)) {
    if (found->predicate) d.reject("predicates as arguments are not supported");
    made = {Where::kRegister, d.wide_register(operand, 2).offset, found->bytes};
  } else if (const Symbol* symbol = d.find_symbol(operand.name);
             symbol != nullptr && symbol->frame_relative && operand.offset == 0) {
    made = {Where::kLocal, static_cast<u32>(symbol->address), static_cast<u32>(symbol->bytes)};
  } else if (!result && operand.kind == Operand::Kind::kInteger && (wanted == 4 || wanted == 8)) {
    made = {Where::kRegister, d.constant(operand.bits, static_cast<unsigned>(wanted)),
            static_cast<u32>(wanted)};
  } else {
    d.reject(fmt::format("'{}' as an argument is not supported", operand.name));
  }
  if (made.bytes != wanted) {
    d.reject(fmt::format("'{}' has {} bytes, but the function takes {}", operand.name, made.bytes,
                         wanted));
  }
  return made;
}

void append(Decode& d, const Operand* operand, const Formals& formals, bool result,
            std::vector<u32>& list) {
  const std::size_t count = operand == nullptr ? 0 : operand->items.size();
  if (count != formals.size()) {
    d.reject(fmt::format("the call has {} {}, but the function has {}", count,
                         result ? "results" : "arguments", formals.size()));
  }
  list.push_back(static_cast<u32>(count));
  for (std::size_t k = 0; k < count; ++k) {
    const Actual made = actual(d, operand->items[k], formals[k], result);
    list.insert(list.end(), {static_cast<u32>(made.where), made.offset, made.bytes});
  }
}

/// The operands of a call as written.
struct CallText {
  const Operand* results = nullptr;
  const Operand* callee = nullptr;
  const Operand* arguments = nullptr;
  const Operand* prototype = nullptr;
};

CallText read_call(const Decode& d) {
  CallText text;
  std::size_t next = 0;
  const auto vector_at = [&] {
    return next < d.operands() && d.operand(next).kind == Operand::Kind::kVector;
  };
  if (vector_at()) text.results = &d.operand(next++);
  text.callee = &d.operand(next++);
  if (vector_at()) text.arguments = &d.operand(next++);
  if (next < d.operands()) text.prototype = &d.operand(next++);
  d.expect_operands(next, next);
  return text;
}

void decode_list(Decode& d, const CallText& text, const Formals& parameters,
                 const Formals& results) {
  std::vector<u32> list;
  append(d, text.arguments, parameters, false, list);
  append(d, text.results, results, true, list);
  d.out.list = d.keep(list);
}

void decode_indirect(Decode& d, const CallText& text) {
  if (text.prototype == nullptr) d.reject("the prototype of the function is missing");
  const auto& prototypes = d.function().prototypes;
  const auto& targets = d.function().call_targets;
  const auto& functions = d.function().module_names->functions;
  if (const auto found = prototypes.find(text.prototype->name); found != prototypes.end()) {
    decode_list(d, text, formals_of(found->second->parameters), formals_of(found->second->returns));
  } else if (const auto list = targets.find(text.prototype->name); list != targets.end()) {
    const auto function = functions.find(list->second->functions.front());
    if (function == functions.end()) d.reject("the targets of the call are not defined here");
    decode_list(d, text, formals_of(function->second->parameters),
                formals_of(function->second->returns));
  } else {
    d.reject(fmt::format("'{}' is not a prototype", text.prototype->name));
  }
  d.out.s[0] = d.source(*text.callee, Type::kB64);
  d.control(&call_indirect);
}

void decode_native(Decode& d, const CallText& text, const NativeRow& row) {
  Formals parameters, results;
  for (const u32 bytes : row.parameters) {
    if (bytes != 0) parameters.push_back(bytes);
  }
  if (row.result != 0 && text.results != nullptr) results.push_back(row.result);
  decode_list(d, text, parameters, results);
  d.out.object = &row;
  d.out.slot = d.next_slot();
  d.control(&call_native);
}

void decode_call(Decode& d) {
  d.flag("uni");
  const CallText text = read_call(d);
  const std::string& callee = text.callee->name;
  if (d.find_register(callee)) return decode_indirect(d, text);
  if (text.prototype != nullptr) d.reject("only a call through a register takes a prototype");
  const auto& functions = d.function().module_names->functions;
  const auto found = functions.find(callee);
  if (found == functions.end()) {
    if (const NativeRow* row = find_native(callee)) return decode_native(d, text, *row);
    d.reject(fmt::format("the function {} is not defined in this module", callee));
  }
  if (found->second->entry) d.reject("kernels cannot be called");
  decode_list(d, text, formals_of(found->second->parameters), formals_of(found->second->returns));
  d.out.object = found->second;
  d.control(&call_direct);
}

void decode_ret(Decode& d) {
  d.flag("uni");
  d.expect_operands(0, 0);
  d.control(&return_from);
}

/// Allocates memory at the end of the frame, in the largest size that any lane requests.
template <class T>
void allocate(Context& c, const Instr& in) {
  const T* size = c.source<T>(in.s[0]);
  u64 most = 0;
  for_lanes(c.mask, [&](unsigned i) { most = std::max<u64>(most, size[i]); });
  const auto align = static_cast<u64>(in.imm);
  const u64 begin = (c.frame->local_end + align - 1) / align * align;
  if (begin > c.warp->local_stride || most > c.warp->local_stride - begin) {
    return overflow(c, in, fmt::format("allocates {} bytes", most));
  }
  for_lanes(c.mask, [&](unsigned i) { c.target<T>(in.d)[i] = static_cast<T>(begin); });
  c.frame->local_end =
      static_cast<u32>(std::min<u64>((begin + most + 15) / 16 * 16, c.warp->local_stride));
}

template <class T>
void save_stack(Context& c, const Instr& in) {
  for_lanes(c.mask, [&](unsigned i) { c.target<T>(in.d)[i] = c.frame->local_end; });
}

/// Frees memory once all lanes of the frame restore together; until then others may use theirs.
template <class T>
void restore_stack(Context& c, const Instr& in) {
  if (c.mask != c.frame->lanes) return;
  u64 end = c.frame->local_base + c.frame->function->local_bytes;
  for_lanes(c.mask, [&](unsigned i) { end = std::max<u64>(end, c.source<T>(in.s[0])[i]); });
  c.frame->local_end = static_cast<u32>(std::min<u64>(end, c.frame->local_end));
}

void decode_alloca(Decode& d) {
  const Type type = d.type();
  if (type != Type::kU32 && type != Type::kU64) d.reject("the type is not supported");
  d.expect_operands(2, 3);
  d.out.d = d.destination(d.operand(0), type);
  d.out.s[0] = d.source(d.operand(1), type);
  d.out.imm = 8;
  if (d.operands() == 3) {
    const Operand& align = d.operand(2);
    const bool sound = align.kind == Operand::Kind::kInteger && std::has_single_bit(align.bits) &&
                       align.bits <= 4096;
    if (!sound) d.reject("the alignment is not supported");
    d.out.imm = static_cast<std::int64_t>(align.bits);
  }
  d.each(type == Type::kU32 ? &allocate<u32> : &allocate<u64>);
}

void decode_stack(Decode& d) {
  const bool saves = d.statement().opcode == "stacksave";
  const Type type = d.type();
  if (type != Type::kU32 && type != Type::kU64) d.reject("the type is not supported");
  d.expect_operands(1, 1);
  if (saves) {
    d.out.d = d.destination(d.operand(0), type);
    return d.each(type == Type::kU32 ? &save_stack<u32> : &save_stack<u64>);
  }
  d.out.s[0] = d.source(d.operand(0), type);
  d.each(type == Type::kU32 ? &restore_stack<u32> : &restore_stack<u64>);
}

constexpr OpcodeRow kRows[] = {
    {"call", decode_call},          {"ret", decode_ret},
    {"alloca", decode_alloca},      {"stacksave", decode_stack},
    {"stackrestore", decode_stack},
};

}  // namespace

std::span<const OpcodeRow> call_opcodes() { return kRows; }

}  // namespace kbench::ptx
