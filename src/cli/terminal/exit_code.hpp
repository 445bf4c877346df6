// SPDX-License-Identifier: MIT
#pragma once

/// The exit codes of all commands. 0: the run finished, even if candidates failed.
namespace kbench::cli {

inline constexpr int kFault = 1;          ///< kbench or the machine failed
inline constexpr int kUsage = 2;          ///< a bad option, file or name
inline constexpr int kGate = 3;           ///< a gate was not met, or `check` found an unfit file
inline constexpr int kInterrupted = 130;  ///< by SIGINT, SIGTERM or SIGHUP

}  // namespace kbench::cli
