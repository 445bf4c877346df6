// SPDX-License-Identifier: MIT
#pragma once

namespace kbench::cli {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP. Returns a descriptor that becomes readable on
/// the first of these signals. A second signal, at least half a second later, ends the process at
/// once.
int install_cancel();
/// True after the first of these signals.
bool cancelled();

}  // namespace kbench::cli
