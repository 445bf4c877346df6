// SPDX-License-Identifier: MIT
#include "kbench/profile.hpp"

#include <algorithm>
#include <numeric>

#include "base/json/fields.hpp"
#include "roofline/from_view.hpp"

namespace kbench {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, kInstructionClasses> kClassNames = {
    "integer", "fp16",   "fp32",  "fp64",   "special", "tensor",  "convert", "move",
    "global",  "shared", "local", "atomic", "control", "barrier", "warp"};
constexpr std::array<std::string_view, kFlopTypes> kFlopNames = {"fp64", "fp32", "tf32", "bf16",
                                                                 "fp16", "fp8",  "int8", "int4"};

/// Scalar counters by their names in JSON.
constexpr struct {
  const char* group;
  const char* name;
  std::uint64_t Counters::*field;
} kFields[] = {
    {"global", "requests", &Counters::global_requests},
    {"global", "sectors", &Counters::global_sectors},
    {"global", "bytes", &Counters::global_bytes},
    {"global", "unique_read_bytes", &Counters::unique_read_bytes},
    {"global", "unique_written_bytes", &Counters::unique_written_bytes},
    {"global", "atomics", &Counters::global_atomics},
    {"shared", "requests", &Counters::shared_requests},
    {"shared", "conflicts", &Counters::shared_conflicts},
    {"shared", "atomics", &Counters::shared_atomics},
};

std::optional<double> quotient(double of, double by) {
  return by > 0 ? std::optional(of / by) : std::nullopt;
}

std::array<std::uint64_t, kFlopTypes> by_type_from(JsonView object) {
  const Fields fields(object);
  std::array<std::uint64_t, kFlopTypes> flops{};
  for (std::size_t i = 0; i < kFlopTypes; ++i)
    if (fields.maybe(kFlopNames[i])) flops[i] = fields.integer<std::uint64_t>(kFlopNames[i]);
  return flops;
}

}  // namespace

std::string_view to_string(InstructionClass instruction_class) {
  return kClassNames[static_cast<std::size_t>(instruction_class)];
}

std::string_view to_string(FlopType type) { return kFlopNames[static_cast<std::size_t>(type)]; }

std::optional<FlopType> flop_type_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kFlopTypes; ++i)
    if (kFlopNames[i] == name) return static_cast<FlopType>(i);
  return std::nullopt;
}

Counters& operator+=(Counters& sum, const Counters& more) {
  for (std::size_t i = 0; i < kInstructionClasses; ++i) {
    sum.executed[i].warps += more.executed[i].warps;
    sum.executed[i].threads += more.executed[i].threads;
  }
  for (std::size_t i = 0; i < kFlopTypes; ++i) {
    sum.flops[i] += more.flops[i];
    sum.tensor_flops[i] += more.tensor_flops[i];
  }
  for (const auto& row : kFields) sum.*row.field += more.*row.field;
  return sum;
}

Counters::Executed executed(const Counters& counters) {
  Counters::Executed total;
  for (const auto& executed : counters.executed) {
    total.warps += executed.warps;
    total.threads += executed.threads;
  }
  return total;
}

std::optional<double> lane_efficiency(const Counters& counters) {
  const auto total = executed(counters);
  return quotient(static_cast<double>(total.threads), 32 * static_cast<double>(total.warps));
}

std::optional<double> sectors_per_request(const Counters& counters) {
  return quotient(static_cast<double>(counters.global_sectors),
                  static_cast<double>(counters.global_requests));
}

std::uint64_t unique_bytes(const Counters& counters) {
  return counters.unique_read_bytes + counters.unique_written_bytes;
}

std::uint64_t total_flops(const Counters& counters) {
  const auto sum = [](const auto& flops) {
    return std::accumulate(flops.begin(), flops.end(), std::uint64_t{0});
  };
  return sum(counters.flops) + sum(counters.tensor_flops);
}

