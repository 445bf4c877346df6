// SPDX-License-Identifier: MIT
#include "worker/judge/judge.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "kbench/error.hpp"
#include "os/memory_file.hpp"
#include "protocol/protocol.hpp"
#include "worker/judge/audit.hpp"
#include "worker/judge/degenerate.hpp"
#include "worker/judge/evaluation.hpp"

namespace kbench::worker {
namespace {

using nlohmann::json;
using protocol::Channel;
using protocol::Message;
using protocol::MessageType;

constexpr auto kForever = std::chrono::hours(24 * 365);

json states_json(const std::map<std::string, std::vector<DeviceState>>& states) {
  json sides = json::object();
  for (const auto& [side, blocks] : states)
    for (const DeviceState& block : blocks)
      sides[side].push_back({{"clock_mhz", block.clock_mhz},
                             {"temperature_c", block.temperature_c},
                             {"power_w", block.power_w},
                             {"throttle_reasons", block.throttle_reasons}});
  return sides;
}

/// Serves the driver's requests.
class Judge {
 public:
  explicit Judge(Channel channel) : channel_(std::move(channel)) {}

  void serve() {
    Message message;
    while (channel_.receive(message, protocol::Clock::now() + kForever) ==
           protocol::ReceiveStatus::kOk) {
      try {
        handle(message);
      } catch (const ProblemFailure& failure) {
        send(MessageType::kProblemFailure,
             {{"cause", failure.cause}, {"message", failure.message}, {"log", failure.log}});
      } catch (const CandidateFailure& failure) {
        // Outside of an evaluation, only the reference's own calls can fail on the device.
        send(MessageType::kProblemFailure,
             {{"cause",
               failure.outcome == Outcome::kOutOfMemory ? std::string(kDoesNotFit) : failure.cause},
              {"message", failure.message},
              {"log", ""}});
      }
    }
  }

 private:
  void handle(Message& message) {
    switch (message.type) {
      case MessageType::kDescribe:
        return describe(json::parse(message.body));
      case MessageType::kReduceSizes:
        return reduce_sizes(json::parse(message.body));
      case MessageType::kOpenProblem:
        return open_problem(json::parse(message.body), message.fds);
      case MessageType::kEvaluate:
        return evaluate(json::parse(message.body), std::move(message.fds));
      case MessageType::kBaseline:
        return add_baseline(json::parse(message.body), std::move(message.fds));
      case MessageType::kAudit:
        return audit_problem();
      case MessageType::kMeasure:
        return send(MessageType::kMeasured,
                    json::parse(measured_peaks(json::parse(message.body).at("device"))));
      case MessageType::kClose:
        return close_problem();
      case MessageType::kProbe:
        return probe();
      case MessageType::kWarm:
        warm_up(json::parse(message.body).at("device"));
        return probe();
      default:
        return;  // a kGo for a candidate that has already failed
    }
  }

  void describe(const json& request) {
    const auto key = request.at("key").get<std::string>();
    set_eval_mode(request.at("eval_mode"));
    ProblemHost host(request.at("path"), request.at("source"), request.at("sizes").get<Sizes>());
    send(MessageType::kDescribed, to_json(host.describe(key, request.at("precision"))));
  }

  void reduce_sizes(const json& request) {
    const std::string found =
        reduce_problem(request.at("path"), request.at("source"), request.at("sizes").get<Sizes>(),
                       request.at("max_bytes"), request.at("max_flops"));
    send(MessageType::kReducedSizes, json::parse(found));
  }

  void open_problem(const json& request, const std::vector<Fd>& fds) {
    baselines_.clear();
    problem_.reset();
    JudgeOptions options = judge_options_from_json(request);
    if (!fds.empty()) options.kernels = read_whole(fds.front().value());
    problem_.emplace(std::move(options));
    json passing;
    if (request.at("ask_trivial").get<bool>())
      if (auto names = passing_trivial_answers(*problem_)) passing = std::move(*names);
    send(MessageType::kProblemReady, {{"signature", to_json(problem_->signature())},
                                      {"reference_ms", problem_->reference_ms()},
                                      {"reusable", problem_->leaves_no_trace()},
                                      {"sets", problem_->resident()},
                                      {"trivial_answers", std::move(passing)}});
  }

  /// Free memory of the device; 0 if unknown.
  std::uint64_t free_bytes() {
    try {
      return problem_->device().free_bytes();
    } catch (const CandidateFailure&) {
      return 0;
    }
  }

  void close_problem() {
    if (!problem_) return;
    const std::string device = problem_->options().device;
    baselines_.clear();
    problem_.reset();
    try {
      release_memory(device);
    } catch (const ProblemFailure&) {
      // The next problem will report the failure.
    }
  }

