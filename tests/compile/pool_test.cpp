// SPDX-License-Identifier: MIT
//
// What the pool does around the compiler: cache, coalescing, limits, faults.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "compile/budget.hpp"
#include "compile/compile_fixture.hpp"
#include "compile/content_cache.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kKernel = "__global__ void k(float* x) { x[0] = 1; }";
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  return files;
}

using PoolTest = CompileTest;

TEST_F(PoolTest, FindsAnArtifactAgain) {
  const Artifact first = must_compile(request(kKernel, {"k"}));
  EXPECT_FALSE(first.cached);
  CompileRequest named = request(kKernel, {"k"});
  named.file_name = "another.cu";
  const Artifact second = must_compile(named);
  EXPECT_TRUE(second.cached);
  // The same code, under the name that was asked for.
  const auto at = second.image.find("another.cu");
  ASSERT_NE(at, std::string::npos);
  std::string renamed = second.image;
  renamed.replace(at, std::string_view("another.cu").size(), "/candidate.cu");
  EXPECT_EQ(renamed, first.image);
  EXPECT_EQ(second.seconds, first.seconds);
  EXPECT_EQ(signature(second.kernels.at(0)), "float*");
}

TEST_F(PoolTest, KeysHoldAllThatMatters) {
  must_compile(request(kKernel, {"k"}));
  EXPECT_FALSE(must_compile(request(kKernel, {"k"}, "compute_80")).cached);
  EXPECT_FALSE(must_compile(request(kKernel, {})).cached);
  EXPECT_FALSE(must_compile(request(std::string(kKernel) + " ", {"k"})).cached);
  CompileRequest flagged = request(kKernel, {"k"});
  flagged.flags = {"--use_fast_math"};
  EXPECT_FALSE(must_compile(flagged).cached);
  CompilerSetup fewer = setup();
  fewer.includes.pop_back();
  EXPECT_FALSE(artifact(CompilePool(fewer).compile(request(kKernel, {"k"})).get()).cached);
  EXPECT_TRUE(must_compile(flagged).cached);
}

TEST_F(PoolTest, KeepsFailuresWithTheirLog) {
  const CompileError first = must_fail(request("__global__ void k( {}", {"k"}));
  const CompileError second = must_fail(request("__global__ void k( {}", {"k"}));
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.log, first.log);
  EXPECT_EQ(second.message, first.message);
}

TEST_F(PoolTest, ATimeoutIsNotKept) {
  CompilerSetup limited = setup();
  limited.limit = std::chrono::milliseconds(300);
  for (int i = 0; i < 2; ++i) {
    const CompileError late = error(CompilePool(limited).compile(request(kEndless, {"k"})).get());
    EXPECT_EQ(late.cause, "compile_timeout");
    EXPECT_DOUBLE_EQ(late.limit_s, 0.3);
    EXPECT_FALSE(late.cached);
  }
}

/// As an earlier version has left it, which kept what another candidate had held up.
TEST_F(PoolTest, AKeptTimeoutIsNoAnswer) {
  const ResultCache<CompileResult, unpack_result> cache(folder_.path());
  cache.store_text("key",
                   pack(CompileResult(CompileError{"compile_timeout", "late", "", 1, false, 9})));
  EXPECT_TRUE(cache.load_text("key"));
  EXPECT_FALSE(cache.load("key"));
}

TEST_F(PoolTest, DamagedEntriesAreWrittenAnew) {
  const Artifact good = must_compile(request(kKernel, {"k"}));
  for (const auto& file : files_below(folder_.path())) {
    const auto size = fs::file_size(file);
    for (const auto length : {size - 1, size / 2, std::uintmax_t{10}, std::uintmax_t{0}}) {
      fs::resize_file(file, length);
      const Artifact again = must_compile(request(kKernel, {"k"}));
      EXPECT_EQ(again.image, good.image);
      EXPECT_TRUE(must_compile(request(kKernel, {"k"})).cached);
    }
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-1, std::ios::end).put('\x55');
    stream.close();
    EXPECT_EQ(must_compile(request(kKernel, {"k"})).image, good.image);
  }
  EXPECT_TRUE(must_compile(request(kKernel, {"k"})).cached);
}

TEST_F(PoolTest, WorksWithoutACache) {
  CompilerSetup bare = setup();
  for (const fs::path& cache : {fs::path(), fs::path("/proc/no_such_folder")}) {
    bare.cache = cache;
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(artifact(CompilePool(bare).compile(request(kKernel, {"k"})).get()).cached);
    }
  }
}

