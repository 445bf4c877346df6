// SPDX-License-Identifier: MIT
#include "run/process/judge_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <csignal>
#include <fstream>

#include "base/json/dumped.hpp"
#include "kbench/error.hpp"
#include "run/process/problem_values.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using protocol::MessageType;

template <typename Act>
void if_server_lives(Act act) {
  try {
    act();
  } catch (const Error&) {
    // Nothing to do: the fork server has ended, and its children with it.
  }
}

}  // namespace

JudgeClient::JudgeClient(WorkerHost& host, int cancel_fd, const std::string& visible_gpu)
    : host_(host), cancel_fd_(cancel_fd) {
  auto [ours, theirs] = socket_pair();
  const std::uint64_t nonce = protocol::random_nonce();
  channel_ = protocol::Channel(std::move(ours), nonce, protocol::kMaxBody);
  pid_ = host_.fork("judge", nonce, {theirs.value(), log_.fd()}, {.visible_gpu = visible_gpu});
}

JudgeClient::~JudgeClient() {
  if_server_lives([&] { host_.kill_child(pid_); });
}

std::string JudgeClient::death_report(const char* what) {
  std::string log = log_.text();
  constexpr std::size_t kTail = 2000;
  if (log.size() > kTail) log = log.substr(log.size() - kTail);
  const auto status =
      host_.wait_exit(pid_, protocol::Clock::now() + std::chrono::milliseconds(200));
  const std::string end = !status            ? "is still running"
                          : status->signaled ? fmt::format("was killed by signal {}", status->code)
                                             : fmt::format("exited with code {}", status->code);
  return fmt::format("the judge {} and {}{}{}", what, end, log.empty() ? "" : ": ", log);
}

void JudgeClient::throw_dead(const char* what) { throw Error(death_report(what)); }

bool JudgeClient::next_event(protocol::Message& message, protocol::Clock::time_point deadline) {
  switch (channel_.receive(message, deadline, cancel_fd_)) {
    case protocol::ReceiveStatus::kOk:
      return true;
    case protocol::ReceiveStatus::kTimeout:
      return false;
    case protocol::ReceiveStatus::kCancelled:
      throw Cancelled{};
    default:
      throw_dead("closed its connection");
  }
}

void JudgeClient::ask(MessageType type, const json& problem, int fd) {
  const std::vector<int> fds(fd >= 0 ? 1 : 0, fd);
  channel_.send(type, dumped(problem), fds);
}

template <typename T>
std::variant<T, ProblemFault> JudgeClient::answer(MessageType expected, T (*read)(const json&)) {
  // The judge answers requests in order, so the answer to warm() comes first.
  if (!wait_warm(host_.limits().health)) throw_dead("did not open its device");
  protocol::Message message;
  if (!next_event(message, protocol::Clock::now() + host_.limits().problem))
    throw TookTooLong(death_report("exceeded the time limit for a problem"));
  try {
    const json body = json::parse(message.body);
    if (message.type == MessageType::kProblemFailure)
      return ProblemFault{body.at("cause"), body.at("message"), body.at("log")};
    if (message.type == expected) return read(body);
  } catch (const json::exception&) {
    throw_dead("sent an invalid answer");
  }
  throw_dead("sent an unexpected message");
}

std::variant<Signature, ProblemFault> JudgeClient::describe(const json& problem) {
  ask(MessageType::kDescribe, problem);
  return answer<Signature>(MessageType::kDescribed, signature_from_json);
}

std::variant<ChosenSizes, ProblemFault> JudgeClient::reduce_sizes(const json& problem) {
  ask(MessageType::kReduceSizes, problem);
  return answer<ChosenSizes>(MessageType::kReducedSizes, chosen_sizes_from_json);
}

void JudgeClient::start_open(const json& problem, int kernels) {
  ask(MessageType::kOpenProblem, problem, kernels);
}

