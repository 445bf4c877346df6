// SPDX-License-Identifier: MIT
#include "ptx/random/generator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/random/data.hpp"
#include "ptx/random/statements.hpp"

namespace kbench::ptx::random {
namespace {

constexpr Kind kPassed[] = {Kind::kB32, Kind::kB64,   Kind::kF32,    Kind::kF64, Kind::kB16,
                            Kind::kF16, Kind::kF16x2, Kind::kBf16x2, Kind::kBf16};

std::array<std::uint32_t, kGroups> group_weights(Rng& rng) {
  static constexpr std::uint32_t kWeights[] = {0, 2, 4, 4, 8, 12};
  std::array<std::uint32_t, kGroups> weights{};
  for (auto& weight : weights) weight = rng.one_of(kWeights);
  const auto at_least = [&](Group group, std::uint32_t least) {
    auto& weight = weights[static_cast<std::size_t>(group)];
    weight = std::max(weight, least);
  };
  // Loads bring fresh values: without them floating values end as NaN and integers as 0.
  at_least(Group::kLoad, 6);
  at_least(Group::kConvert, 2);
  at_least(Group::kCompare, 2);
  return weights;
}

std::string array(Rng& rng, std::string_view name, Kind kind) {
  std::string text = fmt::format("{} .align 16 .b32 {}[64] = {{",
                                 name.starts_with("module") ? ".global" : ".const", name);
  for (int i = 0; i < 64; ++i) {
    text += fmt::format("{}0x{:x}", i == 0 ? "" : ", ", sample(rng, kind));
  }
  return text + "};\n";
}

/// Arrays in local memory that the text names, and their first values.
std::string local_arrays(const Writer& writer, std::uint64_t seed) {
  Rng rng(seed);
  std::string declarations, stores;
  for (const char letter : {'l', 'm'}) {
    const std::string name = fmt::format("local_{}_{}", letter, writer.name());
    if (!writer.uses(name)) continue;
    declarations += fmt::format("  .local .align 16 .b8 {}[64];\n", name);
    for (int i = 0; i < 64; i += 4) {
      stores += fmt::format(
          "  st.local.b32 [{}+{}], {};\n", name, i,
          static_cast<std::int32_t>(sample(rng, letter == 'l' ? Kind::kB32 : Kind::kF32)));
    }
  }
  return declarations + stores;
}

/// `%linear` counts all threads of the grid, `%mask` the lanes of the warp, `%clamp` is its last.
std::string kernel_prologue() {
  return "  ld.param.b64 %in, [k_in];\n  ld.param.b64 %own, [k_own];\n"
         "  ld.param.b64 %counters, [k_counters];\n"
         "  { .reg .b32 %a, %b, %n; .reg .b64 %w;\n"
         "  mov.u32 %a, %tid.x; mov.u32 %b, %tid.y; mov.u32 %n, %ntid.x;\n"
         "  mad.lo.u32 %a, %b, %n, %a; mov.u32 %b, %ntid.y; mul.lo.u32 %n, %n, %b;\n"
         "  and.b32 %clamp, %a, 0xffffffe0; sub.u32 %clamp, %n, %clamp;\n"
         "  min.u32 %clamp, %clamp, 32; sub.u32 %b, 32, %clamp; mov.u32 %mask, 0xffffffff;\n"
         "  shr.u32 %mask, %mask, %b; sub.u32 %clamp, %clamp, 1;\n"
         "  mov.u32 %b, %ctaid.x; mad.lo.u32 %linear, %b, %n, %a;\n"
         "  mul.wide.u32 %w, %linear, 64; add.s64 %own, %own, %w; }\n";
}

Callee make_callee(Rng& rng, std::string name) {
  Callee callee;
  callee.name = std::move(name);
  for (std::uint32_t i = 1 + rng.below(3); i > 0; --i) {
    callee.parameters.push_back(rng.one_of(kPassed));
  }
  callee.result = rng.one_of(kPassed);
  callee.structure = rng.chance(30);
  callee.recursive = rng.chance(40);
  if (callee.recursive) callee.parameters.push_back(Kind::kB32);
  return callee;
}

std::string bits_type(Kind kind) { return fmt::format("b{}", 8 * bytes_of(kind)); }

/// The statements of a function between its first values and its result.
void callee_body(Writer& w, const Plan& plan, const Callee& callee) {
  Statements statements(w, plan);
  w.place.depth = 2;
  w.line("mov.u32 %linear, %tid.x");
  statements.first_values(1);
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    const Kind kind = callee.parameters[i];
    w.line(fmt::format("ld.param.{} {}, [p_{}]", bits_type(kind), w.target(kind), i));
  }
  for (std::uint32_t i = 3 + w.rng.below(5); i > 0; --i) statements.any();
  if (callee.recursive) {
    const std::string p = w.fresh(Kind::kPred), depth = w.fresh(Kind::kB32), end = w.label();
    w.line(fmt::format("ld.param.b32 {}, [p_{}]", depth, callee.parameters.size() - 1));
    w.line(fmt::format("setp.eq.u32 {}, {}, 0", p, depth));
    w.line(fmt::format("@{} bra {}", p, end));
    const auto mark = w.mark();
    w.line(fmt::format("sub.u32 {0}, {0}, 1", depth));
    statements.call(callee, depth);
    w.leave(mark);
    w.line(end + ":");
  }
  for (std::uint32_t i = 1 + w.rng.below(3); i > 0; --i) statements.any();
}

/// A function's text without acquiring loads: of one whose value nobody needs ptxas (12.8 to 13.0)
/// takes away what all other accesses of the function need, too.
std::string relaxed(std::string text) {
  constexpr std::string_view kAcquire = ".acquire.", kRelaxed = ".relaxed.";
  for (std::size_t at = 0; (at = text.find(kAcquire, at)) != text.npos;) {
    text.replace(at, kAcquire.size(), kRelaxed);
  }
  return text;
}

std::string function(Rng& rng, Plan plan, const Callee& callee, std::uint64_t seed) {
  Writer w(rng, callee.name, true);
  callee_body(w, std::move(plan), callee);
  if (callee.structure) {
    w.line(fmt::format("st.param.b32 [returned], {}", w.source(Kind::kB32)));
    w.line(fmt::format("st.param.f32 [returned+4], {}", w.source(Kind::kF32)));
    w.line(fmt::format("st.param.b64 [returned+8], {}", w.source(Kind::kB64)));
  } else {
    w.line(fmt::format("st.param.{} [returned], {}", bits_type(callee.result),
                       w.source(callee.result)));
  }
  const std::string head = fmt::format(".func ({}) {} {}", callee.result_declaration("returned"),
                                       callee.name, callee.parameter_list(true));
  return fmt::format(
      "{}\n{{\n{}{}  ld.param.b64 %in, [p_in];\n  ld.param.b64 %own, [p_own];\n"
      "  ld.param.b64 %counters, [p_counters];\n{}  ret;\n}}\n\n",
      head, w.declarations(), local_arrays(w, seed), relaxed(w.text()));
}

/// Writes all values, or those that nobody used, to the results, a slot per thread and value.
void store_results(Writer& w, Kernel& kernel, bool all) {
  w.line(
      "{ .reg .b64 %out, %slot; ld.param.b64 %out, [k_out]; mad.wide.u32 %out, %linear, 8, %out");
  const auto store = [&](Kind kind, const std::string& value) {
    w.line(fmt::format("st.global.{} [%out+{}], {}", bits_type(kind),
                       kernel.results.size() * kernel.threads() * kSlotBytes, value));
    kernel.results.push_back(kind);
    kernel.names.push_back(value);
  };
  // Some threads leave early, when nobody waits for them any more.
  Kind last = Kind::kPred;
  if (!all && w.rng.chance(30)) last = static_cast<Kind>(2 + w.rng.below(8));
  for (const std::string& p : w.values(Kind::kPred, all)) {
    const std::string bit = w.fresh(Kind::kB32);
    w.line(fmt::format("selp.b32 {}, 1, 0, {}", bit, p));
    store(Kind::kB32, bit);
  }
  for (std::size_t k = 1; k < kKinds; ++k) {
    const Kind kind = static_cast<Kind>(k);
    if (kind == last) {
      const std::string p = w.source(Kind::kPred);
      w.line(fmt::format("@{} {}", p, w.rng.chance(50) ? "ret" : "exit"));
    }
    auto values = w.values(kind, all);
    if (values.empty()) values.push_back(w.source(kind));
    for (const std::string& value : values) store(kind, value);
  }
  w.line("}");
}

void choose_launch(Rng& rng, Kernel& kernel) {
  static constexpr std::uint32_t kBlocks[] = {1,  7,  31, 32,  32,  33,  48,
                                              64, 64, 96, 100, 128, 200, 256};
  kernel.block = rng.one_of(kBlocks);
  kernel.rows = kernel.block % 4 == 0 && rng.chance(20) ? 4 : 1;
  kernel.grid = 1 + rng.below(kernel.block > 100 ? 3 : 6);
}

void fill_data(Kernel& kernel) {
  Rng rng(kernel.seed ^ 0xda7ada7ada7aULL);
  kernel.input = input_data(rng);
  kernel.own = own_data(rng, kernel.threads());
  kernel.counters.assign(kCounters * 8, std::byte{0});
  for (std::size_t i = 0; i < kernel.counters.size(); ++i) {
    kernel.counters[i] = static_cast<std::byte>(rng.below(256));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr Kind kScalars[] = {Kind::kB32, Kind::kF32, Kind::kB64};
    kernel.scalars[i] = sample(rng, kScalars[i]);
  }
}

/// What a kernel begins as: its launch, and a plan that knows it.
Plan begin(Rng& rng, Kernel& kernel) {
  choose_launch(rng, kernel);
  Plan plan;
  plan.weights = group_weights(rng);
  plan.block_threads = kernel.block;
  const bool dynamic = rng.chance(30);
  plan.exchange = dynamic ? "exchange_dynamic" : "exchange";
  kernel.dynamic_shared_bytes = dynamic ? kernel.block * 16 : 0;
  kernel.ptx = kHeader;
  kernel.ptx += array(rng, "constant_c", Kind::kB32);
  kernel.ptx += array(rng, "constant_q", Kind::kF32);
  kernel.ptx += array(rng, "module_v", Kind::kB32);
  kernel.ptx += ".extern .shared .align 16 .b8 exchange_dynamic[];\n";
  return plan;
}

/// Writes the entry around a body.
void finish(Writer& w, Kernel& kernel, bool all_values) {
  store_results(w, kernel, all_values);
  kernel.ptx += fmt::format(
      ".visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_own,\n"
      "  .param .u64 k_counters, .param .b32 k_b32, .param .f32 k_f32, .param .b64 k_b64)\n"
      "{{\n{}  .shared .align 16 .b8 exchange[{}]; .shared .align 8 .b64 gate;\n  .shared .align "
      "16 .b8 tally[64];\n{}{}{}"
      "  ret;\n}}\n",
      w.declarations(), 16 * kernel.block, local_arrays(w, kernel.seed), kernel_prologue(),
      w.text());
  fill_data(kernel);
}

void kernel_body(Writer& w, const Plan& plan, Kernel& kernel, std::size_t limit) {
  Statements statements(w, plan);
  w.place.mask = "%mask";
  w.place.converged = true;
  statements.first_values(2);
  w.line(fmt::format("ld.param.b32 {}, [k_b32]", w.target(Kind::kB32)));
  w.line(fmt::format("ld.param.f32 {}, [k_f32]", w.target(Kind::kF32)));
  w.line(fmt::format("ld.param.b64 {}, [k_b64]", w.target(Kind::kB64)));
  const std::size_t count = std::min<std::size_t>(limit, 30 + w.rng.below(40));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t before = w.text().size();
    statements.any();
    kernel.statements.push_back(w.text().substr(before));
  }
}

}  // namespace