double occupancy(const SmLimits& limits, std::uint32_t block_threads, const GpuLaunches& launch) {
  constexpr std::uint32_t kWarp = 32, kRegisterUnit = 256, kWarpUnit = 4, kSharedUnit = 128;
  const auto up = [](std::uint32_t value, std::uint32_t unit) {
    return (value + unit - 1) / unit * unit;
  };
  const std::uint32_t warps = std::max(up(block_threads, kWarp) / kWarp, 1U);
  std::uint32_t blocks = std::min(limits.blocks, limits.warps / warps);
  if (launch.registers > 0) {
    const std::uint32_t of_warp = up(launch.registers * kWarp, kRegisterUnit);
    const std::uint32_t held = limits.registers / of_warp / kWarpUnit * kWarpUnit;
    blocks = std::min(blocks, held / warps);
  }
  const std::uint32_t shared =
      up(launch.static_shared_bytes + launch.dynamic_shared_bytes + limits.reserved_shared_bytes,
         kSharedUnit);
  if (shared > 0) blocks = std::min(blocks, limits.shared_bytes / shared);
  return static_cast<double>(blocks * warps) / std::max(limits.warps, 1U);
}

json to_json(const KernelProfile& profile) {
  const Counters& counters = profile.counters;
  json instructions = json::object();
  for (std::size_t i = 0; i < kInstructionClasses; ++i) {
    const auto& executed = counters.executed[i];
    if (executed.warps == 0) continue;
    instructions[std::string(kClassNames[i])] = {executed.warps, executed.threads};
  }
  json object = {{"kernel", profile.kernel},
                 {"grid", profile.grid},
                 {"block", profile.block},
                 {"launches", profile.launches},
                 {"instructions", std::move(instructions)},
                 {"flops", by_type(counters.flops)},
                 {"tensor_flops", by_type(counters.tensor_flops)}};
  for (const auto& row : kFields) object[row.group][row.name] = counters.*row.field;
  if (const auto& gpu = profile.gpu)
    object["gpu"] = {{"ms", gpu->ms},
                     {"registers", gpu->registers},
                     {"static_shared_bytes", gpu->static_shared_bytes},
                     {"dynamic_shared_bytes", gpu->dynamic_shared_bytes},
                     {"occupancy", number_or_null(gpu->occupancy)}};
  return object;
}

json to_json(const OperatorCost& cost) {
  return {{"name", cost.name},
          {"bytes", cost.bytes},
          {"flops", cost.flops},
          {"type", to_string(cost.type)},
          {"tensor_cores", cost.tensor_cores}};
}

OperatorCost operator_cost_from_json(const json& object) {
  const JsonReader reader(object);
  const Fields fields(reader.root());
  const auto type = flop_type_from_name(fields.text("type"));
  if (!type) throw Error("field \"type\" is not a type of operations");
  return {.name = fields.string("name"),
          .bytes = fields.integer<std::uint64_t>("bytes"),
          .flops = fields.integer<std::uint64_t>("flops"),
          .type = *type,
          .tensor_cores = fields.boolean("tensor_cores")};
}

KernelProfile kernel_profile_from_json(const json& object) {
  return kernel_profile_from(JsonReader(object).root());
}

KernelProfile kernel_profile_from(JsonView object) {
  const Fields fields(object);
  KernelProfile profile;
  profile.kernel = fields.text("kernel");
  profile.grid = fields.extents("grid");
  profile.block = fields.extents("block");
  profile.launches = fields.integer<std::uint64_t>("launches");
  Counters& counters = profile.counters;
  const Fields instructions(fields.object("instructions"));
  for (std::size_t i = 0; i < kInstructionClasses; ++i) {
    const auto pair = instructions.maybe(kClassNames[i]);
    if (!pair) continue;
    std::vector<std::uint64_t> numbers;
    if (pair->is_array())
      for (const JsonView item : *pair)
        if (const auto number = item.natural()) numbers.push_back(*number);
    if (numbers.size() != 2 || pair->size() != 2)
      throw Error(fmt::format("field \"{}\" does not hold two integers", kClassNames[i]));
    counters.executed[i] = {numbers[0], numbers[1]};
  }
  counters.flops = by_type_from(fields.object("flops"));
  counters.tensor_flops = by_type_from(fields.object("tensor_flops"));
  for (const auto& row : kFields)
    counters.*row.field = Fields(fields.object(row.group)).integer<std::uint64_t>(row.name);
  if (const auto value = fields.maybe("gpu")) {
    const Fields gpu(*value);
    profile.gpu = {.ms = gpu.number("ms"),
                   .registers = gpu.integer<std::uint32_t>("registers"),
                   .static_shared_bytes = gpu.integer<std::uint32_t>("static_shared_bytes"),
                   .dynamic_shared_bytes = gpu.integer<std::uint32_t>("dynamic_shared_bytes"),
                   .occupancy = gpu.maybe_number("occupancy")};
  }
  return profile;
}

}  // namespace kbench
