// SPDX-License-Identifier: MIT
#include "worker/candidate/module_candidate.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "kbench/error.hpp"
#include "os/memory_file.hpp"
#include "os/sandbox/sandbox.hpp"
#include "score/kernelbench.hpp"
#include "worker/candidate/module_judged.hpp"
#include "worker/candidate/operator_watch.hpp"
#include "worker/compare/tensor_types.hpp"
#include "worker/device/findings.hpp"
#include "worker/reference/embedded_python.hpp"
#include "worker/reference/problem_host.hpp"

namespace py = pybind11;

namespace kbench::worker {
namespace {

using protocol::BufferRole;

constexpr int kDryImportNiceness = 5;
/// The longest wait for host work that continues after a call. Results of longer work are missing
/// when the outputs are compared.
constexpr std::chrono::milliseconds kBegunLimit(1000);
/// The most state of a rejected model that is kept: two larger models may not fit into memory.
constexpr std::size_t kKeptModelBytes = std::size_t{256} << 20;

}  // namespace

ModuleCandidate::ModuleCandidate(const CandidateJob& job, Fd compile)
    : job_(job),
      device_(open_device(job.device)),
      python_(job, std::move(compile), [this] { return regions(); }) {
  set_precision(job.module.precision);
  set_eval_mode(job.module.eval_mode);
  device_->use_timing_kernels(job.timing_image);
  // Opens all parts of the GPU here, so that a prefetched candidate has opened them before its
  // device access begins.
  if (job.device != "cpu") {
    trace_ = KernelTrace::open();
    warm_up_for(job.device, job.module.source);
    device_->open_whole();
    keep_devices(job.module.source);
    has_pool_ = ModulePython::open_exported_pool();
    // Rare, but reported, because the run's header says that the GPU is closed.
    if (!close_gpus()) fmt::print(stderr, "kbench: this process can still open the GPU\n");
  }
  python_.load();
}

void ModuleCandidate::map(const protocol::BufferEntry& entry, ReceivedMemory& memory) {
  const BufferLayout layout{entry.mapped_bytes, entry.data_offset, entry.data_bytes,
                            entry.red_before, entry.red_after};
  const bool work = entry.role == static_cast<std::uint32_t>(BufferRole::kWork);
  ModuleSet& set = sets_[entry.set];
  set.model = py::none();
  auto& buffers = work ? set.works : set.sources;
  buffers[entry.tensor] = memory.map(*device_, layout, work || job_.sources_writable);
}

void ModuleCandidate::build(const protocol::ModelBody& body) {
  ModuleSet& set = sets_.at(body.set);
  if (body.owner != body.set) {
    const ModuleSet& owner = sets_.at(body.owner);
    set.model = owner.model;
    set.buffers = owner.buffers;
    set.kept = owner.kept;
    set.called = true;
    return;
  }
  const bool as_built = body.as_built != 0;
  if (set.is_as_built && !as_built && bytes_of(BoundTensor::Role::kState) <= kKeptModelBytes)
    rejected_ = set.model;
  set.model = py::none();  // freed first, so that memory holds only one
  set.buffers.clear();
  set.state.clear();
  set.called = false;
  set.is_as_built = as_built;
  if (job_.kind == CandidateKind::kModule)
    set.model = python_.build_model(body.init_seed, read_whole(init_arguments_.value()));
  init_arguments_.reset();
  place_weights(set, as_built);
  const bool keeps = body.keeps_state != 0 && job_.kind == CandidateKind::kModule;
  set.kept = keeps ? embedded_module("model_state").attr("keep")(set.model) : py::object();
}

void ModuleCandidate::place_weights(ModuleSet& set, bool as_built) {
  py::list names, tensors;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
    const BoundTensor& tensor = job_.plan.tensors[i];
    if (tensor.role != BoundTensor::Role::kState) continue;
    indices.push_back(i);
    names.append(tensor.info.name);
    const at::Tensor weight = view(set.sources.at(i), tensor);
    // Code that packs weights once may notice new weights by their version.
    for (unsigned n = 0; n < set.versions; ++n) weight.unsafeGetTensorImpl()->bump_version();
    tensors.append(worker::to_python(weight));
  }
  ++set.versions;
  if (job_.kind != CandidateKind::kModule) {
    set.model = python_.extension_model(input_names(), names, tensors);
    return;
  }
  const auto placed = python_.place_weights(set.model, names, tensors, as_built);
  weights_ = {indices.empty() ? 0 : placed.rule, placed.by_seed, placed.is_given, {}};
  for (const std::size_t i : placed.unplaced) weights_.unplaced.push_back(indices.at(i));
  for (std::size_t i = 0; i < placed.takers.size(); ++i)
    if (placed.takers[i].defined()) set.state.emplace(indices.at(i), placed.takers[i].detach());
  for (const auto& buffer : python_.buffers_of(set.model))
    if (std::ranges::any_of(placed.takers,
                            [&](const at::Tensor& taker) { return taker.is_same(buffer); }))
      set.buffers.emplace_back(buffer, buffer.detach().clone());
  settle();
}

