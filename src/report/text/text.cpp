// SPDX-License-Identifier: MIT
#include "report/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "record/baseline.hpp"
#include "report/text/code_points.hpp"

namespace kbench::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

/// The number of bytes of the leading characters of `text` that fit into `width` columns.
std::size_t bytes_of_columns(std::string_view text, std::size_t width) {
  std::size_t taken = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint next = code_point_at(text, at);
    taken += width_of(next.value);
    if (taken > width) return at;
    at += next.bytes;
  }
  return text.size();
}

}  // namespace

std::string printable(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint next = code_point_at(text, at);
    if (!next.valid) {
      result += kReplacement;
    } else if (!steers(next.value)) {
      result += text.substr(at, next.bytes);
    } else if (result.empty() || result.back() != ' ') {
      result += ' ';
    }
    at += next.bytes;
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
  std::size_t taken = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint next = code_point_at(text, at);
    taken += width_of(next.value);
    at += next.bytes;
  }
  return taken;
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

namespace {
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }
}  // namespace

std::string fitted_name(std::string_view text, std::size_t width) {
  constexpr std::size_t kLeast = 8;  // in fewer columns, head and tail would be too short
  if (columns(text) <= width || width < kLeast) return fitted(text, width);
  // Names with the same start often differ at the end: "1_Conv2d…Divide", "model-1".
  const std::size_t head = (width - 1) * 2 / 3;
  const std::size_t tail = width - 1 - head;
  std::size_t from = text.size();
  while (from > 0) {
    std::size_t before = from - 1;
    while (before > 0 && continues_character(text[before])) --before;
    if (columns(text.substr(before)) > tail) break;
    from = before;
  }
  return std::string(text.substr(0, bytes_of_columns(text, head))) + "…" +
         std::string(text.substr(from));
}

namespace {

/// Among the names at the indices `alike`, cuts those with equal cut texts again, without their
/// common start.
void tell_apart(const std::vector<std::string>& names, std::size_t width,
                const std::vector<std::size_t>& alike, std::vector<std::string>& fitted_texts) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (const std::size_t i : alike) groups[fitted_texts[i]].push_back(i);
  for (const auto& entry : groups) {
    const std::vector<std::size_t>& group = entry.second;
    if (group.size() < 2) continue;
    const std::string& first = names[group.front()];
    std::size_t same = first.size();
    for (const std::size_t i : group) {
      const auto [end, other] = std::ranges::mismatch(first, names[i]);
      same = std::min(same, static_cast<std::size_t>(end - first.begin()));
    }
    while (same > 0 && same < first.size() && continues_character(first[same])) --same;
    for (const std::size_t i : group) fitted_texts[i] = fitted("…" + names[i].substr(same), width);
    // Some may still be equal; if all are, there is no room or no difference.
    const auto is_first = [&](std::size_t i) { return fitted_texts[i] == fitted_texts[group[0]]; };
    if (!std::ranges::all_of(group, is_first)) tell_apart(names, width, group, fitted_texts);
  }
}

}  // namespace

std::vector<std::string> fitted_names(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> fitted_texts;
  std::vector<std::size_t> all;
  for (const std::string& name : names) {
    all.push_back(all.size());
    fitted_texts.push_back(fitted_name(name, width));
  }
  tell_apart(names, width, all, fitted_texts);
  return fitted_texts;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 8);
  while (columns(text) > width) {
    const std::size_t limit = bytes_of_columns(text, width);
    std::size_t cut = text.rfind(' ', limit);
    // A long path breaks between its folders.
    if (cut == std::string_view::npos || cut == 0) {
      const std::size_t slash = text.substr(0, limit).rfind('/');
      cut = slash == std::string_view::npos || slash == 0 ? limit : slash + 1;
    }
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string with_short_paths(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \"'(),:;=<>"), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t slash = word.rfind('/');
    if (slash == std::string_view::npos || slash + 1 == word.size() || word.find('/') == slash) {
      result += word;
    } else {
      result.append("…").append(word.substr(slash));
    }
    result += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string duration(double ms) {
  if (!std::isfinite(ms)) return std::string(kNoValue);
  const auto [value, unit] = ms < 1      ? std::pair(ms * 1000, "µs")
                             : ms < 1000 ? std::pair(ms, "ms")
                                         : std::pair(ms / 1000, "s");
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

namespace {
/// Two significant digits, also for small values.
std::string ratio_digits(double value) {
  const double size = std::abs(value);
  if (size >= 0.1 || size < 1e-9) return fmt::format("{:.{}f}", value, size < 100 ? 2 : 0);
  return fmt::format("{:.{}f}", value, 1 - static_cast<int>(std::floor(std::log10(size))));
}
}  // namespace

std::string factor(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return std::string(kNoValue);
  return ratio_digits(*value) + "x";
}

std::string value_text(const Metric& metric, const Estimate& estimate) {
  if (metric.row->ratio) return factor(estimate.value);
  return estimate.value ? fmt::format("{:.2f}", *estimate.value) : std::string(kNoValue);
}

std::string interval_text(const Estimate& estimate) {
  if (!estimate.lo || !estimate.hi) return {};
  if (!std::isfinite(*estimate.lo) || !std::isfinite(*estimate.hi)) return {};
  if (*estimate.hi >= 0.1) return fmt::format("{:.2f}–{:.2f}", *estimate.lo, *estimate.hi);
  return fmt::format("{}–{}", ratio_digits(*estimate.lo), ratio_digits(*estimate.hi));
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

std::optional<double> caller_ms(const Record& record, std::string_view side) {
  if (!record.timing) return std::nullopt;
  if (side == kBestBaseline) {
    const Speedup* best = speedup_over(record, side);
    return best == nullptr ? std::nullopt : caller_ms(record, best->baseline.str());
  }
  for (const auto& [name, timing] : record.timing->sides)
    if (name == side && timing.wall_ms) return *timing.wall_ms;
  return std::nullopt;
}

std::optional<double> caller_speedup(const Record& record, std::string_view baseline) {
  const std::optional<double> candidate = caller_ms(record, "candidate");
  const std::optional<double> other = caller_ms(record, baseline);
  if (!candidate || !other || *candidate <= 0) return std::nullopt;
  return *other / *candidate;
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

std::string outcome_text(Outcome outcome, const Interned& cause) {
  const std::string label(outcomes()[static_cast<std::size_t>(outcome)].label);
  return cause.empty() ? label : label + ", " + cause.str();
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
