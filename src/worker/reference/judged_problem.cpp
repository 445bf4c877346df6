// SPDX-License-Identifier: MIT
#include "worker/reference/judged_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.hpp"
#include "kbench/error.hpp"
#include "record/baseline.hpp"
#include "score/kernelbench.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/timing/set_counts.hpp"

namespace kbench::worker {
namespace {

/// Maximum number of input sets for the timed calls of a block.
constexpr std::size_t kMaxTimedSets = 8;
/// Calls on larger sets take longer, so a block needs fewer sets: this many bytes in all.
constexpr double kTimedBytes = 2e9;
constexpr std::size_t kMinTimedSets = 5;
/// Drawing a set larger than this leaves much memory in torch's cache.
constexpr double kLargeSetBytes = 1e9;
/// Without a GPU, timed calls are made one by one.
constexpr std::size_t kRoughTimedSets = 1;
/// Fraction of the free memory for input sets. Candidates need as much for their outputs.
constexpr double kMemoryShare = 0.45;
/// Fraction of a GPU's memory for kept large answers of distributions, so that a slow reference
/// need not run again for each candidate.
constexpr double kKeptShare = 1.0 / 16;

/// The longest call in double precision that still runs for each set.
constexpr double kExactLimitGpu_ms = 20;
constexpr double kExactLimitCpu_ms = 50;

std::unique_ptr<Device> open_for_judge(const std::string& name) {
  try {
    return open_device(name);
  } catch (const CandidateFailure& failure) {
    throw Error(fmt::format("the judge cannot use {}: {}", name, failure.message));
  }
}

}  // namespace

JudgeOptions judge_options_from_json(const nlohmann::json& json) {
  try {
    JudgeOptions options;
    json.at("key").get_to(options.key);
    json.at("path").get_to(options.path);
    json.at("source").get_to(options.source);
    json.at("sizes").get_to(options.sizes);
    json.at("precision").get_to(options.precision);
    json.at("eval_mode").get_to(options.eval_mode);
    json.at("device").get_to(options.device);
    json.at("secret").get_to(options.secret);
    json.at("trials").get_to(options.trials);
    json.at("baselines").get_to(options.baselines);
    json.at("baseline_cache").get_to(options.baseline_cache);
    json.at("cold_cache").get_to(options.cold_cache);
    json.at("timing_budget_s").get_to(options.timing_budget_s);
    json.at("memory_share").get_to(options.memory_share);
    json.at("draw_all").get_to(options.draw_all);
    json.at("distributions").get_to(options.distributions);
    json.at("distributions_off").get_to(options.distributions_off);
    return options;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("kbench's description of a problem is invalid: {}", error.what()));
  }
}

JudgedProblem::JudgedProblem(JudgeOptions options)
    : options_(std::move(options)),
      device_(open_for_judge(options_.device)),
      host_(options_.path, options_.source, options_.sizes),
      by_kernelbench_(kernelbench_row(options_.precision) != nullptr) {
  set_precision(options_.precision);
  set_eval_mode(options_.eval_mode);
  check_distributions_off();
  load_kernels();
  if (by_kernelbench_) {
    seeds_ = host_.kernelbench_seeds(options_.trials);
    math_modes_ = host_.math_modes();
  }
  const auto free_before = static_cast<double>(device_->free_bytes());
  auto first = first_set();
  make_room(free_before, *first);
  if (options_.device != "cpu")
    most_kept_bytes_ = static_cast<std::size_t>(kKeptShare * options_.memory_share * free_before);
  versions_.resize(sets_.size());
  memory_versions_.resize(sets_.size());
  sets_[0] = std::move(first);
  versions_[0] = memory_versions_[0] = 1;
  signature_ = host_.signature(options_.key, options_.precision, sets_[0]->model(),
                               sets_[0]->arguments(), sets_[0]->expected());
  prepare_baselines();
  if (by_kernelbench_) return;  // KernelBench checks neither
  check_random_reference();
  measure_reference(*sets_[0]);
  for (std::uint32_t trial = 1; options_.draw_all && trial < resident_; ++trial) trial_set(trial);
}

