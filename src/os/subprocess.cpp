// SPDX-License-Identifier: MIT
#include "os/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "kbench/error.hpp"
#include "os/watched_command.hpp"

namespace kbench {
namespace {

using Clock = std::chrono::steady_clock;

// From linux/close_range.h, which older system headers lack.
constexpr unsigned kCloseRangeCloexec = 1u << 2;

[[noreturn]] void fail(std::string_view what, int error = errno) {
  throw Error(fmt::format("{}: {}", what, std::strerror(error)));
}

std::pair<Fd, Fd> pipe_pair() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot create a pipe");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Everything that the child needs after fork(), made before it. Between fork() and exec only
/// async-signal-safe calls are allowed, because another thread may have held the allocator's lock.
struct Prepared {
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
  std::vector<std::pair<int, int>> fds;
  int first_free_fd = 3;
};

Prepared prepare(const SpawnOptions& options) {
  Prepared ready;
  for (const auto& word : options.command) ready.argv.push_back(const_cast<char*>(word.c_str()));
  ready.argv.push_back(nullptr);
  for (const auto& [name, value] : options.env) {
    ready.environment.push_back(fmt::format("{}={}", name, value));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool overridden = std::any_of(options.env.begin(), options.env.end(),
                                        [&](const auto& pair) { return pair.first == name; });
    if (!overridden) ready.envp.push_back(*entry);
  }
  for (auto& entry : ready.environment) ready.envp.push_back(entry.data());
  ready.envp.push_back(nullptr);
  ready.fds = options.fds;
  for (const auto& fd : options.fds) {
    ready.first_free_fd = std::max(ready.first_free_fd, fd.second + 1);
  }
  return ready;
}

/// In the child: moves the descriptors to the numbers in the options. First moves them above all
/// targets, so that no dup2 overwrites a descriptor that is still needed.
bool place_descriptors(Prepared& ready) {
  // Marks all descriptors close-on-exec; the ones placed below survive. If the kernel lacks the
  // call, each descriptor's own flag applies.
  ::syscall(SYS_close_range, 3u, ~0u, kCloseRangeCloexec);
  for (auto& fd : ready.fds) {
    fd.first = ::fcntl(fd.first, F_DUPFD_CLOEXEC, ready.first_free_fd);
    if (fd.first < 0) return false;
  }
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) return false;
  if (null != STDIN_FILENO) ::close(null);
  return std::all_of(ready.fds.begin(), ready.fds.end(),
                     [](const auto& fd) { return ::dup2(fd.first, fd.second) >= 0; });
}

void default_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Runs in the child up to exec. `report` sends errno to the parent, and closes on success.
[[noreturn]] void become(Prepared& ready, int report, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before prctl took effect
  default_signals();
  const int channel = ::fcntl(report, F_DUPFD_CLOEXEC, ready.first_free_fd);
  if (channel >= 0 && place_descriptors(ready)) {
    ::execve(ready.argv[0], ready.argv.data(), ready.envp.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(channel, &error, sizeof error);
  ::_exit(127);
}

std::string read_some(int fd, bool& open) {
  std::string chunk(1 << 16, '\0');
  const ssize_t count = retry_on_signal([&] { return ::read(fd, chunk.data(), chunk.size()); });
  open = count > 0 || (count < 0 && errno == EAGAIN);
  chunk.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return chunk;
}

/// One captured stream of a command.
struct Capture {
  Fd fd;
  std::string* text;
  bool open = true;

  void read(std::size_t max_bytes) {
    const std::string chunk = read_some(fd.value(), open);
    text->append(chunk, 0, std::min(chunk.size(), max_bytes - text->size()));
  }
};

Fd input_file(std::string_view input) {
  Fd file(::memfd_create("input", MFD_CLOEXEC));
  if (!file) fail("cannot create a file in memory for a command's input");
  if (write_all(file.value(), input) < input.size()) fail("cannot write a command's input");
  ::lseek(file.value(), 0, SEEK_SET);
  return file;
}

int remaining_ms(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

/// Reads the streams until the child ends, the limit is reached, or cancel_fd is readable.
void follow(Child& child, std::array<Capture, 2>& streams, const CommandWatch& watch,
            std::size_t max_bytes, int cancel_fd, CommandResult& result) {
  for (;;) {
    const auto look = watch(child.pid());
    const int wait_ms = remaining_ms(Clock::now() + look);
    std::array<pollfd, 4> polls{{{child.pidfd(), POLLIN, 0},
                                 {cancel_fd, POLLIN, 0},
                                 {streams[0].open ? streams[0].fd.value() : -1, POLLIN, 0},
                                 {streams[1].open ? streams[1].fd.value() : -1, POLLIN, 0}}};
    const int ready = retry_on_signal([&] { return ::poll(polls.data(), polls.size(), wait_ms); });
    if (ready < 0) fail("cannot wait for a command");
    const bool ended = polls[0].revents != 0;
    if (ended) watch(child.pid());
    result.timed_out = look.count() <= 0 && !ended;
    result.cancelled = polls[1].revents != 0 && !ended;
    if (result.timed_out || result.cancelled || ended) return;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (polls[2 + i].revents != 0) streams[i].read(max_bytes);
    }
  }
}

}  // namespace

std::pair<Fd, Fd> socket_pair() {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail("cannot create a pair of sockets");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

Child::Child(const SpawnOptions& options) {
  Prepared ready = prepare(options);
  auto ends = pipe_pair();
  const Fd report = std::move(ends.first);
  Fd report_end = std::move(ends.second);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail(fmt::format("cannot start {}", options.command.front()));
  if (pid == 0) become(ready, report_end.value(), parent);
  pid_ = pid;
  ::setpgid(pid, pid);  // parent and child both set it, so kill_group works at once
  report_end.reset();
  int error = 0;
  const ssize_t count =
      retry_on_signal([&] { return ::read(report.value(), &error, sizeof error); });
  if (count == 0) {
    pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    error = pidfd_ ? 0 : errno;
  }
  if (error == 0) return;
  kill_group();
  wait();
  fail(fmt::format("cannot start {}", options.command.front()), error);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      reaped_(other.reaped_),
      status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    kill_group();
    wait();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    reaped_ = other.reaped_;
    status_ = other.status_;
  }
  return *this;
}

Child::~Child() {
  kill_group();
  wait();
}

void Child::kill_group() {
  // After the child was reaped, its PID may belong to another process.
  if (pid_ > 0 && !reaped_) ::kill(-pid_, SIGKILL);
}

ExitStatus Child::wait() {
  if (pid_ <= 0 || reaped_) return status_;
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  // The PID stays in use until the leader is reaped, so the group can be killed safely.
  retry_on_signal([&] { return ::waitid(P_PID, id, &info, WEXITED | WNOWAIT); });
  kill_group();
  retry_on_signal([&] { return ::waitid(P_PID, id, &info, WEXITED); });
  reaped_ = true;
  status_ = {info.si_code != CLD_EXITED, info.si_status};
  return status_;
}

CommandResult run_command(const SpawnOptions& options, std::chrono::milliseconds limit,
                          std::string_view input, std::size_t max_output_bytes, int cancel_fd) {
  const auto end = Clock::now() + limit;
  return run_watched_command(
      options, [&](pid_t) { return std::chrono::milliseconds(remaining_ms(end)); }, input,
      max_output_bytes, cancel_fd);
}

CommandResult run_watched_command(const SpawnOptions& options, const CommandWatch& watch,
                                  std::string_view input, std::size_t max_output_bytes,
                                  int cancel_fd) {
  auto [output, output_end] = pipe_pair();
  auto [error, error_end] = pipe_pair();
  const Fd stdin_file = input_file(input);
  SpawnOptions spawn = options;
  spawn.fds.insert(spawn.fds.end(), {{stdin_file.value(), STDIN_FILENO},
                                     {output_end.value(), STDOUT_FILENO},
                                     {error_end.value(), STDERR_FILENO}});
  Child child(spawn);
  output_end.reset();
  error_end.reset();
  CommandResult result;
  std::array<Capture, 2> streams{
      {{std::move(output), &result.output}, {std::move(error), &result.error}}};
  for (const Capture& stream : streams) ::fcntl(stream.fd.value(), F_SETFL, O_NONBLOCK);
  follow(child, streams, watch, max_output_bytes, cancel_fd, result);
  if (result.timed_out || result.cancelled) child.kill_group();
  result.status = child.wait();
  for (Capture& stream : streams) {
    // Reads only what is already in the pipe, because a descendant outside the group may hold the
    // other end.
    for (int i = 0; i < 16 && stream.open; ++i) stream.read(max_output_bytes);
  }
  return result;
}

}  // namespace kbench
