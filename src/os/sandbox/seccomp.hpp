// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kbench {

/// When a row of the table refuses its call.
enum class RefusedWhen : std::uint8_t {
  kAlways,
  kNotUnixStream,    ///< the first two are no AF_UNIX and SOCK_STREAM or SOCK_SEQPACKET: a datagram
                     ///< names its receiver where a filter cannot look
  kSignalsOrLeases,  ///< of fcntl: chooses the signal that a descriptor sends; leases and reports
                     ///< (dnotify) of files: a lease on a file that all compilers read stops them
  kContinues,        ///< of prctl: has SIGCONT sent when the parent ends
  kClones,     ///< flags that make namespaces, or SIGCONT as what the parent is sent at the end
  kNotItself,  ///< a signal, and the first argument is neither 0, nor this process, nor its group
  kAnySignal,  ///< a signal, whomever it is for: the filter cannot tell
};

/// A system call that a caged process may not make, and the error that it gets; 0: it seems to
/// succeed, and does nothing.
struct RefusedCall {
  std::string_view name;
  long number;
  int error;
  RefusedWhen when = RefusedWhen::kAlways;
  std::uint8_t signal_argument = 1;  ///< which argument is the signal, in calls that send one
};

/// All of them. To add one: a row.
std::span<const RefusedCall> refused_calls();

/// A request of ioctl() by which a process opens a GPU, told by the bits of the request that the
/// driver looks at.
struct GpuRequest {
  std::string_view name;
  std::uint32_t request;
  std::uint32_t bits;
};
std::span<const GpuRequest> gpu_requests();

/// Whom a process may send signals to, as far as system calls decide it; SIGCONT to nobody: two
/// that send it to each other while they are stopped go on, one of the two at least.
enum class SignalRule : std::uint8_t {
  kAny,     ///< something else holds it back: a pid namespace, Landlock
  kItself,  ///< only the process that sets the rule and its group; not even its children one by one
};

/// From here on all threads of this process, and what they start, are refused the calls of the
/// table, those of signals other than SIGCONT under SignalRule::kItself alone. So are calls of
/// other tables (32 bit, x32). False where the kernel or the machine has no such filter.
/// prctl(PR_SET_NO_NEW_PRIVS) has to come before.
bool seccomp(SignalRule signals);

/// The same for requests that open a GPU: EPERM, whoever has opened what, on threads that were
/// there before, too. What a context that is there asks of its device goes on.
bool refuse_gpu_requests();

}  // namespace kbench
