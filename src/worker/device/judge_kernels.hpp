// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "worker/device/device.hpp"
#include "worker/device/digest_key.hpp"

namespace kbench::worker {

/// The judge's own kernels on one device. They compare outputs as fast as memory can be read. Their
/// source is src/worker/kernels/judge_kernels.cu. Element types are suffixes (f32, f64, f16, bf16,
/// i64, i32, i16, i8, u8). All calls return when their work is done.
class JudgeKernels {
 public:
  /// Takes over the device's module; `device` must outlive this. From now on, compare() and similar
  /// functions use these kernels. Throws CandidateFailure if the image cannot be loaded.
  JudgeKernels(Device& device, std::string_view image);
  ~JudgeKernels();
  JudgeKernels(const JudgeKernels&) = delete;
  JudgeKernels& operator=(const JudgeKernels&) = delete;
  /// The kernels of this process; null if there are none.
  static JudgeKernels* active();

  /// Device memory that the kernels read.
  struct Data {
    const void* pointer = nullptr;
    std::size_t bytes = 0;
    bool writable = false;
  };

  struct Errors {
    std::uint64_t wrong, first;            ///< number of wrong elements; the first of them
    double max_abs, max_rel, allclose_at;  ///< as in Comparison
    std::uint64_t deviations;              ///< as in DeviatingComparison
  };
  /// Compares `count` elements. Scale and tolerance are those of compare(), `least_bound` is that
  /// of compare_deviating(). Types may also be "f32_f16" and "f32_bf16": expected in fp32.
  Errors compare(std::string_view type, Data expected, Data got, std::uint64_t count, double scale,
                 double tolerance, double least_bound = 0);

  /// The number of floating elements of x that are not finite although y's are.
  std::uint64_t odd_alone(std::string_view type, Data x, Data y, std::uint64_t count);

  /// The number of floating elements that are integers of size at most `most`.
  std::uint64_t whole(std::string_view type, Data x, std::uint64_t count, double most);

  struct Squares {
    double sum;           ///< sum of squares of the finite elements, in units of unit²
    std::uint64_t count;  ///< number of finite elements
  };
  Squares squares(std::string_view type, Data x, std::uint64_t count, double unit);

  /// The digest of content_digest().
  std::uint64_t digest(Data x, const DigestKey& key);
  /// Copies, and returns the digest of the copied bytes. Only if can_copy() returns true.
  std::uint64_t copy(Data from, Data to, const DigestKey& key);
  static bool can_copy(Data from, Data to);
  bool equal(Data x, Data y);

 private:
  template <typename Partial, typename... Scalars>
  std::vector<Partial> run(std::string symbol, std::initializer_list<Data> data,
                           std::uint64_t work_bytes, Scalars... scalars);

  Device& device_;
  SharedBuffer partials_;
};

}  // namespace kbench::worker
