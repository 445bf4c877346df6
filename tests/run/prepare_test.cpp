// SPDX-License-Identifier: MIT
#include "run/prepare/prepare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/compile_fixture.hpp"
#include "kbench/error.hpp"
#include "run/fake_host.hpp"

namespace kbench::run {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr DeviceLimits kLimits{132, 232'448, 1024};

Signature signature() {
  Signature signature;
  signature.problem = "level1/1_AddOne";
  signature.inputs = {{"x", TensorInfo{"x", DType::kFloat32, {64}}}};
  signature.outputs = {{"0", DType::kFloat32, {64}}};
  return signature;
}

/// A whole candidate; `//@ out` stands in line 1, the launch in line 2.
std::string add_one(const std::string& arguments = "x, y, 64", const std::string& more = {}) {
  return "//@ out y like x\n//@ add<<<1, 64>>>(" + arguments + ")\n" + more +
         "__global__ void add(const float* x, float* y, int n) {\n"
         "  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + 1;\n}\n";
}

class Prepare : public CompileTest {
 protected:
  /// Prepares a candidate of this source as far as it goes without its compiler's answer.
  Prepared& prepare_source(const std::string& source, double call_limit_s = 0,
                           const Problem* problem = nullptr) {
    candidate_.source = source;
    return prepare_candidate(call_limit_s, problem);
  }
  Prepared& prepare_candidate(double call_limit_s = 0, const Problem* problem = nullptr) {
    prepared_ = Prepared{};
    prepared_.candidate = &candidate_;
    prepared_.problem = problem;
    if (!pool_) pool_.emplace(setup());
    prepare(prepared_, signature(), kLimits, "compute_90a", call_limit_s, *pool_);
    return prepared_;
  }
  std::optional<ReadyCode> finish() { return finish_compile(prepared_, -1); }

