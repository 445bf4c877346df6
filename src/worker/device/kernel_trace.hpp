// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace kbench::worker {

/// Counts of the kernels that a GPU ran for this process in some calls, by owner.
struct TraceEntry {
  std::uint32_t own = 0;              ///< the candidate's kernels
  std::uint32_t library = 0;          ///< kernels of libraries that compute, not only fill or copy
  std::uint64_t read_back_bytes = 0;  ///< copied from the GPU to the host
  bool complete = false;              ///< no record has been lost

  /// True if `calls` calls, which read `read_bytes` each, copied enough of them to the host that it
  /// may have computed with them.
  bool is_read_back(std::size_t read_bytes, std::size_t calls) const;
};

/// Records the kernels that run (CUPTI's activity records), their owners, and copies to the host.
/// The launching code determines the owner: code that kbench has loaded for the candidate, code in
/// the candidate's own shared objects, or other code. Not recorded: writes of kernels to host
/// memory, and reads of managed memory by the host. A process opens one trace, before any of the
/// candidate's code runs. It gives no protection against the candidate's native code, which can
/// reach everything in its process.
class KernelTrace {
 public:
  /// Null if CUPTI is not available or already has another subscriber.
  static std::unique_ptr<KernelTrace> open();
  ~KernelTrace();
  KernelTrace(const KernelTrace&) = delete;
  KernelTrace& operator=(const KernelTrace&) = delete;

  /// Drops all records. The device must be idle.
  void start();
  /// Returns the counts since start(). The device must be idle.
  TraceEntry stop();
  /// Records nothing until the next start(), so that timed calls do not pay for it.
  void pause();

 private:
  KernelTrace() = default;
  bool look(bool at_kernels);

  bool looks_ = false;
};

/// Makes the kernels that are launched by this handle the candidate's.
void note_own_function(CUfunction function);
/// Makes the kernels that this shared object registers the candidate's. `bytes` must stay valid.
void note_own_object(std::string_view bytes);

/// kbench's own kernels that a candidate's process runs around timed calls.
inline constexpr const char* kFlushKernel = "kbench_flush_l2";
inline constexpr const char* kEmptyKernel = "kbench_empty";

/// True if the mangled name is one of a kernel of NVIDIA's libraries, torch or inductor.
bool is_library_kernel(std::string_view name);
/// True if the mangled name is one of torch's kernels that fill, copy, cast or concatenate.
bool computes_nothing(std::string_view name);

}  // namespace kbench::worker
