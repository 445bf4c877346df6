// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/plan.hpp"
#include "kbench/profile.hpp"
#include "kbench/ptx.hpp"
#include "kbench/record.hpp"
#include "protocol/protocol.hpp"
#include "worker/device/device_activity.hpp"
#include "worker/device/device_state.hpp"
#include "worker/device/poison.hpp"

namespace kbench::worker {

/// A candidate's own failure, on its way from the device to the judge. Not a fault of kbench.
struct CandidateFailure {
  Outcome outcome = Outcome::kCrash;
  std::string cause;
  std::string message;
};

/// The position of a tensor's elements in a shared object: front gap, data, red zone, and then an
/// unmapped page.
struct BufferLayout {
  std::size_t mapped_bytes = 0;
  std::size_t data_offset = 0;
  std::size_t data_bytes = 0;
  std::size_t red_before = 0, red_after = 0;  ///< canary bytes directly around the data
  bool operator==(const BufferLayout&) const = default;
};

/// Size of the red zone on each side of memory that candidates may write.
inline constexpr std::size_t kRedZoneBytes = 4096;
/// Alignment of every tensor that a kernel gets.
inline constexpr std::size_t kDataAlignment = 256;
/// Byte that fills red zones.
inline constexpr std::uint8_t kCanary = 0xc5;

/// The data ends as near to the unmapped page as alignment and red zone allow.
BufferLayout buffer_layout(std::size_t data_bytes, std::size_t granularity, bool red_zone);

/// Layouts of several tensors in one shared object, in order of addresses. Neighbours share a gap
/// of canary bytes (a red zone, or kDataAlignment bytes), which is in both layouts. The last tensor
/// ends near the unmapped page.
std::vector<BufferLayout> packed_layouts(std::span<const std::size_t> data_bytes,
                                         std::size_t granularity, bool red_zone);

/// This process's mapping of memory that judge and candidate share. It is unmapped when the last
/// buffer in it is destroyed.
class SharedBuffer {
 public:
  SharedBuffer() = default;
  SharedBuffer(BufferLayout layout, std::byte* base, Fd fd, std::function<void()> unmap)
      : layout_(layout), memory_(std::make_shared<Memory>(base, std::move(fd), std::move(unmap))) {}
  SharedBuffer(SharedBuffer&& other) noexcept = default;
  SharedBuffer& operator=(SharedBuffer&& other) noexcept = default;
  ~SharedBuffer() = default;
  const BufferLayout& layout() const { return layout_; }
  std::byte* base() const { return memory_ ? memory_->base : nullptr; }
  std::byte* data() const { return base() + layout_.data_offset; }
  std::size_t size_bytes() const { return layout_.data_bytes; }
  int fd() const { return memory_ ? memory_->fd.value() : -1; }
  /// A buffer for another tensor in the same memory.
  SharedBuffer part(BufferLayout layout) const {
    SharedBuffer buffer;
    buffer.layout_ = layout;
    buffer.memory_ = memory_;
    return buffer;
  }
  /// Closes the descriptor but keeps the mapping, because the number of descriptors is limited.
  void close_descriptor() { memory_->fd.reset(); }

 private:
  struct Memory {
    Memory(std::byte* at, Fd of, std::function<void()> end)
        : base(at), fd(std::move(of)), unmap(std::move(end)) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
      if (unmap) unmap();
    }
    std::byte* base;
    Fd fd;
    std::function<void()> unmap;
  };
  BufferLayout layout_;
  std::shared_ptr<Memory> memory_;
};

/// A tensor in a kernel's arguments.
struct KernelTensor {
  std::string name;  ///< "input x", "output y", for messages
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
  std::size_t red_before = 0, red_after = 0;
  bool writable = true;
  /// Filled, and not yet written by any kernel. The executor reports reads of kPoison.
  bool undefined = false;
};

/// What the executor checks and counts in the next launches. A GPU ignores it.
struct Watch {
  ptx::Sanitize sanitize = ptx::Sanitize::kNone;
  bool count = false;
  std::uint64_t max_instructions = 0;  ///< warp instructions of each launch; 0: no bound
  /// Launches that run longer end, and report their position.
  protocol::Clock::time_point deadline = protocol::Clock::time_point::max();
};

/// The executor's observations of one launch.
struct LaunchReport {
  /// For launches by host code. Launches of a plan are named in the plan.
  std::string kernel;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::vector<ptx::Finding> findings;
  bool read_clock = false;
  bool is_early = false;  ///< by a module's import or constructor; inspected, but not counted
  std::optional<Counters> counters;
  std::optional<GpuLaunches> gpu;
};

/// Reports of the kernels in a GPU's activity.
std::vector<LaunchReport> reports_of(std::span<const DeviceActivity> activity);

