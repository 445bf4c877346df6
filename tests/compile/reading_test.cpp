// SPDX-License-Identifier: MIT
//
// What reads a candidate's texts and a compiler's output is a process of its own, whose end is the
// candidate's.
#include "compile/host/reading.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "compile/compile_fixture.hpp"
#include "compile/host/reading_wire.hpp"
#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "os/subprocess.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

TextsJob job_of(std::string cuda) {
  TextsJob job;
  job.file_name = "k.py";
  job.file = "import torch\nS = '''" + cuda + "'''\n";
  job.cuda = {{"cuda_sources[0]", std::move(cuda)}};
  return job;
}

class Reading : public testing::Test {
 protected:
  Reader reader() const { return {find_installation().compiler, -1}; }
  /// A reader that is a script.
  Reader scripted(const std::string& body, int cancel_fd = -1) const {
    const fs::path path = folder_.path() / "reader";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return {path, cancel_fd};
  }
  static CompileError error_of(const Reader::Result<TextsRead>& read) {
    const auto* error = std::get_if<CompileError>(&read);
    return error == nullptr ? CompileError{} : *error;
  }

  TemporaryFolder folder_;
  CompileTime time_{kReadingLimit, nullptr};
};

TEST_F(Reading, TextsComeBackSplitAndInTheirPlaces) {
  const std::string kernel =
      "__global__ void k(float* x) { x[0] = 1; }\nvoid f(float* x) { k<<<1, 1>>>(x); }\n";
  TextsJob job = job_of(kernel);
  job.cpp = {{"cpp_sources[0]", std::string("int a;\0\xff", 8)}};
  const auto read = reader().read(job, time_);
  ASSERT_TRUE(std::holds_alternative<TextsRead>(read)) << std::get<CompileError>(read).message;
  const auto& texts = std::get<TextsRead>(read);
  EXPECT_FALSE(texts.refusal) << texts.refusal->message;
  EXPECT_EQ(texts.cpp.at(0).name, "cpp_sources[0]");
  EXPECT_EQ(texts.cpp.at(0).text, job.cpp[0].text) << "byte for byte";
  EXPECT_EQ(texts.cuda.at(0).name, "k.py");
  EXPECT_THAT(texts.cuda.at(0).text, StartsWith("\n__global__"));
  EXPECT_THAT(texts.device, HasSubstr("x[0] = 1;"));
  EXPECT_THAT(texts.host.at(0).text, HasSubstr("configure(1, 1)"));
  EXPECT_EQ(texts.kernels, std::vector<std::string>{"k"});
}

TEST_F(Reading, ARefusalSaysWhere) {
  const auto read = reader().read(job_of("int x;\nint operator"), time_);
  const auto& refusal = std::get<TextsRead>(read).refusal;
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->cause, "syntax_error");
  EXPECT_THAT(refusal->message, StartsWith("k.py:3: "));
}

