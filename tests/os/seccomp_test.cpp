// SPDX-License-Identifier: MIT
// The filter's table, each row tried by a process that has the filter on.
#include "os/sandbox/seccomp.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "os/forked.hpp"

namespace kbench {
namespace {

std::string filtered(SignalRule signals, const std::function<std::string()>& body) {
  return said_by_child([&]() -> std::string {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!seccomp(signals)) return "no filter";
    return body();
  });
}

/// What the call gives where its first argument is the one that the row refuses.
std::string tried(const RefusedCall& call) {
  long argument = -1;
  long second = 0;
  if (call.when == RefusedWhen::kNotUnixStream) argument = AF_INET;
  if (call.when == RefusedWhen::kSignalsOrLeases) second = F_SETSIG;
  if (call.when == RefusedWhen::kContinues) argument = PR_SET_PDEATHSIG, second = SIGCONT;
  if (call.when == RefusedWhen::kClones) argument = 0x10000000 | SIGCHLD;
  if (call.when == RefusedWhen::kNotItself) argument = ::getppid();
  errno = 0;
  const long result = ::syscall(call.number, argument, second, 0L, 0L, 0L, 0L);
  return result == (call.error == 0 ? 0 : -1) && errno == call.error
             ? ""
             : std::string(call.name) + ": " + std::to_string(errno) + "\n";
}

/// What ioctl() says of these requests to something that knows none of them.
std::string asked(const std::vector<std::uint32_t>& requests) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::string said;
  for (const std::uint32_t request : requests) {
    errno = 0;
    ::syscall(SYS_ioctl, null, static_cast<unsigned long>(request), 0);
    said += errno == EPERM ? "refused " : errno == ENOTTY ? "asked " : "error ";
  }
  ::close(null);
  return said;
}

/// As the driver's libraries and others write it: direction, size and type around the number.
constexpr std::uint32_t kOthersRegister = 0xc00446c9, kWithoutType = 0xc9, kCarrier = 0xc01046d3,
                        kUnifiedMemory = 0x30000001, kAllocation = 0xc030462b, kUnifiedMapping = 33;

TEST(GpuRequests, EachRowIsRefusedAndTheNumberBesideItIsNot) {
  ASSERT_FALSE(gpu_requests().empty());
  EXPECT_EQ(said_by_child([]() -> std::string {
              ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              if (!refuse_gpu_requests()) return "no filter";
              std::string wrong;
              for (const GpuRequest& row : gpu_requests())
                if (asked({row.request, row.request + 2}) != "refused asked ")
                  wrong += std::string(row.name) + " ";
              return wrong;
            }),
            "");
}

TEST(GpuRequests, AreRefusedToThreadsThatWereThereBefore) {
  const std::vector<std::uint32_t> requests{kOthersRegister, kWithoutType, kCarrier,
                                            kUnifiedMemory,  kAllocation,  kUnifiedMapping};
  EXPECT_EQ(said_by_child([&] { return asked(requests); }), "asked asked asked asked asked asked ");
  EXPECT_EQ(said_by_child([&]() -> std::string {
              ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              std::promise<void> closed;
              std::string said;
              std::thread older([&] {
                closed.get_future().wait();
                said += asked(requests) + "| " + said_by_child([&] { return asked(requests); });
              });
              const bool done = refuse_gpu_requests();
              closed.set_value();
              older.join();
              return (done ? "" : "no filter ") + said;
            }),
            "refused refused refused refused asked asked | "
            "refused refused refused refused asked asked ");
}

TEST(Seccomp, EachRowIsRefused) {
  ASSERT_GT(refused_calls().size(), 50u);
  EXPECT_EQ(filtered(SignalRule::kItself,
                     [] {
                       std::string wrong;
                       for (const auto& call : refused_calls()) wrong += tried(call);
                       return wrong;
                     }),
            "");
}

TEST(Seccomp, NamesAndNumbersAreNotRepeated) {
  std::map<long, std::string_view> seen;
  for (const auto& call : refused_calls()) {
    EXPECT_TRUE(seen.emplace(call.number, call.name).second) << call.name;
  }
}

