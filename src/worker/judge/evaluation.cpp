// SPDX-License-Identifier: MIT
#include "worker/judge/evaluation.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"
#include "score/kernelbench.hpp"
#include "worker/candidate/buffer_messages.hpp"
#include "worker/compare/tensor_types.hpp"

namespace kbench::worker {
namespace {

using protocol::BufferRole;
using protocol::MessageType;

constexpr double kMinCallLimit_s = 2;
constexpr double kCallLimitFactor = 50;
/// The executor may need this many times as long as torch's own operators.
constexpr double kExecutorFactor = 500;
constexpr double kMinExecutorLimit_s = 10;
constexpr double kMaxExecutorLimit_s = 60;
/// Checks for races make the executor up to this many times slower, if threads mostly read shared
/// memory.
constexpr double kRacesFactor = 25;
constexpr double kMaxRacesLimit_s = 600;
constexpr double kFirstCallLimit_s = 30;  // of a module or an extension
constexpr double kMapLimit_s = 60;
/// Additional time for the executor to report the position of a call that takes too long.
constexpr double kSayWhere_s = 1;

}  // namespace

Evaluation::Evaluation(JudgedProblem& problem, EvaluationRequest request, protocol::Channel channel,
                       std::function<void()> wait_for_quiet, const BaselineProcesses* baselines)
    : problem_(problem),
      request_(std::move(request)),
      client_(std::move(channel), request_.kind, request_.pid,
              [this](std::string_view bytes) { take_findings(bytes); }),
      wait_for_quiet_(std::move(wait_for_quiet)),
      sets_(problem.slots()),
      baselines_(baselines),
      poisons_(trial_seed(problem.options().secret, problem.options().key + " poison", 0)),
      by_kernelbench_(kernelbench_row(problem.options().precision) != nullptr) {
  // The calls of a module or an extension show whose kernels it runs.
  const bool kernel = request_.kind == CandidateKind::kKernel;
  verdict_.record.kernel_class = kernel ? "own" : "none";
  verdict_.record.launches = static_cast<std::int64_t>(request_.plan.launches.size());
  as_built_ =
      request_.kind == CandidateKind::kModule && !by_kernelbench_ && !request_.baseline &&
      std::ranges::count(request_.plan.tensors, BoundTensor::Role::kState, &BoundTensor::role) > 0;
  has_chosen_ = !as_built_;
}

const Evaluation::Steps Evaluation::kOwnSteps{&Evaluation::run_trials, &Evaluation::run_timing};
const Evaluation::Steps Evaluation::kKernelbenchSteps{&Evaluation::run_kernelbench_trials,
                                                      &Evaluation::run_kernelbench_timing};

Verdict Evaluation::run() {
  const Steps& steps = by_kernelbench_ ? kKernelbenchSteps : kOwnSteps;
  Record& record = verdict_.record;
  Stopwatch& watch = watch_.emplace(verdict_.phases_s);
  record.stage = Stage::kLoad;
  try {
    check_structure();
    client_.receive(MessageType::kLoaded, request_.load_limit_s, "loading");
    watch.lap("load");
    record.stage = Stage::kCorrectness;
    (this->*steps.trials)();
    if (request_.one_call) return verdict_;
    check_clean();
    check_own();
    run_profile();
    watch.lap("correctness");
    if (request_.timed) {
      record.stage = Stage::kTiming;
      // Other candidates may be timed before this one.
      if (!by_kernelbench_) client_.stop();
      prepare_baselines();
      wait_for_quiet_();
      watch.lap("quiet");
      (this->*steps.timing)();
      watch.lap("timing");
    }
    if (!by_kernelbench_) run_ablation();
    watch.lap("ablation");
    check_own();
    record.stage = Stage::kDone;
    record.outcome = Outcome::kCorrect;
  } catch (const CandidateFailure& failure) {
    record.outcome = failure.outcome;
    record.cause = failure.cause;
    record.message = failure.message;
    verdict_.raw_ms.clear();
    watch.lap("failure");
  } catch (const ProblemFailure& failure) {
    if (failure.cause != kDoesNotFit) throw;
    find_no_room(failure.message);
  } catch (const c10::OutOfMemoryError& error) {
    find_no_room(error.what_without_backtrace());
  }
  record.correctness.insert(record.correctness.end(), asked_again_.begin(), asked_again_.end());
  record.findings = verdict_.findings;
  record.findings_count = verdict_.findings.size();
  if (record.outcome == Outcome::kCorrect) return verdict_;
  record.timing.reset();
  record.speedup.clear();
  return verdict_;
}

void Evaluation::find_no_room(std::string_view what) {
  // The candidate is at fault, because memory sufficed when the problem was opened.
  Record& record = verdict_.record;
  record.outcome = Outcome::kOutOfMemory;
  record.cause = kNoRoom;
  record.message = fmt::format("the reference does not fit into memory next to the candidate: {}",
                               what.substr(0, what.find('\n')));
  verdict_.raw_ms.clear();
  watch_->lap("failure");
}

void Evaluation::check_structure() const {
  if (problem_.is_stateful() && request_.kind != CandidateKind::kModule)
    throw CandidateFailure{Outcome::kUnsupported, "stateful_reference",
                           fmt::format("the reference keeps state from call to call ({}), but "
                                       "kernels and extensions cannot: write a module",
                                       problem_.state_names())};
  const auto& expected = problem_.slot_set(0).expected();
  std::vector<const BoundTensor*> outputs;
  for (const auto& tensor : request_.plan.tensors)
    if (tensor.role == BoundTensor::Role::kOutput) outputs.push_back(&tensor);
  if (outputs.size() != expected.size())
    throw CandidateFailure{
        Outcome::kWrongShape, "output_count",
        fmt::format("{} outputs, but the reference returns {}", outputs.size(), expected.size())};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& info = outputs[i]->info;
    if (at::IntArrayRef(info.shape) != expected[i].sizes())
      throw CandidateFailure{
          Outcome::kWrongShape, "shape",
          fmt::format("output {} has shape {}, but the reference returns {}", info.name,
                      shape_text(info.shape), shape_text(expected[i].sizes()))};
    if (scalar_type(info.dtype) != expected[i].scalar_type())
      throw CandidateFailure{
          Outcome::kWrongDtype, "dtype",
          fmt::format("output {} is {}, but the reference returns {}", info.name,
                      dtype_row(info.dtype).name, dtype_name(expected[i].scalar_type()))};
  }
}