std::variant<Signature, ProblemFault> JudgeClient::finish_open() {
  struct Opened {
    Signature signature;
    bool reusable;
    std::optional<std::vector<std::string>> trivial_answers;
  };
  auto opened = answer<Opened>(MessageType::kProblemReady, [](const json& body) {
    Opened read{signature_from_json(body.at("signature")), body.at("reusable").get<bool>(), {}};
    if (const json& names = body.at("trivial_answers"); !names.is_null())
      read.trivial_answers = names.get<std::vector<std::string>>();
    return read;
  });
  if (auto* fault = std::get_if<ProblemFault>(&opened)) return std::move(*fault);
  auto& found = std::get<Opened>(opened);
  reusable_ = found.reusable;
  trivial_answers_ = std::move(found.trivial_answers);
  signature_ = found.signature;
  return std::move(found.signature);
}

void JudgeClient::add_baseline(const json& baseline, int channel_fd) {
  if (!channel_.send(MessageType::kBaseline, baseline.dump(), {channel_fd}))
    throw_dead("closed its connection");
}

std::variant<AuditedAnswers, ProblemFault> JudgeClient::audit() {
  ask(MessageType::kAudit, json::object());
  return answer<AuditedAnswers>(MessageType::kAudited, [](const json& body) {
    AuditedAnswers audited;
    for (const auto& [name, answer] : body.at("answers").items())
      audited.answers.emplace(name, audit_answer_from_json(answer));
    body.at("distributions_left_out").get_to(audited.distributions_left_out);
    return audited;
  });
}

std::variant<Peaks, ProblemFault> JudgeClient::measure(const std::string& device) {
  ask(MessageType::kMeasure, {{"device", device}});
  return answer<Peaks>(MessageType::kMeasured, peaks_from_json);
}

bool JudgeClient::close() {
  return std::exchange(reusable_, false) && channel_.send(MessageType::kClose, {});
}

void JudgeClient::start_evaluation(const json& request, int channel_fd) {
  if (!channel_.send(MessageType::kEvaluate, request.dump(), {channel_fd}))
    throw_dead("closed its connection");
}

void JudgeClient::warm(const std::string& device) {
  warming_ = channel_.send(MessageType::kWarm, json{{"device", device}}.dump());
}

bool JudgeClient::wait_warm(std::chrono::milliseconds limit) {
  protocol::Message message;
  if (warming_ && next_event(message, protocol::Clock::now() + limit)) warming_ = false;
  return !warming_;
}

void JudgeClient::go() { channel_.send(MessageType::kGo, {}); }

bool JudgeClient::healthy() {
  channel_.send(MessageType::kProbe, {});
  protocol::Message message;
  return next_event(message, protocol::Clock::now() + host_.limits().health) &&
         message.type == MessageType::kHealthy;
}

void PrivateFolder::write(const std::string& name, const std::string& text) const {
  const auto path = this->path() / name;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw Error(fmt::format("cannot write {}", path.string()));
}

WarmCandidate::WarmCandidate(WorkerHost& host, const std::string& device,
                             const std::string& visible_gpu)
    : host_(host), nonce_(protocol::random_nonce()), folder_(std::make_shared<PrivateFolder>()) {
  auto [judge_end, candidate_end] = socket_pair();
  judge_end_ = std::move(judge_end);
  auto [ours, theirs] = socket_pair();
  jobs_ = protocol::Channel(std::move(ours), nonce_, protocol::kMaxBody);
  pid_ = host_.fork("warm_process", nonce_, {candidate_end.value(), log_.fd(), theirs.value()},
                    {.folder = folder_->path(), .device = device, .visible_gpu = visible_gpu});
}

WarmCandidate::~WarmCandidate() {
  if (pid_ >= 0) if_server_lives([&] { host_.kill_child(pid_); });
}

