// SPDX-License-Identifier: MIT
#include "protocol/candidate_job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kbench/error.hpp"

namespace kbench {
namespace {

/// A job with one of everything that a plan may hold.
CandidateJob sample() {
  CandidateJob job;
  job.device = "cuda:3";
  job.nonce = 0xfedcba9876543210;
  job.sources_writable = true;
  job.image = std::string(
      "\x7f"
      "ELF\0\n{\"device\"\n\xff",
      15);
  job.timing_image = "ELF\n of its own";
  job.undefined_ptx = ".version";
  job.module.problem_values = std::string("\x80\x05\n\0.", 5);
  BoundTensor input;
  input.info = {"net.0.weight", DType::kBFloat16, {3, 0, 5}};
  input.role = BoundTensor::Role::kState;
  input.index = 7;
  BoundTensor scratch;
  scratch.info = {"partial", DType::kInt64, {}};
  scratch.role = BoundTensor::Role::kScratch;
  scratch.writable = true;
  scratch.filled = true;
  scratch.fill_bits = ~std::uint64_t{0};
  job.plan.tensors = {input, scratch};
  LaunchPlan::Launch launch;
  launch.symbol = "_Z6reduceILi128EEvPKfPfi";
  launch.kernel = "reduce<128>";
  launch.grid = {0x7fffffff, 65535, 1};
  launch.block = {32, 4, 8};
  launch.cluster = {2, 1, 1};
  launch.shared_bytes = 99 * 1024;
  launch.cooperative = true;
  launch.line = 12;
  LaunchArgument tensor, scalar;
  tensor.tensor = 1;
  scalar.bytes = {1, 2, 3, 255};
  scalar.size = 4;
  launch.arguments = {tensor, scalar};
  job.plan.launches = {launch};
  return job;
}

std::string content(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return text;
}

/// A descriptor that holds `text`, sealed or not.
Fd holding(const std::string& text, bool sealed) {
  Fd fd(memfd_create("kbench-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(write(fd.value(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  if (sealed) {
    EXPECT_EQ(fcntl(fd.value(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
  }
  return fd;
}

TEST(CandidateJob, ComesBackAsItWas) {
  const CandidateJob job = sample();
  const Fd fd = pack_job(job);
  const CandidateJob back = unpack_job(fd.value());
  EXPECT_EQ(back.device, job.device);
  EXPECT_EQ(back.nonce, job.nonce);
  EXPECT_EQ(back.sources_writable, job.sources_writable);
  EXPECT_EQ(back.image, job.image);
  EXPECT_EQ(back.timing_image, job.timing_image);
  EXPECT_EQ(back.undefined_ptx, job.undefined_ptx);
  EXPECT_EQ(back.module.problem_values, job.module.problem_values);
  EXPECT_EQ(to_json(back.plan), to_json(job.plan));
  EXPECT_EQ(back.plan.tensors[1].fill_bits, ~std::uint64_t{0});
  EXPECT_EQ(back.plan.launches[0].arguments[1].size, 4);
}

TEST(CandidateJob, AnEmptyImageAndPlanComeBack) {
  const Fd fd = pack_job({});
  const CandidateJob back = unpack_job(fd.value());
  EXPECT_TRUE(back.image.empty());
  EXPECT_TRUE(back.plan.launches.empty());
  EXPECT_FALSE(back.sources_writable);
}

TEST(CandidateJob, ALargeImageComesBack) {
  CandidateJob job = sample();
  job.image.assign(40u << 20, '\n');
  const Fd fd = pack_job(job);
  EXPECT_EQ(unpack_job(fd.value()).image, job.image);
}

TEST(CandidateJob, ReadingDoesNotDependOnThePositionOfTheDescriptor) {
  const Fd fd = pack_job(sample());
  lseek(fd.value(), 5, SEEK_SET);
  EXPECT_EQ(unpack_job(fd.value()).device, "cuda:3");
  EXPECT_EQ(unpack_job(fd.value()).device, "cuda:3");
}

TEST(CandidateJob, NobodyChangesItOnceItIsPacked) {
  const Fd fd = pack_job(sample());
  EXPECT_EQ(pwrite(fd.value(), "x", 1, 0), -1);
  EXPECT_EQ(ftruncate(fd.value(), 1), -1);
  EXPECT_EQ(ftruncate(fd.value(), 1 << 20), -1);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.value(), 0), MAP_FAILED);
  EXPECT_EQ(fcntl(fd.value(), F_ADD_SEALS, F_SEAL_WRITE), -1);  // and nobody adds seals
  EXPECT_NE(fcntl(fd.value(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(CandidateJob, EveryTruncationIsAnErrorOfKbench) {
  const Fd whole = pack_job(sample());
  const std::string text = content(whole.value());
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Fd part = holding(text.substr(0, length), true);
    EXPECT_THROW(unpack_job(part.value()), Error) << length;
  }
}

TEST(CandidateJob, WhatIsNoJobIsAnErrorOfKbench) {
  constexpr const char* kNoPlan =
      R"({"device": "cpu", "plan": [], "sources_writable": false, "nonce": 1, "image_bytes": 0})"
      "\n";
  for (const char* text : {"\n", "{}\n", "[]\nimage", "null\n", "{\"device\": 3}\n", kNoPlan}) {
    const Fd fd = holding(text, true);
    EXPECT_THROW(unpack_job(fd.value()), Error) << text;
  }
  EXPECT_THROW(unpack_job(-1), Error);
}

}  // namespace
}  // namespace kbench
