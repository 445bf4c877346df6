// SPDX-License-Identifier: MIT
// A worker that speaks the zygote's protocol and misbehaves on request, so that tests see what the
// driver makes of it. Started like kbench-worker: CHANNEL_FD NONCE PYTHON, where PYTHON is
// "<zygote>/<judge>/<candidate>", each the name of a behaviour. It needs no Python and no torch.
#include <fmt/format.h>
#include <poll.h>
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

#include "kbench/candidate_job.hpp"
#include "kbench/protocol.hpp"
#include "kbench/record.hpp"
#include "kbench/signature.hpp"

namespace {

using namespace kbench;
using nlohmann::json;
using protocol::Channel;
using protocol::Message;
using protocol::MessageType;
using protocol::ReceiveStatus;

protocol::Clock::time_point later() { return protocol::Clock::now() + std::chrono::minutes(5); }

[[noreturn]] void stay_forever() {
  while (true) pause();
}

Signature signature() {
  Signature signature;
  signature.problem = "level1/1_Fake";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {4}}}};
  signature.outputs = {{"0", DType::kFloat32, {4}}};
  return signature;
}

/// A judge of one behaviour; `index` counts the judges of this zygote.
class FakeJudge {
 public:
  FakeJudge(Channel channel, std::string mode, int index)
      : channel_(std::move(channel)), mode_(std::move(mode)), index_(index) {}

  int serve() {
    Message message;
    while (channel_.receive(message, later()) == ReceiveStatus::kOk) {
      if (message.type == MessageType::kDescribe || message.type == MessageType::kOpenProblem)
        answer_problem(message);
      else if (message.type == MessageType::kEvaluate)
        evaluate(message);
      else if (message.type == MessageType::kAudit)
        audit();
      else if (message.type == MessageType::kMeasure)
        measure();
      else if (message.type == MessageType::kProbe)
        probe();
      else if (message.type == MessageType::kWarm)
        warm();
    }
    return 0;
  }

 private:
  void die(const char* last_words) const {
    fmt::print(stderr, "{}\n", last_words);
    std::fflush(stderr);
    abort();
  }

  void fail(const char* cause, const char* message, const char* log = "") {
    reply(MessageType::kProblemFailure, json{{"cause", cause}, {"message", message}, {"log", log}});
  }

  void answer_problem(const Message& message) {
    const MessageType type = message.type;
    const json body = json::parse(message.body);
    memory_share_ = body.value("memory_share", 1.0);
    timing_budget_s_ = body.value("timing_budget_s", 0.0);
    const bool is_ahead = body.value("draw_all", false);
    if (mode_ == "dies_on_problem") die("the reference went up in smoke");
    if (mode_ == "hangs_up_on_problem") exit(0);
    if (mode_ == "never_answers") stay_forever();
    const auto kind =
        type == MessageType::kDescribe ? MessageType::kDescribed : MessageType::kProblemReady;
    if (mode_ == "answers_no_json") return reply(kind, "{\"signature\": ");
    if (mode_ == "answers_another_json") return reply(kind, "[1, 2]");
    if (mode_ == "answers_half") return reply(kind, "{\"signature\": {\"problem\": 3}}");
    if (mode_ == "answers_out_of_turn") return reply(MessageType::kHealthy, "{}");
    if (mode_ == "fails_problem") return fail("import_failed", "no module", "line 1");
    if ((mode_ == "fails_once" && index_ == 0) ||
        (mode_ == "does_not_fit_shared" && memory_share_ < 1))
      return fail("does_not_fit", "too large");
    if (mode_ == "never_opens_ahead" && is_ahead) stay_forever();
    if (mode_ == "fails_ahead" && is_ahead) return fail("out_of_memory", "too much");
    if (mode_ == "fails_problem_halfway") return reply(MessageType::kProblemFailure, "{}");
    if (mode_ == "speaks_garbage") return shout();
    const json found = to_json(signature());
    if (type == MessageType::kDescribe) return reply(kind, found);
    if (mode_ == "one_problem_each" && ++opened_ > 1) die("a second problem");
    if (mode_ == "one_judge" && index_ > 0) die("a second judge");
    reply(kind, json{{"signature", found},
                     {"reference_ms", 1.0},
                     {"sets", 1},
                     {"reusable", mode_ != "one_problem_each"}});
  }

