// SPDX-License-Identifier: MIT
#include "worker/device/device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

#include "kbench/error.hpp"
#include "ptx/nvrtc_helper.hpp"

namespace kbench::worker {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kGpuGranularity = 2u << 20;

TEST(BufferLayout, KeepsItsPromisesForEverySize) {
  std::mt19937 random(5);
  std::vector<std::size_t> sizes{0,
                                 1,
                                 2,
                                 255,
                                 256,
                                 257,
                                 4095,
                                 4096,
                                 4097,
                                 8192,
                                 65536,
                                 1u << 20,
                                 (2u << 20) - 1,
                                 2u << 20,
                                 (2u << 20) + 1,
                                 12345678};
  for (int i = 0; i < 500; ++i) sizes.push_back(random() % (8u << 20));
  for (const std::size_t granularity : {kPage, kGpuGranularity}) {
    for (const std::size_t size : sizes) {
      for (const bool red : {false, true}) {
        SCOPED_TRACE(testing::Message() << size << " bytes, " << granularity << ", red " << red);
        const auto layout = buffer_layout(size, granularity, red);
        const std::size_t zone = red ? kRedZoneBytes : 0;
        EXPECT_EQ(layout.data_bytes, size);
        EXPECT_GT(layout.mapped_bytes, 0u);
        EXPECT_EQ(layout.mapped_bytes % granularity, 0u);
        EXPECT_EQ(layout.data_offset % kDataAlignment, 0u);
        // All parts lie inside, and the canary ends at the unmapped page.
        EXPECT_GE(layout.data_offset, layout.red_before);
        EXPECT_EQ(layout.data_offset + size + layout.red_after, layout.mapped_bytes);
        EXPECT_EQ(layout.red_before, zone);
        EXPECT_GE(layout.red_after, zone);
        // The data ends as near to the unmapped page as alignment and red zone allow, without
        // unused granules.
        EXPECT_LT(layout.red_after - zone, kDataAlignment);
        EXPECT_LT(layout.mapped_bytes, std::max<std::size_t>(size, 1) + 2 * zone + granularity);
      }
    }
  }
}

TEST(OpenDevice, RefusesNamesThatAreNone) {
  for (const char* name : {"", "gpu", "cuda", "cuda:", "cuda:x", "cuda:0x", "cpu0", "CPU"})
    EXPECT_THROW(open_device(name), Error) << name;
  EXPECT_EQ(open_device("cpu")->name(), "cpu");
}

class CpuDevice : public testing::Test {
 protected:
  BufferLayout layout(std::size_t bytes, bool red = true) const {
    return buffer_layout(bytes, device_->granularity(), red);
  }
  std::unique_ptr<Device> device_ = open_device("cpu");
};

TEST_F(CpuDevice, CreatesMemoryThatAnotherMappingSees) {
  SharedBuffer ours = device_->create(layout(1000), true);
  struct stat info {};
  ASSERT_EQ(fstat(ours.fd(), &info), 0);
  EXPECT_EQ(static_cast<std::size_t>(info.st_size), ours.layout().mapped_bytes);
  const SharedBuffer theirs = device_->map(Fd(dup(ours.fd())), ours.layout(), true);
  ASSERT_NE(ours.data(), theirs.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(theirs.data()) % kDataAlignment, 0u);
  device_->fill(ours.data(), 0x5a, 1000);
  EXPECT_EQ(theirs.data()[999], std::byte{0x5a});
  theirs.data()[0] = std::byte{0x11};
  EXPECT_EQ(ours.data()[0], std::byte{0x11});
}

TEST_F(CpuDevice, WhoGetsADescriptorCannotWriteToItNorChangeItsSize) {
  const SharedBuffer ours = device_->create(layout(1000), false);
  const SharedBuffer theirs = device_->map(Fd(dup(ours.fd())), ours.layout(), false);
  const Fd anew(open(fmt::format("/proc/self/fd/{}", theirs.fd()).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(anew);
  const char byte = 1;
  EXPECT_LT(pwrite(anew.value(), &byte, 1, 0), 0);
  EXPECT_NE(ftruncate(anew.value(), 0), 0);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, anew.value(), 0), MAP_FAILED);
  EXPECT_NE(mprotect(theirs.base(), 4096, PROT_READ | PROT_WRITE), 0);
  device_->fill(ours.data(), 0x5a, 1000);  // the process that made the buffer can still write
  EXPECT_EQ(theirs.data()[999], std::byte{0x5a});
  const SharedBuffer work = device_->create(layout(1000), true);
  EXPECT_NE(ftruncate(work.fd(), 0), 0);
  EXPECT_EQ(pwrite(work.fd(), &byte, 1, 0), 1);
}

TEST_F(CpuDevice, MemoryOfItsOwnIsNoFile) {
  const SharedBuffer buffer = device_->allocate(layout(100));
  EXPECT_LT(buffer.fd(), 0);
  EXPECT_EQ(buffer.data()[0], std::byte{0});
}

TEST_F(CpuDevice, WhatCannotFitIsTheCandidatesFailureInAllocate) {
  try {
    device_->allocate(layout(std::size_t{1} << 50));
    FAIL() << "a pebibyte was to be had";
  } catch (const CandidateFailure& failure) {
    EXPECT_EQ(failure.outcome, Outcome::kOutOfMemory);
    EXPECT_EQ(failure.cause, "allocation_failed");
  }
}

using CpuDeviceDeathTest = CpuDevice;

TEST_F(CpuDeviceDeathTest, BeyondTheMappingIsASegmentationFault) {
  const SharedBuffer buffer = device_->create(layout(1000), true);
  volatile std::byte* end = buffer.base() + buffer.layout().mapped_bytes;
  end[-1] = std::byte{1};
  EXPECT_EXIT({ [[maybe_unused]] const std::byte b = end[0]; }, testing::KilledBySignal(SIGSEGV),
              "");
  EXPECT_EXIT(end[0] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(end[kPage - 1] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(CpuDeviceDeathTest, AReadOnlyMappingCannotBeWritten) {
  const SharedBuffer ours = device_->create(layout(1000, false), true);
  ours.data()[0] = std::byte{42};
  const SharedBuffer theirs = device_->map(Fd(dup(ours.fd())), ours.layout(), false);
  volatile std::byte* data = theirs.data();
  EXPECT_EQ(theirs.data()[0], std::byte{42});
  EXPECT_EXIT(data[0] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(CpuDeviceDeathTest, AfterItsEndTheMemoryIsGone) {
  auto buffer = std::make_unique<SharedBuffer>(device_->create(layout(1000), true));
  volatile std::byte* data = buffer->data();
  SharedBuffer moved = std::move(*buffer);
  buffer.reset();
  data[0] = std::byte{1};  // the mapping was moved as well
  moved = device_->create(layout(10), true);
  EXPECT_EXIT(data[0] = std::byte{1}, testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(CpuDevice, RedZonesTellWhichSideWasHit) {
  const SharedBuffer buffer = device_->create(layout(1000), true);
  fill_red_zones(*device_, buffer);
  EXPECT_EQ(broken_red_zone(*device_, buffer), "");
  device_->fill(buffer.data(), 0x77, 1000);
  EXPECT_EQ(broken_red_zone(*device_, buffer), "");
  const auto hit = [&](std::ptrdiff_t at) {
    fill_red_zones(*device_, buffer);
    buffer.data()[at] = std::byte{0};
    return broken_red_zone(*device_, buffer);
  };
  const auto before = static_cast<std::ptrdiff_t>(buffer.layout().red_before);
  const auto after = static_cast<std::ptrdiff_t>(buffer.layout().red_after);
  EXPECT_EQ(hit(-1), "before the start of");
  EXPECT_EQ(hit(-before), "before the start of");
  EXPECT_EQ(hit(1000), "past the end of");
  EXPECT_EQ(hit(1000 + after - 1), "past the end of");
  EXPECT_EQ(hit(0), "");
  EXPECT_EQ(hit(999), "");
}

TEST_F(CpuDevice, FillsPatternsOfEveryWidth) {
  const SharedBuffer buffer = device_->create(layout(64), true);
  const std::uint64_t bits = 0x1122334455667788;
  for (const std::size_t width : {1u, 2u, 4u, 8u}) {
    device_->fill(buffer.data(), 0, 64);
    device_->fill_pattern(buffer.data(), bits, width, 3);
    std::vector<std::byte> got(64), expected(64);
    device_->read(got.data(), buffer.data(), 64);
    for (std::size_t i = 0; i < 3; ++i) std::memcpy(expected.data() + i * width, &bits, width);
    EXPECT_EQ(got, expected) << width;
  }
}

TEST_F(CpuDevice, ThePoisonIsANaNInEveryFloatingType) {
  const SharedBuffer buffer = device_->create(layout(8), true);
  device_->fill(buffer.data(), kPoison, 8);
  float single = 0;
  double twice = 0;
  device_->read(reinterpret_cast<std::byte*>(&single), buffer.data(), sizeof single);
  device_->read(reinterpret_cast<std::byte*>(&twice), buffer.data(), sizeof twice);
  EXPECT_TRUE(std::isnan(single));
  EXPECT_TRUE(std::isnan(twice));
}

/// A kernel on one tensor of four ints, launched through the device as a candidate's process does.
class CpuKernel : public CpuDevice {
 protected:
  /// Compiles `body` as the kernel k(int* x, int n), and runs it. Returns the failure, if there is
  /// one.
  std::optional<CandidateFailure> run(const std::string& body, bool writable = true,
                                      int threads = 4) {
    const std::string source =
        "extern \"C\" __global__ void k(int* x, int n) { int i = threadIdx.x; " + body + " }";
    device_->load(ptx::testing::compile(source), {});
    buffer_ = device_->create(layout(4 * sizeof(int)), true);
    device_->fill(buffer_.data(), 0, 4 * sizeof(int));
    fill_red_zones(*device_, buffer_);
    const auto& at = buffer_.layout();
    const std::vector<KernelTensor> tensors{
        {"output y", buffer_.data(), buffer_.size_bytes(), at.red_before, at.red_after, writable}};
    device_->use_tensors(tensors);
    LaunchPlan::Launch launch;
    launch.symbol = launch.kernel = "k";
    launch.block = {static_cast<std::uint32_t>(threads), 1, 1};
    LaunchArgument x, n;
    x.tensor = 0;
    n.bytes = {7, 1, 0, 0, 99};
    n.size = 4;
    launch.arguments = {x, n};
    try {
      device_->launch(launch);
      device_->synchronize();
    } catch (const CandidateFailure& failure) {
      return failure;
    }
    return std::nullopt;
  }
  int element(std::size_t i) const {
    int value = 0;
    std::memcpy(&value, buffer_.data() + i * sizeof(int), sizeof value);
    return value;
  }
  SharedBuffer buffer_;
};

TEST_F(CpuKernel, GetsTensorsAndScalars) {
  KBENCH_NEEDS_NVRTC();
  const auto failure = run("x[i] = n + i;");
  ASSERT_FALSE(failure) << failure->message;
  EXPECT_EQ(element(0), 263);
  EXPECT_EQ(element(3), 266);
  EXPECT_EQ(broken_red_zone(*device_, buffer_), "");
}

/// A faulty kernel and its expected outcome.
struct Fault {
  std::string body;
  Outcome outcome;
  std::string cause, said;
  bool writable = true;
  int threads = 4;
};

TEST_F(CpuKernel, FaultsBecomeTheOutcomesOfADevice) {
  KBENCH_NEEDS_NVRTC();
  const Fault faults[] = {
      {"x[i + 4] = 1;", Outcome::kIllegalWrite, "out_of_bounds_write", "output y"},
      {"x[i - 4] = 1;", Outcome::kIllegalWrite, "out_of_bounds_write", "output y"},
      {"x[i] = 1;", Outcome::kIllegalWrite, "input_written", "output y", false},
      {"x[i + 4] = 1;", Outcome::kIllegalWrite, "out_of_bounds_write", "output y", false},
      {"x[i] = x[i + 4];", Outcome::kCrash, "out_of_bounds_read", "output y"},
      {"x[i] = *(int*)(n * 4096ull);", Outcome::kCrash, "illegal_address", ""},
      {"*(int*)((char*)x + 1) = 1;", Outcome::kCrash, "misaligned_address", ""},
      {"__trap();", Outcome::kCrash, "trap", ""},
      {"x[i] = 1;", Outcome::kCrash, "invalid_launch", "", true, 2048},
  };
  for (const auto& fault : faults) {
    const auto failure = run(fault.body, fault.writable, fault.threads);
    ASSERT_TRUE(failure) << fault.body;
    EXPECT_EQ(failure->outcome, fault.outcome) << fault.body << ": " << failure->message;
    EXPECT_EQ(failure->cause, fault.cause) << fault.body << ": " << failure->message;
    EXPECT_THAT(failure->message, HasSubstr(fault.said)) << fault.body;
    EXPECT_FALSE(failure->message.empty()) << fault.body;
  }
}

TEST_F(CpuDevice, WhatIsNoPtxIsNoCandidatesImage) {
  EXPECT_THROW(device_->load("\x7f ELF, say", {}), Error);
}

}  // namespace
}  // namespace kbench::worker