  void evaluate(const json& request, std::vector<Fd> fds) {
    if (!problem_ || fds.empty()) throw Error("asked to judge a candidate without a problem");
    EvaluationRequest evaluation;
    const auto kind = candidate_kind_from_name(request.at("kind").get<std::string>());
    if (!kind) throw Error("asked to judge a candidate of an unknown kind");
    evaluation.kind = *kind;
    evaluation.plan = launch_plan_from_json(request.at("plan"));
    evaluation.pid = request.at("pid");
    evaluation.load_limit_s = request.at("load_limit_s");
    evaluation.builds_late = request.at("builds_late");
    evaluation.asked_limit_s = request.at("asked_limit_s");
    evaluation.call_limit_s = request.at("call_limit_s");
    evaluation.one_call = request.at("one_call");
    evaluation.checks_races = request.at("checks_races");
    evaluation.require_clean = request.at("require_clean");
    evaluation.require_own = request.at("require_own");
    evaluation.all_trials = request.at("all_trials");
    evaluation.profile = request.at("profile");
    evaluation.has_undefined = request.at("has_undefined");
    evaluation.timed = request.at("timed");
    const bool profile = evaluation.profile;
    const auto nonce = request.at("nonce").get<std::uint64_t>();
    const bool sources_writable = request.at("sources_writable");
    if (sources_writable) problem_->redraw(true);
    Verdict verdict;
    {
      Evaluation running(
          *problem_, std::move(evaluation),
          Channel(std::move(fds.front()), nonce, protocol::kMaxCandidateBody),
          [this] { wait_for_go(); }, &baselines_);
      verdict = running.run();
    }
    if (sources_writable)
      name_written_source(verdict.record);
    else if (verdict.record.cause == kNoRoom || (verdict.record.outcome != Outcome::kCorrect &&
                                                 !problem_->first_changed_source().empty()))
      problem_->redraw();  // the next candidates must not get the changed inputs
    json answer{{"record", to_json(verdict.record)},
                {"raw_ms", verdict.raw_ms},
                {"phases_s", verdict.phases_s},
                {"distributions_left_out", problem_->distributions_left_out()},
                {"failed_baselines", verdict.failed_baselines},
                {"device_states", states_json(verdict.states)},
                {"free_bytes", free_bytes()}};
    answer["findings"] = json::array();
    for (const auto& finding : verdict.findings) answer["findings"].push_back(to_json(finding));
    answer["counted"] = verdict.counted;
    answer["operators"] = answer["candidate_operators"] = json::array();
    for (const auto& op : verdict.operators) answer["candidate_operators"].push_back(to_json(op));
    if (profile && problem_->options().device == "cpu" &&
        (!verdict.record.profile.empty() || !verdict.operators.empty()))
      for (const auto& op : problem_->operators()) answer["operators"].push_back(to_json(op));
    send(MessageType::kVerdict, answer);
  }

  /// Takes the process of a baseline, which loads while the candidate is judged.
  void add_baseline(const json& request, std::vector<Fd> fds) {
    if (!problem_ || fds.empty()) throw Error("got a baseline's process without a problem");
    EvaluationRequest process;
    process.kind = CandidateKind::kModule;
    process.baseline = true;
    process.plan = launch_plan_from_json(request.at("plan"));
    process.pid = request.at("pid");
    process.load_limit_s = request.at("load_limit_s");
    process.builds_late = request.at("builds_late");
    const auto nonce = request.at("nonce").get<std::uint64_t>();
    baselines_[request.at("name")] = std::make_unique<Evaluation>(
        *problem_, std::move(process),
        Channel(std::move(fds.front()), nonce, protocol::kMaxCandidateBody), nullptr, &baselines_);
  }

  void audit_problem() {
    if (!problem_) throw Error("asked to audit without a problem");
    json answers = json::object();
    for (const auto& [name, answer] : audit(problem_)) answers[name] = to_json(answer);
    json left_out = json::object();
    if (problem_) left_out = problem_->distributions_left_out();
    send(MessageType::kAudited, {{"answers", answers}, {"distributions_left_out", left_out}});
  }

  /// Names the input that the candidate wrote. Its inputs were writable, so only the candidate can
  /// have changed them.
  void name_written_source(Record& record) {
    const std::string changed = problem_->first_changed_source();
    problem_->redraw();
    if (changed.empty()) return;
    record.outcome = Outcome::kIllegalWrite;
    record.cause = "input_written";
    record.message = fmt::format("the candidate wrote to {}, which is read-only", changed);
  }

  /// Informs the driver that timing is next. Returns when the driver answers that no other process
  /// starts work on the device.
  void wait_for_go() {
    send(MessageType::kPhase, {{"phase", "timing"}});
    Message message;
    while (channel_.receive(message, protocol::Clock::now() + kForever) ==
           protocol::ReceiveStatus::kOk)
      if (message.type == MessageType::kGo) return;
    throw Error("kbench closed its connection");
  }

  void probe() {
    if (problem_) problem_->device().synchronize();
    send(MessageType::kHealthy, json::object());
  }

  void send(MessageType type, const json& body) {
    channel_.send(type, body.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  Channel channel_;
  std::optional<JudgedProblem> problem_;
  BaselineProcesses baselines_;  ///< processes of the open problem's baselines
};

}  // namespace

int judge_main(Fd channel, std::uint64_t nonce) {
  try {
    Judge(Channel(std::move(channel), nonce, protocol::kMaxBody)).serve();
    return 0;
  } catch (const std::exception& error) {
    // The driver learns only from the judge's log why the judge ended.
    fmt::print(stderr, "kbench judge: {}\n", error.what());
    return 1;
  }
}

}  // namespace kbench::worker