  void measure() {
    if (mode_ == "cannot_measure") return fail("out_of_memory", "no room");
    if (mode_ == "dies_on_measuring") die("the copy went up in smoke");
    reply(MessageType::kMeasured,
          json{{"memory_bytes_s", 4e12}, {"flops_s", {{"fp32", 5e13}, {"tf32", 4e14}}}});
  }

  void audit() {
    if (mode_ == "dies_on_audit") die("no answer is trivial");
    if (mode_ == "never_audits") return;
    if (mode_ == "audits_half")
      return reply(MessageType::kAudited, json{{"answers", {{"zeros", {{"passes", 3}}}}}});
    if (mode_ == "fails_audit") return fail("reference_raised", "it raises");
    reply(MessageType::kAudited,
          json{{"answers", {{"zeros", {{"passes", true}, {"tolerance", 3e-5}}}}},
               {"families_left_out", {{"nan", "the reference is not finite"}}}});
  }

  /// Takes the candidate's word that it is loaded for a right answer.
  void evaluate(Message& message) {
    if (mode_ == "dies_on_evaluate") die("the judge broke its gavel");
    if (mode_ == "never_opens_ahead" && ++evaluated_ > 1) stay_forever();
    if (mode_ == "dies_once" && index_ == 0) die("only this once");
    if (mode_ == "never_gives_a_verdict") {
      Message hung_up;
      candidate_of(message).receive(hung_up, later());
      candidate_of(message).receive(hung_up, later());
    }
    if (mode_ == "never_answers_again") stay_forever();
    if (mode_ == "verdict_no_json") return reply(MessageType::kVerdict, "correct");
    if (mode_ == "verdict_empty") return reply(MessageType::kVerdict, "{}");
    if (mode_ == "verdict_out_of_turn") return reply(MessageType::kProblemReady, "{}");
    Record record;
    record.model = "me";
    record.problem = "level1/1_Fake";
    record.stage = Stage::kDone;
    record.outcome = Outcome::kCorrect;
    json body{{"record", to_json(record)},
              {"raw_ms", {{"candidate", {1.0, 2.0}}}},
              {"findings", json::array()},
              {"counted", true},
              {"operators", json::array()},
              {"candidate_operators", json::array()},
              {"phases_s", {{"timing", 0.25}, {"timing_budget", timing_budget_s_}}},
              {"families_left_out", json::object()},
              {"failed_baselines", json::object()},
              {"device_states", json::object()},
              {"others_on_device", json::object()},
              {"free_bytes", std::uint64_t{1} << 40}};
    if (json::parse(message.body).at("builds_late")) body["record"]["flags"] = {"builds_late"};
    if (mode_ == "verdict_unknown_outcome") body["record"]["outcome"] = "splendid";
    if (mode_ == "verdict_without_times") body.erase("raw_ms");
    if (mode_ == "verdict_mismatch_with_times") {
      body["record"]["outcome"] = "mismatch";
      body["record"]["speedup"] = {{{"baseline", "eager"}, {"value", 9}, {"lo", 9}, {"hi", 9}}};
    }
    if (mode_ == "verdict_of_garbage") return shout();
    Message word;
    auto channel = candidate_of(message);
    if (channel.receive(word, later()) != ReceiveStatus::kOk) {
      body["record"]["outcome"] = "crash";
      body["record"]["stage"] = "load";
      body["record"]["cause"] = "process_died";
      body["record"]["message"] = "the candidate's process died while loading";
      return reply(MessageType::kVerdict, body);
    }
    if (mode_ == "crash_with_memory_left") {
      body["record"]["outcome"] = "crash";
      body["record"]["message"] = fmt::format("evaluation {}", ++evaluated_);
      return reply(MessageType::kVerdict, body);
    }
    if (mode_ == "second_is_out_of_memory" && ++evaluated_ == 2) {
      body["record"]["outcome"] = "out_of_memory";
      return reply(MessageType::kVerdict, body);
    }
    if (memory_share_ < 1 && (mode_ == "out_of_shared_memory" || mode_ == "crash_in_shared")) {
      body["record"]["outcome"] = mode_ == "crash_in_shared" ? "crash" : "out_of_memory";
      body["record"]["flags"] = {"nondeterministic_bits"};
      body["free_bytes"] = 1;
      return reply(MessageType::kVerdict, body);
    }
    const bool crashed = mode_.starts_with("crash_then_");
    if (crashed) {
      body["record"]["outcome"] = "crash";
      body["record"]["cause"] = "illegal_address";
    } else {
      reply(MessageType::kPhase, json{{"phase", "timing"}});
      if (channel_.receive(word, later()) != ReceiveStatus::kOk || word.type != MessageType::kGo)
        die("told to time without a go");
    }
    reply(MessageType::kVerdict, body);
  }

