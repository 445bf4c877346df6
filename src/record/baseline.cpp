// SPDX-License-Identifier: MIT
#include "record/baseline.hpp"

#include <algorithm>

namespace kbench {
namespace {

constexpr Baseline kBaselines[] = {
    {.name = "eager", .meaning = "the reference as PyTorch runs it"},
    {.name = "eager_tf32", .meaning = "the same with TF32", .tf32 = true},
    {.name = "compile", .meaning = "through torch.compile", .compile_mode = "default"},
    {.name = "compile_max_autotune_no_cudagraphs",
     .meaning = "torch.compile, mode max-autotune-no-cudagraphs",
     .compile_mode = "max-autotune-no-cudagraphs"},
};

}  // namespace

std::span<const Baseline> baselines() { return kBaselines; }

const Baseline* find_baseline(std::string_view name) {
  const auto found = std::ranges::find(kBaselines, name, &Baseline::name);
  return found == std::end(kBaselines) ? nullptr : &*found;
}

}  // namespace kbench
