// SPDX-License-Identifier: MIT
// A worker that speaks the fork server's protocol and misbehaves on request, so that tests see what
// the driver makes of it. Started like kbench-worker: CHANNEL_FD NONCE PYTHON, where PYTHON is
// "<fork server>/<judge>/<candidate>", each the name of a behaviour. It needs no Python and no
// torch.
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "os/memory_file.hpp"
#include "protocol/candidate_job.hpp"
#include "protocol/protocol.hpp"
#include "run/fake_judge.hpp"

namespace {

using namespace kbench;
using fake::later;
using fake::stay_forever;
using nlohmann::json;
using protocol::Channel;
using protocol::Message;
using protocol::MessageType;
using protocol::ReceiveStatus;

int candidate(Channel channel, const std::string& mode, const std::string& device) {
  if (mode == "tells_its_gpu") fmt::print("{}\n", fake::seen_gpu(device));
  if (mode == "exits") return 7;
  if (mode == "aborts") abort();
  if (mode == "floods") {
    const std::string line(1 << 16, 'x');
    // The descriptor refuses at some point; a candidate that prints does not look.
    for (int i = 0; i < 100; ++i)
      [[maybe_unused]] const auto ignored = write(STDOUT_FILENO, line.data(), line.size());
    if (lseek(STDOUT_FILENO, 0, SEEK_CUR) < 1000) return 1;
  }
  if (mode == "seeks_far_away") lseek(STDOUT_FILENO, off_t{1} << 40, SEEK_SET);
  if (mode == "truncates") [[maybe_unused]]
    const auto ignored = ftruncate(STDOUT_FILENO, 0);
  if (mode == "children_eat_memory") {
    for (int i = 0; i < 4; ++i) {
      if (fork() != 0) continue;
      setsid();
      const std::vector<char> some(std::size_t{60} << 20, 'x');
      pause();
    }
  }
  if (mode == "hides_memory") {
    // In files that no process maps.
    std::vector<Fd> files;
    const std::string part(std::size_t{10} << 20, 'x');
    for (int i = 0; i < 3; ++i) {
      files.emplace_back(memfd_create("hidden", MFD_CLOEXEC));
      for (int k = 0; k < 8; ++k)
        [[maybe_unused]] const auto ignored = write(files.back().value(), part.data(), part.size());
    }
    pause();
  }
  if (mode == "eats_memory") {
    std::vector<char> much(std::size_t{300} << 20, 'x');
    Message message;
    channel.receive(message, later());
    return much[12345] == 'x' ? 0 : 1;
  }
  // Longer than anybody waits for a candidate whose turn is not yet.
  if (mode == "loads_slowly") std::this_thread::sleep_for(std::chrono::milliseconds(900));
  fmt::print("hello from the candidate\n");
  std::fflush(stdout);
  channel.send(MessageType::kLoaded, {});
  Message message;
  channel.receive(message, later());
  return 0;
}

class FakeForkServer {
 public:
  FakeForkServer(Channel channel, std::vector<std::string> modes)
      : channel_(std::move(channel)), modes_(std::move(modes)) {}

  int serve() {
    greet();
    while (true) {
      pollfd readable{channel_.fd(), POLLIN, 0};
      poll(&readable, 1, 10);
      reap();
      if (readable.revents == 0) continue;
      Message message;
      if (channel_.receive(message, later()) != ReceiveStatus::kOk) break;
      if (message.type == MessageType::kFork) serve_fork(message);
    }
    return 0;
  }

 private:
  const std::string& mode() const { return modes_[0]; }

  void greet() {
    if (mode() == "dies_before_ready") {
      fmt::print(stderr, "ImportError: no torch here\n");
      std::fflush(stderr);
      _exit(3);
    }
    if (mode() == "hangs_up_before_ready") _exit(0);
    if (mode() == "never_ready") stay_forever();
    if (mode() == "speaks_garbage") {
      const std::string noise(1000, '?');
      if (write(channel_.fd(), noise.data(), noise.size()) < 0) abort();
      stay_forever();
    }
    if (mode() == "ready_is_no_json") channel_.send(MessageType::kReady, "torch");
    if (mode() == "ready_without_torch") channel_.send(MessageType::kReady, "{}");
    if (mode() == "ready_with_a_number") channel_.send(MessageType::kReady, "{\"torch\": 2}");
    if (mode().starts_with("ready_")) stay_forever();
    channel_.send(MessageType::kReady, "{\"torch\": \"2.11.0+fake\"}");
  }

