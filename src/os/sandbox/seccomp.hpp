// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kbench {

/// The condition under which a row of the table refuses its call.
enum class RefusedWhen : std::uint8_t {
  kAlways,
  kNotUnixStream,    ///< not AF_UNIX with SOCK_STREAM or SOCK_SEQPACKET; a datagram names its
                     ///< receiver in memory, which a filter cannot read
  kSignalsOrLeases,  ///< fcntl: sets a descriptor's signal, or a lease or report (dnotify) of a
                     ///< file; a lease on a file that all compilers read would stop them
  kContinues,        ///< prctl: sends SIGCONT when the parent ends
  kClones,           ///< flags that make namespaces, or SIGCONT as the signal at the child's end
  kNotItself,  ///< a signal, and the first argument is neither 0, nor this process, nor its group
  kAnySignal,  ///< a signal to any process: the filter cannot find out which
};

/// A system call that a sandboxed process may not make, and the error that it gets. Error 0: the
/// call does nothing and seems to succeed.
struct RefusedCall {
  std::string_view name;
  long number;
  int error;
  RefusedWhen when = RefusedWhen::kAlways;
  std::uint8_t signal_argument = 1;  ///< index of the argument with the signal
};

/// All refused calls. To add one: a row.
std::span<const RefusedCall> refused_calls();

/// A request of ioctl() by which a process opens a GPU. `bits`: the part of the request that the
/// driver checks.
struct GpuRequest {
  std::string_view name;
  std::uint32_t request;
  std::uint32_t bits;
};
std::span<const GpuRequest> gpu_requests();

/// The processes to which the filter lets a process send signals. SIGCONT is always refused,
/// because one process could resume another that kbench has stopped.
enum class SignalRule : std::uint8_t {
  kAny,     ///< no limit here: a PID namespace or Landlock limits it
  kItself,  ///< only the calling process and its group, not its single children
};

/// Refuses the calls in refused_calls() to all threads of this process and their later children.
/// SignalRule::kItself also refuses signals other than SIGCONT. Calls of other tables (32 bit, x32)
/// are refused too. False if the kernel or the machine has no such filter. Call
/// prctl(PR_SET_NO_NEW_PRIVS) first.
bool seccomp(SignalRule signals);

/// Refuses, with EPERM, requests that open a GPU, in all threads, including earlier ones, and for
/// any open descriptor. An existing context keeps working.
bool refuse_gpu_requests();

}  // namespace kbench