  Candidate candidate_;
  Prepared prepared_;
  std::optional<CompilePool> pool_;
};

TEST_F(Prepare, ARightCandidateBecomesCode) {
  const auto& prepared = prepare_source(add_one());
  ASSERT_FALSE(prepared.decided) << prepared.record.message;
  ASSERT_TRUE(prepared.bound);
  const auto code = finish();
  ASSERT_TRUE(code) << prepared.record.message;
  EXPECT_FALSE(prepared.decided);
  EXPECT_THAT(code->image, HasSubstr(".entry"));
  ASSERT_EQ(code->plan.launches.size(), 1u);
  EXPECT_THAT(code->image, HasSubstr(code->plan.launches[0].symbol));
  EXPECT_EQ(code->plan.launches[0].line, 2);
  EXPECT_EQ(code->plan.launches[0].arguments[2].bytes[0], 64);
  ASSERT_TRUE(prepared.record.compile);
  EXPECT_EQ(prepared.record.compile->way, "nvrtc");
}

struct FaultyPlan {
  const char *name, *source, *place, *cause;
};

class Faulty : public Prepare, public testing::WithParamInterface<FaultyPlan> {};

TEST_P(Faulty, IsACompileFailureWithItsPlaceBeforeAnythingIsCompiled) {
  const auto& prepared = prepare_source(GetParam().source);
  EXPECT_TRUE(prepared.decided);
  EXPECT_FALSE(prepared.compiled.valid());
  EXPECT_EQ(prepared.record.outcome, Outcome::kCompileFailure);
  EXPECT_EQ(prepared.record.stage, Stage::kCompile);
  EXPECT_EQ(prepared.record.cause, GetParam().cause);
  EXPECT_THAT(prepared.record.message, StartsWith(GetParam().place));
  EXPECT_GT(prepared.record.message.size(), std::string(GetParam().place).size() + 5);
  EXPECT_FALSE(finish());
}

INSTANTIATE_TEST_SUITE_P(
    Plans, Faulty,
    testing::Values(
        FaultyPlan{"Syntax", "//@ out y like x\n//@ add<<<1, 64>>(x)\n", "line 2, column",
                   "faulty_plan"},
        FaultyPlan{"UnknownName", "//@ out y like x\n//@ add<<<1, 64>>>(z, y)\n",
                   "line 2, column 20:", "unknown_name"},
        FaultyPlan{"TooManyThreads", "//@ out y like x\n//@ add<<<1, 2048>>>(x, y)\n",
                   "line 2, column", "too_many_threads"},
        FaultyPlan{"TooMuchShared", "//@ out y like x\n//@ add<<<1, 64, 1000000>>>(x, y)\n",
                   "line 2, column", "too_much_shared_memory"},
        FaultyPlan{"BadFlag", "//@ flags --run-everything\n//@ out y like x\n", "line 1, column",
                   "bad_flag"},
        FaultyPlan{"NoOutput", "//@ add<<<1, 64>>>(x)\n", "line 1, column 5: the plan", "no_plan"},
        FaultyPlan{"NoPlan", "__global__ void add() {}\n", "line 1, column", "no_plan"}),
    [](const auto& test) { return test.param.name; });

TEST_F(Prepare, AnUnknownNameIsToldWithTheCommandThatListsAll) {
  Problem problem;
  problem.key = "1_AddOne";
  problem.argument = "my/1_AddOne.py";
  const std::string source = "//@ out y like x\n//@ add<<<1, 64>>>(zzz, y)\n";
  EXPECT_THAT(prepare_source(source, 0, &problem).record.message,
              HasSubstr("there is no `zzz`; `kbench list my/1_AddOne.py --names` prints"));
  EXPECT_THAT(prepare_source("//@ out y like x\n//@ add<<<1>>>(y)\n", 0, &problem).record.message,
              testing::Not(HasSubstr("kbench list")));
}

TEST_F(Prepare, AnArgumentOfTheWrongTypeIsFoundOnceTheKernelIsKnown) {
  const auto& prepared = prepare_source(add_one("x, y, x"));
  ASSERT_FALSE(prepared.decided);
  EXPECT_FALSE(finish());
  EXPECT_EQ(prepared.record.outcome, Outcome::kCompileFailure);
  EXPECT_EQ(prepared.record.cause, "type_mismatch");
  EXPECT_THAT(prepared.record.message, StartsWith("line 2, column 26:"));
  EXPECT_TRUE(prepared.record.compile);
}

TEST_F(Prepare, AKernelInAnotherLetterCaseIsSuggested) {
  const auto message_of = [&](const std::string& kernel) {
    const auto& prepared = prepare_source(
        "//@ out y like x\n//@ ADD<<<1, 64>>>(x, y)\n__global__ void " + kernel + " {}\n");
    EXPECT_FALSE(finish());
    EXPECT_EQ(prepared.record.cause, "unknown_kernel");
    return prepared.record.message;
  };
  EXPECT_THAT(message_of("add(const float* x, float* y)"), HasSubstr("; did you mean add?"));
  EXPECT_THAT(message_of("__launch_bounds__(64) add (const float* x, float* y)"),
              HasSubstr("; did you mean add?"));
  EXPECT_THAT(message_of("multiply(const float* x, float* y)"), testing::Not(HasSubstr("mean")));
}

TEST_F(Prepare, ASyntaxErrorIsTheCompilersToTell) {
  const auto& prepared = prepare_source(add_one("x, y, 64", "int oops\n"));
  EXPECT_FALSE(finish());
  EXPECT_EQ(prepared.record.outcome, Outcome::kCompileFailure);
  EXPECT_EQ(prepared.record.cause, "syntax_error");
  EXPECT_FALSE(prepared.log.empty());
  EXPECT_TRUE(prepared.record.compile);
}

/// A module of this source, prepared as far as it goes without a dry import.
struct ModuleOnItsWay {
  explicit ModuleOnItsWay(const std::string& source, const Signature& with = signature()) {
    candidate.kind = CandidateKind::kModule;
    candidate.id = "me/a.py";
    candidate.source = source;
    prepared.candidate = &candidate;
    prepared.problem = &problem;
    prepared.sizes = {{"rows", "4"}};
    prepare_module(prepared, with, "relu", 1.5);
  }
  /// As if a dry import had come back with these builds.
  std::optional<ReadyCode> finish(BuildSummary builds) {
    std::promise<DryImported> promise;
    promise.set_value({std::move(builds), std::nullopt, false});
    prepared.dry_imported = promise.get_future().share();
    return finish_compile(prepared, -1);
  }

