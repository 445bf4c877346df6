// SPDX-License-Identifier: MIT
#include "os/sandbox/seccomp.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

namespace kbench {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // unknown architecture
#endif
/// This bit marks calls of x86-64's x32 table. Other architectures have no call numbers that large.
constexpr std::uint32_t kX32 = 0x40000000;
/// The bits of a socket's type without the flags.
constexpr std::uint32_t kSocketTypes = 0xf;
/// CLONE_NEW*: mount, cgroup, uts, ipc, user, pid, net.
constexpr std::uint32_t kNamespaceFlags = 0x7e020000;
/// The bits of clone's flags with the signal that the parent gets at the child's end.
constexpr std::uint32_t kExitSignal = 0xff;

// Numbers from 424 on are the same on all architectures. Older headers lack their names.
constexpr RefusedCall kCalls[] = {
    // Other processes' memory, registers and descriptors.
    {"ptrace", SYS_ptrace, EPERM},
    {"process_vm_readv", SYS_process_vm_readv, EPERM},
    {"process_vm_writev", SYS_process_vm_writev, EPERM},
    {"kcmp", SYS_kcmp, EPERM},
    {"pidfd_getfd", 438, EPERM},
    {"process_madvise", 440, EPERM},
    // Signals.
    {"kill", SYS_kill, EPERM, RefusedWhen::kNotItself},
    {"tgkill", SYS_tgkill, EPERM, RefusedWhen::kNotItself, 2},
    {"tkill", SYS_tkill, EPERM, RefusedWhen::kNotItself},
    {"rt_sigqueueinfo", SYS_rt_sigqueueinfo, EPERM, RefusedWhen::kNotItself},
    {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, EPERM, RefusedWhen::kNotItself, 2},
    {"pidfd_send_signal", 424, EPERM, RefusedWhen::kAnySignal},
    // With a timer, a process that is stopped while others are timed could get a SIGCONT.
    {"timer_create", SYS_timer_create, EPERM},
    {"mq_notify", SYS_mq_notify, EPERM},
    {"fcntl", SYS_fcntl, EPERM, RefusedWhen::kSignalsOrLeases},
    {"prctl", SYS_prctl, EPERM, RefusedWhen::kContinues},
    // With these calls a process would leave its group, which is stopped while others are timed.
    // They seem to succeed, because libraries start workers in sessions of their own.
    {"setsid", SYS_setsid, 0},
    {"setpgid", SYS_setpgid, 0},
    // Other ways to reach files: mounts, handles that bypass permissions, namespaces.
    {"mount", SYS_mount, EPERM},
    {"umount2", SYS_umount2, EPERM},
    {"pivot_root", SYS_pivot_root, EPERM},
    {"chroot", SYS_chroot, EPERM},
    {"open_tree", 428, EPERM},
    {"move_mount", 429, EPERM},
    {"fsopen", 430, EPERM},
    {"fsconfig", 431, EPERM},
    {"fsmount", 432, EPERM},
    {"fspick", 433, EPERM},
    {"mount_setattr", 442, EPERM},
    {"open_by_handle_at", SYS_open_by_handle_at, EPERM},
    {"quotactl", SYS_quotactl, EPERM},
    {"quotactl_fd", 443, EPERM},
    {"fanotify_init", SYS_fanotify_init, EPERM},
    {"fanotify_mark", SYS_fanotify_mark, EPERM},
// Watches of files, which report other processes' accesses. Each user has few watches, and the
// user's other programs need them.
#if defined(__x86_64__)
    {"inotify_init", SYS_inotify_init, EPERM},
#endif
    {"inotify_init1", SYS_inotify_init1, EPERM},
    {"inotify_add_watch", SYS_inotify_add_watch, EPERM},
    // Memory, queues and semaphores that outlive their process. All processes of the machine share
    // them if there is no IPC namespace. multiprocessing and torch use files in /dev/shm instead.
    {"shmget", SYS_shmget, EPERM},
    {"shmat", SYS_shmat, EPERM},
    {"shmctl", SYS_shmctl, EPERM},
    {"msgget", SYS_msgget, EPERM},
    {"msgsnd", SYS_msgsnd, EPERM},
    {"msgrcv", SYS_msgrcv, EPERM},
    {"msgctl", SYS_msgctl, EPERM},
    {"semget", SYS_semget, EPERM},
    {"semop", SYS_semop, EPERM},
    {"semtimedop", SYS_semtimedop, EPERM},
    {"semctl", SYS_semctl, EPERM},
    {"mq_open", SYS_mq_open, EPERM},
    {"mq_unlink", SYS_mq_unlink, EPERM},
    {"swapon", SYS_swapon, EPERM},
    {"swapoff", SYS_swapoff, EPERM},
    {"unshare", SYS_unshare, EPERM},
    {"setns", SYS_setns, EPERM},
    {"clone", SYS_clone, EPERM, RefusedWhen::kClones},
    // clone3's flags are in memory, which a filter cannot read; libc falls back to clone.
    {"clone3", 435, ENOSYS},
    // Ways to use the kernel without a file.
    {"bpf", SYS_bpf, EPERM},
    {"perf_event_open", SYS_perf_event_open, EPERM},
    {"userfaultfd", SYS_userfaultfd, EPERM},
    {"io_uring_setup", 425, ENOSYS},
    {"io_uring_enter", 426, ENOSYS},
    {"io_uring_register", 427, ENOSYS},
    {"add_key", SYS_add_key, EPERM},
    {"request_key", SYS_request_key, EPERM},
    {"keyctl", SYS_keyctl, EPERM},
    {"init_module", SYS_init_module, EPERM},
    {"finit_module", SYS_finit_module, EPERM},
    {"delete_module", SYS_delete_module, EPERM},
    {"kexec_load", SYS_kexec_load, EPERM},
    {"kexec_file_load", SYS_kexec_file_load, EPERM},
#if defined(__x86_64__)
    {"iopl", SYS_iopl, EPERM},
    {"ioperm", SYS_ioperm, EPERM},
#endif
    // Changes to the whole machine.
    {"reboot", SYS_reboot, EPERM},
    {"settimeofday", SYS_settimeofday, EPERM},
    {"clock_settime", SYS_clock_settime, EPERM},
    {"sethostname", SYS_sethostname, EPERM},
    {"setdomainname", SYS_setdomainname, EPERM},
    {"acct", SYS_acct, EPERM},
    {"syslog", SYS_syslog, EPERM},
    {"vhangup", SYS_vhangup, EPERM},
    // The network, and sockets with a path, on which programs such as a container daemon or a key
    // agent listen. Landlock does not treat such a socket as a file.
    {"socket", SYS_socket, EPERM, RefusedWhen::kNotUnixStream},
    {"socketpair", SYS_socketpair, EPERM, RefusedWhen::kNotUnixStream},
    {"connect", SYS_connect, EPERM},
};

/// From the driver's open source, which checks only the number (_IOC_NR) of a request to
/// /dev/nvidia*. One of these requests contains another request. The others include the start of
/// unified memory, without which it does not work.
constexpr GpuRequest kGpuRequests[] = {
    {"NV_ESC_REGISTER_FD", 201, 0xff},
    {"NV_ESC_IOCTL_XFER_CMD", 211, 0xff},
    {"UVM_INITIALIZE", 0x30000001, ~0u},
};

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;

std::uint32_t refusal(int error) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}

