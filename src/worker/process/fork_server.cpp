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

/// A child's descriptors. All higher ones are closed.
constexpr int kChannelFd = 3;
constexpr int kJobFd = 4;
constexpr int kCompileFd = 5;
/// Descriptors of a candidate that makes no compile requests: channel, log, job.
constexpr std::size_t kKernelFds = 3;

/// Moves the child's descriptors to their numbers and closes all others of the fork server.
void arrange_descriptors(std::vector<Fd>& fds) {
  // First moves all to high numbers, because one may have the number of another.
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

/// Makes this GPU the only and first one that this process sees. Code that takes the first GPU then
/// also uses this one. Must be called before a GPU is opened.
void see_gpu_alone(const std::string& gpu) {
  if (gpu.empty()) return;
  // torch reads Python's copy of the environment, and the driver reads the process's own. Setting
  // it in Python sets both.
  py::module_::import("os").attr("environ")["CUDA_VISIBLE_DEVICES"] = gpu;
}

/// `confine` enters the sandbox. It affects only the calling thread, and threads and processes that
/// it starts later. So it is called before any are started.
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
  // A candidate's folder is used only once, so bytecode there would be useless.
  py::module_::import("sys").attr("dont_write_bytecode") = true;
  // Only in candidates' processes, because it would slow the judge's reference.
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

/// Forks children, and reports those that ended.
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
      // The driver sends whole frames, so the rest of a frame arrives soon.
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
      // Ends all processes that the child started.
      kill(-pid, SIGKILL);
      children_.erase(pid);
      const bool signaled = WIFSIGNALED(status);
      send(MessageType::kExited, {{"pid", pid},
                                  {"signaled", signaled},
                                  {"code", signaled ? WTERMSIG(status) : WEXITSTATUS(status)}});
    }
  }

  /// Returns the exit code in the child, nothing in the fork server.
  std::optional<int> fork_child(protocol::Message message) {
    const auto request = json::parse(message.body);
    if (request.at("role") == "warm_process" || message.fds.size() > kKernelFds)
      import_for_modules();
    const bool sandboxed = request.at("sandbox").get<bool>();
    // torch's objects are never freed. Without this, each garbage collection in a child would visit
    // all of them, which takes 0.1 s, and copy their pages.
    py::module_::import("gc").attr("freeze")();
    PyOS_BeforeFork();
    // Both return when the child leads a process group, because the driver may kill the group at
    // once.
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

  /// Imports once here what each candidate would import again.
  void import_for_modules() {
    if (std::exchange(imported_, true)) return;
    try {
      embedded_module("module_host").attr("import_ahead")();
    } catch (const py::error_already_set&) {
      // A candidate that needs the import fails the same way and reports it.
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
