// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string_view>

#include "os/sandbox/sandbox.hpp"

namespace kbench {

/// Writes `text` to an existing file in /proc or /sys.
bool write_file(const char* path, std::string_view text);

/// In a new user namespace: maps this process's user and group to themselves. False if the kernel
/// refuses.
bool map_itself(uid_t user, gid_t group);

/// Moves this process to its own network and IPC namespaces. False if the kernel refuses.
bool unshare_network();

/// Limits the number of processes and threads: of the PID namespace, or of the user in a user
/// namespace of its own. Call it before drop_privileges(), because only the namespace's creator may
/// set its limit. False if there is no limit.
bool limit_processes(bool own_pids, bool own_user);

/// Permanently drops all privileges of this process and its later children.
bool drop_privileges();

/// In its own mount namespace: gives this process private folders of temporary files, in memory.
/// Paths of `setup` below the machine's folders stay reachable; only the process's own folder stays
/// writable. Call it before drop_privileges() and landlock(). False if the kernel refuses, or if
/// `setup` names one of these folders as a whole.
bool mount_temporary_folders(const SandboxSetup& setup);

/// Limits the number of descriptors of each process, and forbids core files.
void limit_files();

/// Enters the parts of the sandbox that need no forking process, and adds them to `parts`.
void put_sandbox_on(const SandboxSetup& setup, SandboxParts& parts);

}  // namespace kbench
