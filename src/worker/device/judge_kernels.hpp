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

/// The judge's own kernels on one device: what compares outputs as fast as they can be read. The
/// text is src/worker/kernels/judge_kernels.cu; element types go by suffixes (f32, f64, f16,
/// bf16, i64, i32, i16, i8, u8). All calls return when their work is done.
class JudgeKernels {
 public:
  /// Takes over the device's module; `device` must outlive this. From now on compare() and its like
  /// use these. Throws CandidateFailure where the image cannot be loaded.
  JudgeKernels(Device& device, std::string_view image);
  ~JudgeKernels();
  JudgeKernels(const JudgeKernels&) = delete;
  JudgeKernels& operator=(const JudgeKernels&) = delete;
  /// Those of this process; nullptr where there are none.
  static JudgeKernels* active();

  /// Some memory of the device, as the kernels read it.
  struct Data {
    const void* pointer = nullptr;
    std::size_t bytes = 0;
    bool writable = false;
  };

  struct Errors {
    std::uint64_t wrong, first;            ///< elements beyond the tolerance; the first of them
    double max_abs, max_rel, allclose_at;  ///< as Comparison has them
    std::uint64_t deviations;              ///< as DeviatingComparison has them
  };
  /// `count` elements against each other; scale and tolerance as compare() has them. Of types also
  /// "f32_f16" and "f32_bf16": expected in fp32. With a `least_bound` as compare_deviating() has
  /// it.
  Errors compare(std::string_view type, Data expected, Data got, std::uint64_t count, double scale,
                 double tolerance, double least_bound = 0);

  /// Of `count` floating elements those of x that are not finite although y's at their places are.
  std::uint64_t odd_alone(std::string_view type, Data x, Data y, std::uint64_t count);

  /// Of `count` floating elements those that are whole numbers of at most `most`.
  std::uint64_t whole(std::string_view type, Data x, std::uint64_t count, double most);

  struct Squares {
    double sum;           ///< of the squares of the finite elements, in units of unit²
    std::uint64_t count;  ///< of finite elements
  };
  Squares squares(std::string_view type, Data x, std::uint64_t count, double unit);

  /// As content_digest() has it.
  std::uint64_t digest(Data x, const DigestKey& key);
  /// Copies and gives the digest of what was read. Only what can_copy() says.
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