  void serve_fork(Message& message) {
    if (mode() == "dies_on_fork") _exit(4);
    if (mode() == "never_forks") return;
    const auto request = json::parse(message.body);
    if (mode() == "forks_no_json") {
      channel_.send(MessageType::kForked, "{");
      return;
    }
    if (mode() == "cannot_fork") {
      send_forked(request, -1);
      return;
    }
    if (mode() == "dies_after_judge" && judges_ > 0) _exit(5);
    const bool judge = request.at("role") == "judge";
    const pid_t pid = fork();
    if (pid == 0) _exit(child(request, message.fds));
    setpgid(pid, pid);
    if (judge) ++judges_;
    send_forked(request, pid);
  }

  void send_forked(const json& request, pid_t pid) {
    channel_.send(MessageType::kForked, json{{"id", request.at("id")}, {"pid", pid}}.dump());
  }

  int child(const json& request, std::vector<Fd>& fds) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);  // aborts leave no core files behind
    dup2(fds.at(1).value(), STDOUT_FILENO);
    dup2(fds.at(1).value(), STDERR_FILENO);
    close(channel_.fd());
    Fd channel = std::move(fds.at(0));
    if (request.at("role") == "values") return values(channel, fds.at(2));
    setenv("CUDA_VISIBLE_DEVICES", request.at("visible_gpu").get<std::string>().c_str(), 1);
    if (request.at("role") == "judge") {
      const auto nonce = request.at("nonce").get<std::uint64_t>();
      return fake::serve_as_judge(Channel(std::move(channel), nonce, protocol::kMaxBody), modes_[1],
                                  judges_);
    }
    if (request.at("role") == "warm_process") return warm_process(std::move(channel), request, fds);
    const auto job = unpack_job(fds.at(2).value());
    if (modes_[2] == "tells_its_job") {
      fmt::print("{}", read_whole(fds.at(2).value()));
      std::fflush(stdout);
    }
    return candidate(Channel(std::move(channel), job.nonce, protocol::kMaxBody), modes_[2],
                     job.device);
  }

  /// Of a problem whose text says nothing of failing: how long that text is.
  static int values(const Fd& result, const Fd& request) {
    const auto source = json::parse(read_whole(request.value())).at("source").get<std::string>();
    if (source.find("fails") != std::string::npos) return 1;
    if (source.find("sleeps") != std::string::npos) stay_forever();
    const std::string told = fmt::format("values of {} bytes", source.size());
    return write(result.value(), told.data(), told.size()) < 0 ? 1 : 0;
  }

  int warm_process(Fd channel, const json& request, std::vector<Fd>& fds) const {
    if (modes_[2] == "warm_process_dies") return 9;
    if (modes_[2] == "warm_process_never_warms") stay_forever();
    const auto nonce = request.at("nonce").get<std::uint64_t>();
    Channel jobs(std::move(fds.at(2)), nonce, protocol::kMaxBody);
    jobs.send(MessageType::kStandsBy, {});
    Message message;
    if (jobs.receive(message, later()) != ReceiveStatus::kOk || message.fds.empty()) return 0;
    const auto job = unpack_job(message.fds[0].value());
    if (modes_[2] == "only_warm_processes" && job.nonce != nonce) return 1;
    const std::string opened = request.at("device").get<std::string>();
    if (modes_[2] == "tells_its_gpu" && job.device != opened) return 1;
    return candidate(Channel(std::move(channel), job.nonce, protocol::kMaxBody), modes_[2],
                     job.device);
  }

  void reap() {
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      const bool signaled = WIFSIGNALED(status);
      const int code = signaled ? WTERMSIG(status) : WEXITSTATUS(status);
      if (mode() == "never_tells_of_exits") continue;
      channel_.send(MessageType::kExited,
                    json{{"pid", pid}, {"signaled", signaled}, {"code", code}}.dump());
    }
  }

  Channel channel_;
  std::vector<std::string> modes_;
  int judges_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  std::vector<std::string> modes;
  std::istringstream names(argv[3]);
  for (std::string name; std::getline(names, name, '/');) modes.push_back(name);
  if (modes.size() != 3) return 2;
  Channel channel(Fd(std::atoi(argv[1])), std::strtoull(argv[2], nullptr, 16), protocol::kMaxBody);
  _exit(FakeForkServer(std::move(channel), std::move(modes)).serve());
}