void WarmCandidate::wait_warm(std::chrono::milliseconds limit, int cancel_fd) {
  protocol::Message message;
  switch (jobs_.receive(message, protocol::Clock::now() + limit, cancel_fd)) {
    case protocol::ReceiveStatus::kOk:
      if (message.type == MessageType::kStandsBy) return;
      break;
    case protocol::ReceiveStatus::kCancelled:
      throw Cancelled{};
    default:
      break;
  }
  throw Error(fmt::format("a warm process cannot open its device: {}", log_.text()));
}

bool WarmCandidate::give(const std::vector<int>& fds) {
  if (!jobs_.send(MessageType::kJob, {}, fds)) return false;
  pid_ = -1;
  return true;
}

StartedCandidate::StartedCandidate(WorkerHost& host, CandidateJob job,
                                   std::size_t memory_limit_bytes, ExtensionBuilder* builder,
                                   std::unique_ptr<WarmCandidate> warm_process)
    : host_(host),
      folder_(warm_process ? warm_process->folder_ : std::make_shared<PrivateFolder>()),
      nonce_(warm_process ? warm_process->nonce_ : protocol::random_nonce()),
      memory_limit_bytes_(memory_limit_bytes) {
  job.nonce = nonce_;
  host_.problem_values().put_into(job.module, job.kind);
  Fd compile_end;
  if (job.kind != CandidateKind::kKernel && builder != nullptr)
    open_service(job, *builder, compile_end);
  const Fd packed = pack_job(job);
  std::vector<int> fds{packed.value()};
  if (compile_end) fds.push_back(compile_end.value());
  const pid_t warm_process_pid = warm_process ? warm_process->pid_ : -1;
  if (warm_process && warm_process->give(fds)) {
    log_ = std::move(warm_process->log_);
    judge_end_ = std::move(warm_process->judge_end_);
    pid_ = warm_process_pid;
  } else {
    auto [judge_end, candidate_end] = socket_pair();
    judge_end_ = std::move(judge_end);
    fds.insert(fds.begin(), {candidate_end.value(), log_.fd()});
    pid_ = host_.fork("candidate", 0, fds,
                      {.folder = folder_->path(), .visible_gpu = job.visible_gpu});
  }
  host_.watch_memory(pid_, memory_limit_bytes_);
}

void StartedCandidate::open_service(CandidateJob& job, ExtensionBuilder& builder,
                                    Fd& candidate_end) {
  job.module.folder = folder_->path().string();
  for (const auto& [name, text] : job.module.files) folder_->write(name, text);
  auto [ours, theirs] = socket_pair();
  candidate_end = std::move(theirs);
  service_ = std::make_unique<CompileService>(
      builder, ExtensionOwner{job.module.file_name, job.module.source}, std::move(ours), nonce_,
      !job.module.dry_import);
}

StartedCandidate::~StartedCandidate() {
  if_server_lives([&] { finish(std::chrono::milliseconds(0)); });
}

bool StartedCandidate::wait_settled(std::chrono::milliseconds limit, int cancel_fd) const {
  std::array<pollfd, 2> polls{pollfd{judge_end_.value(), POLLIN, 0}, pollfd{cancel_fd, POLLIN, 0}};
  poll(polls.data(), polls.size(), static_cast<int>(limit.count()));
  if (polls[1].revents != 0) throw Cancelled{};
  return polls[0].revents != 0;
}

void StartedCandidate::freeze(bool frozen) {
  if (!finished_ && frozen != frozen_) host_.freeze_child(pid_, frozen);
  frozen_ = frozen;
}

ExitStatus StartedCandidate::finish(std::chrono::milliseconds grace) {
  if (finished_) return {};
  finished_ = true;
  if (grace.count() > 0) host_.wait_exit(pid_, protocol::Clock::now() + grace);
  over_memory_ = host_.over_memory(pid_);
  return host_.kill_child(pid_);
}

std::string StartedCandidate::over_memory_message() const {
  return fmt::format(
      "the candidate's process and its children used more memory than their limit of {:.3g} GB",
      static_cast<double>(memory_limit_bytes_) / 1e9);
}

}  // namespace kbench::run