sock_filter statement(std::uint16_t code, std::uint32_t value) { return {code, 0, 0, value}; }

sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter answer(std::uint32_t value) { return statement(BPF_RET | BPF_K, value); }

/// Skips `yes` statements if the comparison holds, else `no` statements.
sock_filter jump(std::uint16_t comparison, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return {static_cast<std::uint16_t>(BPF_JMP | BPF_K | comparison), yes, no, value};
}

/// Loads the lower half of an argument, the only half that the kernel uses in these calls.
sock_filter load_argument(std::size_t n = 0) {
  return load(offsetof(seccomp_data, args) + n * sizeof(std::uint64_t));
}

/// The filter's statements for a call that sends a signal.
std::vector<sock_filter> signal_decision(const RefusedCall& call, SignalRule signals) {
  const sock_filter refuse = answer(refusal(call.error));
  const auto self = static_cast<std::uint32_t>(::getpid());
  std::vector<sock_filter> body{load_argument(call.signal_argument), jump(BPF_JEQ, SIGCONT, 0, 1),
                                refuse};
  std::vector<sock_filter> others{answer(kAllow)};
  if (signals == SignalRule::kItself && call.when == RefusedWhen::kAnySignal) others = {refuse};
  if (signals == SignalRule::kItself && call.when == RefusedWhen::kNotItself)
    others = {load_argument(),
              jump(BPF_JEQ, 0, 2, 0),
              jump(BPF_JEQ, self, 1, 0),
              jump(BPF_JEQ, -self, 0, 1),
              answer(kAllow),
              refuse};
  body.insert(body.end(), others.begin(), others.end());
  return body;
}