TEST_F(Reading, ATextThatIsNoneIsRefusedAndNoFault) {
  for (const std::string& text : {std::string(), std::string("\0\0", 2), std::string("\xff\xfe"),
                                  std::string(3 << 20, '('), std::string(100'000, '\n')}) {
    const auto read = reader().read(job_of(text), time_);
    EXPECT_TRUE(std::holds_alternative<TextsRead>(read)) << std::get<CompileError>(read).message;
  }
}

TEST_F(Reading, WhatBreaksTheReaderIsTheCandidates) {
  const TextsJob job = job_of("int x;");
  EXPECT_EQ(error_of(scripted("kill -SEGV $$").read(job, time_)).cause, "compiler_crash");
  EXPECT_EQ(error_of(scripted("kill -KILL $$").read(job, time_)).cause, "compiler_killed");
  EXPECT_EQ(error_of(scripted("exit 70").read(job, time_)).cause, "compiler_crash");
  EXPECT_EQ(error_of(scripted("printf r").read(job, time_)).cause, "compiler_crash");
  EXPECT_EQ(error_of(scripted("printf 'r9 x'").read(job, time_)).cause, "compiler_crash");
  EXPECT_EQ(error_of(scripted("printf m").read(job, time_)).cause, "compiler_out_of_memory");
  CompileTime short_time(milliseconds(100), nullptr);
  EXPECT_EQ(error_of(scripted("sleep 60").read(job, short_time)).cause, "compile_timeout");
}

TEST_F(Reading, IsPaidFromTheCandidatesBudget) {
  CompileBudget budget(milliseconds(200));
  CompileTime time(kReadingLimit, &budget);
  const CompileError late = error_of(scripted("while :; do :; done").read(job_of("int x;"), time));
  EXPECT_EQ(late.cause, "compile_timeout");
  EXPECT_EQ(late.limit_s, 0.2);
  EXPECT_EQ(budget.left(), CompileBudget::Duration::zero());
}

TEST_F(Reading, AFaultIsNoCandidatesUnlessItRepeatsWithOneSource) {
  const TextsJob job = job_of("int x;");
  EXPECT_THROW(scripted("printf 'fno place'").read(job, time_), Error);
  const fs::path made = folder_.path() / "made";
  std::ofstream(made, std::ios::binary) << 'r' << pack(TextsRead());
  const auto fails_with_it =
      scripted("case $(cat) in *plain*) cat " + made.string() + ";; *) printf 'fno place';; esac");
  const CompileError fault = error_of(fails_with_it.read(job, time_));
  EXPECT_EQ(fault.cause, "compiler_fault");
  EXPECT_THAT(fault.message, HasSubstr("no place"));
}

TEST_F(Reading, TheEndOfARunEndsIt) {
  const Fd cancel(::eventfd(0, EFD_CLOEXEC));
  const Reader endless = scripted("sleep 60", cancel.value());
  const auto start = std::chrono::steady_clock::now();
  std::thread ending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::eventfd_write(cancel.value(), 1);
  });
  EXPECT_THROW(endless.read(job_of("int x;"), time_), Error);
  ending.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
}

TEST_F(Reading, AnObjectThatIsNoneIsTheCandidates) {
  const fs::path object = folder_.path() / "object.so";
  for (const std::string& bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(5000, 'x')}) {
    std::ofstream(object, std::ios::binary | std::ios::trunc) << bytes;
    const auto read = reader().read(ObjectJob{object, {}, {}, HostDevice::kCpu, {}}, time_);
    ASSERT_TRUE(std::holds_alternative<ObjectRead>(read)) << std::get<CompileError>(read).message;
    ASSERT_TRUE(std::get<ObjectRead>(read).refusal);
    EXPECT_EQ(std::get<ObjectRead>(read).refusal->cause, "compiler_crash");
  }
}

TEST_F(Reading, SymbolsOfAProgramAreFound) {
  const fs::path object = folder_.path() / "object.so";
  fs::copy_file("/proc/self/exe", object);
  const auto read = reader().read(ObjectJob{object, {"main"}, {}, HostDevice::kCuda, {}}, time_);
  ASSERT_TRUE(std::holds_alternative<ObjectRead>(read)) << std::get<CompileError>(read).message;
  const auto& symbols = std::get<ObjectRead>(read);
  ASSERT_EQ(symbols.stubs.size(), 1u);
  EXPECT_EQ(symbols.stubs[0].expression, "main");
}

TEST_F(Reading, ALogIsReadByTheNamesOfItsTexts) {
  HostRequest request;
  request.cuda_sources = {{"k.py", "the text is not sent"}};
  request.device = HostDevice::kCuda;
  const auto read = reader().read(
      log_job("k.py:12:3: error: no member named 'nn' in namespace 'torch'\n", request, {}), time_);
  ASSERT_TRUE(std::holds_alternative<LogRead>(read)) << std::get<CompileError>(read).message;
  const auto& said = std::get<LogRead>(read);
  EXPECT_EQ(said.diagnosis.cause, "syntax_error");
  EXPECT_THAT(said.diagnosis.message, StartsWith("k.py, line 12: no member"));
  EXPECT_TRUE(said.may_need_heavy);
  EXPECT_FALSE(said.speaks_of_precompiled_header);
}

TEST_F(Reading, ALongLineOfALogIsCut) {
  const auto read =
      reader().read(log_job("k.py:1:1: error: " + std::string(200'000, 'x') + "\n", {}, {}), time_);
  EXPECT_LT(std::get<LogRead>(read).diagnosis.message.size(), 5000u);
}

}  // namespace
}  // namespace kbench
