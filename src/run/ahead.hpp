// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "run/judge_client.hpp"
#include "run/lane_setup.hpp"
#include "run/prepare.hpp"

namespace kbench::run {

/// Candidates of a lane in the order of their turns.
using Following = std::span<Prepared* const>;

/// The candidate's code; nothing, and the record decided, where there is none. A compiler that
/// cannot run is a fault on this candidate's record, no other.
std::optional<ReadyCode> ready_code(Prepared& prepared, int cancel_fd);

/// Starts the process of a candidate.
std::unique_ptr<StartedCandidate> start_candidate(const LaneSetup& setup, const ReadyCode& code,
                                                  bool sources_writable);

/// What runs on a GPU before its turn. Opening CUDA takes longer than judging most candidates, and
/// several processes can do it side by side: so they are started a few at once, while outputs are
/// being compared, and stand ready when their turn comes. Nothing of this happens while a time is
/// taken: wait_until_quiet() comes before. For one thread.
class Ahead {
 public:
  explicit Ahead(const LaneSetup& setup) : setup_(setup) {}

  struct Candidate {
    const Prepared* prepared = nullptr;
    std::optional<ReadyCode> code;  ///< nothing where the record has been decided meanwhile
    std::unique_ptr<StartedCandidate> process;
  };
  /// Starts the next candidates that have their code, once those started before are used up.
  void start_candidates(Following following);
  /// What was started for that candidate; nothing where it was not.
  std::optional<Candidate> take(const Prepared& prepared);

  /// A judge, with its device open already where one stood ready.
  std::unique_ptr<JudgeClient> take_judge();
  /// Starts judges for the problems to come, once those started before are used up.
  void start_judges(Following following);

  /// Has the next problem opened, where memory allows for two at once.
  void open_problem(const Prepared& current, Following following, int kernels_fd);
  struct Problem {
    std::string key;
    std::unique_ptr<JudgeClient> judge;
    std::optional<ProblemFault> failure;
  };
  /// The problem that was opened ahead under that key; nothing where it was not, or has failed.
  std::optional<Problem> take_problem(const std::string& key);
  /// Gives up what was opened ahead.
  void drop_problem();

  /// Returns when all that was started has settled, or has taken too long; it is frozen from then
  /// on, so that nobody's code runs beside another one's times.
  void wait_until_quiet();

 private:
  void finish_opening();

  const LaneSetup& setup_;
  std::deque<Candidate> candidates_;
  std::deque<std::unique_ptr<JudgeClient>> judges_;
  std::optional<Problem> problem_;
  bool opening_ = false;  ///< problem_'s judge has not answered yet
};

}  // namespace kbench::run
