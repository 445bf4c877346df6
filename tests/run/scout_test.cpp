// SPDX-License-Identifier: MIT
#include "run/prepare/scout.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "compile/compile_fixture.hpp"
#include "os/installation.hpp"
#include "run/fake_host.hpp"

namespace kbench::run {
namespace {

using std::chrono::milliseconds;

class ScoutLimits : public CompileTest {
 protected:
  /// Sends a module whose import has no end.
  std::shared_future<Scouted> send() {
    CandidateJob job;
    job.kind = CandidateKind::kModule;
    job.module.file_name = "mine.py";
    return scouts_.send(std::move(job));
  }

  WorkerHost host_{fake_installation("ok"), -1, short_limits()};
  CompilePool pool_{setup()};
  ExtensionBuilder builder_{pool_, host_setup(find_installation()), NvccSetup{}, "compute_90a"};
  Scouts scouts_{host_, builder_, 1, milliseconds(300), std::size_t{1} << 30, -1};
};

TEST_F(ScoutLimits, OneWithoutEndIsEnded) {
  const Stopwatch watch;
  EXPECT_TRUE(send().get().timed_out);
}

TEST_F(ScoutLimits, TimeThatItStandsStillDoesNotCount) {
  const Stopwatch watch;
  host_.torch_version();
  std::optional<AheadOfTurn::Pause> pause(host_.ahead_of_turn());
  const auto scouted = send();
  EXPECT_EQ(scouted.wait_for(milliseconds(1000)), std::future_status::timeout);
  pause.reset();
  EXPECT_EQ(scouted.wait_for(milliseconds(3000)), std::future_status::ready);
  EXPECT_TRUE(scouted.get().timed_out);
}

}  // namespace
}  // namespace kbench::run
