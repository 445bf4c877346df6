// SPDX-License-Identifier: MIT
#include "run/fake_judge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "kbench/problem.hpp"
#include "kbench/record.hpp"

namespace kbench::fake {
namespace {

using nlohmann::json;
using protocol::Channel;
using protocol::Message;
using protocol::MessageType;
using protocol::ReceiveStatus;

Signature signature() {
  Signature signature;
  signature.problem = "level1/1_Fake";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {4}}}};
  signature.outputs = {{"0", DType::kFloat32, {4}}};
  return signature;
}

/// A judge of one behaviour; `index` counts the judges of this fork server.
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
        measure(json::parse(message.body).at("device"));
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
    device_ = body.value("device", "");
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
                     {"reusable", mode_ != "one_problem_each"},
                     {"trivial_answers", mode_ == "degenerate" ? json::array({"zeros"}) : json()}});
  }

  void measure(const std::string& device) {
    if (mode_ == "tells_its_gpu") return fail("none", seen_gpu(device).c_str());
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
               {"distributions_left_out", {{"nan", "the reference is not finite"}}}});
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
    if (mode_ == "tells_its_gpu") record.message = seen_gpu(device_);
    json body{{"record", to_json(record)},
              {"raw_ms", {{"candidate", {1.0, 2.0}}}},
              {"findings", json::array()},
              {"counted", true},
              {"operators", json::array()},
              {"candidate_operators", json::array()},
              {"phases_s", {{"timing", 0.25}, {"timing_budget", timing_budget_s_}}},
              {"distributions_left_out", json::object()},
              {"failed_baselines", json::object()},
              {"device_states", json::object()},
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
    if (mode_.starts_with("crash_as_")) {
      const bool again = json::parse(message.body).at("sources_writable");
      const std::string cause = mode_.substr(std::string_view("crash_as_").size());
      body["record"]["outcome"] = again ? "illegal_write" : "crash";
      body["record"]["cause"] = again ? "input_written" : cause;
      body["record"]["message"] =
          cause == "forward_raised"
              ? "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered"
              : "something went wrong";
      return reply(MessageType::kVerdict, body);
    }
    if (mode_ == "mismatch_by_a_race") {
      const bool again = json::parse(message.body).at("one_call");
      body["record"]["outcome"] = again ? "harness_fault" : "mismatch";
      body["record"]["stage"] = "correctness";
      body["record"]["message"] = "wrong";
      Finding race;
      race.kind = "shared_race";
      if (again) body["findings"].push_back(to_json(race));
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
    if (mode_ == "warm_process_dies") die("too warm");
    if (mode_ == "warm_process_never_warms") stay_forever();
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
  std::string device_;  ///< of its problem
  double memory_share_ = 1;
  double timing_budget_s_ = 0;
  int opened_ = 0;
  int evaluated_ = 0;
  int index_;
};

}  // namespace

std::string seen_gpu(const std::string& device) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return fmt::format("{} of {}", device, visible != nullptr ? visible : "all");
}

int serve_as_judge(Channel channel, const std::string& mode, int index) {
  return FakeJudge(std::move(channel), mode, index).serve();
}

}  // namespace kbench::fake
