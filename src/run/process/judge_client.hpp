// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/scratch_folder.hpp"
#include "kbench/error.hpp"
#include "kbench/problem.hpp"
#include "kbench/profile.hpp"
#include "kbench/run_file.hpp"
#include "protocol/candidate_job.hpp"
#include "run/build/compile_service.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// A failure of the problem itself, as the judge reports it.
struct ProblemFault {
  std::string cause, message, log;
};

/// Thrown if the judge needs longer for a problem than WorkerLimits::problem.
struct TookTooLong : Error {
  using Error::Error;
};

/// The results of trivial answers to a problem.
struct AuditedAnswers {
  std::map<std::string, AuditAnswer> answers;
  std::map<std::string, std::string> distributions_left_out;  ///< name → why
};

/// kbench's side of a judge's process. All waits may throw Cancelled. If the judge died, they throw
/// kbench::Error; if it does not answer, TookTooLong. Both are faults of the harness, and the
/// message has the judge's log.
class JudgeClient {
 public:
  /// `visible_gpu`: the only GPU that the judge sees, as in GpuInfo; empty: the host's default.
  JudgeClient(WorkerHost& host, int cancel_fd, const std::string& visible_gpu = {});
  ~JudgeClient();
  JudgeClient(const JudgeClient&) = delete;
  JudgeClient& operator=(const JudgeClient&) = delete;

  /// Returns the signature of a problem without drawing its data.
  std::variant<Signature, ProblemFault> describe(const nlohmann::json& problem);
  /// Returns the reduced sizes (`--reduce-sizes`) for a problem with the fields max_bytes and
  /// max_flops.
  std::variant<ChosenSizes, ProblemFault> reduce_sizes(const nlohmann::json& problem);
  /// Tells the judge to open a problem; does not wait. `kernels` is a file with the image of the
  /// judge's own kernels, or -1.
  void start_open(const nlohmann::json& problem, int kernels = -1);
  /// Waits until the problem is open. Returns the signature found on real data.
  std::variant<Signature, ProblemFault> finish_open();
  /// The trivial answers that pass the whole check of the open problem. Nothing if they were not
  /// requested (`ask_trivial`) or not checked in full.
  const std::optional<std::vector<std::string>>& trivial_answers() const {
    return trivial_answers_;
  }
  /// Tests trivial answers with the check of the open problem. After a fault the judge must not
  /// open another problem.
  std::variant<AuditedAnswers, ProblemFault> audit();
  /// Measures the throughput of copies and matrix products on a device. Nothing else may use the
  /// device meanwhile.
  std::variant<Peaks, ProblemFault> measure(const std::string& device);
  /// Closes the open problem, so that the judge may open another one. False if the judge must not
  /// be reused.
  bool close();
  /// The signature of the open problem.
  const std::optional<Signature>& signature() const { return signature_; }
  /// Sends the channel of a process that runs the reference of the open problem as a baseline.
  void add_baseline(const nlohmann::json& baseline, int channel_fd);
  /// Sends a candidate's channel and the request for its evaluation.
  void start_evaluation(const nlohmann::json& request, int channel_fd);
  /// Receives the next kPhase or kVerdict of a running evaluation; false if none came by
  /// `deadline`.
  bool next_event(protocol::Message& message, protocol::Clock::time_point deadline);
  void go();
  /// Tells the judge to open a device before its problem; does not wait.
  void warm(const std::string& device);
  /// Waits until the device of warm() is open; false if it is not within `limit`.
  bool wait_warm(std::chrono::milliseconds limit);
  /// Kills the judge and does not wait for its end.
  void end() { host_.end_child(pid_); }
  /// True if the judge reports within a limit that the device is still usable.
  bool healthy();
  pid_t pid() const { return pid_; }

 private:
  void ask(protocol::MessageType type, const nlohmann::json& problem, int fd = -1);
  /// Waits for an answer of the type `expected` and parses it with `read`.
  template <typename T>
  std::variant<T, ProblemFault> answer(protocol::MessageType expected,
                                       T (*read)(const nlohmann::json& body));
  /// A death report: "the judge `what` and …", with its log.
  std::string death_report(const char* what);
  [[noreturn]] void throw_dead(const char* what);

