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

/// Where a tensor's elements lie inside a shared object: front gap, data, red zone, and then a page
/// that is not mapped.
struct BufferLayout {
  std::size_t mapped_bytes = 0;
  std::size_t data_offset = 0;
  std::size_t data_bytes = 0;
  std::size_t red_before = 0, red_after = 0;  ///< canary bytes directly around the data
  bool operator==(const BufferLayout&) const = default;
};

/// Red zone on either side of what candidates may write.
inline constexpr std::size_t kRedZoneBytes = 4096;
/// Alignment of every tensor that a kernel gets.
inline constexpr std::size_t kDataAlignment = 256;
/// Byte that fills red zones.
inline constexpr std::uint8_t kCanary = 0xc5;

/// Data ends as near to the unmapped page as alignment and red zone allow.
BufferLayout buffer_layout(std::size_t data_bytes, std::size_t granularity, bool red_zone);

/// Layouts of several tensors in one shared object, in order of addresses: neighbours have a gap of
/// canary bytes between them (a red zone, or kDataAlignment bytes), which both count as theirs, and
/// the last one ends near the unmapped page.
std::vector<BufferLayout> packed_layouts(std::span<const std::size_t> data_bytes,
                                         std::size_t granularity, bool red_zone);

/// Memory shared between judge and candidate, as this process maps it; unmapped when the last
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
  /// Another tensor in the same memory.
  SharedBuffer part(BufferLayout layout) const {
    SharedBuffer buffer;
    buffer.layout_ = layout;
    buffer.memory_ = memory_;
    return buffer;
  }
  /// The mapping stays without its descriptor, of which a process may have few.
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

/// A tensor as a kernel sees it.
struct KernelTensor {
  std::string name;  ///< "input x", "output y", for messages
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
  std::size_t red_before = 0, red_after = 0;
  bool writable = true;
  /// Filled just now, and written by nothing yet; the executor notices reads of kPoison.
  bool undefined = false;
};

/// How an executor looks at the launches to come; a GPU does not.
struct Watch {
  ptx::Sanitize sanitize = ptx::Sanitize::kNone;
  bool count = false;
  std::uint64_t max_instructions = 0;  ///< warp instructions of each launch; 0: no bound
  /// When launches are to end by themselves, saying where they are.
  protocol::Clock::time_point deadline = protocol::Clock::time_point::max();
};

/// What it saw of one launch.
struct LaunchReport {
  /// Of a launch by host code; those of a plan have theirs in it.
  std::string kernel;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::vector<ptx::Finding> findings;
  bool read_clock = false;
  bool is_early = false;  ///< of a module's import or constructor: looked at, not counted
  std::optional<Counters> counters;
  std::optional<GpuLaunches> gpu;
};

/// The kernels among what a GPU ran.
std::vector<LaunchReport> reports_of(std::span<const DeviceActivity> activity);

