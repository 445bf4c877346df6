// SPDX-License-Identifier: MIT
// kbench's own kernels on a GPU: with NVRTC, and what becomes of a run without them.
#include <gmock/gmock.h>

#include "compile/compile_fixture.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "run/devices.hpp"
#include "run/fake_host.hpp"
#include "run/schedule/device_queues.hpp"
#include "run/schedule/judge_kernels.hpp"

namespace kbench::run {
namespace {

using testing::HasSubstr;

std::shared_future<CompileResult> compiled(CompileResult result) {
  std::promise<CompileResult> promise;
  promise.set_value(std::move(result));
  return promise.get_future().share();
}

CompileError timeout() {
  return {.cause = "compile_timeout", .message = "the compiler was not done after 1 s", .log = ""};
}

TEST(OwnKernels, CompileAndAreKept) {
  const TemporaryFolder folder;
  Installation installation = find_installation();
  installation.cache = folder.path();
  for (const bool kept : {false, true}) {
    const OwnKernels own = compile_own_kernels(installation, "sm_90");
    for (const auto* kernels : {&own.judge, &own.timing}) {
      EXPECT_THAT(std::string(own_image(*kernels, -1)), HasSubstr("kbench_encrypt"));
      EXPECT_EQ(std::get<Artifact>(kernels->get()).cached, kept);
    }
  }
}

TEST(OwnKernels, AreNotWaitedForByWhoIsInterrupted) {
  const CancelSwitch cancel;
  cancel.pull();
  std::promise<CompileResult> pending;
  EXPECT_THROW(own_image(pending.get_future().share(), cancel.fd()), Cancelled);
}

TEST(OwnKernels, WithoutThemNobodyIsJudgedOnAGpu) {
  const EvalOptions options;
  for (const bool judge_fails : {true, false}) {
    WorkerHost host(fake_installation("ok", "ok", "ok"), -1, short_limits());
    QueueSetup common;
    common.host = &host;
    common.options = &options;
    common.own_kernels.judge = compiled(judge_fails ? CompileResult(timeout()) : Artifact{});
    common.own_kernels.timing = compiled(judge_fails ? CompileResult(Artifact{}) : timeout());
    QueueDevice gpu{"cuda:0", "fake", std::nullopt};
    gpu.gpu.emplace().memory_bytes = std::uint64_t{1} << 40;
    const std::array devices{gpu};
    const std::string said = error_of([&] {
      DeviceQueues(std::move(common), devices).run([](DeviceQueue&) {
        ADD_FAILURE() << "a device queue works";
      });
    });
    EXPECT_THAT(said, HasSubstr("own kernels do not compile"));
    EXPECT_THAT(said, HasSubstr("not done after 1 s"));
  }
}

}  // namespace
}  // namespace kbench::run
