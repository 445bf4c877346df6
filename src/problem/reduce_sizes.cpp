// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json/fields.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"
#include "kbench/problem.hpp"
#include "problem/from_view.hpp"

namespace kbench {
namespace {

/// A problem above the limits by at most this factor still runs: networks of fixed widths take
/// seconds per call, not hours.
constexpr double kHopeless = 1000;

struct When {
  std::string_view name;
  ReduceSizesOptions::When when;
};
constexpr std::array<When, 3> kWhen = {{{"auto", ReduceSizesOptions::When::kOnCpu},
                                        {"on", ReduceSizesOptions::When::kAlways},
                                        {"off", ReduceSizesOptions::When::kNever}}};

/// A number above zero with an optional k, M, G or T (powers of `base`) and an optional unit.
std::optional<double> quantity(std::string_view text, double base,
                               std::initializer_list<std::string_view> units) {
  double number = 0;
  std::string_view rest = text;
  if (!take_number(rest, number)) return std::nullopt;
  constexpr std::string_view kPrefixes = "kKMGT";
  if (const auto at = rest.empty() ? std::string_view::npos : kPrefixes.find(rest.front());
      at != std::string_view::npos) {
    number *= std::pow(base, static_cast<double>(std::max<std::size_t>(at, 1)));
    rest.remove_prefix(1);
  }
  bool is_unit = rest.empty();
  for (const std::string_view unit : units) is_unit = is_unit || rest == unit;
  return is_unit && number > 0 && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace

bool ReduceSizesOptions::applies_to(const Problem& problem, std::string_view device_class) const {
  if (when == When::kNever || (when == When::kOnCpu && device_class != "cpu")) return false;
  return !problem.named_sizes.contains(std::string(device_class));
}

ReduceSizesOptions parse_reduce_sizes(std::string_view text) {
  ReduceSizesOptions options;
  for (const When& row : kWhen) {
    if (row.name != text) continue;
    options.when = row.when;
    return options;
  }
  options.when = ReduceSizesOptions::When::kAlways;
  const std::size_t comma = text.find(',');
  const auto bytes = quantity(trimmed(text.substr(0, comma)), 1024, {"B", "iB"});
  std::optional<double> flops = options.max_flops;
  if (comma != std::string_view::npos)
    flops = quantity(trimmed(text.substr(comma + 1)), 1000, {"FLOP"});
  if (!bytes || !flops)
    throw UsageError(
        fmt::format("--reduce-sizes={}: write bytes, or bytes and operations of a call, as in "
                    "--reduce-sizes=16MiB or --reduce-sizes=16MiB,500MFLOP; or auto, on, off",
                    text));
  options.max_bytes = *bytes;
  options.max_flops = *flops;
  return options;
}

nlohmann::json to_json(const ReduceSizesOptions& options) {
  std::string_view when;
  for (const When& row : kWhen)
    if (row.when == options.when) when = row.name;
  return {{"when", when}, {"max_bytes", options.max_bytes}, {"max_flops", options.max_flops}};
}

bool ReducedSizes::hopeless(const ReduceSizesOptions& options) const {
  return bytes > kHopeless * options.max_bytes || flops > kHopeless * options.max_flops;
}

nlohmann::json to_json(const ReducedSizes& reduced_sizes) {
  return {{"bytes", std::llround(reduced_sizes.bytes)},
          {"flops", std::llround(reduced_sizes.flops)},
          {"full_bytes", std::llround(reduced_sizes.full_bytes)},
          {"full_flops", std::llround(reduced_sizes.full_flops)},
          {"within", reduced_sizes.within}};
}

ReducedSizes reduced_sizes_from(JsonView json) {
  const Fields fields(json);
  return {.bytes = fields.number("bytes"),
          .flops = fields.number("flops"),
          .full_bytes = fields.number("full_bytes"),
          .full_flops = fields.number("full_flops"),
          .within = fields.boolean("within")};
}

nlohmann::json to_json(const ChosenSizes& chosen) {
  return {
      {"sizes", chosen.sizes},
      {"reduced_sizes", chosen.reduced_sizes ? to_json(*chosen.reduced_sizes) : nlohmann::json()}};
}

ChosenSizes chosen_sizes_from_json(const nlohmann::json& json) {
  const JsonReader reader(json);
  const Fields fields(reader.root());
  ChosenSizes chosen;
  for (const JsonView literal : fields.object("sizes"))
    chosen.sizes[std::string(literal.key())] = Fields::text_of(literal, "sizes");
  if (const auto reduced_sizes = fields.maybe("reduced_sizes"))
    chosen.reduced_sizes = reduced_sizes_from(*reduced_sizes);
  return chosen;
}

std::string cost_text(double bytes, double flops) {
  const auto scaled = [](double value, double base, std::span<const std::string_view> units) {
    std::size_t unit = 0;
    for (; value >= base && unit + 1 < units.size(); ++unit) value /= base;
    return fmt::format("{:.3g} {}", value, units[unit]);
  };
  static constexpr std::array<std::string_view, 5> kBytes = {"B", "KiB", "MiB", "GiB", "TiB"};
  static constexpr std::array<std::string_view, 5> kFlops = {"FLOP", "kFLOP", "MFLOP", "GFLOP",
                                                             "TFLOP"};
  return scaled(bytes, 1024, kBytes) + " and " + scaled(flops, 1000, kFlops);
}

std::string reduced_sizes_text(const std::map<std::string, ReducedSizes>& problems) {
  std::size_t reduced = 0;
  std::string above;
  for (const auto& [name, reduced_sizes] : problems) {
    if (reduced_sizes.reduced()) ++reduced;
    if (!reduced_sizes.within)
      above += fmt::format("{}{} ({})", above.empty() ? "" : ", ", name,
                           cost_text(reduced_sizes.bytes, reduced_sizes.flops));
  }
  std::string text;
  if (reduced > 0)
    text = fmt::format("{} problem{} at reduced sizes (--reduce-sizes)", reduced,
                       reduced == 1 ? "" : "s");
  if (!above.empty())
    text += (text.empty() ? "above the limits of --reduce-sizes: " : "; still above its limits: ") +
            above;
  return text;
}

}  // namespace kbench