/// One device as the worker uses it: memory, kernels, time. Work is queued in order and finished by
/// synchronize(). Failures of the candidate's kernels are thrown as CandidateFailure.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;  ///< "cpu" or "cuda:0", as torch writes it
  virtual std::size_t granularity() const = 0;
  virtual std::size_t free_bytes() = 0;

  /// Memory for another process, too. Unless `writable`, that one cannot write to it where the
  /// device's memory can be kept from it; nobody can change its size.
  virtual SharedBuffer create(BufferLayout layout, bool writable) = 0;
  virtual SharedBuffer map(Fd fd, BufferLayout layout, bool writable) = 0;
  /// Memory of this process alone, with red zones and an unmapped page behind.
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
  /// Loads another build of it, for use_other_build(); false where that cannot be done.
  virtual bool load_other_build(std::string_view image, const LaunchPlan& plan) {
    (void)image, (void)plan;
    return false;
  }
  /// Whether the coming launches are of the other build.
  virtual void use_other_build(bool other) { (void)other; }
  /// Tells which memory the coming launches may touch, as indexed by the plan's tensors.
  virtual void use_tensors(std::span<const KernelTensor> tensors) = 0;
  virtual void launch(const LaunchPlan::Launch& launch) = 0;

  /// Says how the coming launches are to be looked at.
  virtual void watch(const Watch&) {}
  /// One report for each launch since the last time, also for one that failed; none on a GPU.
  virtual std::vector<LaunchReport> take_reports() { return {}; }

  /// Opens all that this process will ever open of the device; see close_gpus().
  virtual void open_whole() {}

  /// Flushes the caches: reads twice the L2, so that the next call reads from memory and finds
  /// nothing that has yet to be written there.
  virtual void flush_cache() = 0;
  /// Keeps the device busy for so long, so that what comes next is queued by then: a host that is
  /// slow at launching is not in its time. Queued as all else; nothing where timing kernels are
  /// not.
  virtual void lead(double ms) { (void)ms; }
  /// Whether veil() does anything: where kernels can reach what they were not given.
  virtual bool veils() const { return false; }
  /// Makes memory unreadable, up to the next multiple of 16 bytes; or readable again, by the same
  /// key. Queued behind whatever went before.
  virtual void veil(std::byte* data, std::size_t size_bytes, const protocol::VeilKey& key) {
    (void)data, (void)size_bytes, (void)key;
  }
  /// The image of the kernels that flush on a GPU and hold its stream. Without one flushing is a
  /// memset (calls that come next pay for its write-back), and nothing is held.
  virtual void use_timing_kernels(std::string_view) {}
  /// Milliseconds of `call` by this device's method, queued behind whatever went before. If `held`,
  /// and where the device can, its work starts when all of it has been queued.
  virtual double time_ms(const std::function<void()>& call, bool held = false) = 0;
  /// Milliseconds of `call` by the host's clock, from an idle device to the end of its work.
  double wall_ms(const std::function<void()>& call);
  /// What the device runs in `work`, by its own records; none where it has none. It is idle before
  /// and after.
  virtual std::optional<std::vector<DeviceActivity>> record(const std::function<void()>& work) {
    (void)work;
    return std::nullopt;
  }
  virtual std::optional<SmLimits> sm_limits() { return std::nullopt; }
  /// How long the device was at work for `call`, by its own records, of which the call finds it
  /// idle; none where there are no such. `held` as above.
  virtual std::optional<DeviceTimes> device_times(const std::function<void()>& call, bool held) {
    (void)call, (void)held;
    return std::nullopt;
  }
  /// Milliseconds of `call` by that clock, added to `times` as an answer to a kTime has them.
  void time_by(protocol::TimeClock clock, const std::function<void()>& call, bool held,
               std::vector<double>& times);
  /// Launches a kernel that does nothing; false where there is none.
  virtual bool launch_empty() { return false; }
  /// Milliseconds that this device's method adds to the time of the work itself, after a flush or
  /// without and held or not; none where that cannot be told. For the judge's process.
  virtual std::optional<double> overhead_ms(bool cold_cache, bool held) {
    (void)cold_cache, (void)held;
    return std::nullopt;
  }
  /// Looks at the device, which has to be idle, for about so many milliseconds; none where that
  /// cannot be done.
  /// `start_ms`: the time from the call until the device began to look.
  virtual std::optional<DeviceLook> look_for_others(double span_ms, double* start_ms = nullptr) {
    (void)span_ms, (void)start_ms;
    return std::nullopt;
  }
  /// Begins to watch for other contexts' turns, beside what is queued, until end_guard(). Returns
  /// when it has begun.
  virtual void start_guard() {}
  /// Waits for what was queued, but not for the guard.
  virtual void finish_queued() { synchronize(); }
  /// Ends it: the device is idle microseconds later. Whether no other context had a turn meanwhile.
  virtual bool end_guard() { return true; }
  /// Whether a call since the last time could not be held: it waited for the device inside.
  virtual bool take_hold_failed() { return false; }

  /// Takes a page with protocol::GateWords, for gated calls. False if this device has no gate.
  virtual bool use_gate(Fd page) {
    (void)page;
    return false;
  }
  /// Queues on a stream (null: the default one): later work on it waits until the judge starts
  /// block number `block`. The GPU turns to this context before.
  virtual void queue_gate(std::uint32_t block, void* stream) { (void)block, (void)stream; }
  /// Queues on the same stream: the completion word, behind all work of this context.
  virtual void queue_done(std::uint32_t block, void* stream) { (void)block, (void)stream; }
  /// Name of that method in records: "events" or "wall".
  virtual std::string_view timing_method() const = 0;
  virtual DeviceState state() { return {}; }
};

/// Fills what a call is to write, before it; `data` is an input's, for what needs one.
void fill_with_poison(Device& device, std::byte* memory, std::size_t size_bytes, Poison poison,
                      std::span<const std::byte> data);

/// Fills a buffer's red zones, and tells which side of its data a kernel has written to since:
/// nothing, or "before the start of" or "past the end of".
void fill_red_zones(Device& device, const SharedBuffer& buffer);
std::string_view broken_red_zone(Device& device, const SharedBuffer& buffer);

/// A shared object as a process receives it: mapped once for each way of access, however many
/// tensors lie in it. The mappings outlive its descriptor, of which a process may have few.
class ReceivedMemory {
 public:
  explicit ReceivedMemory(Fd fd) : fd_(std::move(fd)) {}
  SharedBuffer map(Device& device, BufferLayout layout, bool writable);

 private:
  Fd fd_;
  SharedBuffer read_only_, writable_;
};

/// Opens "cpu" or "cuda:N" in this process. Throws kbench::Error where it cannot be used.
std::unique_ptr<Device> open_device(std::string_view name);
std::unique_ptr<Device> open_cpu_device();
std::unique_ptr<Device> open_cuda_device(int index);

}  // namespace kbench::worker