Kernel exact_kernel(std::uint64_t seed, std::size_t limit) {
  Rng rng(seed * 2 + 1);
  Kernel kernel;
  kernel.seed = seed;
  Plan plan = begin(rng, kernel);
  const std::uint32_t functions = rng.chance(45) ? 1 + rng.below(2) : 0;
  std::vector<Callee> callees;
  for (std::uint32_t i = 0; i < functions; ++i) {
    callees.push_back(make_callee(rng, fmt::format("f{}", i)));
    kernel.ptx += function(rng, plan, callees.back(), seed + i + 1);
  }
  plan.callees = std::move(callees);
  Writer w(rng, "k", kernel.block % 32 == 0);
  kernel_body(w, plan, kernel, limit);
  finish(w, kernel, limit != kWhole);
  return kernel;
}

Kernel row_kernel(std::uint64_t seed, const Row& row) {
  Rng rng(seed * 2 + hash_bytes(row.text));
  Kernel kernel;
  kernel.seed = seed;
  const Plan plan = begin(rng, kernel);
  Writer w(rng, "k", kernel.block % 32 == 0);
  w.place = {"%mask", true, 0};
  Statements statements(w, plan);
  for (int i = 0; i < 6; ++i) {
    statements.first_values(1);
    const std::size_t before = w.text().size();
    w.row(row, false);
    kernel.statements.push_back(w.text().substr(before));
  }
  finish(w, kernel, false);
  return kernel;
}

}  // namespace kbench::ptx::random