void ModuleCandidate::call(const protocol::CallBody& body) {
  queued_.clear();
  set_early_apart();
  const bool counted = body.mode == protocol::CallMode::kCounted;
  watch(body.limit_s, !counted, counted);
  ModuleSet& set = sets_.at(body.set);
  if (body.mode == protocol::CallMode::kEvalMode) python_.enter_eval_mode(set.model);
  restore(set, body.poison, body.mode == protocol::CallMode::kNext);
  const auto inputs = inputs_to_keep(set);
  const HostTasks before = tasks_before();
  std::vector<at::Tensor> outputs;
  if (counted && device_->name() != "cpu") {
    const auto activity = device_->record([&] { outputs = forward(set, inputs); });
    if (activity) gpu_reports_ = reports_of(*activity);
  } else if (counted) {
    outputs = python_.counted_call(set.model, arguments(inputs), notes_.operators);
    check_outputs(outputs);
  } else {
    const bool ablation = body.mode == protocol::CallMode::kAblation;
    // Only fills if the poison changes: later calls with the same poison then show a call's usual
    // time.
    if (std::exchange(free_poison_, body.poison) != body.poison || ablation)
      poison_free_memory(body.poison, largest_input(set));
    python_.skip_launches(ablation);
    const auto whole_call = [&] {
      InputsHidden hidden(*this, set, inputs);
      outputs = forward(set, inputs);
      wait_for_begun(before);  // work after the return belongs to the call
      hidden.take_outputs(outputs);
    };
    watched(whole_call, set.called ? 1 : 0);
    python_.skip_launches(false);
    // Memory that a first call allocates may be new, and not filled yet.
    if (!set.called) free_poison_.reset();
  }
  settle();
  wait_for_begun(before);
  called_ = set.called = true;
  check_torch_memory();
  keep(set, outputs);
}

void ModuleCandidate::watched(const std::function<void()>& call, std::size_t looked_at) {
  // On a GPU the trace shows all kernels, whatever code launches them.
  if (device_->name() != "cpu") {
    if (trace_) trace_->start();
    call();
    return note_trace(looked_at);
  }
  host_reads_ = returns_others_ = false;
  const OperatorWatch watch;
  call();
  reads_back_ = reads_back_ || host_reads_;
  notes_.computed = watch.computed() || host_reads_;
  may_be_own_ = may_be_own_ && !notes_.computed;
  if (returns_others_) notes_.launches = 0;
}

void ModuleCandidate::note_trace(std::size_t looked_at) {
  device_->synchronize();
  const TraceEntry entry = trace_ ? trace_->stop() : TraceEntry{};
  notes_.unseen = !entry.complete;
  const bool reads_back = entry.is_read_back(read_bytes(), looked_at);
  reads_back_ = reads_back_ || reads_back;
  notes_.computed = entry.library > 0 || reads_back;
  if (entry.complete) notes_.launches = entry.own;
}

std::size_t ModuleCandidate::bytes_of(BoundTensor::Role role) const {
  std::size_t bytes = 0;
  for (const BoundTensor& tensor : job_.plan.tensors)
    if (tensor.role == role) bytes += tensor.info.bytes();
  return bytes;
}

std::size_t ModuleCandidate::read_bytes() const {
  return bytes_of(BoundTensor::Role::kInput) + bytes_of(BoundTensor::Role::kState);
}

std::uint32_t ModuleCandidate::noted() const {
  return (reads_back_ ? 1u << protocol::kInputsReadBack : 0) |
         (ModulePython::moved_host_tensors() ? 1u << protocol::kHostTensorsMoved : 0);
}

void ModuleCandidate::set_early_apart() {
  for (auto& report : python_.take_reports()) {
    report.is_early = true;
    early_.push_back(std::move(report));
  }
  python_.take_interpreted_launches();
}

std::vector<LaunchReport> ModuleCandidate::take_reports() {
  auto reports = std::exchange(early_, {});
  for (auto& report : python_.take_reports()) reports.push_back(std::move(report));
  for (auto& report : std::exchange(gpu_reports_, {})) reports.push_back(std::move(report));
  return reports;
}

CallNotes ModuleCandidate::take_notes() {
  CallNotes notes = std::exchange(notes_, {});
  notes.uncounted_launches = python_.take_interpreted_launches();
  return notes;
}