  /// The channel to the candidate; keeps the descriptor for further calls.
  Channel candidate_of(const Message& message) const {
    return Channel(Fd(dup(message.fds.at(0).value())),
                   json::parse(message.body).at("nonce").get<std::uint64_t>(),
                   protocol::kMaxCandidateBody);
  }

  void probe() {
    if (mode_ == "crash_then_dies") die("the device is lost");
    if (mode_ == "crash_then_silence") stay_forever();
    if (mode_ == "crash_then_nonsense") return reply(MessageType::kVerdict, "{}");
    reply(MessageType::kHealthy, "{}");
  }

  void warm() {
    if (mode_ == "spare_dies") die("too warm");
    if (mode_ == "spare_never_warms") stay_forever();
    reply(MessageType::kHealthy, "{}");
  }

  void shout() {
    const std::string noise(200, '!');
    if (write(channel_.fd(), noise.data(), noise.size()) < 0) abort();
    stay_forever();
  }
  void reply(MessageType type, const json& body) { channel_.send(type, body.dump()); }
  void reply(MessageType type, const char* body) { channel_.send(type, body); }

  Channel channel_;
  std::string mode_;
  double memory_share_ = 1;
  double timing_budget_s_ = 0;
  int opened_ = 0;
  int evaluated_ = 0;
  int index_;
};

int candidate(Channel channel, const std::string& mode) {
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

class FakeZygote {
 public:
  FakeZygote(Channel channel, std::vector<std::string> modes)
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
    if (request.at("role") == "judge") {
      const auto nonce = request.at("nonce").get<std::uint64_t>();
      return FakeJudge(Channel(std::move(channel), nonce, protocol::kMaxBody), modes_[1], judges_)
          .serve();
    }
    if (request.at("role") == "spare") return spare(std::move(channel), request, fds);
    const auto job = unpack_job(fds.at(2).value());
    return candidate(Channel(std::move(channel), job.nonce, protocol::kMaxBody), modes_[2]);
  }

  int spare(Fd channel, const json& request, std::vector<Fd>& fds) const {
    if (modes_[2] == "spare_dies") return 9;
    if (modes_[2] == "spare_never_warms") stay_forever();
    const auto nonce = request.at("nonce").get<std::uint64_t>();
    Channel jobs(std::move(fds.at(2)), nonce, protocol::kMaxBody);
    jobs.send(MessageType::kStandsBy, {});
    Message message;
    if (jobs.receive(message, later()) != ReceiveStatus::kOk || message.fds.empty()) return 0;
    const auto job = unpack_job(message.fds[0].value());
    if (modes_[2] == "only_spares" && job.nonce != nonce) return 1;
    return candidate(Channel(std::move(channel), job.nonce, protocol::kMaxBody), modes_[2]);
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
  _exit(FakeZygote(std::move(channel), std::move(modes)).serve());
}