/// The worker's interface to one device: memory, kernels, time. Work is queued in order;
/// synchronize() waits for it. Failures of the candidate's kernels are thrown as CandidateFailure.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;  ///< torch's name, "cpu" or "cuda:0"
  virtual std::size_t granularity() const = 0;
  virtual std::size_t free_bytes() = 0;

  /// Allocates memory that another process can map. Unless `writable`, that process cannot write to
  /// it, if the device supports that. No process can change its size.
  virtual SharedBuffer create(BufferLayout layout, bool writable) = 0;
  virtual SharedBuffer map(Fd fd, BufferLayout layout, bool writable) = 0;
  /// Allocates memory of this process, with red zones and an unmapped page behind it.
  virtual SharedBuffer allocate(BufferLayout layout) = 0;

  virtual void fill(std::byte* data, std::uint8_t value, std::size_t size_bytes) = 0;
  /// Writes `count` elements of `element_bytes` (1, 2, 4 or 8) with the low bytes of `bits`.
  virtual void fill_pattern(std::byte* data, std::uint64_t bits, std::size_t element_bytes,
                            std::size_t count) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) = 0;
  virtual void read(std::byte* host, const std::byte* from, std::size_t size_bytes) = 0;
  virtual void synchronize() = 0;

  /// Loads a candidate's image (cubin or PTX).
  virtual void load(std::string_view image, const LaunchPlan& plan) = 0;
  /// Loads another build of the image, for use_other_build(). False if that is not possible.
  virtual bool load_other_build(std::string_view image, const LaunchPlan& plan) {
    (void)image, (void)plan;
    return false;
  }
  /// Selects the build for the next launches.
  virtual void use_other_build(bool other) { (void)other; }
  /// Sets the memory that the next launches may access, indexed as the plan's tensors.
  virtual void use_tensors(std::span<const KernelTensor> tensors) = 0;
  virtual void launch(const LaunchPlan::Launch& launch) = 0;

  /// Sets what the executor checks and counts in the next launches.
  virtual void watch(const Watch&) {}
  /// Returns a report for each launch since the previous call, also for a failed one. Empty on a
  /// GPU.
  virtual std::vector<LaunchReport> take_reports() { return {}; }

  /// Opens everything of the device that this process may need later; see close_gpus().
  virtual void open_whole() {}

  /// Flushes a GPU's caches by reading twice the L2's size. The next call then reads from memory,
  /// and the L2 has no lines left to write back.
  virtual void flush_cache() {}
  /// Queues the encryption of memory, up to the next multiple of 16 bytes. A second call with the
  /// same key decrypts it.
  virtual void encrypt(std::byte* data, std::size_t size_bytes,
                       const protocol::EncryptionKey& key) {
    (void)data, (void)size_bytes, (void)key;
  }
  /// Loads the kernels that flush a GPU's caches, encrypt inputs and watch the GPU. Without them a
  /// memset flushes, so that later calls pay for its write-back.
  virtual void use_timing_kernels(std::string_view) {}
  /// The device's records of its activity in `work`; nothing if it has no records. The device is
  /// idle before and after.
  virtual std::optional<std::vector<DeviceActivity>> record(const std::function<void()>& work) {
    (void)work;
    return std::nullopt;
  }
  virtual std::optional<SmLimits> sm_limits() { return std::nullopt; }
  /// The device's times for `call`, by its own records; nothing if it has no records. The device is
  /// idle when the call begins.
  std::optional<DeviceTimes> device_times(const std::function<void()>& call);
  /// Makes a call. If `records`, appends the span and the busy time of it to `times`, in the format
  /// of an answer to a kTime.
  void call_timed(const std::function<void()>& call, bool records, std::vector<double>& times);
  /// Probes the idle device for about `span_ms`; nothing if it cannot.
  /// `start_ms`: the time from the call until the probe began.
  virtual std::optional<DeviceLook> look_for_others(double span_ms, double* start_ms = nullptr) {
    (void)span_ms, (void)start_ms;
    return std::nullopt;
  }
  /// Starts a probe for work of other contexts. It runs alongside queued work until end_guard().
  /// Returns when the probe has begun.
  virtual void start_guard() {}
  /// Waits for queued work, but not for the guard.
  virtual void finish_queued() { synchronize(); }
  /// Ends the guard; the device is idle microseconds later. True if no other context has run
  /// meanwhile.
  virtual bool end_guard() { return true; }
  /// Takes a page with protocol::GateWords, for gated calls. False if the device's streams cannot
  /// wait for them; queue_gate() then does nothing, and queue_done() waits for all work.
  virtual bool use_gate(Fd page) {
    (void)page;
    return false;
  }
  /// Queues a wait on a stream (null: the default one). Later work on it starts when the judge
  /// starts block number `block`. Before, the GPU switches to this context.
  virtual void queue_gate(std::uint32_t block, void* stream) { (void)block, (void)stream; }
  /// Queues a kernel that keeps one thread of the GPU busy for `span_ms`.
  virtual void spin(double span_ms, void* stream) { (void)span_ms, (void)stream; }
  /// Queues a write of the completion word on the same stream, behind all work of this context.
  virtual void queue_done(std::uint32_t block, void* stream) { (void)block, (void)stream; }
  virtual DeviceState state() { return {}; }
};

/// Fills memory that a call will write. `data`: an input's content, which some poisons need.
void fill_with_poison(Device& device, std::byte* memory, std::size_t size_bytes, Poison poison,
                      std::span<const std::byte> data);

/// Fills a buffer's red zones; broken_red_zone() returns the side of the data that has been written
/// since: empty, "before the start of" or "past the end of".
void fill_red_zones(Device& device, const SharedBuffer& buffer);
std::string_view broken_red_zone(Device& device, const SharedBuffer& buffer);

/// A shared object that this process has received. For each kind of access it is mapped once, for
/// all tensors in it. The mappings outlive the descriptor, because the number of descriptors is
/// limited.
class ReceivedMemory {
 public:
  explicit ReceivedMemory(Fd fd) : fd_(std::move(fd)) {}
  SharedBuffer map(Device& device, BufferLayout layout, bool writable);

 private:
  Fd fd_;
  SharedBuffer read_only_, writable_;
};

/// Opens "cpu" or "cuda:N" in this process. Throws kbench::Error if it cannot be used.
std::unique_ptr<Device> open_device(std::string_view name);
std::unique_ptr<Device> open_cpu_device();
std::unique_ptr<Device> open_cuda_device(int index);

}  // namespace kbench::worker
