// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <numeric>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {

/// How a hand-written kernel is run.
struct BlockRun {
  unsigned threads = 32;
  unsigned blocks = 1;
  std::array<std::uint32_t, 3> cluster{0, 0, 0};
  std::string directives{};  ///< of the entry
  Sanitize sanitize = Sanitize::kNone;
  std::uint64_t schedule_seed = 0;
};

constexpr std::size_t kInputWords = 4096;

/// The text of a kernel around `body`. It has %t (thread in the block), %b (block), %g (thread in
/// the grid), the addresses %in and %out in global memory, scratch %r<32>, %rd<32>, %f<8>, %h<8>,
/// %p<8>, 4 KB of shared memory s, and 8 words m for mbarriers; what is in %r0 at its end is the
/// thread's result.
inline std::string block_text(const std::string& body, const std::string& directives = "") {
  return fmt::format(
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param "
      ".u64 b) {}\n{{\n.reg .b32 %r<32>, %t, %b, %g; .reg .b64 %rd<32>, %in, %out, %at; .reg .pred "
      "%p<8>; .reg .f32 %f<8>; .reg .b16 %h<8>;\n.shared .align 128 .b8 s[4096];\n.shared .align 8 "
      ".b64 m[8];\nmov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %g, %ntid.x;\nmad.lo.u32 %g, "
      "%b, %g, %t; ld.param.u64 %in, [a]; ld.param.u64 %out, [b];\nmov.u32 %r0, 0;\n{}\nEND:\n"
      "mad.wide.u32 %at, %g, 4, %out; st.global.b32 [%at], %r0; ret;\n}}\n",
      directives, body);
}

/// What became of a kernel: each thread's result, or the fault.
struct BlockOutcome {
  std::vector<std::uint32_t> words;
  std::optional<Fault> fault;
  std::vector<std::uint32_t> input;  ///< afterwards
  std::vector<Finding> findings;
};

/// Runs `body` on the input 0, 1, 2, …; fails the test where it is not supported.
inline BlockOutcome run_block(const std::string& body, const BlockRun& how = {}) {
  BlockOutcome outcome;
  Buffer<std::uint32_t> in("input", kInputWords),
      out("output", std::size_t{how.threads} * how.blocks);
  std::iota(in.data(), in.data() + kInputWords, 0U);
  auto loaded = load(block_text(body, how.directives));
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    ADD_FAILURE() << body << ": " << unsupported->instruction << " " << unsupported->message;
    return outcome;
  }
  Launch launch;
  launch.kernel = "k";
  launch.grid = {how.blocks, 1, 1};
  launch.block = {how.threads, 1, 1};
  launch.cluster = how.cluster;
  launch.arguments = arguments(in.data(), out.data());
  Options options;
  options.sanitize = how.sanitize;
  options.schedule_seed = how.schedule_seed;
  auto result = kbench::ptx::launch(std::get<Module>(loaded),
                                    std::vector{in.region(), out.region()}, launch, options);
  outcome.fault = result.fault;
  outcome.findings = result.findings;
  outcome.words.assign(out.data(), out.data() + out.size());
  outcome.input.assign(in.data(), in.data() + kInputWords);
  return outcome;
}

/// Results of a kernel that must not fail.
inline std::vector<std::uint32_t> words_of(const std::string& body, const BlockRun& how = {}) {
  BlockOutcome outcome = run_block(body, how);
  if (outcome.fault) ADD_FAILURE() << body << ": " << outcome.fault->message;
  return outcome.words;
}

}  // namespace kbench::ptx::testing
