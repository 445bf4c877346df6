// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kbench/ptx.hpp"

/// Skips a test, with the reason, where there is no NVRTC.
#define KBENCH_NEEDS_NVRTC() \
  if (const auto why = kbench::ptx::testing::nvrtc_missing(); !why.empty()) GTEST_SKIP() << why

namespace kbench::ptx::testing {

/// Why nothing can be compiled here; empty where NVRTC was found.
std::string nvrtc_missing();

/// PTX of a CUDA source by the real NVRTC, as kbench compiles it. Fails the test with NVRTC's log.
std::string compile(const std::string& source, const std::vector<std::string>& options = {});

/// Loads PTX; fails the test where the executor cannot run it.
Module load_text(const std::string& ptx);

/// Compiles and loads; fails the test where the executor cannot run the module.
Module load_source(const std::string& source, const std::vector<std::string>& options = {});

/// A buffer with red zones on both sides.
template <class T>
class Buffer {
 public:
  Buffer(std::string name, std::size_t count, T fill = T{})
      : name_(std::move(name)), storage_(count + 2 * kRed, fill), count_(count) {}
  T* data() { return storage_.data() + kRed; }
  T& operator[](std::size_t i) { return storage_[kRed + i]; }
  std::size_t size() const { return count_; }
  Region region(bool writable = true) {
    Region region;
    region.name = name_;
    region.base = reinterpret_cast<std::byte*>(data());
    region.size_bytes = count_ * sizeof(T);
    region.red_zone_before = region.red_zone_after = kRed * sizeof(T);
    region.writable = writable;
    return region;
  }

 private:
  static constexpr std::size_t kRed = 64;
  std::string name_;
  std::vector<T> storage_;
  std::size_t count_;
};

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class... T>
std::vector<std::vector<std::byte>> arguments(const T&... values) {
  return {bytes_of(values)...};
}

/// A launch of `blocks` blocks of `threads` threads, each in one dimension.
inline Launch launch_of(const std::string& kernel, unsigned blocks, unsigned threads,
                        std::vector<std::vector<std::byte>> values) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.arguments = std::move(values);
  return launch;
}

/// Launches and fails the test on a fault.
inline Statistics run(Module& module, const Launch& launch, const std::vector<Region>& regions,
                      const Options& options = {}) {
  auto result = kbench::ptx::launch(module, regions, launch, options);
  if (result.fault) ADD_FAILURE() << result.fault->message;
  return result.statistics;
}

/// What the kernel k of a PTX text, run by one thread, leaves in `count` values at its parameter.
template <class T>
std::vector<T> results_of(const std::string& ptx, std::size_t count) {
  Module module = load_text(ptx);
  Buffer<T> y("y", count);
  run(module, launch_of("k", 1, 1, arguments(y.data())), {y.region()});
  return {y.data(), y.data() + count};
}

/// Launches and gives the fault; fails the test where there is none.
inline Fault run_to_fault(Module& module, const Launch& launch, const std::vector<Region>& regions,
                          const Options& options = {}) {
  auto result = kbench::ptx::launch(module, regions, launch, options);
  if (result.fault) return *result.fault;
  ADD_FAILURE() << "the launch ended without a fault";
  return {};
}

/// A suite whose tests share the module of one CUDA source.
template <const char* const& source>
class WithModule : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (nvrtc_missing().empty()) module_ = std::make_unique<Module>(load_source(source));
  }
  static void TearDownTestSuite() { module_.reset(); }
  void SetUp() override { KBENCH_NEEDS_NVRTC(); }

  static inline std::unique_ptr<Module> module_;
};

}  // namespace kbench::ptx::testing
