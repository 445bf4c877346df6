// SPDX-License-Identifier: MIT
#pragma once

namespace kbench {

/// What a process could be given for itself.
struct OwnNamespaces {
  bool pid = false;
  bool net = false;  ///< and IPC, and the user namespace that both belong to
};

/// Returns in a process that has a pid, a network and an IPC namespace of its own, as far as the
/// kernel gives them. The process that has called stays outside: it waits, ends as the other ends,
/// with the same exit code or by the same signal, and whatever is left in there ends with it; when
/// it is killed, all in there are. In there the first process does nothing but wait: a compiler
/// would be a bad init, whom its own signals do not reach. Where no pid namespace is to be had the
/// caller itself goes on.
///
/// To be called while the process has one thread. Memory is shared with the waiting processes as
/// after a fork: for small ones only. Throws kbench::Error where no process can be started.
OwnNamespaces continue_in_namespaces();

}  // namespace kbench
