// SPDX-License-Identifier: MIT
#pragma once

namespace kbench::cli {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP and gives a descriptor that becomes readable on
/// the first of them, for whoever waits; another one, half a second or more later, ends the process
/// at once.
int install_cancel();
/// True once one of them came.
bool cancelled();

}  // namespace kbench::cli