  Candidate candidate;
  Problem problem;
  Prepared prepared;
};

BuildSummary failed_build() {
  BuildSummary builds;
  builds.builds = 1;
  builds.failure =
      ExtensionError{Outcome::kCompileFailure, "syntax_error", "line 3", "log", 1, false};
  return builds;
}

TEST(PrepareModule, SharesTheProblemsTensorsAndLaunchesNothing) {
  Signature with = signature();
  with.inputs.push_back({"alpha", Value(0.5)});
  with.inputs.push_back({"mask", TensorInfo{"mask", DType::kBool, {8}}});
  with.state.push_back({{"weight", DType::kFloat32, {64}}, false});
  with.returns_sequence = true;
  ModuleOnItsWay module("class ModelNew: pass\n", with);
  ASSERT_TRUE(module.prepared.module);
  EXPECT_FALSE(is_compiled(module.prepared));
  const CandidateJob& job = *module.prepared.module;
  ASSERT_EQ(job.plan.tensors.size(), 4u);
  EXPECT_TRUE(job.plan.launches.empty());
  EXPECT_EQ(job.plan.tensors[2].role, BoundTensor::Role::kState);
  EXPECT_EQ(job.plan.tensors[3].role, BoundTensor::Role::kOutput);
  ASSERT_EQ(job.module.arguments.size(), 3u);
  EXPECT_EQ(std::get<std::size_t>(job.module.arguments[2]), 1u);
  EXPECT_TRUE(job.module.returns_sequence);
  EXPECT_EQ(job.module.sizes.at("rows"), "4");
  EXPECT_DOUBLE_EQ(module.prepared.call_limit_s, 1.5);
}

TEST(PrepareModule, WithoutBuildsIsReadyAtOnce) {
  ModuleOnItsWay module("class ModelNew: pass\n");
  const auto code = module.finish({});
  ASSERT_TRUE(code);
  EXPECT_EQ(code->kind, CandidateKind::kModule);
  EXPECT_FALSE(module.prepared.record.compile);
}

TEST(PrepareModule, ABuildThatFailedDecides) {
  ModuleOnItsWay module("extension = load_inline()\n");
  EXPECT_FALSE(module.finish(failed_build()));
  EXPECT_EQ(module.prepared.record.outcome, Outcome::kCompileFailure);
  EXPECT_EQ(module.prepared.record.stage, Stage::kCompile);
  EXPECT_EQ(module.prepared.record.cause, "syntax_error");
  EXPECT_EQ(module.prepared.log, "");
}

TEST(PrepareModule, OneThatCatchesExceptionsGoesOn) {
  ModuleOnItsWay module("try:\n  load_inline()\nexcept RuntimeError:\n  pass\n");
  EXPECT_TRUE(module.finish(failed_build()));
  EXPECT_FALSE(module.prepared.decided);
}

TEST_F(Prepare, WhatIsNoCodeIsRejectedOrMissing) {
  candidate_.reject_message = "why";
  for (const auto& [cause, outcome] : {std::pair{"not_utf8", Outcome::kRejected},
                                       {"oversized", Outcome::kRejected},
                                       {"no_code", Outcome::kMissing},
                                       {"no_code_block", Outcome::kMissing},
                                       {"truncated", Outcome::kRejected}}) {
    candidate_.reject_cause = cause;
    const auto& prepared = prepare_source(add_one());
    EXPECT_TRUE(prepared.decided);
    EXPECT_EQ(prepared.record.outcome, outcome);
    EXPECT_EQ(prepared.record.cause, cause);
    EXPECT_EQ(prepared.record.message, "why");
    EXPECT_FALSE(finish());
  }
}

TEST_F(Prepare, APlanMayOnlyLowerTheLimit) {
  const std::string limited = "//@ limit 2s\n" + add_one();
  EXPECT_EQ(prepare_source(add_one(), 5).call_limit_s, 5);
  EXPECT_EQ(prepare_source(add_one(), 0).call_limit_s, 0);
  EXPECT_EQ(prepare_source(limited, 5).call_limit_s, 2);
  EXPECT_EQ(prepare_source(limited, 1).call_limit_s, 1);
  EXPECT_EQ(prepare_source(limited, 0).call_limit_s, 2);
}

TEST_F(Prepare, ACompilerThatIsGoneIsAFaultOfKbench) {
  auto broken = setup();
  broken.compiler = "/nowhere/kbench-cc";
  broken.cache.clear();
  pool_.emplace(std::move(broken));
  EXPECT_FALSE(prepare_source(add_one()).decided);
  EXPECT_THROW(finish(), Error);
}

TEST_F(Prepare, CancellingEndsTheWaitForTheCompiler) {
  const Stopwatch watch;
  prepare_source(std::string("//@ out y like x\n//@ k<<<1, 1>>>(y)\n") + kEndless);
  const CancelSwitch cancel;
  cancel.pull();
  EXPECT_THROW(finish_compile(prepared_, cancel.fd()), Cancelled);
}

}  // namespace
}  // namespace kbench::run
