// SPDX-License-Identifier: MIT
#include "record/baseline.hpp"

#include <algorithm>

namespace kbench {
namespace {

constexpr Baseline kBaselines[] = {
    {.name = "eager", .meaning = "the reference as PyTorch runs it"},
    {.name = "eager_tf32", .meaning = "the same with TF32", .tf32 = true},
    {.name = "compile", .meaning = "through torch.compile", .prepared = true},
    {.name = "compile_reduce_overhead",
     .meaning = "torch.compile, mode reduce-overhead",
     .prepared = true},
    {.name = "compile_max_autotune",
     .meaning = "torch.compile, mode max-autotune",
     .prepared = true},
    {.name = "compile_max_autotune_no_cudagraphs",
     .meaning = "torch.compile, mode max-autotune-no-cudagraphs",
     .prepared = true},
    {.name = "cuda_graph",
     .meaning = "eager, captured once and replayed as a CUDA graph",
     .prepared = true,
     .of_inputs = true,
     .needs_gpu = true},
};

}  // namespace

std::span<const Baseline> baselines() { return kBaselines; }

const Baseline* find_baseline(std::string_view name) {
  const auto found = std::ranges::find(kBaselines, name, &Baseline::name);
  return found == std::end(kBaselines) ? nullptr : &*found;
}

}  // namespace kbench
