// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "worker/candidate/module_judged.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

/// A module by KernelBench's rules: one model for all calls, with the weights of its constructor.
/// Each call gets copies of the inputs, which it may write to. Failures by kbench's own rules only
/// become flags.
class KernelbenchCandidate final : public ModuleCandidate {
 public:
  KernelbenchCandidate(const CandidateJob& job, Fd compile)
      : ModuleCandidate(job, std::move(compile)) {
    if (python_.replaces_constants()) note("replaces_constants");
  }

  void build(const protocol::ModelBody&) override {
    if (!model_) model_ = python_.build_model(0, {});
    settle();
  }

  void prepare_random(std::string_view state) override { random_state_ = state; }

  void call(const protocol::CallBody& body) override {
    watch(body.limit_s, true);
    ModuleSet& set = this->set(body.set);
    restore(set, body.poison);
    const auto inputs = own_inputs(set);
    ModulePython::KernelbenchCall called;
    watched([&] { called = python_.call_by_kernelbench(model_, arguments(inputs), random_state_); },
            calls_++ > 0 ? 1 : 0);
    settle();
    check_torch_memory();
    for (const auto& outcome : called.outcomes) note("kbench:" + outcome);
    check_outputs({called.output});
    if (writes_to(inputs, set)) note("kbench:illegal_write");
    keep(set, {called.output});
  }

  std::vector<double> time(std::span<const std::uint32_t> sets,
                           const protocol::TimeBody& body) override {
    watch(body.limit_s, false);
    set_memory_poison(body.poison);
    if (trace_) trace_->pause();
    const auto inputs = own_inputs(set(sets.front()));
    auto times =
        python_.time_by_kernelbench(model_, arguments(inputs), static_cast<int>(body.calls));
    settle();
    python_.take_reports();
    return times;
  }

  std::uint32_t math_modes() override { return python_.math_modes(); }
  std::uint32_t noted() const override { return noted_ | ModuleCandidate::noted(); }

 private:
  std::vector<at::Tensor> own_inputs(const ModuleSet& set) const {
    auto inputs = inputs_of(set);
    for (auto& input : inputs) input = input.clone();
    return inputs;
  }

  bool writes_to(const std::vector<at::Tensor>& inputs, const ModuleSet& set) const {
    const at::NoGradGuard no_grad;
    const auto shared = inputs_of(set);
    // A changed size is a write, too.
    return !std::ranges::equal(inputs, shared, [](const at::Tensor& own, const at::Tensor& given) {
      return own.sizes() == given.sizes() && same_bits(own, given);
    });
  }

  void note(std::string_view flag) {
    const auto* row = std::ranges::find(protocol::kNotedFlags, flag);
    noted_ |= 1u << (row - std::begin(protocol::kNotedFlags));
  }

  py::object model_;
  std::string random_state_;
  std::uint32_t noted_ = 0;
  int calls_ = 0;
};

}  // namespace

std::unique_ptr<JudgedCandidate> make_kernelbench_candidate(const CandidateJob& job, Fd compile) {
  return std::make_unique<KernelbenchCandidate>(job, std::move(compile));
}

}  // namespace kbench::worker
