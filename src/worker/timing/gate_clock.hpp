// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "os/subprocess.hpp"
#include "protocol/protocol.hpp"

namespace kbench::worker {

/// Times of a block of queued calls by the judge's clock.
struct GateTimes {
  double switch_ms = 0;  ///< from opening the gate until the GPU has changed contexts
  double run_ms = 0;     ///< from starting the calls until the completion word
  double blind_ms = 0;   ///< for how long the judge did not look while a word appeared
};

/// Times of a block without calls: medians over empty blocks of a baseline's process.
struct GateCosts {
  double switch_ms = 0;  ///< GateTimes::switch_ms
  double empty_ms = 0;   ///< GateTimes::run_ms
  double start_ms = 0;   ///< from the completion word until the judge's own kernel runs
  double slice_ms = 0;  ///< for how long another process has the GPU while the judge's kernel waits
};

/// The judge's observations of one block of queued calls.
struct GatedBlock {
  GateTimes times;
  double start_ms = 0;        ///< as in GateCosts
  bool worked_ahead = false;  ///< other work ran on the GPU while the inputs were decrypted
  bool worked_on = false;     ///< other work ran on the GPU after the completion word
};

/// Milliseconds of a block's calls. Only the known costs are subtracted: more time before the
/// start, and work that delays the judge's own kernel, count as the calls' time.
double gated_ms(const GatedBlock& block, const GateCosts& costs);

/// Milliseconds by which a subject's blocks ended after their completion words, if gated_ms() has
/// not counted them in single blocks. `start_ms`, `usual_ms`: GatedBlock::start_ms of the subject's
/// blocks and of a baseline's blocks. 0 for a usual difference.
double late_end_ms(const std::vector<double>& start_ms, const std::vector<double>& usual_ms,
                   double run_ms);

/// The gate in the judge's process: a page of words, and the only clock that times gated calls. The
/// subject's process is stopped while the clock runs.
class GateClock {
 public:
  /// Throws kbench::Error if there is no memory for the page.
  GateClock();

  /// The page, for the subject's process.
  int fd() const { return page_.value(); }
  /// The number of the next block.
  std::uint32_t next_block() { return ++block_; }
  /// Opens the gate for this block, and measures the time until its completion word. Nothing if a
  /// word is missing after `limit_ms`; the block's gate is then open.
  std::optional<GateTimes> run(double limit_ms) const;
  /// Lets the queued calls run at once, without a clock.
  void release() const;
  /// Waits for the completion word of this block; false if it is missing after `limit_ms`.
  bool wait_done(double limit_ms) const;

 private:
  struct Unmap {
    void operator()(protocol::GateWords* words) const;
  };
  Fd page_;
  std::unique_ptr<protocol::GateWords, Unmap> words_;
  std::uint32_t block_ = 0;
};

}  // namespace kbench::worker
