// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/prepare/prepare.hpp"
#include "run/process/device_turns.hpp"
#include "run/process/judge_client.hpp"
#include "run/schedule/queue_setup.hpp"

namespace kbench::run {

/// The next candidates of a device queue, in order.
using Following = std::span<Prepared* const>;

/// The candidate's code. If there is none, returns nothing and decides the record. A compiler that
/// cannot run is a fault only in this candidate's record.
std::optional<ReadyCode> ready_code(Prepared& prepared, int cancel_fd);

/// The reason for running a candidate. After a failure, one more call may look for its cause.
enum class RunAim : std::uint8_t {
  kVerdict,
  kWrittenSource,  ///< after a crash: the input that the candidate wrote to
  kFindings,       ///< on the CPU: findings of all checks
};

/// Starts a candidate, in the warm process `warm_process` if given.
std::unique_ptr<StartedCandidate> start_candidate(
    const QueueSetup& setup, const ReadyCode& code, RunAim aim,
    std::unique_ptr<WarmCandidate> warm_process = nullptr);

/// Prefetches work for a GPU: loads the next candidates and draws the next problem while outputs
/// are compared. It does nothing while a time is taken: call wait_until_quiet() before. For one
/// thread.
class Ahead {
 public:
  Ahead(const QueueSetup& setup, QueueTurn& turn) : setup_(setup), turn_(turn) {}

  struct Candidate {
    const Prepared* prepared = nullptr;
    std::optional<ReadyCode> code;  ///< nothing if the record was decided meanwhile
    std::unique_ptr<StartedCandidate> process = nullptr;
    bool settled = false, frozen = false;
  };
  /// Starts the next candidates that have their code and for which a warm process is ready.
  void start_candidates(Following following);
  /// Returns the started process of that candidate, possibly stopped; nothing if there is none.
  std::optional<Candidate> take(const Prepared& prepared);

  /// Returns a judge: a warm one if ready, else a new one.
  std::unique_ptr<JudgeClient> take_judge();
  /// Keeps a judge that has finished its problem, if it may be reused.
  void give_judge(std::unique_ptr<JudgeClient> judge);
  /// Returns a warm process for a candidate; null if the pool has none.
  std::unique_ptr<WarmCandidate> take_warm_process();

  /// Starts to open the next problem if memory suffices for two open problems.
  void open_problem(const Prepared& current, Following following, int kernels_fd);
  struct OpenProblem {
    std::string key;
    std::unique_ptr<JudgeClient> judge;
    std::optional<ProblemFault> failure;
    bool failed_alone = false;  ///< it failed while no candidate's process could hold memory
    /// Processes that run the reference as baselines, if times are taken behind a gate.
    std::vector<std::unique_ptr<StartedCandidate>> baselines = {};
  };
  /// Returns the prefetched problem with that key; nothing if there is none or it failed.
  std::optional<OpenProblem> take_problem(const std::string& key);
  /// Closes the prefetched problem.
  void drop_problem();
  /// Waits until the kept judge has released its problem's memory.
  void wait_until_free();
  /// Ends all prefetched work; it is started again when needed.
  void drop_all();
  bool holds_any() const { return problem_ || !candidates_.empty() || !ending_.empty(); }

  /// Ends a process that has its verdict. The device needs time to close it. For a small problem,
  /// if no other queue may take times, this overlaps with the next candidate's work.
  void let_end(const Prepared& prepared, std::unique_ptr<StartedCandidate> process);

  /// Waits until all started work is ready or has taken too long. Then stops the candidates, so
  /// that no candidate's code runs while another's times are taken.
  void wait_until_quiet();

 private:
  void finish_opening();
  static void freeze(Candidate& candidate, bool frozen);
  std::unique_ptr<JudgeClient> take_ready_judge();
  /// Returns the result of `wait()`. Other queues may work and take times meanwhile.
  template <typename Wait>
  auto waited(Wait wait) -> decltype(wait());

  const QueueSetup& setup_;
  QueueTurn& turn_;
  std::deque<Candidate> candidates_;
  std::vector<std::unique_ptr<StartedCandidate>> ending_;
  std::unique_ptr<JudgeClient> free_judge_;
  std::optional<OpenProblem> problem_;
  bool opening_ = false;  ///< problem_'s judge has not answered yet
};

}  // namespace kbench::run
