// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kbench/report.hpp"

namespace kbench::report {
namespace {

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

/// Bytes of the first `width` columns of `text`.
std::size_t bytes_of_columns(std::string_view text, std::size_t width) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!continues_code_point(text[i]) && seen++ == width) return i;
  }
  return text.size();
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too, and some terminals obey them.
    const bool c1 =
        byte == 0xc2u && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0u;
    if (c1) ++i;
    if (c1 || byte < 0x20 || byte == 0x7f) {
      if (result.empty() || result.back() != ' ') result += ' ';
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>()#|!~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues_code_point(c); }));
}

std::string fitted(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_of_columns(text, width - 1))) + "…";
}

std::string padded(std::string_view text, std::size_t width, bool right_aligned) {
  const std::size_t taken = columns(text);
  const std::string fill(width > taken ? width - taken : 0, ' ');
  return right_aligned ? fill + std::string(text) : std::string(text) + fill;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 8);
  while (columns(text) > width) {
    const std::size_t limit = bytes_of_columns(text, width + 1);
    std::size_t cut = text.rfind(' ', limit - 1);
    if (cut == std::string_view::npos || cut == 0) cut = bytes_of_columns(text, width);
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string duration(double ms) {
  if (!std::isfinite(ms)) return std::string(kNoValue);
  const auto [value, unit] = ms < 1      ? std::pair(ms * 1000, "µs")
                             : ms < 1000 ? std::pair(ms, "ms")
                                         : std::pair(ms / 1000, "s");
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string factor(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return std::string(kNoValue);
  return fmt::format("{:.{}f}x", *value, *value < 100 ? 2 : 0);
}

std::string value_text(const Metric& metric, const Estimate& estimate) {
  if (metric.row->ratio) return factor(estimate.value);
  return estimate.value ? fmt::format("{:.2f}", *estimate.value) : std::string(kNoValue);
}

std::string interval_text(const Estimate& estimate) {
  if (!estimate.lo || !estimate.hi) return {};
  if (!std::isfinite(*estimate.lo) || !std::isfinite(*estimate.hi)) return {};
  return fmt::format("{:.2f}–{:.2f}", *estimate.lo, *estimate.hi);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<double> time_ms(const Record& record, std::string_view side) {
  if (!record.timing) return std::nullopt;
  if (side == kBestBaseline) {
    const Speedup* best = speedup_over(record, side);
    return best == nullptr ? std::nullopt : time_ms(record, best->baseline.str());
  }
  for (const auto& [name, timing] : record.timing->sides) {
    if (name != side) continue;
    if (record.timing->method == "kb_events" && std::isfinite(timing.mean_ms))
      return timing.mean_ms;
    if (std::isfinite(timing.median_ms)) return timing.median_ms;
    if (std::isfinite(timing.mean_ms)) return timing.mean_ms;
  }
  return std::nullopt;
}

std::optional<double> told_ms(const Record& record) {
  if (!record.timing || !record.timing->is_bounded()) return std::nullopt;
  const auto found = record.timing->bounds.find("candidate");
  if (found == record.timing->bounds.end()) return std::nullopt;
  return found->second.told_ms;
}

const Speedup* speedup_over(const Record& record, std::string_view baseline) {
  if (baseline == kBestBaseline) {
    const Speedup* least = nullptr;
    for (const Speedup& speedup : record.speedup)
      if (std::isfinite(speedup.value) && (least == nullptr || speedup.value < least->value))
        least = &speedup;
    return least;
  }
  for (const Speedup& speedup : record.speedup) {
    if (speedup.baseline == baseline && std::isfinite(speedup.value)) return &speedup;
  }
  return nullptr;
}

std::string sizes_text(const Record& record) {
  if (record.sizes.empty()) return {};
  std::string text;
  const auto sizes = nlohmann::json::parse(record.sizes.str());
  for (const auto& [name, literal] : sizes.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, literal.get<std::string>());
  return printable(text);
}

std::string wrong_element_text(const WrongElement& wrong) {
  return fmt::format("output {} [{}]: expected {}, got {}", wrong.output,
                     fmt::join(wrong.index, ", "), wrong.expected, wrong.got);
}

std::string failure_text(const Record& record) {
  std::string text = record.message;
  for (const TrialResult& trial : record.correctness) {
    if (!trial.first_wrong) continue;
    text += (text.empty() ? "first wrong: " : "; first wrong: ") +
            wrong_element_text(*trial.first_wrong);
    break;
  }
  return printable(text);
}

}  // namespace kbench::report
