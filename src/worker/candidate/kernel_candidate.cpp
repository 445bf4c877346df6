// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kbench/error.hpp"
#include "worker/candidate/judged_candidate.hpp"
#include "worker/device/findings.hpp"

namespace kbench::worker {
namespace {

using protocol::BufferRole;

/// A kernel candidate ready to be called: code, scratch, and the buffers of each input set.
class KernelCandidate final : public JudgedCandidate {
 public:
  explicit KernelCandidate(const CandidateJob& job)
      : job_(job), sanitize_(sanitize_from_name(job.sanitize)), device_(open_device(job.device)) {
    device_->use_timing_kernels(job_.timing_image);
    device_->load(job_.image, job_.plan);
    if (!job_.undefined_ptx.empty())
      has_undefined_ = device_->load_other_build(job_.undefined_ptx, job_.plan);
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const auto& tensor = job_.plan.tensors[i];
      if (tensor.role != BoundTensor::Role::kScratch) continue;
      auto buffer =
          device_->allocate(buffer_layout(tensor.info.bytes(), device_->granularity(), true));
      fill_red_zones(*device_, buffer);
      scratch_.emplace(i, std::move(buffer));
    }
    device_->synchronize();
  }

  void map(const protocol::BufferEntry& entry, ReceivedMemory& memory) override {
    const BufferLayout layout{entry.mapped_bytes, entry.data_offset, entry.data_bytes,
                              entry.red_before, entry.red_after};
    const bool writable = entry.writable != 0 || job_.sources_writable;
    buffers_[{entry.set, entry.tensor, entry.role}] = memory.map(*device_, layout, writable);
  }

  void call(const protocol::CallBody& body) override {
    const bool count = body.mode == protocol::CallMode::kCounted;
    device_->watch({count ? ptx::Sanitize::kNone : sanitize_, count, job_.max_instructions,
                    deadline_after(body.limit_s)});
    prepare(body.set, body.poison);
    device_->use_other_build(has_undefined_ && body.mode == protocol::CallMode::kUndefined);
    if (count && device_->name() != "cpu")
      reports_ = reports_of(device_->record([this] { run(); }).value_or(Activity{}));
    else
      run();
    device_->synchronize();
    device_->use_other_build(false);
    for (const auto& [tensor, buffer] : scratch_) {
      const auto where = broken_red_zone(*device_, buffer);
      if (!where.empty())
        throw CandidateFailure{Outcome::kIllegalWrite, "out_of_bounds_write",
                               fmt::format("a kernel wrote {} the buffer of {}", where,
                                           job_.plan.tensors[tensor].info.name)};
    }
  }

  std::vector<double> time(std::span<const std::uint32_t> sets,
                           const protocol::TimeBody& body) override {
    std::vector<double> times;
    // Without checks, because untimed calls have them, and they would be in the time.
    device_->watch(
        {ptx::Sanitize::kNone, false, job_.max_instructions, deadline_after(body.limit_s)});
    for (const std::uint32_t set : sets) {
      prepare(set, body.poison);
      if (body.cold_cache != 0) device_->flush_cache();
      device_->call_timed([this] { run(); }, body.records != 0, times);
    }
    device_->synchronize();
    device_->take_reports();
    return times;
  }

  bool use_gate(Fd page, Fd, std::uint64_t) override { return device_->use_gate(std::move(page)); }

  QueuedCalls queue(std::span<const std::uint32_t> sets, const protocol::QueueBody& body) override {
    if (body.alone == 0 && std::ranges::any_of(job_.plan.tensors, is_written_input))
      return refused(GateRefusal::kInputsWritten);
    device_->watch(
        {ptx::Sanitize::kNone, false, job_.max_instructions, deadline_after(body.limit_s)});
    const auto calls = prepared_calls(sets, body.poison);
    queue_behind_gate(*device_, nullptr, body, [&](std::size_t i) { run({&calls[i], 1}); });
    return {};
  }

  std::uint32_t noted() const override {
    const bool is_unchecked = !has_undefined_ && !job_.undefined_ptx.empty();
    return is_unchecked ? 1u << protocol::kUndefinedUnchecked : 0;
  }

  std::vector<LaunchReport> take_reports() override {
    auto reports = std::exchange(reports_, {});
    for (auto& report : device_->take_reports()) reports.push_back(std::move(report));
    return reports;
  }

