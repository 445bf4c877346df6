// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string_view>

#include "os/sandbox/cage.hpp"

namespace kbench {

/// Writes a file of the kernel's that is there.
bool write_file(const char* path, std::string_view text);

/// In a new user namespace: this process is there who it was before. False where the kernel
/// refuses.
bool map_itself(uid_t user, gid_t group);

/// From here on this process is in a network and IPC namespace of its own. False where the kernel
/// refuses.
bool unshare_network();

/// How many processes and threads there may be, its own included: of the pid namespace, or of the
/// user, where the user namespace is its own. Before drop_privileges(): the bound of a namespace
/// belongs to who has made it. False where nothing bounds them.
bool limit_processes(bool own_pids, bool own_user);

/// From here on neither this process nor what it starts has privileges or comes to any.
bool drop_privileges();

/// In a mount namespace of its own: from here on this process has such folders of its own, in
/// memory. What `setup` names below the machine's stays reachable; all but the process's own folder
/// can only be read. Before drop_privileges() and landlock(). False where the kernel refuses, or
/// where the process is to read one of them as a whole.
bool mount_temporary_folders(const CageSetup& setup);

/// At most this many descriptors each, and no core files.
void limit_files();

/// The parts of the cage that a process puts on by itself, added to those that it has.
void put_cage_on(const CageSetup& setup, CageParts& parts);

}  // namespace kbench