std::unique_ptr<InputSet> JudgedProblem::first_set() {
  auto set = std::make_unique<InputSet>(host_, *device_, draw_options(0), 0);
  if (by_kernelbench_) return set;
  if (!all_finite(set->expected())) {
    signs_ = false;  // the reference may take a root or logarithm of a parameter
    set.reset();
    set = std::make_unique<InputSet>(host_, *device_, draw_options(0), 0);
  }
  errors_ = set->eager_errors();
  for (std::size_t i = 0; i < errors_.size(); ++i)
    has_oracle_ = has_oracle_ && (errors_[i] || !set->expected()[i].is_floating_point());
  // The first call is slower than later ones, so the second is timed.
  const std::vector<pybind11::object> arguments = set->objects();
  set->restore();
  exact_ = milliseconds([&] { host_.exact_outputs(set->model(), arguments); }) <=
           (options_.device == "cpu" ? kExactLimitCpu_ms : kExactLimitGpu_ms);
  return set;
}

double JudgedProblem::milliseconds(const std::function<void()>& work) {
  device_->synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  device_->synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

bool JudgedProblem::leaves_no_trace() const {
  // KernelBench's rules change global settings.
  return !by_kernelbench_ && host_.leaves_no_trace();
}

void JudgedProblem::load_kernels() {
  if (options_.kernels.empty()) return;
  try {
    kernels_.emplace(*device_, options_.kernels);
  } catch (const CandidateFailure& failure) {
    throw Error(fmt::format("the judge's own kernels cannot be loaded: {}", failure.message));
  }
}

void JudgedProblem::make_room(double free_before, const InputSet& first) {
  const auto bytes = static_cast<double>(std::max<std::size_t>(first.size_bytes(), 1));
  const auto fits =
      static_cast<std::size_t>(kMemoryShare * options_.memory_share * free_before / bytes);
  const auto trials = static_cast<std::size_t>(std::max(options_.trials, 1));
  if (by_kernelbench_) {
    resident_ = fits > trials ? trials + 1 : 1;
    return sets_.resize(resident_);
  }
  const auto useful = std::clamp<std::size_t>(static_cast<std::size_t>(kTimedBytes / bytes),
                                              kMinTimedSets, kMaxTimedSets);
  const SetCounts counts =
      share_room(fits, trials, options_.device == "cpu" ? kRoughTimedSets : useful);
  resident_ = counts.resident;
  sets_.resize(counts.resident + counts.timed);
}

std::uint64_t JudgedProblem::init_seed(std::uint32_t trial) const {
  const std::uint64_t seed =
      trial_seed(options_.secret, fmt::format("{} weights", options_.key), trial);
  return signs_ ? seed | 1 : seed & ~std::uint64_t{1};
}

DrawOptions JudgedProblem::draw_options(std::uint32_t trial) {
  // Large sets are drawn again for each candidate, so only the first has its error computed in
  // double precision; the others use that error. An answer that is wrong by it is checked in double
  // precision.
  const bool exact = exact_ && (resident_ > 1 || trial == 0);
  if (!by_kernelbench_)
    return {options_.precision,
            init_seed(trial),
            trial_seed(options_.secret, options_.key, trial),
            {},
            writable_,
            exact,
            exact ? EagerErrors() : errors_,
            is_stateful()};
  if (trial == 0) shared_model_ = host_.build_model(options_.device, options_.precision, 0);
  return {options_.precision, 0, seeds_.at(trial), shared_model_, writable_, false, {}};
}

void JudgedProblem::use_math_modes(std::uint32_t modes) {
  if (modes == math_modes_) return;
  host_.set_math_modes(modes);
  math_modes_ = modes;
  redraw();
}

void JudgedProblem::measure_reference(InputSet& set) {
  set.restore();
  reference_ms_ = milliseconds([&] { set.call(host_, set.model()); });
}

InputSet& JudgedProblem::trial_set(std::uint32_t trial) {
  const std::size_t slot = trial % resident_;
  if (!sets_[slot] || sets_[slot]->trial() != trial) {
    InputMemory memory = take_memory(slot);
    put(slot,
        std::make_unique<InputSet>(host_, *device_, draw_options(trial), trial, std::move(memory)));
    release_idle(*sets_[slot]);
    // Candidates have copies of the inputs, so they need the memory that drawing leaves in torch's
    // cache.
    if (by_kernelbench_) release_memory(options_.device);
  }
  return *sets_[slot];
}

/// Destroys the set in a slot and returns the memory that the next one there may use.
InputMemory JudgedProblem::take_memory(std::size_t slot) {
  const auto old = std::exchange(sets_[slot], nullptr);
  // Under KernelBench's rules, candidates get inputs as the reference leaves them, and the rest of
  // the memory.
  return old && !by_kernelbench_ ? old->take_memory() : InputMemory{};
}

void JudgedProblem::put(std::size_t slot, std::unique_ptr<InputSet> set) {
  sets_[slot] = std::move(set);
  ++versions_[slot];
  if (!sets_[slot]->has_kept_memory()) ++memory_versions_[slot];
}

void JudgedProblem::release_idle(const InputSet& drawn) {
  if (static_cast<double>(drawn.size_bytes()) > kLargeSetBytes)
    release_idle_memory(options_.device);
}

InputSet& JudgedProblem::slot_set(std::size_t slot) {
  if (slot >= resident_) return timed_set(slot);
  return sets_[slot] ? *sets_[slot] : trial_set(static_cast<std::uint32_t>(slot));
}

void JudgedProblem::redraw(bool writable) {
  writable_ = writable;
  ready_models_.clear();
  for (auto& set : sets_) set.reset();
  entered_.reset();
}

at::Tensor JudgedProblem::without_ties(std::size_t slot, std::size_t output,
                                       const at::Tensor& got) {
  InputSet& set = slot_set(slot);
  const at::Tensor& expected = set.expected().at(output);
  if (by_kernelbench_ || got.is_floating_point() || got.is_complex() || same_bits(expected, got))
    return got;
  auto settled = host_.without_ties(set.model(), objects_of(own_arguments(set)), output, expected,
                                    got, tolerance_for(options_.precision, at::kFloat));
  set.restore();
  return settled;
}

std::string JudgedProblem::first_changed_source() const {
  for (const auto& set : sets_) {
    if (!set) continue;
    if (const Slot* slot = set->first_changed_source()) {
      for (std::size_t i = 0; i < set->argument_slots().size(); ++i) {
        const int index = set->argument_slots()[i];
        if (index >= 0 && &set->inputs()[static_cast<std::size_t>(index)] == slot)
          return fmt::format("input {}", signature_.inputs.at(i).name);
      }
      return fmt::format("state {}", slot->name);
    }
  }
  return {};
}

CandidateFailure JudgedProblem::input_written() const {
  const std::string changed = first_changed_source();
  return {Outcome::kIllegalWrite, "input_written",
          fmt::format("the candidate wrote to {}, which is read-only",
                      changed.empty() ? "an input" : changed)};
}

std::vector<Argument> JudgedProblem::own_arguments(InputSet& set) const {
  auto own = set.own_arguments();
  if (!own) throw input_written();
  return std::move(*own);
}

const std::vector<OperatorCost>& JudgedProblem::operators() {
  if (operators_) return *operators_;
  InputSet& set = slot_set(0);
  set.restore();
  operators_ = host_.operators(set.model(), set.objects());
  set.restore();
  return *operators_;
}

void JudgedProblem::prepare_baselines() {
  for (const std::string& name : options_.baselines) {
    const Baseline* row = find_baseline(name);
    if (row == nullptr) throw Error(fmt::format("unknown baseline '{}'", name));
    try {
      if (row->is_compiled() && options_.device == "cpu" && !by_kernelbench_)
        throw ProblemFailure{"", "it is timed on a GPU only", ""};
      // Compiles here, so that no candidate waits for it.
      if (row->is_compiled() && by_kernelbench_) baseline_model(name, 0);
      baselines_.push_back(name);
    } catch (const ProblemFailure& failure) {
      failed_baselines_[name] = failure.message;
    }
  }
}

pybind11::object JudgedProblem::baseline_model(const std::string& baseline, std::size_t slot) {
  const Baseline& row = *find_baseline(baseline);
  const std::size_t of = owner(slot);
  InputSet& set = slot_set(of);
  if (!row.is_compiled()) return set.model();
  ReadyModel& ready = ready_models_[{baseline, of}];
  if (ready.model && ready.version == versions_[of]) return ready.model;
  set.restore();
  ready = {host_.baseline(baseline, set.model(), set.objects(), options_.baseline_cache),
           versions_[of]};
  set.restore();
  return ready.model;
}

}  // namespace kbench::worker
