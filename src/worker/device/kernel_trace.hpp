// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace kbench::worker {

/// The kernels that a GPU ran for this process in some calls, by whose they are.
struct TraceEntry {
  std::uint32_t own = 0;              ///< the candidate's
  std::uint32_t library = 0;          ///< others', that compute: neither fill nor copy
  std::uint64_t read_back_bytes = 0;  ///< copied from the GPU to the host
  bool complete = false;              ///< none has been lost on the way

  /// Whether that many calls, which have so many bytes to read, copied a telling share of those to
  /// the host, which may compute with them there.
  bool is_read_back(std::size_t read_bytes, std::size_t calls) const;
};

/// Writes down which kernels really run (CUPTI's activity records), and whose they are by who
/// launches them: code that kbench has loaded for the candidate, code that lies in its own shared
/// objects, or neither; and what is copied to the host. What a kernel itself writes to the host's
/// memory, or the host reads of managed memory, is no copy. One for each process, opened before any
/// code of the candidate's runs. It is no fortress: native code of the candidate's can reach it as
/// everything in its process.
class KernelTrace {
 public:
  /// Null where CUPTI is not to be had, or is somebody else's.
  static std::unique_ptr<KernelTrace> open();
  ~KernelTrace();
  KernelTrace(const KernelTrace&) = delete;
  KernelTrace& operator=(const KernelTrace&) = delete;

  /// Forgets what ran until now. The device is idle.
  void start();
  /// What ran since start(). The device is idle.
  TraceEntry stop();
  /// Looks at nothing until the next start(): who is timed does not pay for it.
  void pause();

 private:
  KernelTrace() = default;
  bool look(bool at_kernels);

  bool looks_ = false;
};

/// Kernels launched by this handle are the candidate's.
void note_own_function(CUfunction function);
/// Kernels that this shared object registers are the candidate's. Its bytes have to stay.
void note_own_object(std::string_view bytes);

/// kbench's own kernels that run before each timed call with a cold cache.
inline constexpr const char* kFlushKernel = "kbench_flush_l2";
inline constexpr const char* kHoldKernel = "kbench_hold";
inline constexpr const char* kEmptyKernel = "kbench_empty";

/// Whether a mangled name is one of those that NVIDIA's libraries, torch and inductor give.
bool is_library_kernel(std::string_view name);
/// Whether it is one of torch's that fill, copy, cast or concatenate.
bool computes_nothing(std::string_view name);

}  // namespace kbench::worker
