// SPDX-License-Identifier: MIT
#include "worker/device/device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "ptx/machine/names.hpp"

namespace kbench::worker {
namespace {

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::vector<LaunchReport> reports_of(std::span<const DeviceActivity> activity) {
  std::vector<LaunchReport> reports;
  for (const DeviceActivity& piece : activity) {
    if (piece.kernel.empty()) continue;
    LaunchReport& report = reports.emplace_back();
    report.kernel = ptx::readable_name(piece.kernel);
    report.grid = piece.grid;
    report.block = piece.block;
    report.gpu = {.ms = times_of({&piece, 1})->span_ms,
                  .registers = piece.registers,
                  .static_shared_bytes = piece.static_shared_bytes,
                  .dynamic_shared_bytes = piece.dynamic_shared_bytes};
  }
  return reports;
}

std::optional<DeviceTimes> Device::device_times(const std::function<void()>& call) {
  const auto activity = record(call);
  return activity ? times_of(*activity) : std::nullopt;
}

void Device::call_timed(const std::function<void()>& call, bool records,
                        std::vector<double>& times) {
  const auto seen = records ? device_times(call) : std::nullopt;
  if (seen)
    times.insert(times.end(), {seen->span_ms, seen->busy_ms});
  else
    call();
}

BufferLayout buffer_layout(std::size_t data_bytes, std::size_t granularity, bool red_zone) {
  BufferLayout layout;
  const std::size_t red = red_zone ? kRedZoneBytes : 0;
  layout.data_bytes = data_bytes;
  layout.mapped_bytes = round_up(std::max<std::size_t>(data_bytes, 1) + 2 * red, granularity);
  const std::size_t latest = layout.mapped_bytes - red - data_bytes;
  layout.data_offset = latest / kDataAlignment * kDataAlignment;
  layout.red_before = red_zone ? std::min(layout.data_offset, red) : 0;
  layout.red_after = layout.mapped_bytes - layout.data_offset - data_bytes;
  return layout;
}

std::vector<BufferLayout> packed_layouts(std::span<const std::size_t> data_bytes,
                                         std::size_t granularity, bool red_zone) {
  const std::size_t gap = red_zone ? kRedZoneBytes : kDataAlignment;
  std::size_t total = gap;
  for (const std::size_t bytes : data_bytes) total += round_up(bytes, kDataAlignment) + gap;
  const std::size_t mapped = round_up(total, granularity);
  std::vector<BufferLayout> layouts(data_bytes.size());
  // Places tensors from the end, because the last one ends at the unmapped page.
  std::size_t next = mapped;
  for (std::size_t i = layouts.size(); i-- > 0;) {
    const bool is_last = i + 1 == layouts.size();
    const std::size_t room = is_last && !red_zone ? 0 : gap;
    BufferLayout& layout = layouts[i];
    layout.mapped_bytes = mapped;
    layout.data_bytes = data_bytes[i];
    layout.data_offset = (next - room - data_bytes[i]) / kDataAlignment * kDataAlignment;
    layout.red_after = next - layout.data_offset - data_bytes[i];
    next = layout.data_offset;
  }
  for (std::size_t i = 0; i < layouts.size(); ++i)
    layouts[i].red_before = i == 0 ? gap : layouts[i - 1].red_after;
  return layouts;
}

SharedBuffer ReceivedMemory::map(Device& device, BufferLayout layout, bool writable) {
  SharedBuffer& whole = writable ? writable_ : read_only_;
  if (whole.base() == nullptr) {
    whole = device.map(Fd(::dup(fd_.value())), layout, writable);
    whole.close_descriptor();
  }
  return whole.part(layout);
}

void fill_with_poison(Device& device, std::byte* memory, std::size_t size_bytes, Poison poison,
                      std::span<const std::byte> data) {
  if (poison < kDataPoison || data.empty())
    device.fill(memory, poison_byte(poison), size_bytes);
  else
    spread_data(memory, size_bytes, poison, data,
                [&](std::byte* to, const std::byte* from, std::size_t bytes) {
                  device.copy(to, from, bytes);
                });
}

void fill_red_zones(Device& device, const SharedBuffer& buffer) {
  const auto& layout = buffer.layout();
  device.fill(buffer.data() - layout.red_before, kCanary, layout.red_before);
  device.fill(buffer.data() + layout.data_bytes, kCanary, layout.red_after);
}

std::string_view broken_red_zone(Device& device, const SharedBuffer& buffer) {
  const auto& layout = buffer.layout();
  std::vector<std::byte> zone(std::max(layout.red_before, layout.red_after));
  const auto intact = [&](const std::byte* from, std::size_t size) {
    device.read(zone.data(), from, size);
    return std::all_of(zone.begin(), zone.begin() + static_cast<std::ptrdiff_t>(size),
                       [](std::byte value) { return value == std::byte{kCanary}; });
  };
  if (!intact(buffer.data() - layout.red_before, layout.red_before)) return "before the start of";
  if (!intact(buffer.data() + layout.data_bytes, layout.red_after)) return "past the end of";
  return {};
}

std::unique_ptr<Device> open_device(std::string_view name) {
  if (name == "cpu") return open_cpu_device();
  constexpr std::string_view kPrefix = "cuda:";
  if (name.starts_with(kPrefix))
    if (const auto index = to_number<int>(std::string_view(name).substr(kPrefix.size())))
      return open_cuda_device(*index);
  throw Error(fmt::format("the worker does not know the device '{}'", name));
}

}  // namespace kbench::worker
