// SPDX-License-Identifier: MIT
//
// What a compiler does, and what its guard does, are told apart by the guard's own channel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "compile/compile_fixture.hpp"
#include "compile/compiler_fault.hpp"
#include "compile/guard/guarded_compiler.hpp"
#include "os/installation.hpp"
#include "os/sandbox/landlock.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

class Guarded : public testing::Test {
 protected:
  GuardedCompiler compiler() const {
    return {"the compiler", find_installation().compiler, std::size_t{1} << 30, folder_.path(), {}};
  }
  CommandResult run(const std::vector<std::string>& command, int limit_s = 20) const {
    return run_guarded(compiler(), command, std::chrono::seconds(limit_s), -1);
  }
  CommandResult shell(const std::string& text) const { return run({"/bin/sh", "-c", text}); }

  TemporaryFolder folder_;
};

TEST_F(Guarded, NoExitCodeOfACompilerIsAFault) {
  for (const int code : {1, 2, 70, 127, 255}) {
    const CommandResult result = shell("echo said >&2; exit " + std::to_string(code));
    EXPECT_EQ(result.status.code, code);
    EXPECT_EQ(result.error, "said\n");
    EXPECT_EQ(compiler_failure(compiler(), result, std::chrono::seconds(20)), std::nullopt);
  }
}

TEST_F(Guarded, TheCompilerHasNoHandOnTheChannel) {
  const CommandResult result = shell("echo a fault >&3; exit 70");
  EXPECT_NE(result.status.code, 0);
  EXPECT_THAT(result.error, HasSubstr("3"));  // a bad descriptor
}

TEST_F(Guarded, ReadsWhatAMachineHasForAllUsersAndNothingOfOne) {
  for (const char* folder : {"/usr/include", "/opt"}) {
    if (!std::filesystem::exists(folder)) continue;
    EXPECT_EQ(shell("ls " + std::string(folder)).status.code, 0) << folder;
  }
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_NE(shell("ls /root /home").status.code, 0);
}

TEST_F(Guarded, ACompilerThatCannotBeStartedIsAFault) {
  try {
    run({"/no/such/compiler"});
    FAIL() << "a compiler that is not there has run";
  } catch (const CompilerFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("/no/such/compiler cannot be started"));
  }
}

TEST_F(Guarded, ALimitOrAKillIsNoFault) {
  EXPECT_TRUE(run({"/bin/sh", "-c", "sleep 20"}, 1).timed_out);
  EXPECT_TRUE(shell("kill -KILL $$").status.signaled);
}

TEST(SettleFault, TwiceWithOneSourceAndNotWithAnotherIsTheSources) {
  int calls = 0;
  const auto fault = [&]() -> int {
    ++calls;
    throw CompilerFault("no place");
  };
  const auto settled = settle_fault(fault, [] { return true; });
  EXPECT_EQ(std::get<CompileError>(settled).cause, "compiler_fault");
  EXPECT_EQ(calls, 2);
  EXPECT_THROW(settle_fault(fault, [] { return false; }), CompilerFault);
}

TEST(SettleFault, OnceIsTriedAgainAndOtherErrorsAreNot) {
  int calls = 0;
  const auto once = [&] {
    if (++calls == 1) throw CompilerFault("busy");
    return 7;
  };
  EXPECT_EQ(std::get<int>(settle_fault(once, [] { return true; })), 7);
  EXPECT_THROW(settle_fault([]() -> int { throw Error("cancelled"); }, [] { return true; }), Error);
}

}  // namespace
}  // namespace kbench
