// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulation/kbench_runtime.hpp"
#include "worker/device/device.hpp"

namespace kbench::worker {

/// The device half of an extension: its code, and which parts of the shared object stand for what
/// is in it. Offsets count from where the shared object is loaded.
struct DeviceCode {
  struct Kernel {
    std::uint64_t offset = 0;  ///< of its stub
    std::string symbol;        ///< in the image
    std::string name;          ///< for people: "scale<float, 4>"
  };
  struct Variable {
    std::uint64_t offset = 0, bytes = 0;  ///< of its shadow
    std::string symbol;
  };
  std::string image;  ///< cubin, or PTX
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
};

/// What host halves of extensions launch through: kernels by the addresses of their stubs. One per
/// process of a candidate; calls come from the candidate's own threads, one at a time.
class ExtensionRuntime {
 public:
  ExtensionRuntime();
  virtual ~ExtensionRuntime() = default;
  ExtensionRuntime(const ExtensionRuntime&) = delete;
  ExtensionRuntime& operator=(const ExtensionRuntime&) = delete;

  /// Loads the device half of the shared object at `base`. Throws CandidateFailure.
  void add(const std::byte* base, DeviceCode half);
  /// What a host half gets before it is first called.
  const kbench_split::Runtime* table() const { return &table_; }

  /// How the coming launches are looked at.
  void watch(const Watch& watch) { watch_ = watch; }
  /// Whether the coming launches do nothing and succeed.
  void skip_launches(bool skips) { skips_ = skips; }
  /// What was seen of each launch since the last time.
  std::vector<LaunchReport> take_reports() { return std::exchange(reports_, {}); }
  /// Throws what a launch has failed with, if one has: its host code may have looked away. One that
  /// was refused, and whose error was looked at, is none: another one may have taken its place.
  void check();
  /// Throws what a launch has failed with, looked at or not: why host code went wrong.
  void explain();

 protected:
  struct Launch {
    std::array<std::uint32_t, 3> grid, block, cluster;
    std::size_t shared_bytes;
    void* stream;
    const kbench_split::Argument* arguments;  ///< null: `pointers` holds one for each parameter
    void* const* pointers;
    std::size_t count;
    bool cooperative;
  };
  /// A kernel that a device has loaded.
  class Kernel {
   public:
    virtual ~Kernel() = default;
    std::string name;
    int shared_limit_bytes = 48 * 1024;  ///< dynamic shared memory that it has asked for
  };
  struct Symbol {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  /// The kernels of an image in the order of `half.kernels`, and its variables likewise.
  struct Loaded {
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<Symbol> variables;
  };
  virtual Loaded load(const DeviceCode& half) = 0;
  /// A cudaError_t. A failure that is worth a sentence is kept by fail() besides.
  virtual int launch(Kernel& kernel, const Launch& launch) = 0;
  virtual int set_attribute(Kernel& kernel, int attribute, int value) = 0;
  virtual int attributes(Kernel& kernel, void* cuda_func_attributes) = 0;
  virtual int occupancy(Kernel& kernel, int* blocks, int block_size, std::size_t shared_bytes) = 0;

  void fail(CandidateFailure failure);
  /// The same of a launch that did not begin: the device goes on as if there had been none.
  void refuse(CandidateFailure failure) { refused_ = Refused{std::move(failure), false}; }
  void report(LaunchReport report) { reports_.push_back(std::move(report)); }
  bool failed() const { return failure_.has_value(); }

  Watch watch_;
  kbench_split::Runtime table_{};

 private:
  Kernel* find(const void* code_address);

  std::map<const std::byte*, std::unique_ptr<Kernel>> kernels_;  ///< by the stub's first byte
  std::map<const std::byte*, Symbol> variables_;                 ///< by the shadow's
  std::optional<CandidateFailure> failure_;
  struct Refused {
    CandidateFailure failure;
    bool looked_at;
  };
  std::optional<Refused> refused_;
  std::vector<LaunchReport> reports_;
  bool skips_ = false;
};

/// Kernels run by the PTX executor. `regions` tells which memory they may touch.
std::unique_ptr<ExtensionRuntime> make_cpu_runtime(
    std::function<std::vector<ptx::Region>()> regions);
/// Kernels run by the GPU whose context is current.
std::unique_ptr<ExtensionRuntime> make_cuda_runtime();

}  // namespace kbench::worker