double Evaluation::usual_limit_s() const {
  if (request_.asked_limit_s > 0) return request_.asked_limit_s;
  const double reference_s = problem_.reference_ms() / 1000;
  double limit = std::max(kMinCallLimit_s, kCallLimitFactor * reference_s);
  if (problem_.options().device == "cpu") {
    const double executor_s = kExecutorFactor * reference_s;
    limit = std::max(
        limit, request_.checks_races
                   ? std::clamp(kRacesFactor * executor_s, kMaxExecutorLimit_s, kMaxRacesLimit_s)
                   : std::clamp(executor_s, kMinExecutorLimit_s, kMaxExecutorLimit_s));
  }
  return limit;
}

double Evaluation::call_limit_s() const {
  if (by_kernelbench_) return kernelbench_time_left_s();
  const double limit = usual_limit_s();
  // Compilation and tuning in the first call count as loading.
  if (!called_ && request_.kind != CandidateKind::kKernel)
    return request_.builds_late
               ? request_.load_limit_s
               : std::min(request_.load_limit_s, std::max(limit, kFirstCallLimit_s));
  return request_.call_limit_s > 0 ? std::min(request_.call_limit_s, limit) : limit;
}

double Evaluation::patience_s(double limit_s) const {
  return problem_.options().device == "cpu" ? limit_s + kSayWhere_s : limit_s;
}

const Slot& Evaluation::slot_of(InputSet& set, const BoundTensor& tensor) const {
  if (tensor.role == BoundTensor::Role::kState) return set.state().at(tensor.index);
  return set.inputs().at(static_cast<std::size_t>(set.argument_slots().at(tensor.index)));
}

void Evaluation::add_work_buffer(CandidateSet& set, std::size_t tensor, at::ScalarType dtype,
                                 SharedBuffer memory) {
  const auto& info = request_.plan.tensors[tensor].info;
  auto& device = problem_.device();
  WorkBuffer work;
  work.tensor = tensor;
  work.buffer = std::move(memory);
  fill_red_zones(device, work.buffer);
  work.view = tensor_view(work.buffer, device, dtype, info.shape);
  set.work.push_back(std::move(work));
}

/// Allocates memory for the tensors that a call writes: one allocation for each input and output.
/// State gets one allocation for all its tensors if there are many.
std::vector<SharedBuffer> Evaluation::work_memory(const std::vector<std::size_t>& tensors) {
  auto& device = problem_.device();
  const auto is_state = [&](std::size_t tensor) {
    return request_.plan.tensors[tensor].role == BoundTensor::Role::kState;
  };
  std::vector<std::size_t> state_bytes;
  for (const std::size_t tensor : tensors)
    if (is_state(tensor)) state_bytes.push_back(request_.plan.tensors[tensor].info.bytes());
  auto state = create_shared(device, state_bytes, true, true);
  auto next_state = state.begin();
  std::vector<SharedBuffer> memory;
  for (const std::size_t tensor : tensors) {
    const std::size_t bytes = request_.plan.tensors[tensor].info.bytes();
    memory.push_back(
        is_state(tensor)
            ? std::move(*next_state++)
            : create_shared(device, buffer_layout(bytes, device.granularity(), true), true));
  }
  return memory;
}