/// The filter's statements for one call, after its number matched.
std::vector<sock_filter> decision(const RefusedCall& call, SignalRule signals) {
  const sock_filter refuse = answer(refusal(call.error));
  switch (call.when) {
    case RefusedWhen::kAlways:
      break;
    case RefusedWhen::kNotItself:
    case RefusedWhen::kAnySignal:
      return signal_decision(call, signals);
    case RefusedWhen::kNotUnixStream:
      return {load_argument(),
              jump(BPF_JEQ, AF_UNIX, 0, 4),
              load_argument(1),
              statement(BPF_ALU | BPF_AND | BPF_K, kSocketTypes),
              jump(BPF_JEQ, SOCK_STREAM, 2, 0),
              jump(BPF_JEQ, SOCK_SEQPACKET, 1, 0),
              refuse,
              answer(kAllow)};
    case RefusedWhen::kSignalsOrLeases:
      return {load_argument(1),
              jump(BPF_JEQ, F_SETSIG, 3, 0),
              jump(BPF_JEQ, F_SETLEASE, 2, 0),
              jump(BPF_JEQ, F_NOTIFY, 1, 0),
              answer(kAllow),
              refuse};
    case RefusedWhen::kContinues:
      return {load_argument(),  jump(BPF_JEQ, PR_SET_PDEATHSIG, 0, 3),
              load_argument(1), jump(BPF_JEQ, SIGCONT, 0, 1),
              refuse,           answer(kAllow)};
    case RefusedWhen::kClones:
      return {load_argument(),
              jump(BPF_JSET, kNamespaceFlags, 2, 0),
              statement(BPF_ALU | BPF_AND | BPF_K, kExitSignal),
              jump(BPF_JEQ, SIGCONT, 0, 1),
              refuse,
              answer(kAllow)};
  }
  return {refuse};
}

/// The start of every filter: refuses calls of other tables, and loads the call's number.
std::vector<sock_filter> filter_start() {
  return {load(offsetof(seccomp_data, arch)),
          jump(BPF_JEQ, kArchitecture, 1, 0),
          answer(refusal(EPERM)),
          load(offsetof(seccomp_data, nr)),
          jump(BPF_JGE, kX32, 0, 1),
          answer(refusal(EPERM))};
}

std::vector<sock_filter> filter_for(SignalRule signals) {
  std::vector<sock_filter> filter = filter_start();
  for (const RefusedCall& call : kCalls) {
    const auto body = decision(call, signals);
    filter.push_back(jump(BPF_JEQ, static_cast<std::uint32_t>(call.number), 0,
                          static_cast<std::uint8_t>(body.size())));
    filter.insert(filter.end(), body.begin(), body.end());
  }
  filter.push_back(answer(kAllow));
  return filter;
}

std::vector<sock_filter> filter_of_gpus() {
  std::vector<sock_filter> filter = filter_start();
  filter.push_back(jump(BPF_JEQ, SYS_ioctl, 1, 0));
  filter.push_back(answer(kAllow));
  for (const GpuRequest& one : kGpuRequests) {
    filter.push_back(load_argument(1));
    filter.push_back(statement(BPF_ALU | BPF_AND | BPF_K, one.bits));
    filter.push_back(jump(BPF_JEQ, one.request, 0, 1));
    filter.push_back(answer(refusal(EPERM)));
  }
  filter.push_back(answer(kAllow));
  return filter;
}

/// Installs a filter for all threads of this process and their later children.
bool install(std::vector<sock_filter> filter) {
  if (kArchitecture == 0) return false;
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // SPEC_ALLOW: without this flag, older kernels slow down the loads of filtered processes, which
  // changes times.
  constexpr unsigned kAllThreads = 1u << 0;
  constexpr unsigned kPlainSpeculation = 1u << 2;
  for (const unsigned flags : {kAllThreads | kPlainSpeculation, kAllThreads})
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) return true;
  return false;
}

}  // namespace

std::span<const RefusedCall> refused_calls() { return kCalls; }
std::span<const GpuRequest> gpu_requests() { return kGpuRequests; }

bool seccomp(SignalRule signals) { return install(filter_for(signals)); }
bool refuse_gpu_requests() { return install(filter_of_gpus()); }

}  // namespace kbench
