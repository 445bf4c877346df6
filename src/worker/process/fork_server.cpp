// SPDX-License-Identifier: MIT
#include "worker/process/fork_server.hpp"

#include <Python.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kbench/error.hpp"
#include "worker/candidate/candidate.hpp"
#include "worker/candidate/module_candidate.hpp"
#include "worker/judge/judge.hpp"
#include "worker/process/warm_process.hpp"
#include "worker/reference/embedded_python.hpp"
#include "worker/reference/problem_values.hpp"
#include "worker/reference/torch_memory.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

using nlohmann::json;
using protocol::MessageType;

/// Where a child finds what it was given; everything above is closed.
constexpr int kChannelFd = 3;
constexpr int kJobFd = 4;
constexpr int kCompileFd = 5;
/// Of a candidate that asks no compiler for anything: channel, log, job.
constexpr std::size_t kKernelFds = 3;

/// Moves the child's descriptors to their places and closes all that the fork server had open.
void arrange_descriptors(std::vector<Fd>& fds) {
  // Away from the places first: a descriptor may already sit on another one's place.
  std::array<int, 4> moved{-1, -1, -1, -1};
  for (std::size_t i = 0; i < fds.size() && i < moved.size(); ++i)
    moved[i] = fcntl(fds[i].value(), F_DUPFD, 64);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(moved[1], STDOUT_FILENO);
  dup2(moved[1], STDERR_FILENO);
  dup2(moved[0], kChannelFd);
  unsigned first_closed = kJobFd;
  for (const int fd : {moved[2], moved[3]}) {
    if (fd < 0) break;
    dup2(fd, static_cast<int>(first_closed++));
  }
  for (auto& fd : fds) fd.release();
  close_range(first_closed, ~0u, 0);
  for (unsigned fd = kChannelFd; fd < first_closed; ++fd)
    fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
}

/// Before anything opens a GPU: from here on this process sees that one alone, as its first. Code
/// that takes the first one without asking does so on every GPU of a machine then.
void see_gpu_alone(const std::string& gpu) {
  if (gpu.empty()) return;
  // Python has a copy of the environment, which torch reads; the driver reads the process's own.
  // Setting it there sets both.
  py::module_::import("os").attr("environ")["CUDA_VISIBLE_DEVICES"] = gpu;
}

/// `confine` puts a sandbox on, before anything starts in the process: it holds the thread that
/// puts it on, and what that starts.
int child_main(const json& request, std::vector<Fd> fds, const std::function<void()>& confine) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool has_job = fds.size() > 2;
  const bool compiles = fds.size() > kKernelFds;
  arrange_descriptors(fds);
  see_gpu_alone(request.at("visible_gpu").get<std::string>());
  const auto role = request.at("role").get<std::string>();
  const auto nonce = request.at("nonce").get<std::uint64_t>();
  if (role == "judge") return judge_main(Fd(kChannelFd), nonce);
  if (role == "values" && has_job) return problem_values_main(Fd(kChannelFd), Fd(kJobFd));
  confine();
  // What a candidate imports of its own lies in folders that nobody meets again.
  py::module_::import("sys").attr("dont_write_bytecode") = true;
  // In these processes alone: the judge's reference is not to pay for it.
  watch_torch_memory();
  if (role == "warm_process" && has_job) {
    auto job = stand_by(protocol::Channel(Fd(kJobFd), nonce, protocol::kMaxBody),
                        request.at("device").get<std::string>());
    if (!job) return 0;
    return candidate_main(Fd(kChannelFd), std::move(job->job), std::move(job->compile),
                          make_module_candidate);
  }
  if (role == "candidate" && has_job)
    return candidate_main(Fd(kChannelFd), Fd(kJobFd), compiles ? Fd(kCompileFd) : Fd(),
                          make_module_candidate);
  throw Error(fmt::format("unknown role of a new process: '{}'", role));
}

/// Children that run, and what to tell of those that ended.
class ForkServer {
 public:
  ForkServer(protocol::Channel channel, const CandidateSandbox& sandbox)
      : channel_(std::move(channel)), sandbox_(sandbox) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    signals_ = Fd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int serve() {
    while (true) {
      std::array<pollfd, 2> polls{pollfd{channel_.fd(), POLLIN, 0},
                                  pollfd{signals_.value(), POLLIN, 0}};
      if (poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR) break;
      if (polls[1].revents != 0) reap();
      if (polls[0].revents == 0) continue;
      protocol::Message message;
      // The driver sends whole frames: what has begun arrives.
      const auto status =
          channel_.receive(message, protocol::Clock::now() + std::chrono::seconds(30));
      if (status != protocol::ReceiveStatus::kOk) break;
      if (message.type != MessageType::kFork) continue;
      if (const auto code = fork_child(std::move(message))) return *code;
    }
    for (const pid_t child : children_) kill(-child, SIGKILL);
    return 0;
  }

 private:
  void reap() {
    signalfd_siginfo info;
    while (read(signals_.value(), &info, sizeof info) > 0) {
    }
    int raw_status = 0;
    while (true) {
      const pid_t reaped = waitpid(-1, &raw_status, WNOHANG);
      if (reaped <= 0) return;
      const auto [pid, status] = forker_.reaped(reaped, raw_status);
      // Whatever the child started goes with it.
      kill(-pid, SIGKILL);
      children_.erase(pid);
      const bool signaled = WIFSIGNALED(status);
      send(MessageType::kExited, {{"pid", pid},
                                  {"signaled", signaled},
                                  {"code", signaled ? WTERMSIG(status) : WEXITSTATUS(status)}});
    }
  }

  /// The exit code in the child, nothing in the fork server.
  std::optional<int> fork_child(protocol::Message message) {
    const auto request = json::parse(message.body);
    if (request.at("role") == "warm_process" || message.fds.size() > kKernelFds)
      import_for_modules();
    const bool sandboxed = request.at("sandbox").get<bool>();
    // What torch made is there for good: each collection in a child would walk through all of it,
    // for 0.1 s, and copy its pages.
    py::module_::import("gc").attr("freeze")();
    PyOS_BeforeFork();
    // Both return when the child leads a group: the driver may want to kill it at once.
    const pid_t pid = sandboxed ? forker_.fork() : forker_.fork_plainly();
    if (pid == 0) {
      PyOS_AfterFork_Child();
      return child_main(request, std::move(message.fds), [&] {
        if (sandboxed) sandbox_.enter(forker_, request.at("folder").get<std::string>());
      });
    }
    PyOS_AfterFork_Parent();
    if (pid > 0) children_.insert(pid);
    send(MessageType::kForked,
         {{"id", request.at("id")}, {"pid", pid}, {"error", pid < 0 ? std::strerror(errno) : ""}});
    return std::nullopt;
  }

  /// Once, here: each of them would import it again.
  void import_for_modules() {
    if (std::exchange(imported_, true)) return;
    try {
      embedded_module("module_host").attr("import_ahead")();
    } catch (const py::error_already_set&) {
      // Those who need it will meet it, and say so.
    }
  }

  void send(MessageType type, const json& body) { channel_.send(type, body.dump()); }

  protocol::Channel channel_;
  const CandidateSandbox& sandbox_;
  SandboxForker forker_;
  Fd signals_;
  std::set<pid_t> children_;
  bool imported_ = false;
};

}  // namespace

int fork_server_main(protocol::Channel channel, const CandidateSandbox& sandbox) {
  return ForkServer(std::move(channel), sandbox).serve();
}

}  // namespace kbench::worker
