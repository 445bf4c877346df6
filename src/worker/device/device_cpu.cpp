// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "kbench/error.hpp"
#include "kbench/ptx.hpp"
#include "worker/device/cpu_executor.hpp"

namespace kbench::worker {
namespace {

constexpr std::size_t kPage = 4096;

class CpuDevice final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  std::size_t granularity() const override { return kPage; }
  std::size_t free_bytes() override {
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * kPage;
  }

  SharedBuffer create(BufferLayout layout, bool writable) override {
    Fd fd(memfd_create("kbench", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd || ftruncate(fd.value(), static_cast<off_t>(layout.mapped_bytes)) != 0)
      throw Error(fmt::format("cannot allocate {} bytes of shared memory: {}", layout.mapped_bytes,
                              std::strerror(errno)));
    SharedBuffer buffer = map(std::move(fd), layout, true);
    // Without seals, a process with the descriptor could open it again for writing, or truncate it.
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (fcntl(buffer.fd(), F_ADD_SEALS, seals | (writable ? 0 : F_SEAL_FUTURE_WRITE)) != 0 &&
        fcntl(buffer.fd(), F_ADD_SEALS, seals) != 0)  // before Linux 5.1
      throw Error(fmt::format("shared memory cannot be sealed: {}", std::strerror(errno)));
    return buffer;
  }

  SharedBuffer map(Fd fd, BufferLayout layout, bool writable) override {
    // Reserves one more page than the object has. Accesses to it fault, as accesses to an unmapped
    // page of a GPU do.
    void* reserved = mmap(nullptr, layout.mapped_bytes + kPage, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) out_of_memory(layout.mapped_bytes);
    const int prot = PROT_READ | (writable ? PROT_WRITE : 0);
    void* base =
        fd ? mmap(reserved, layout.mapped_bytes, prot, MAP_SHARED | MAP_FIXED, fd.value(), 0)
           : mmap(reserved, layout.mapped_bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                  0);
    if (base == MAP_FAILED) {
      munmap(reserved, layout.mapped_bytes + kPage);
      out_of_memory(layout.mapped_bytes);
    }
    return SharedBuffer(layout, static_cast<std::byte*>(base), std::move(fd),
                        [reserved, size = layout.mapped_bytes + kPage] { munmap(reserved, size); });
  }

  SharedBuffer allocate(BufferLayout layout) override {
    if (layout.mapped_bytes > free_bytes()) out_of_memory(layout.mapped_bytes);
    return map(Fd(), layout, true);
  }

  void fill(std::byte* data, std::uint8_t value, std::size_t size_bytes) override {
    std::memset(data, value, size_bytes);
  }
  void fill_pattern(std::byte* data, std::uint64_t bits, std::size_t element_bytes,
                    std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(data + i * element_bytes, &bits, element_bytes);
  }
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override {
    std::memcpy(to, from, size_bytes);
  }
  void read(std::byte* host, const std::byte* from, std::size_t size_bytes) override {
    std::memcpy(host, from, size_bytes);
  }
  void synchronize() override {}

  void load(std::string_view image, const LaunchPlan&) override { module_ = load_ptx(image); }

  void use_tensors(std::span<const KernelTensor> tensors) override {
    tensors_.assign(tensors.begin(), tensors.end());
    regions_.clear();
    written_.resize(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const KernelTensor& t = tensors_[i];
      regions_.push_back(
          {t.name, t.data, t.size_bytes, t.red_before, t.red_after, t.writable, written_of(i)});
    }
  }

  void watch(const Watch& watch) override { watch_ = watch; }
  std::vector<LaunchReport> take_reports() override { return std::exchange(reports_, {}); }

  void launch(const LaunchPlan::Launch& launch) override {
    ptx::Launch run;
    run.kernel = launch.symbol;
    run.grid = launch.grid;
    run.block = launch.block;
    run.cluster = launch.cluster;
    run.dynamic_shared_bytes = launch.shared_bytes;
    run.cooperative = launch.cooperative;
    for (const auto& argument : launch.arguments) {
      std::vector<std::byte> bytes(argument.size);
      if (argument.tensor) {
        const std::byte* address = tensors_.at(*argument.tensor).data;
        std::memcpy(bytes.data(), &address, sizeof address);
      } else {
        std::memcpy(bytes.data(), argument.bytes.data(), argument.size);
      }
      run.arguments.push_back(std::move(bytes));
    }
    // A GPU guarantees no order of blocks, so each call gets another one.
    const auto options = executor_options(watch_, ++launches_);
    auto result = ptx::launch(*module_, regions_, run, options);
    report(result, launch);
    if (result.fault) throw failure_of(*result.fault, tensors_);
  }

 private:
  /// The words of a tensor that were written since it was filled; null if all count as written.
  ptx::Written* written_of(std::size_t tensor) {
    const KernelTensor& t = tensors_[tensor];
    auto& written = written_[tensor];
    if (!t.undefined || watch_.sanitize == ptx::Sanitize::kNone) {
      written.reset();
    } else if (written && written->first == t.size_bytes) {
      written->second.clear();
    } else {
      written.emplace(std::piecewise_construct, std::tuple(t.size_bytes), std::tuple(t.size_bytes));
    }
    return written ? &written->second : nullptr;
  }

  /// Stores the report. It names the kernel as the plan does, not by its symbol.
  void report(ptx::Result& result, const LaunchPlan::Launch& launch) {
    if (result.fault) rename_kernel(*result.fault, result.fault->message, launch);
    LaunchReport report = report_of(result);
    for (auto& finding : report.findings) rename_kernel(finding, finding.message, launch);
    reports_.push_back(std::move(report));
  }

  static void rename_kernel(ptx::Site& site, std::string& message,
                            const LaunchPlan::Launch& launch) {
    if (site.kernel != launch.symbol) return;
    site.kernel = launch.kernel;
    if (message.starts_with(launch.symbol)) message.replace(0, launch.symbol.size(), launch.kernel);
  }

  [[noreturn]] static void out_of_memory(std::size_t bytes) {
    throw CandidateFailure{Outcome::kOutOfMemory, "allocation_failed",
                           fmt::format("cannot allocate {} bytes of memory", bytes)};
  }

  std::optional<ptx::Module> module_;
  std::vector<KernelTensor> tensors_;
  std::vector<ptx::Region> regions_;
  /// Per tensor, with the tensor's size.
  std::vector<std::optional<std::pair<std::size_t, ptx::Written>>> written_;
  Watch watch_;
  std::vector<LaunchReport> reports_;
  std::uint64_t launches_ = 0;
};

}  // namespace

std::unique_ptr<Device> open_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace kbench::worker