TEST(Seccomp, WhoLeavesItsGroupIsToldSoAndStays) {
  EXPECT_EQ(filtered(SignalRule::kAny,
                     [] {
                       const pid_t group = ::getpgrp();
                       const pid_t child = ::fork();
                       if (child == 0) {
                         const bool done = ::setsid() >= 0 && ::setpgid(0, 0) == 0;
                         ::_exit(done && ::getpgrp() == group ? 0 : 1);
                       }
                       int status = 0;
                       ::waitpid(child, &status, 0);
                       return std::string(status == 0 ? "stays" : "left");
                     }),
            "stays");
}

/// What a process may use without the filter to hold up or watch others by files and by memory that
/// they share.
std::string ways_to_hold_others() {
  std::string open;
  const int file = ::open("/bin/true", O_RDONLY | O_CLOEXEC);
  const int own = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // Of a file that others have open for reading, a lease to write needs them gone: both answers but
  // EPERM say that it was asked for.
  const auto allowed = [&](bool done) { return done || (errno != EPERM && errno != ENOSYS); };
  if (allowed(::fcntl(file, F_SETLEASE, F_RDLCK) == 0)) open += "lease ";
  if (allowed(::fcntl(own, F_SETLEASE, F_WRLCK) == 0)) open += "own_lease ";
  const int folder = ::open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (allowed(::fcntl(folder, F_NOTIFY, DN_CREATE) == 0)) open += "dnotify ";
  if (allowed(::inotify_init1(IN_CLOEXEC) >= 0)) open += "inotify ";
  const int memory = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (allowed(memory >= 0)) open += "memory ";
  if (memory >= 0) ::shmctl(memory, IPC_RMID, nullptr);
  const int queue = ::msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  if (allowed(queue >= 0)) open += "queue ";
  if (queue >= 0) ::msgctl(queue, IPC_RMID, nullptr);
  const int semaphore = ::semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  if (allowed(semaphore >= 0)) open += "semaphore ";
  if (semaphore >= 0) ::semctl(semaphore, 0, IPC_RMID);
  const std::string name = "/kbench-seccomp-test-" + std::to_string(::getpid());
  const mqd_t named = ::mq_open(name.c_str(), O_CREAT | O_RDWR | O_EXCL, 0600, nullptr);
  if (allowed(named >= 0)) open += "named_queue ";
  if (named >= 0) ::mq_unlink(name.c_str());
  return open;
}

TEST(Seccomp, NobodyIsHeldUpByLeasesReportsAndSystemV) {
  EXPECT_EQ(said_by_child(ways_to_hold_others),
            "lease own_lease dnotify inotify memory queue semaphore named_queue ");
  EXPECT_EQ(filtered(SignalRule::kAny, ways_to_hold_others), "");
}

/// As Triton, inductor (filelock) and SQLite lock files of their own caches.
TEST(Seccomp, LeavesLocksOfOnesOwnFiles) {
  EXPECT_EQ(filtered(SignalRule::kItself,
                     []() -> std::string {
                       const int own = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
                       if (::flock(own, LOCK_EX | LOCK_NB) != 0) return "flock";
                       struct flock whole {};
                       whole.l_type = F_WRLCK;
                       if (::fcntl(own, F_SETLK, &whole) != 0) return "a process's lock";
                       whole.l_type = F_UNLCK;
                       if (::fcntl(own, F_SETLK, &whole) != 0) return "unlocking";
                       whole.l_type = F_WRLCK;
                       if (::fcntl(own, F_OFD_SETLK, &whole) != 0) return "a descriptor's lock";
                       const std::string name = "/kbench-seccomp-" + std::to_string(::getpid());
                       sem_t* const semaphore = ::sem_open(name.c_str(), O_CREAT, 0600, 1);
                       if (semaphore == SEM_FAILED) return "multiprocessing's semaphores";
                       ::sem_unlink(name.c_str());
                       return "";
                     }),
            "");
}

