// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string_view>

#include "kbench/cage.hpp"

namespace kbench {

/// Writes a file of the kernel's that is there.
bool write_file(const char* path, std::string_view text);

/// In a new user namespace: this process is there who it was before. False where the kernel
/// refuses.
bool map_itself(uid_t user, gid_t group);

/// The parts of the cage that a process puts on by itself, added to those that it has.
void put_cage_on(const CageSetup& setup, CageParts& parts);

}  // namespace kbench
