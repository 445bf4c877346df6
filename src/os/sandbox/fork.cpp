// SPDX-License-Identifier: MIT
// How a sandboxed process gets a PID namespace. The first process of a namespace is its init: when
// it ends, the kernel kills all others in it. A candidate must not be the init, because signals
// that it does not handle would not reach it. So a helper is the init, and only waits. The helper
// shares the memory of the forking process, so that a fork copies it only once. Landlock hides that
// memory from the processes that the helper forks. Without Landlock there is therefore no PID
// namespace.
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "os/sandbox/landlock.hpp"
#include "os/sandbox/sandbox.hpp"
#include "os/sandbox/steps.hpp"
#include "os/subprocess.hpp"

namespace kbench {

struct SandboxForker::Helper {
  static constexpr std::size_t kStackBytes = std::size_t{256} << 10;
  std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
  ucontext_t before{};  ///< the context in which a child continues
  bool in_child = false;
  int greeting = -1;  ///< the child's end of the socket pair by which it reports its PID
  uid_t user = 0;
  gid_t group = 0;
  pid_t child = -1;  ///< its PID in the forking process
  /// Written by the helper.
  volatile int error = 0;
  volatile int status = 0;
  volatile bool has_status = false;
};

namespace {

constexpr int kNamespaces =
    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC;

/// Mounts the namespace's own /proc, in which CUDA and Python look up their own process, and
/// private shared memory.
bool mount_own() {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return false;
  if (::mount("proc", "/proc", "proc", kFlags | MS_NOEXEC, nullptr) != 0) return false;
  ::mount("tmpfs", "/dev/shm", "tmpfs", kFlags, "mode=1777,size=1g");
  return true;
}

/// Waits until `child` has ended, and reaps all others. This system call cannot fail here. The
/// helper must not use libc's wrapper, because that uses data of a thread of the forking process.
int wait_as_init(pid_t child) {
  int status = 0;
  while (::syscall(SYS_wait4, -1, &status, 0, nullptr) != child) {
  }
  return status;
}

/// The PID of the process that sent a byte; -1 if the other end was closed.
pid_t greeted(int fd) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = retry_on_signal([&] { return ::recvmsg(fd, &message, 0); });
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (count != 1 || header == nullptr || header->cmsg_type != SCM_CREDENTIALS) return -1;
  ucred credentials{};
  std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
  return credentials.pid;
}

/// The first action of a child. It makes its process group before it reports, because the parent
/// may signal the group from then on.
void greet(int fd) {
  ::setsid();
  [[maybe_unused]] const ssize_t sent = ::send(fd, "", 1, MSG_NOSIGNAL);
  ::close(fd);
}

/// Two seconds in total, with kForkPause.
constexpr int kForkAttempts = 20;
constexpr std::chrono::milliseconds kForkPause{100};

std::pair<Fd, Fd> greeting_pair() {
  auto pair = socket_pair();
  const int on = 1;
  ::setsockopt(pair.first.value(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return pair;
}

}  // namespace

bool map_itself(uid_t user, gid_t group) {
  const auto write = [](const char* path, const char* format, unsigned id) {
    char text[64];
    const int length = std::snprintf(text, sizeof text, format, id, id);
    return write_file(path, {text, static_cast<std::size_t>(length)});
  };
  write("/proc/self/setgroups", "deny", 0);
  return write("/proc/self/uid_map", "%u %u 1", user) &&
         write("/proc/self/gid_map", "%u %u 1", group);
}

SandboxForker::SandboxForker() : helpers_work_(landlock_abi() > 0) {}
SandboxForker::~SandboxForker() = default;

pid_t SandboxForker::fork() {
  for (int attempt = 1; helpers_work_; ++attempt) {
    const pid_t pid = fork_by_helper();
    helped_ = helped_ || pid >= 0;
    if (pid >= 0) return pid;
    // If earlier forks succeeded, other processes may have used up all namespaces for a while. A
    // weaker sandbox would then reward a candidate that uses them up.
    helpers_work_ = helped_;
    if (!helped_) break;
    if (attempt == kForkAttempts) {
      errno = EAGAIN;
      return -1;
    }
    std::this_thread::sleep_for(kForkPause);
  }
  return fork_plainly();
}

pid_t SandboxForker::fork_plainly() {
  auto [ours, theirs] = greeting_pair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ours.reset();
    greet(theirs.release());
    return 0;
  }
  theirs.reset();
  if (pid > 0) greeted(ours.value());
  return pid;
}

pid_t SandboxForker::fork_by_helper() {
  auto helper = std::make_unique<Helper>();
  auto [ours, theirs] = greeting_pair();
  helper->greeting = theirs.value();
  helper->user = ::geteuid();
  helper->group = ::getegid();
  Helper* const h = helper.get();
  ::getcontext(&h->before);
  if (h->in_child) {
    // The child: a copy of the process, on the stack of the caller of fork().
    ours.reset();
    theirs.release();  // the parent may have reset it; greet() closes the descriptor
    greet(h->greeting);
    mine_ = std::move(helper);
    helpers_.clear();
    return 0;
  }
  const auto main = [](void* argument) -> int {
    auto& self = *static_cast<Helper*>(argument);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    if (!map_itself(self.user, self.group) || !mount_own()) {
      self.error = errno;
      return 1;
    }
    const pid_t child = ::fork();
    if (child == 0) {
      self.in_child = true;
      ::setcontext(&self.before);
    }
    if (child < 0) {
      self.error = errno;
      return 1;
    }
    ::syscall(SYS_close_range, 0u, ~0u, 0u);
    self.status = wait_as_init(child);
    self.has_status = true;
    return 0;
  };
  const pid_t pid =
      ::clone(main, h->stack.get() + Helper::kStackBytes, CLONE_VM | kNamespaces | SIGCHLD, h);
  const int error = errno;
  theirs.reset();
  h->child = pid > 0 ? greeted(ours.value()) : -1;
  if (h->child > 0) {
    const pid_t child = h->child;
    helpers_.emplace(pid, std::move(helper));
    return child;
  }
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  errno = pid > 0 ? h->error : error;
  return -1;
}

SandboxForker::Ended SandboxForker::reaped(pid_t pid, int status) {
  const auto found = helpers_.find(pid);
  if (found == helpers_.end()) return {pid, status};
  const Helper& helper = *found->second;
  const Ended ended{helper.child, helper.has_status ? static_cast<int>(helper.status) : status};
  helpers_.erase(found);
  return ended;
}

SandboxParts SandboxForker::enter(const SandboxSetup& setup) {
  SandboxParts parts;
  parts.add(SandboxPart::kSession);
  if (mine_) {
    parts.add(SandboxPart::kPidNamespace);
    parts.add(SandboxPart::kNetNamespace);
  }
  put_sandbox_on(setup, parts);
  return parts;
}

}  // namespace kbench
