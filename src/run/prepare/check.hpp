// SPDX-License-Identifier: MIT
#pragma once

#include "run/prepare/prepare.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// What a check needs besides the candidate that has been prepared.
struct CheckSetup {
  WorkerHost* host = nullptr;
  ExtensionBuilder* builder = nullptr;
  std::chrono::milliseconds load_limit{};
  std::size_t memory_limit_bytes = 0;
  int cancel_fd = -1;
};

/// A problem for candidates that belong to none: it has no inputs, and gives no init arguments, so
/// that a module is imported and not built.
const Problem& no_problem();

/// Prepares a kernel that belongs to no problem: its plan is parsed and not bound, its code
/// compiled with none of its templates.
void prepare_unplaced(Prepared& prepared, const std::string& arch, CompilePool& pool);

/// Goes on with a prepared candidate as far as it goes without its problem's data: waits for its
/// compilers, and imports a module or loads an extension in a process of its own, as on the CPU.
CheckedCandidate checked_candidate(Prepared& prepared, const CheckSetup& setup);

}  // namespace kbench::run