bool Evaluation::share(std::size_t slot) {
  InputSet& set = problem_.slot_set(slot);
  CandidateSet& known = sets_[slot];
  if (known.version == problem_.version(slot)) return false;
  known.version = problem_.version(slot);
  // The same memory needs no mapping. Later inputs are drawn into the same memory, but each model's
  // state has memory of its own.
  const bool is_mapped = known.memory_version == problem_.memory_version(slot);
  known.memory_version = problem_.memory_version(slot);
  if (!is_mapped) known.work.clear();
  const bool is_kernel = request_.kind == CandidateKind::kKernel;
  const std::size_t owner = problem_.owner(slot);
  BufferMessages messages;
  std::vector<std::size_t> works;
  for (std::size_t i = 0; i < request_.plan.tensors.size(); ++i) {
    const auto& tensor = request_.plan.tensors[i];
    if (tensor.role == BoundTensor::Role::kScratch) continue;
    // The process has mapped this state for the slot that owns the model.
    if (tensor.role == BoundTensor::Role::kState && owner != slot && !is_kernel) continue;
    const bool source = tensor.role != BoundTensor::Role::kOutput;
    const bool is_new = !is_mapped || tensor.role == BoundTensor::Role::kState;
    if (source && is_new) messages.add(slot, i, slot_of(set, tensor).source, BufferRole::kSource);
    // The process copies to this buffer what a call has made of the model's state. Inputs that the
    // reference writes are copied to it before each call.
    const bool is_followed =
        source && !is_kernel && !by_kernelbench_ && slot_of(set, tensor).mutated;
    if (is_mapped || (source && !tensor.writable && !is_followed)) continue;
    works.push_back(i);
  }
  auto memory = work_memory(works);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto dtype = scalar_type(request_.plan.tensors[works[i]].info.dtype);
    add_work_buffer(known, works[i], dtype, std::move(memory[i]));
    messages.add(slot, works[i], known.work.back().buffer, BufferRole::kWork);
  }
  problem_.device().synchronize();
  watch_->lap("buffers");
  for (const auto& batch : messages.batches()) {
    client_.send(MessageType::kBuffers, batch.body, batch.fds);
    client_.receive(MessageType::kMapped, kMapLimit_s, "mapping its buffers");
  }
  watch_->lap("map");
  if (is_kernel || by_kernelbench_) return false;
  build_model(slot);
  return true;
}

void Evaluation::call(std::size_t slot) {
  // The two processes' device work on shared memory has no order, so copies of the last outputs
  // must end before a call writes the outputs again.
  problem_.device().synchronize();
  const protocol::Message message = send_call(slot, protocol::CallMode::kPlain);
  called_ = true;
  const auto called = called_of(message);
  if (!called) return;
  if (called->read_clock != 0) flag("read_clock");
  take_noted(*called);
  if (request_.kind != CandidateKind::kKernel) {
    verdict_.record.launches = called->launches;
    take_class(*called);
  }
  take_findings(std::string_view(message.body).substr(sizeof *called));
}

void Evaluation::call_on_next_poison(std::size_t slot) {
  sets_[slot].poison = poisons_.next();
  call(slot);
}

void Evaluation::take_noted(const protocol::CalledBody& called) {
  for (std::size_t i = 0; i < std::size(protocol::kNotedFlags); ++i)
    if ((called.noted >> i & 1u) != 0) flag(protocol::kNotedFlags[i]);
}

protocol::Message Evaluation::send_call(std::size_t slot, protocol::CallMode mode) {
  timed_digests_.erase(slot);
  const protocol::CallBody body{static_cast<std::uint32_t>(slot), mode, call_limit_s(),
                                sets_[slot].poison};
  client_.send(MessageType::kCall, std::string(reinterpret_cast<const char*>(&body), sizeof body) +
                                       problem_.slot_set(slot).random_state());
  return client_.receive(MessageType::kCalled, patience_s(body.limit_s), "executing");
}

std::optional<protocol::CalledBody> Evaluation::called_of(const protocol::Message& message) {
  protocol::CalledBody called{};
  if (message.body.size() < sizeof called) return std::nullopt;
  std::memcpy(&called, message.body.data(), sizeof called);
  return called;
}

void Evaluation::check_red_zones(std::size_t slot) {
  for (const auto& work : sets_[slot].work) {
    const auto where = broken_red_zone(problem_.device(), work.buffer);
    if (where.empty()) continue;
    throw CandidateFailure{Outcome::kIllegalWrite, "out_of_bounds_write",
                           fmt::format("a kernel wrote {} the buffer of {}", where,
                                       request_.plan.tensors[work.tensor].info.name)};
  }
}

std::vector<at::Tensor> Evaluation::outputs_in(std::size_t slot) const {
  std::vector<at::Tensor> outputs;
  for (const auto& work : sets_[slot].work)
    if (request_.plan.tensors[work.tensor].role == BoundTensor::Role::kOutput)
      outputs.push_back(work.view);
  return outputs;
}

std::vector<at::Tensor> Evaluation::copy_outputs(std::size_t slot) const {
  auto outputs = outputs_in(slot);
  for (at::Tensor& output : outputs) output = output.clone();
  return outputs;
}

}  // namespace kbench::worker
