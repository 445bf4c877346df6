// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/random/statements.hpp"

// Calls, and what the threads of a block do together.
namespace kbench::ptx::random {
namespace {

std::string bits_type(Kind kind) { return fmt::format("b{}", 8 * bytes_of(kind)); }

constexpr const char* kTallies[] = {"add.u32", "min.s32", "max.u32", "and.b32", "or.b32",
                                    "xor.b32", "add.u64", "max.s64", "xor.b64", "min.u64"};

}  // namespace

std::string Callee::parameter_list(bool named) const {
  std::string text = "(";
  for (const std::string_view pointer : {"p_in", "p_own", "p_counters"}) {
    text += fmt::format("{}.param .b64 {}", text.size() > 1 ? ", " : "", named ? pointer : "_");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += fmt::format(", .param .{} {}", bits_type(parameters[i]),
                        named ? fmt::format("p_{}", i) : "_");
  }
  return text + ")";
}

std::string Callee::result_declaration(std::string_view name_of) const {
  if (structure) return fmt::format(".param .align 8 .b8 {}[16]", name_of);
  return fmt::format(".param .{} {}", bits_type(result), name_of);
}

void Statements::call(const Callee& callee, const std::string& depth) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    const bool last = callee.recursive && i + 1 == callee.parameters.size();
    values.push_back(last ? depth : w_.source(callee.parameters[i]));
  }
  w_.line("{ .param .b64 a_in; .param .b64 a_own; .param .b64 a_counters");
  std::string names = "a_in, a_own, a_counters";
  for (const std::string_view pointer : {"in", "own", "counters"}) {
    w_.line(fmt::format("st.param.b64 [a_{0}], %{0}", pointer));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string type = bits_type(callee.parameters[i]);
    w_.line(fmt::format(".param .{} a_{}", type, i));
    w_.line(fmt::format("st.param.{} [a_{}], {}", type, i, values[i]));
    names += fmt::format(", a_{}", i);
  }
  w_.line(callee.result_declaration("result"));
  if (rng_.chance(25)) {
    const std::string address = w_.fresh(Kind::kB64), prototype = w_.label();
    w_.line(fmt::format("mov.u64 {}, {}", address, callee.name));
    w_.line(fmt::format("{}: .callprototype ({}) _ {}", prototype, callee.result_declaration("_"),
                        callee.parameter_list(false)));
    w_.line(fmt::format("call (result), {}, ({}), {}", address, names, prototype));
  } else {
    w_.line(fmt::format("call (result), {}, ({})", callee.name, names));
  }
  if (callee.structure) {
    w_.line(fmt::format("ld.param.b32 {}, [result]", w_.target(Kind::kB32)));
    w_.line(fmt::format("ld.param.f32 {}, [result+4]", w_.target(Kind::kF32)));
    w_.line(fmt::format("ld.param.b64 {}, [result+8]", w_.target(Kind::kB64)));
  } else {
    w_.line(fmt::format("ld.param.{} {}, [result]", bits_type(callee.result),
                        w_.target(callee.result)));
  }
  w_.line("}");
}

std::string Statements::barrier() {
  static constexpr const char* kForms[] = {"bar.sync 0", "barrier.sync 0", "barrier.sync.aligned 1",
                                           "bar.cta.sync 2"};
  const bool counted = plan_.block_threads % 32 == 0 && rng_.chance(30);
  // The aligned forms want warps whose lanes are together, which ptxas does not see to everywhere.
  const auto form = counted ? "bar.sync 3" : rng_.one_of(kForms);
  if (form != std::string_view("barrier.sync 0")) w_.line("bar.warp.sync %mask");
  if (counted) {
    return fmt::format("bar.sync 3, {}", plan_.block_threads);
  }
  return form;
}

/// All threads update a few words whose values at the end do not depend on the order.
void Statements::tally() {
  const std::string p = w_.fresh(Kind::kPred), at = w_.fresh(Kind::kB32);
  const std::uint32_t first = rng_.below(7);
  const std::uint32_t words = 1 + rng_.below(4);
  w_.line(fmt::format("rem.u32 {}, %linear, {}", at, plan_.block_threads));
  w_.line(fmt::format("setp.eq.u32 {}, {}, {}", p, at, rng_.below(plan_.block_threads)));
  w_.line(barrier());
  for (std::uint32_t i = 0; i < words; ++i) {
    w_.line(fmt::format("@{} st.shared.b64 [tally+{}], {}", p, 8 * i, rng_.bits() >> 1));
  }
  w_.line(barrier());
  for (std::uint32_t i = 0; i < words; ++i) {
    const std::string_view update = kTallies[first + i];
    const std::string value = w_.source(update.ends_with("64") ? Kind::kB64 : Kind::kB32);
    const bool guarded = rng_.chance(30);
    const std::string guard = guarded ? "@" + w_.source(Kind::kPred) + " " : "";
    w_.line(fmt::format("{}red.shared.{} [tally+{}], {}", guard, update, 8 * i, value));
  }
  w_.line(barrier());
  for (std::uint32_t i = 0; i < words; ++i) {
    w_.line(fmt::format("ld.shared.b64 {}, [tally+{}]", w_.target(Kind::kB64), 8 * i));
  }
}

void Statements::barrier_reduction() {
  const std::string p = w_.source(Kind::kPred);
  const std::string_view sign = rng_.chance(30) ? "!" : "";
  w_.line("bar.warp.sync %mask");
  const bool count = rng_.chance(50);
  if (count) {
    w_.line(fmt::format("bar.red.popc.u32 {}, 0, {}{}", w_.target(Kind::kB32), sign, p));
  } else {
    // ptxas (12.8 to 13.0) runs this barrier once more where its predicate is read, which may be in
    // divergent code; an integer that warps agreed on stays what it is.
    const std::string_view op = rng_.chance(50) ? "and" : "or";
    const std::string result = w_.target(Kind::kPred), lanes = w_.fresh(Kind::kB32);
    w_.line(fmt::format("bar.red.{}.pred {}, 1, {}{}", op, result, sign, p));
    w_.line(fmt::format("vote.sync.ballot.b32 {}, {}, %mask", lanes, result));
    w_.line(fmt::format("setp.ne.u32 {}, {}, 0", result, lanes));
  }
}

}  // namespace kbench::ptx::random
