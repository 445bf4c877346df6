// SPDX-License-Identifier: MIT
#pragma once

#include "run/prepare/prepare.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// The set-up of a check, besides the prepared candidate.
struct CheckSetup {
  WorkerHost* host = nullptr;
  ExtensionBuilder* builder = nullptr;
  std::chrono::milliseconds load_limit{};
  std::size_t memory_limit_bytes = 0;
  int cancel_fd = -1;
};

/// A problem for candidates without one. It has no inputs, and getting its init arguments fails, so
/// a module is imported but its model is not constructed.
const Problem& no_problem();

/// Prepares a kernel without a problem: parses its plan without binding it, and compiles its code
/// without template instances.
void prepare_unplaced(Prepared& prepared, const std::string& arch, CompilePool& pool);

/// Checks a prepared candidate without its problem's data. Waits for its compilers. Imports a
/// module or loads an extension in a process of its own, on the CPU.
CheckedCandidate checked_candidate(Prepared& prepared, const CheckSetup& setup);

}  // namespace kbench::run