/// What a process may do without the filter, and not with it.
std::string ways_out() {
  std::string open;
  if (::socket(AF_INET, SOCK_DGRAM, 0) >= 0) open += "inet ";
  if (::socket(AF_NETLINK, SOCK_DGRAM, 0) >= 0) open += "netlink ";
  if (::socket(AF_UNIX, SOCK_DGRAM, 0) >= 0) open += "datagrams ";
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0) open += "pairs ";
  if (::prctl(PR_SET_PDEATHSIG, SIGCONT) == 0) open += "continued ";
  const long child = ::syscall(SYS_clone, SIGCONT, 0, 0, 0, 0);
  if (child == 0) ::_exit(0);
  if (child > 0 || errno != EPERM) open += "clones ";
  if (child > 0) ::waitpid(static_cast<pid_t>(child), nullptr, __WALL);
  if (::kill(::getppid(), 0) == 0) open += "kill ";
  // In a process of its own: any signal stops one that is traced, and nobody would let it go on.
  const pid_t traced = ::fork();
  if (traced == 0) ::_exit(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 1 : 0);
  int status = 0;
  ::waitpid(traced, &status, 0);
  if (WIFSTOPPED(status)) {
    ::kill(traced, SIGKILL);
    ::waitpid(traced, nullptr, 0);
  }
  if (WIFSTOPPED(status) || WEXITSTATUS(status) == 1) open += "ptrace ";
  return open;
}

TEST(Seccomp, ClosesWaysThatAreOpenWithoutIt) {
  EXPECT_EQ(said_by_child(ways_out), "inet netlink datagrams pairs continued clones kill ptrace ");
  EXPECT_EQ(filtered(SignalRule::kItself, ways_out), "");
  EXPECT_EQ(filtered(SignalRule::kAny, ways_out), "kill ");
}

TEST(Seccomp, LeavesWhatProgramsNeed) {
  EXPECT_EQ(filtered(SignalRule::kItself,
                     []() -> std::string {
                       int ends[2];
                       if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return "socketpair";
                       if (::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0) < 0)
                         return "unix socket";
                       if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return "packets";
                       if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return "the parent's end";
                       if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return "fcntl";
                       bool ran = false;
                       std::thread([&] { ran = true; }).join();
                       if (!ran) return "thread";
                       if (::kill(::getpid(), 0) != 0 || ::kill(0, 0) != 0) return "kill itself";
                       const pid_t child = ::fork();
                       if (child == 0) {
                         ::execl("/bin/true", "true", nullptr);
                         ::_exit(9);
                       }
                       int status = -1;
                       ::waitpid(child, &status, 0);
                       return status == 0 ? "" : "another program";
                     }),
            "");
}

TEST(Seccomp, HoldsForThreadsAndPrograms) {
  EXPECT_EQ(filtered(SignalRule::kAny,
                     []() -> std::string {
                       std::string open;
                       std::thread([&] { open = ways_out(); }).join();
                       const pid_t child = ::fork();
                       if (child == 0) {
                         ::execl("/bin/sh", "sh", "-c",
                                 "python3 -c 'import socket; socket.socket()' 2>/dev/null",
                                 nullptr);
                         ::_exit(0);
                       }
                       int status = 0;
                       ::waitpid(child, &status, 0);
                       return status == 0 ? open + "program" : open;
                     }),
            "kill ");
}

TEST(Seccomp, NobodyIsContinued) {
  for (const SignalRule rule : {SignalRule::kAny, SignalRule::kItself})
    EXPECT_EQ(filtered(rule,
                       [] {
                         const auto self = static_cast<long>(::getpid());
                         siginfo_t info{};
                         info.si_code = SI_QUEUE;
                         std::string sent;
                         const auto send = [&](const char* name, auto... arguments) {
                           if (::syscall(arguments...) == 0 || errno != EPERM) sent += name;
                         };
                         send("kill ", SYS_kill, self, SIGCONT);
                         send("group ", SYS_kill, 0L, SIGCONT);
                         send("tkill ", SYS_tkill, self, SIGCONT);
                         send("tgkill ", SYS_tgkill, self, self, SIGCONT);
                         send("queue ", SYS_rt_sigqueueinfo, self, SIGCONT, &info);
                         send("tgqueue ", SYS_rt_tgsigqueueinfo, self, self, SIGCONT, &info);
                         const long fd = ::syscall(434, self, 0);  // pidfd_open
                         send("pidfd ", 424L, fd, SIGCONT, nullptr, 0L);
                         return sent;
                       }),
              "");
}

TEST(Seccomp, ARaisedSignalStillArrives) {
  const auto killed_by = [](int signal) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      seccomp(SignalRule::kItself);
      ::raise(signal);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  };
  EXPECT_EQ(killed_by(SIGABRT), SIGABRT);
  EXPECT_EQ(killed_by(SIGSEGV), SIGSEGV);
}

}  // namespace
}  // namespace kbench