  WorkerHost& host_;
  int cancel_fd_;
  ChildLog log_;
  protocol::Channel channel_;
  pid_t pid_ = -1;
  bool warming_ = false;
  bool reusable_ = false;
  std::optional<Signature> signature_;
  std::optional<std::vector<std::string>> trivial_answers_;
};

/// A folder for a candidate's files.
class PrivateFolder : public ScratchFolder {
 public:
  /// Writes a file below the folder, and makes subfolders as needed. Throws kbench::Error.
  void write(const std::string& name, const std::string& text) const;
};

/// A warm process: it has opened its device and gets its candidate later.
class WarmCandidate {
 public:
  /// Starts a process that opens `device` and sees only `visible_gpu`.
  WarmCandidate(WorkerHost& host, const std::string& device, const std::string& visible_gpu);
  ~WarmCandidate();
  WarmCandidate(const WarmCandidate&) = delete;
  WarmCandidate& operator=(const WarmCandidate&) = delete;

  /// Waits until the device is open. Throws Cancelled, and kbench::Error if it does not open.
  void wait_warm(std::chrono::milliseconds limit, int cancel_fd);
  /// Kills the process and does not wait for its end.
  void end() { host_.end_child(pid_); }

 private:
  friend class StartedCandidate;
  /// Sends the descriptors of a job; false if the process has ended.
  bool give(const std::vector<int>& fds);

  WorkerHost& host_;
  ChildLog log_;
  Fd judge_end_;
  std::uint64_t nonce_;
  std::shared_ptr<PrivateFolder> folder_;  ///< for the candidate that it gets
  protocol::Channel jobs_;
  pid_t pid_ = -1;  ///< -1 once it has a candidate
};

/// The process of a candidate that was started: it has loaded its code, and its channel waits for a
/// judge.
class StartedCandidate {
 public:
  /// `builder` builds a module's extensions; a kernel needs none. Uses the warm process
  /// `warm_process` if given.
  StartedCandidate(WorkerHost& host, CandidateJob job, std::size_t memory_limit_bytes,
                   ExtensionBuilder* builder = nullptr,
                   std::unique_ptr<WarmCandidate> warm_process = nullptr);
  ~StartedCandidate();
  StartedCandidate(const StartedCandidate&) = delete;
  StartedCandidate& operator=(const StartedCandidate&) = delete;

  pid_t pid() const { return pid_; }
  std::uint64_t nonce() const { return nonce_; }
  /// The judge's end of the channel.
  int judge_fd() const { return judge_end_.value(); }
  /// Waits until the process is ready: it has loaded, failed or ended, and no longer uses the
  /// device. False if that does not happen within `limit`.
  bool wait_settled(std::chrono::milliseconds limit, int cancel_fd) const;
  /// Stops (`frozen`) or resumes the process and its descendants.
  void freeze(bool frozen);
  std::string log() const { return log_.text(); }
  /// True if the candidate exceeded its output limit.
  bool floods() const { return log_.is_full(); }
  /// The service that builds its extensions; null for a kernel.
  CompileService* service() const { return service_.get(); }
  /// Kills the process and does not wait for its end.
  void end() const {
    if (!finished_) host_.end_child(pid_);
  }
  /// Waits `grace` for the process to end, then kills it. Returns how it ended.
  ExitStatus finish(std::chrono::milliseconds grace = std::chrono::milliseconds(500));
  bool over_memory() const { return over_memory_; }
  /// The message for a candidate that used too much memory.
  std::string over_memory_message() const;

 private:
  WorkerHost& host_;
  void open_service(CandidateJob& job, ExtensionBuilder& builder, Fd& candidate_end);

  ChildLog log_;
  std::shared_ptr<PrivateFolder> folder_;  ///< the only one it may write to; has a module's source
  std::unique_ptr<CompileService> service_;
  Fd judge_end_;
  std::uint64_t nonce_ = 0;
  pid_t pid_ = -1;
  bool finished_ = false, frozen_ = false;
  std::size_t memory_limit_bytes_;
  bool over_memory_ = false;
};

}  // namespace kbench::run
