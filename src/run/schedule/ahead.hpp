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
#include "run/schedule/lane_setup.hpp"

namespace kbench::run {

/// Candidates of a lane in the order of their turns.
using Following = std::span<Prepared* const>;

/// The candidate's code; nothing, and the record decided, where there is none. A compiler that
/// cannot run is a fault on this candidate's record, no other.
std::optional<ReadyCode> ready_code(Prepared& prepared, int cancel_fd);

/// Starts a candidate, in `spare` where there is one.
std::unique_ptr<StartedCandidate> start_candidate(const LaneSetup& setup, const ReadyCode& code,
                                                  bool sources_writable,
                                                  std::unique_ptr<SpareCandidate> spare = nullptr);

/// What runs on a GPU before its turn: the next candidates are loaded and the next problem is drawn
/// while outputs are being compared. Nothing of this happens while a time is taken:
/// wait_until_quiet() comes before. For one thread.
class Ahead {
 public:
  Ahead(const LaneSetup& setup, LaneTurn& turn) : setup_(setup), turn_(turn) {}

  struct Candidate {
    const Prepared* prepared = nullptr;
    std::optional<ReadyCode> code;  ///< nothing where the record has been decided meanwhile
    std::unique_ptr<StartedCandidate> process = nullptr;
    bool settled = false, frozen = false;
  };
  /// Starts the next candidates that have their code and find a process that stands ready.
  void start_candidates(Following following);
  /// What was started for that candidate, frozen perhaps; nothing where it was not.
  std::optional<Candidate> take(const Prepared& prepared);

  /// A judge, with its device open already where one stands ready.
  std::unique_ptr<JudgeClient> take_judge();
  /// Keeps a judge that is done with its problem for another one, where it may have another.
  void give_judge(std::unique_ptr<JudgeClient> judge);
  /// A process for a candidate; null where none is to be had.
  std::unique_ptr<SpareCandidate> take_spare();

  /// Has the next problem opened, where memory allows for two at once.
  void open_problem(const Prepared& current, Following following, int kernels_fd);
  struct OpenProblem {
    std::string key;
    std::unique_ptr<JudgeClient> judge;
    std::optional<ProblemFault> failure;
    bool failed_alone = false;  ///< with no candidate alive that could have taken the memory
  };
  /// The problem that was opened ahead under that key; nothing where it was not, or has failed.
  std::optional<OpenProblem> take_problem(const std::string& key);
  /// Gives up what was opened ahead.
  void drop_problem();
  /// Returns when the judge that is kept has given its problem's memory back.
  void wait_until_free();
  /// Ends all that was started ahead; it starts again in its turn.
  void drop_all();
  bool holds_any() const { return problem_ || !candidates_.empty() || !ending_.empty(); }

  /// Ends a process that has its verdict. Beside the next candidate's work, where the problem is
  /// small and no other lane may time: a device takes its time to close a process.
  void let_end(const Prepared& prepared, std::unique_ptr<StartedCandidate> process);

  /// Returns when all that was started has settled, or has taken too long; candidates are frozen
  /// from then on, so that nobody's code runs beside another one's times.
  void wait_until_quiet();

 private:
  void finish_opening();
  static void freeze(Candidate& candidate, bool frozen);
  std::unique_ptr<JudgeClient> take_ready_judge();
  /// What `wait()` gives; others may work and time meanwhile.
  template <typename Wait>
  auto waited(Wait wait) -> decltype(wait());

  const LaneSetup& setup_;
  LaneTurn& turn_;
  std::deque<Candidate> candidates_;
  std::vector<std::unique_ptr<StartedCandidate>> ending_;
  std::unique_ptr<JudgeClient> free_judge_;
  std::optional<OpenProblem> problem_;
  bool opening_ = false;  ///< problem_'s judge has not answered yet
};

}  // namespace kbench::run
