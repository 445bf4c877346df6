// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {

/// Launches and looks for everything; fails the test on a fault.
inline Result run_watched(Module& module, const Launch& launch, const std::vector<Region>& regions,
                          unsigned host_threads = 0) {
  Options options;
  options.sanitize = Sanitize::kAll;
  options.threads = host_threads;
  Result result = kbench::ptx::launch(module, regions, launch, options);
  if (result.fault) ADD_FAILURE() << result.fault->message;
  return result;
}

/// What was found, one message a line.
inline std::string messages(const Result& result) {
  std::string all;
  for (const Finding& finding : result.findings) all += finding.message + "\n";
  return all;
}

/// A race of two lines: the one that is seen later has the finding, whose message names the other.
/// What one schedule reads too early is undefined besides.
inline Finding expect_race(const Result& result, FindingKind kind, int line, int other) {
  for (const Finding& found : result.findings) {
    if (found.kind != kind) continue;
    const int named = found.line == line ? other : line;
    EXPECT_THAT(found.line, ::testing::AnyOf(line, other)) << found.message;
    EXPECT_THAT(found.message, ::testing::HasSubstr("kernel.cu:" + std::to_string(named) + ")"));
    return found;
  }
  ADD_FAILURE() << "no race among: " << messages(result);
  return {};
}

}  // namespace kbench::ptx::testing
