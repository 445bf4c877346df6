// SPDX-License-Identifier: MIT
#pragma once

namespace kbench {

/// The namespaces that a process got.
struct OwnNamespaces {
  bool pid = false;
  bool net = false;  ///< network and IPC namespaces, in a user namespace of their own
};

/// Returns in a process with its own PID, network and IPC namespaces, as far as the kernel allows.
/// The calling process stays outside and waits. It ends like the inner process, with the same exit
/// code or by the same signal. Its end also kills the remaining processes in the namespace. The
/// namespace's first process only waits: a compiler must not be the init, because its own signals
/// would not reach it. Without a PID namespace, the caller itself continues.
///
/// Call it while the process has one thread. The waiting processes keep a copy-on-write copy of the
/// memory, so call it only in small processes. Throws kbench::Error if no process can be started.
OwnNamespaces continue_in_namespaces();

}  // namespace kbench
