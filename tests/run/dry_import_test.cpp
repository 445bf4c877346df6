// SPDX-License-Identifier: MIT
#include "run/prepare/dry_import.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "compile/compile_fixture.hpp"
#include "os/installation.hpp"
#include "run/fake_host.hpp"

namespace kbench::run {
namespace {

using std::chrono::milliseconds;

class DryImportLimits : public CompileTest {
 protected:
  /// Sends a module whose import has no end.
  std::shared_future<DryImported> send() {
    CandidateJob job;
    job.kind = CandidateKind::kModule;
    job.module.file_name = "mine.py";
    return dry_imports_.send(std::move(job));
  }

  WorkerHost host_{fake_installation("ok"), -1, short_limits()};
  CompilePool pool_{setup()};
  ExtensionBuilder builder_{pool_, host_setup(find_installation()), NvccSetup{}, "compute_90a"};
  DryImports dry_imports_{host_, builder_, 1, milliseconds(300), std::size_t{1} << 30, -1};
};

TEST_F(DryImportLimits, OneWithoutEndIsEnded) {
  const Stopwatch watch;
  EXPECT_TRUE(send().get().timed_out);
}

TEST_F(DryImportLimits, TimeThatItStandsStillDoesNotCount) {
  const Stopwatch watch;
  host_.torch_version();
  std::optional<AheadOfTurn::Pause> pause(host_.ahead_of_turn());
  const auto dry_imported = send();
  EXPECT_EQ(dry_imported.wait_for(milliseconds(1000)), std::future_status::timeout);
  pause.reset();
  EXPECT_EQ(dry_imported.wait_for(milliseconds(3000)), std::future_status::ready);
  EXPECT_TRUE(dry_imported.get().timed_out);
}

}  // namespace
}  // namespace kbench::run
