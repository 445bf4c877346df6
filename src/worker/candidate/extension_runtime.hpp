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

/// The device code of an extension, and the parts of the shared object's host code that stand for
/// its kernels and variables. Offsets are from the load address of the shared object.
struct DeviceCode {
  struct Kernel {
    std::uint64_t offset = 0;  ///< of its stub
    std::string symbol;        ///< in the image
    std::string name;          ///< for messages: "scale<float, 4>"
  };
  struct Variable {
    std::uint64_t offset = 0, bytes = 0;  ///< of its variable in host code
    std::string symbol;
  };
  std::string image;  ///< cubin, or PTX
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;
};

/// Launches kernels for the host code of extensions, which names a kernel by the address of its
/// stub. A candidate's process has one runtime. The candidate's threads call it one at a time.
class ExtensionRuntime {
 public:
  ExtensionRuntime();
  virtual ~ExtensionRuntime() = default;
  ExtensionRuntime(const ExtensionRuntime&) = delete;
  ExtensionRuntime& operator=(const ExtensionRuntime&) = delete;

  /// Loads the device code of the shared object at `base`. Throws CandidateFailure.
  void add(const std::byte* base, DeviceCode half);
  /// The functions that host code receives before its first call.
  const kbench_split::Runtime* table() const { return &table_; }

  /// Sets the checks of later launches.
  void watch(const Watch& watch) { watch_ = watch; }
  /// If `skips`, later launches do nothing and succeed.
  void skip_launches(bool skips) { skips_ = skips; }
  /// Takes the reports of the launches since the previous call.
  std::vector<LaunchReport> take_reports() { return std::exchange(reports_, {}); }
  /// Throws the failure of a launch, if there is one, because host code may ignore errors. Does not
  /// throw if the launch was refused and host code has read the error: the code may have launched
  /// another kernel instead.
  void check();
  /// Throws the failure of a launch even if host code has read the error, because the failure
  /// explains an exception of host code.
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
    int shared_limit_bytes = 48 * 1024;  ///< limit of its dynamic shared memory
  };
  struct Symbol {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  /// The kernels and variables of an image, in the order of DeviceCode.
  struct Loaded {
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<Symbol> variables;
  };
  virtual Loaded load(const DeviceCode& half) = 0;
  /// Returns a cudaError_t. If a failure deserves a message, it also goes to fail() or refuse().
  virtual int launch(Kernel& kernel, const Launch& launch) = 0;
  virtual int set_attribute(Kernel& kernel, int attribute, int value) = 0;
  virtual int attributes(Kernel& kernel, void* cuda_func_attributes) = 0;
  virtual int occupancy(Kernel& kernel, int* blocks, int block_size, std::size_t shared_bytes) = 0;

  /// Keeps the failure of a launch for check().
  void fail(CandidateFailure failure);
  /// Keeps the failure of a launch that did not begin. Later launches run as usual.
  void refuse(CandidateFailure failure) { refused_ = Refused{std::move(failure), false}; }
  void report(LaunchReport report) { reports_.push_back(std::move(report)); }
  bool failed() const { return failure_.has_value(); }

  Watch watch_;
  kbench_split::Runtime table_{};

 private:
  Kernel* find(const void* code_address);

  std::map<const std::byte*, std::unique_ptr<Kernel>> kernels_;  ///< by the stub's first byte
  std::map<const std::byte*, Symbol> variables_;  ///< by first byte of the variable in host code
  std::optional<CandidateFailure> failure_;
  struct Refused {
    CandidateFailure failure;
    bool looked_at;
  };
  std::optional<Refused> refused_;
  std::vector<LaunchReport> reports_;
  bool skips_ = false;
};

/// A runtime that runs kernels in the PTX executor. `regions`: the memory that they may access.
std::unique_ptr<ExtensionRuntime> make_cpu_runtime(
    std::function<std::vector<ptx::Region>()> regions);
/// A runtime that runs kernels on the GPU of the current context.
std::unique_ptr<ExtensionRuntime> make_cuda_runtime();

}  // namespace kbench::worker
