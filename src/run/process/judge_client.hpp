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

#include "kbench/error.hpp"
#include "kbench/problem.hpp"
#include "kbench/profile.hpp"
#include "kbench/run_file.hpp"
#include "protocol/candidate_job.hpp"
#include "run/build/compile_service.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// A problem's own failure, as the judge tells it.
struct ProblemFault {
  std::string cause, message, log;
};

/// The judge took longer over a problem than WorkerLimits::problem.
struct TookTooLong : Error {
  using Error::Error;
};

/// What trivial answers to a problem came to.
struct AuditedAnswers {
  std::map<std::string, AuditAnswer> answers;
  std::map<std::string, std::string> families_left_out;  ///< name → why
};

/// A judge's process, seen from the driver. All waits throw Cancelled and kbench::Error (the judge
/// died or does not answer, then TookTooLong: a fault of the harness, with the judge's log).
class JudgeClient {
 public:
  /// `visible_gpu`: the only GPU that its process sees, as in GpuInfo; empty: the host's default.
  JudgeClient(WorkerHost& host, int cancel_fd, const std::string& visible_gpu = {});
  ~JudgeClient();
  JudgeClient(const JudgeClient&) = delete;
  JudgeClient& operator=(const JudgeClient&) = delete;

  /// The signature of a problem, without its data.
  std::variant<Signature, ProblemFault> describe(const nlohmann::json& problem);
  /// The sizes that `--shrink` finds for a problem with the fields max_bytes and max_flops.
  std::variant<ChosenSizes, ProblemFault> shrink(const nlohmann::json& problem);
  /// Has it open a problem for judging. `kernels` is a file with the image of the judge's own
  /// kernels, or -1.
  void start_open(const nlohmann::json& problem, int kernels = -1);
  /// Waits for that; gives the signature as found on real data.
  std::variant<Signature, ProblemFault> finish_open();
  /// The trivial answers that pass the whole check of the problem that is open; nothing where that
  /// was not asked for (`ask_trivial`), or could not be asked in full.
  const std::optional<std::vector<std::string>>& trivial_answers() const {
    return trivial_answers_;
  }
  /// Holds trivial answers against the check that its problem was opened with. After a fault it
  /// must not go on with another problem.
  std::variant<AuditedAnswers, ProblemFault> audit();
  /// What a copy and products reach on a device, which nothing else may use meanwhile.
  std::variant<Peaks, ProblemFault> measure(const std::string& device);
  /// Has it forget its problem, so that it may open another one; false where it must not.
  bool close();
  /// Hands over a candidate's channel and what it is to do.
  void start_evaluation(const nlohmann::json& request, int channel_fd);
  /// The next kPhase or kVerdict of a running evaluation; false where none came by `deadline`.
  bool next_event(protocol::Message& message, protocol::Clock::time_point deadline);
  void go();
  /// Has the judge open a device ahead of its problem; does not wait.
  void warm(const std::string& device);
  /// Waits until a judge that was told to warm up has done so; false where it has not within
  /// `limit`.
  bool wait_warm(std::chrono::milliseconds limit);
  /// Ends it without waiting for that.
  void end() { host_.end_child(pid_); }
  /// Asks whether the device is still usable, within a limit.
  bool healthy();
  pid_t pid() const { return pid_; }

 private:
  void ask(protocol::MessageType type, const nlohmann::json& problem, int fd = -1);
  /// The answer of that type, taken apart by `read`.
  template <typename T>
  std::variant<T, ProblemFault> answer(protocol::MessageType expected,
                                       T (*read)(const nlohmann::json& body));
  /// "the judge `what` and …", with its log.
  std::string obituary(const char* what);
  [[noreturn]] void throw_dead(const char* what);

  WorkerHost& host_;
  int cancel_fd_;
  ChildLog log_;
  protocol::Channel channel_;
  pid_t pid_ = -1;
  bool warming_ = false;
  bool reusable_ = false;
  std::optional<std::vector<std::string>> trivial_answers_;
};

/// A folder that nobody else can look into, removed with all that is in it.
class PrivateFolder {
 public:
  PrivateFolder();  ///< throws kbench::Error where none can be made
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file below it, making folders as needed. Throws kbench::Error.
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// A process for a candidate that is still to come, with its device open.
class SpareCandidate {
 public:
  /// It opens `device`, and sees `visible_gpu` alone.
  SpareCandidate(WorkerHost& host, const std::string& device, const std::string& visible_gpu);
  ~SpareCandidate();
  SpareCandidate(const SpareCandidate&) = delete;
  SpareCandidate& operator=(const SpareCandidate&) = delete;

  /// Waits until its device is open. Throws Cancelled, and kbench::Error where it fails to.
  void wait_warm(std::chrono::milliseconds limit, int cancel_fd);
  /// Ends it without waiting for that.
  void end() { host_.end_child(pid_); }

 private:
  friend class StartedCandidate;
  /// Hands over the descriptors of a job; false where the process is gone.
  bool give(const std::vector<int>& fds);

  WorkerHost& host_;
  ChildLog log_;
  Fd judge_end_;
  std::uint64_t nonce_;
  std::shared_ptr<PrivateFolder> folder_;  ///< of the candidate that is to come
  protocol::Channel jobs_;
  pid_t pid_ = -1;  ///< -1 once it has a candidate
};

/// A candidate's process that has been started: code loading, channel waiting for a judge.
class StartedCandidate {
 public:
  /// `builder` builds what a module asks for; a kernel has no need of it. Runs in `spare` where
  /// there is one.
  StartedCandidate(WorkerHost& host, CandidateJob job, std::size_t memory_limit_bytes,
                   ExtensionBuilder* builder = nullptr,
                   std::unique_ptr<SpareCandidate> spare = nullptr);
  ~StartedCandidate();
  StartedCandidate(const StartedCandidate&) = delete;
  StartedCandidate& operator=(const StartedCandidate&) = delete;

  pid_t pid() const { return pid_; }
  std::uint64_t nonce() const { return nonce_; }
  /// The judge's end of the channel.
  int judge_fd() const { return judge_end_.value(); }
  /// Waits until its process has said something (loaded, or failed) or ended: then nothing of it
  /// disturbs the device any more. False where it has not within `limit`.
  bool wait_settled(std::chrono::milliseconds limit, int cancel_fd) const;
  /// Stops it and what it has started, or lets them go on.
  void freeze(bool frozen);
  std::string log() const { return log_.text(); }
  /// Whether it has printed more than it may.
  bool floods() const { return log_.is_full(); }
  /// What it has built; null for a kernel.
  CompileService* service() const { return service_.get(); }
  /// Ends it without waiting for that.
  void end() const {
    if (!finished_) host_.end_child(pid_);
  }
  /// Ends it, if it has not ended by itself within a moment, and says how it ended.
  ExitStatus finish(std::chrono::milliseconds grace = std::chrono::milliseconds(500));
  bool over_memory() const { return over_memory_; }
  /// What is said of one that was.
  std::string over_memory_message() const;

 private:
  WorkerHost& host_;
  void open_service(CandidateJob& job, ExtensionBuilder& builder, Fd& candidate_end);

  ChildLog log_;
  std::shared_ptr<PrivateFolder> folder_;  ///< all that it may write to; a module's source
  std::unique_ptr<CompileService> service_;
  Fd judge_end_;
  std::uint64_t nonce_ = 0;
  pid_t pid_ = -1;
  bool finished_ = false, frozen_ = false;
  std::size_t memory_limit_bytes_;
  bool over_memory_ = false;
};

}  // namespace kbench::run