 private:
  using Activity = std::vector<DeviceActivity>;

  const SharedBuffer* find(std::uint32_t set, std::size_t tensor, BufferRole role) const {
    const auto found =
        buffers_.find({set, static_cast<std::uint32_t>(tensor), static_cast<std::uint32_t>(role)});
    return found == buffers_.end() ? nullptr : &found->second;
  }

  std::span<const std::byte> largest_input(std::uint32_t set) const {
    std::span<const std::byte> largest;
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const SharedBuffer* source = find(set, i, BufferRole::kSource);
      if (source == nullptr || job_.plan.tensors[i].role != BoundTensor::Role::kInput) continue;
      if (source->size_bytes() > largest.size()) largest = {source->data(), source->size_bytes()};
    }
    return largest;
  }

  /// Restores state, and poisons outputs and scratch, so that a call cannot use results of earlier
  /// calls. Not part of the time.
  void prepare(std::uint32_t set, Poison poison) {
    const auto data = largest_input(set);
    for (const auto& [tensor, buffer] : scratch_)
      fill_with_poison(*device_, buffer.data(), buffer.size_bytes(), poison, data);
    std::vector<KernelTensor> tensors;
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const auto& tensor = job_.plan.tensors[i];
      const SharedBuffer* source = find(set, i, BufferRole::kSource);
      const SharedBuffer* work = find(set, i, BufferRole::kWork);
      const auto scratch = scratch_.find(i);
      const SharedBuffer* used = scratch != scratch_.end() ? &scratch->second
                                 : work != nullptr         ? work
                                                           : source;
      if (used == nullptr)
        throw Error(fmt::format("no buffer for {} in set {}", tensor.info.name, set));
      if (work != nullptr && source != nullptr)
        device_->copy(work->data(), source->data(), source->size_bytes());
      else if (work != nullptr)
        fill_with_poison(*device_, work->data(), work->size_bytes(), poison, data);
      const auto& layout = used->layout();
      const bool writable = used != source || job_.sources_writable;
      const bool undefined = source == nullptr && !tensor.filled;
      tensors.push_back({describe(tensor), used->data(), used->size_bytes(), layout.red_before,
                         layout.red_after, writable, undefined});
    }
    device_->use_tensors(tensors);
    tensors_ = std::move(tensors);
  }

  using Call = std::vector<KernelTensor>;

  /// Prepares a call on each set. Returns the tensors of each call.
  std::vector<Call> prepared_calls(std::span<const std::uint32_t> sets, Poison poison) {
    std::vector<Call> calls;
    for (const std::uint32_t set : sets) {
      prepare(set, poison);
      calls.push_back(tensors_);
    }
    return calls;
  }

  void run(std::span<const Call> calls) {
    for (const Call& call : calls) {
      tensors_ = call;
      device_->use_tensors(tensors_);
      run();
    }
  }

  static bool is_written_input(const BoundTensor& tensor) {
    return tensor.writable && tensor.role == BoundTensor::Role::kInput;
  }

  static std::string describe(const BoundTensor& tensor) {
    static constexpr std::string_view kRoles[] = {"input", "state", "output", "scratch"};
    return fmt::format("{} {}", kRoles[static_cast<std::size_t>(tensor.role)], tensor.info.name);
  }

  void run() {
    for (std::size_t i = 0; i < job_.plan.tensors.size(); ++i) {
      const auto& tensor = job_.plan.tensors[i];
      if (tensor.filled)
        device_->fill_pattern(tensors_[i].data, tensor.fill_bits,
                              dtype_row(tensor.info.dtype).size_bytes,
                              static_cast<std::size_t>(numel(tensor.info.shape)));
    }
    for (const auto& launch : job_.plan.launches) device_->launch(launch);
  }

  const CandidateJob& job_;
  ptx::Sanitize sanitize_;
  std::unique_ptr<Device> device_;
  std::map<std::size_t, SharedBuffer> scratch_;
  bool has_undefined_ = false;  ///< the build for checks of undefined registers is loaded
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, SharedBuffer> buffers_;
  std::vector<KernelTensor> tensors_;
  std::vector<LaunchReport> reports_;  ///< of a counted call on a GPU
};

}  // namespace

std::unique_ptr<JudgedCandidate> make_kernel_candidate(const CandidateJob& job) {
  return std::make_unique<KernelCandidate>(job);
}

}  // namespace kbench::worker