TEST_F(PoolTest, CompilesEqualSourcesOnce) {
  CompilePool pool(setup());
  std::vector<std::shared_future<CompileResult>> futures;
  for (int i = 0; i < 12; ++i) {
    CompileRequest asked =
        request("#include <cuda_fp16.h>\n__global__ void k(half* x) { int u; }", {"k"});
    asked.file_name = "sample_" + std::to_string(i) + ".cu";
    futures.push_back(pool.compile(asked));
  }
  for (int i = 0; i < 12; ++i) {
    const Artifact each = artifact(futures[static_cast<std::size_t>(i)].get());
    EXPECT_EQ(each.seconds, artifact(futures[0].get()).seconds) << "one compiler for all";
    EXPECT_THAT(each.log, HasSubstr("sample_" + std::to_string(i) + ".cu(2)"));
  }
}

TEST_F(PoolTest, CompilesManyAtOnceFromManyThreads) {
  CompilePool pool(setup());
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 4; ++i) {
        const std::string name = "k" + std::to_string((t * 2 + i) % 10);
        const auto result =
            pool.compile(request("__global__ void " + name + "(int n) {}", {name})).get();
        EXPECT_THAT(artifact(result).image, HasSubstr(".entry _Z2" + name + "i("));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_F(PoolTest, CancelEndsWhatRunsAndWhatWaits) {
  CompilerSetup one = setup();
  one.jobs = 1;
  CompilePool pool(one);
  pool.nvrtc_version();
  const auto running = pool.compile(request(kEndless, {"k"}));
  const auto waiting = pool.compile(request(kKernel, {"k"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto start = std::chrono::steady_clock::now();
  pool.cancel();
  EXPECT_THROW(running.get(), Error);
  EXPECT_THROW(waiting.get(), Error);
  EXPECT_THROW(pool.compile(request(kKernel, {"k"})).get(), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST_F(PoolTest, DestructionDoesNotWaitForTheLimit) {
  const auto start = std::chrono::steady_clock::now();
  std::shared_future<CompileResult> future;
  {
    CompilePool pool(setup());
    future = pool.compile(request(kEndless, {"k"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THROW(future.get(), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST_F(PoolTest, QueueingDoesNotCountAgainstTheLimit) {
  CompilerSetup one = setup();
  one.jobs = 1;
  one.limit = std::chrono::milliseconds(3000);
  CompilePool pool(one);
  const auto first = pool.compile(request(kEndless, {"k"}));
  const auto second = pool.compile(request(kKernel, {"k"}));
  EXPECT_EQ(error(first.get()).cause, "compile_timeout");
  EXPECT_FALSE(artifact(second.get()).image.empty());
}

/// A compiler that ends in its own way, in place of kbench-cc.
fs::path script(const fs::path& folder, const std::string& body) {
  fs::path path = folder / "compiler";
  std::ofstream(path) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'NVRTC 1.2'; exit; fi\n"
                      << body << "\n";
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

/// The name of a file with that text.
std::string written(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

TEST_F(PoolTest, ACrashIsTheCandidatesAndAFaultIsNot) {
  const TemporaryFolder scripts;
  CompilerSetup broken = setup();
  const auto ask = [&](const std::string& body) {
    broken.compiler = script(scripts.path(), body);
    broken.cache.clear();
    return CompilePool(broken).compile(request(kKernel, {"k"})).get();
  };
  EXPECT_EQ(error(ask("kill -SEGV $$")).message, "the compiler crashed (Segmentation fault)");
  EXPECT_EQ(error(ask("kill -SEGV $$")).cause, "compiler_crash");
  EXPECT_EQ(error(ask("kill -KILL $$")).cause, "compiler_killed");
  EXPECT_EQ(error(ask("exit 1")).cause, "compiler_crash");
  EXPECT_EQ(error(ask("echo nonsense")).cause, "compiler_crash");
  // No exit code is a fault: a source may make its compiler end with any.
  EXPECT_EQ(error(ask("echo 'no NVRTC there' >&2; exit 70")).cause, "compiler_crash");
  try {
    ask("cat " + written(scripts.path() / "fault", pack_fault("no NVRTC there")));
    FAIL() << "a fault was taken for the candidate's";
  } catch (const Error& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("no NVRTC there"));
  }
}

/// A compiler that takes too long the first time only, as one that another process holds up.
TEST_F(PoolTest, WhatTookTooLongIsTriedOnceMore) {
  const TemporaryFolder scripts;
  CompilerSetup slow = setup();
  slow.limit = std::chrono::seconds(2);
  const fs::path mark = scripts.path() / "ran";
  const fs::path real = slow.compiler;
  slow.compiler =
      script(scripts.path(), "if [ -e " + mark.string() + " ]; then exec " + real.string() +
                                 "; fi; touch " + mark.string() + "; while :; do :; done");
  EXPECT_FALSE(artifact(CompilePool(slow).compile(request(kKernel, {"k"})).get()).image.empty());
}

TEST_F(PoolTest, ASpentBudgetLeavesItsOwnCompilesOutAndNoOthers) {
  CompilerSetup one = setup();
  one.jobs = 1;
  CompilePool pool(one);
  pool.nvrtc_version();
  const auto budget = std::make_shared<CompileBudget>(std::chrono::seconds(1));
  std::vector<std::shared_future<CompileResult>> flood;
  for (int i = 0; i < 20; ++i) {
    CompileRequest asked = request(kEndless + std::string("\n// ") + std::to_string(i), {"k"});
    asked.budget = budget;
    flood.push_back(pool.compile(asked));
  }
  // What the flood asks for as well, and has no time for: that is no answer to others.
  CompileRequest small = request(kKernel, {"k"});
  small.budget = budget;
  pool.compile(small);
  small.budget = std::make_shared<CompileBudget>(std::chrono::seconds(20));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(artifact(pool.compile(small).get()).image.empty());
  for (const auto& each : flood) {
    const CompileError late = error(each.get());
    EXPECT_EQ(late.cause, "compile_timeout");
    EXPECT_DOUBLE_EQ(late.limit_s, 1);
  }
  EXPECT_THAT(error(flood[5].get()).message, HasSubstr("before they compiled this source"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
}

TEST_F(PoolTest, AFaultThatRepeatsWithOneSourceIsTheCandidates) {
  const TemporaryFolder scripts;
  CompilerSetup broken = setup();
  const std::string fault = written(scripts.path() / "fault", pack_fault("no place for it"));
  const std::string made = written(scripts.path() / "made", pack(CompileResult(Artifact())));
  broken.compiler = script(
      scripts.path(), "case $(cat) in *plain*) cat " + made + " ;; *) cat " + fault + " ;; esac");
  for (int i = 0; i < 2; ++i) {
    const CompileError failure = error(CompilePool(broken).compile(request(kKernel, {"k"})).get());
    EXPECT_EQ(failure.cause, "compiler_fault");
    EXPECT_THAT(failure.message, HasSubstr("no place for it"));
    EXPECT_FALSE(failure.cached);
  }
}

TEST_F(PoolTest, AFaultOfTheMomentIsTriedAgain) {
  const TemporaryFolder scripts;
  CompilerSetup broken = setup();
  const std::string fault = written(scripts.path() / "fault", pack_fault("no place for it"));
  const std::string made = written(scripts.path() / "made", pack(CompileResult(Artifact())));
  const std::string mark = (scripts.path() / "mark").string();
  broken.compiler = script(scripts.path(), "if [ -e " + mark + " ]; then cat " + made +
                                               "; else touch " + mark + "; cat " + fault + "; fi");
  artifact(CompilePool(broken).compile(request(kKernel, {"k"})).get());
}

TEST_F(PoolTest, AKillFromOutsideIsNotKept) {
  const TemporaryFolder scripts;
  CompilerSetup broken = setup();
  broken.compiler = script(scripts.path(), "kill -KILL $$");
  for (int i = 0; i < 2; ++i) {
    const CompileError killed = error(CompilePool(broken).compile(request(kKernel, {"k"})).get());
    EXPECT_EQ(killed.cause, "compiler_killed");
    EXPECT_FALSE(killed.cached);
  }
}

TEST_F(PoolTest, AMissingCompilerOrLibraryIsAFault) {
  CompilerSetup wrong = setup();
  wrong.compiler = "/no/such/compiler";
  EXPECT_THROW(CompilePool(wrong).compile(request(kKernel, {"k"})).get(), Error);
  wrong = setup();
  wrong.nvrtc = "/no/such/libnvrtc.so";
  CompilePool pool(wrong);
  EXPECT_THROW(pool.nvrtc_version(), Error);
  try {
    pool.compile(request(kKernel, {"k"})).get();
    FAIL() << "compiled without NVRTC";
  } catch (const Error& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("/no/such/libnvrtc.so"));
  }
}

TEST_F(PoolTest, AsksForTheVersionOnce) {
  EXPECT_THAT(CompilePool(setup()).nvrtc_version(), testing::MatchesRegex("NVRTC 1[0-9]\\.[0-9]+"));
  EXPECT_EQ(files_below(folder_.path()).size(), 1u) << "the next pool starts no compiler for it";
}

TEST(ContentCache, ShrinksByDroppingTheOldest) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 10; ++i) {
    cache.store_text("key" + std::to_string(i), std::string(936, 'x'));  // with digest: 1000
    for (const auto& file : files_below(folder.path())) {
      if (file.filename() == "key" + std::to_string(i)) {
        fs::last_write_time(file, now - std::chrono::hours(100 - i));
      }
    }
  }
  EXPECT_TRUE(cache.load_text("key0")) << "which makes it the newest";
  cache.shrink(3500);
  std::vector<std::string> left;
  for (const auto& file : files_below(folder.path())) left.push_back(file.filename());
  EXPECT_THAT(left, testing::UnorderedElementsAre("key0", "key8", "key9"));
}

}  // namespace
}  // namespace kbench