std::vector<double> ModuleCandidate::time(std::span<const std::uint32_t> sets,
                                          const protocol::TimeBody& body) {
  queued_.clear();
  watch(body.limit_s, false);
  set_memory_poison(body.poison);
  std::vector<double> times;
  // Untraced calls hide their inputs, too. Else host code could recognise a traced call by a read
  // of its inputs.
  const bool hides = device_->name() == "cpu" && (body.looks != 0 || may_be_own_);
  const auto time_all = [&] {
    for (const std::uint32_t index : sets) time_call(sets_.at(index), body, hides, times);
  };
  if (body.looks != 0 || hides) {
    set_early_apart();
    watched(time_all, sets.size());
    if (body.looks == 0) {
      python_.take_reports();
      notes_ = {};
    }
    return times;
  }
  if (trace_) trace_->pause();
  time_all();
  python_.take_reports();
  return times;
}

void ModuleCandidate::time_call(ModuleSet& set, const protocol::TimeBody& body, bool hides,
                                std::vector<double>& times) {
  // Does not fill the outputs: the judge has done so, because its clock includes all work here.
  restore_state(set);
  if (body.cold_cache != 0) device_->flush_cache();
  const HostTasks before = tasks_before();
  const auto inputs = inputs_of(set);
  std::optional<InputsHidden> hidden;
  if (hides) hidden.emplace(*this, set, inputs);
  std::vector<at::Tensor> outputs;
  const auto call = [&] {
    outputs = forward(set, inputs);
    device_->synchronize();  // the time includes work on the candidate's own streams
  };
  device_->call_timed(call, body.records != 0, times);
  wait_for_begun(before);
  if (hidden) hidden->take_outputs(outputs);
  hidden.reset();
  python_.check();
  keep(set, outputs);
}

HostTasks ModuleCandidate::tasks_before() const {
  // Not for a GPU: host tasks cannot write to its memory, and listing them takes time.
  return device_->name() == "cpu" ? host_tasks() : HostTasks{};
}

void ModuleCandidate::wait_for_begun(const HostTasks& before) {
  if (device_->name() != "cpu") return;
  HostTasks begun = begun_since(before);
  if (begun.threads.empty() && begun.processes.empty()) return;
  {
    const py::gil_scoped_release others_go_on;
    // A task may sleep while tasks that it has started work for it, so new tasks are waited for,
    // too.
    bool more = wait_until_idle(begun, kBegunLimit);
    while (more) {
      const HostTasks now = begun_since(before);
      more = (!std::ranges::includes(begun.threads, now.threads) ||
              !std::ranges::includes(begun.processes, now.processes)) &&
             wait_until_idle(now, kBegunLimit);
      begun = now;
    }
  }
  // The first call may start helpers that serve all calls, so they are no failure.
  if (called_ && !begun_since(before).processes.empty())
    throw CandidateFailure{
        Outcome::kCheat, "left_running",
        "a process that a call started was still running after the call returned"};
}

py::list ModuleCandidate::input_names() const {
  py::list names;
  for (const auto& argument : job_.module.arguments) {
    const auto* tensor = std::get_if<std::size_t>(&argument);
    names.append(tensor != nullptr ? job_.plan.tensors[*tensor].info.name : std::string());
  }
  return names;
}

py::list ModuleCandidate::arguments(const std::vector<at::Tensor>& inputs) const {
  py::list arguments;
  auto next = inputs.begin();
  for (const auto& argument : job_.module.arguments)
    arguments.append(std::holds_alternative<std::size_t>(argument)
                         ? worker::to_python(*next++)
                         : value_to_python(std::get<Value>(argument)));
  return arguments;
}

std::vector<at::Tensor> ModuleCandidate::forward(ModuleSet& set,
                                                 const std::vector<at::Tensor>& inputs) {
  auto outputs = python_.call(set.model, arguments(inputs));
  check_outputs(outputs);
  return outputs;
}

void ModuleCandidate::watch(double limit_s, bool sanitize, bool count) {
  python_.watch({sanitize ? sanitize_from_name(job_.sanitize) : ptx::Sanitize::kNone, count,
                 job_.max_instructions, deadline_after(limit_s)});
}

void ModuleCandidate::settle() {
  device_->synchronize();
  python_.check();
}

std::unique_ptr<JudgedCandidate> make_module_candidate(const CandidateJob& job, Fd compile) {
  if (job.module.dry_import) {
    // Processes that need a device have priority over dry imports, which only prepare builds.
    [[maybe_unused]] const int ignored = nice(kDryImportNiceness);
    ModulePython(job, std::move(compile), nullptr).dry_import();
    return nullptr;
  }
  if (kernelbench_row(job.module.precision) != nullptr)
    return make_kernelbench_candidate(job, std::move(compile));
  return std::make_unique<ModuleCandidate>(job, std::move(compile));
}

}  // namespace kbench::worker
