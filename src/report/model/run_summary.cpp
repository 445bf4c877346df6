// SPDX-License-Identifier: MIT
#include "report/model/run_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "kbench/error.hpp"
#include "kbench/profile.hpp"
#include "report/model/exclusions.hpp"
#include "report/model/run_settings.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/unsupported.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestFact = 2000;
constexpr std::ptrdiff_t kNamedConflicts = 5;
constexpr std::ptrdiff_t kNamedLines = 3;

std::string joined(const std::vector<std::string>& texts) {
  return printable(fmt::format("{}", fmt::join(texts, ", ")));
}

std::string device(const Report& report) {
  std::string text = joined(report.run_settings.devices);
  if (text.empty()) text = environment(report.run, "device");
  if (report.on_cpu) {
    add_part(text, "no GPU: kernels ran in the PTX executor on ", environment(report.run, "cpu"));
  } else {
    add_part(text, "driver ", environment(report.run, "driver"));
    add_part(text, "CUDA ", environment(report.run, "cuda"));
  }
  return text;
}

std::string problems(const Report& report) {
  constexpr std::size_t kHashDigits = 12;
  std::vector<std::string> sets;
  for (const std::string& hash : report.run_settings.problem_sets)
    sets.push_back(hash.substr(0, kHashDigits));
  const std::string set = fmt::format("{}", fmt::join(sets, "; "));
  return fmt::format("{}{}, {}, {}", counted(report.run_settings.problems, "problem"),
                     set.empty() ? "" : " (set " + set + ")",
                     counted(report.run_settings.models, "model"),
                     counted(report.run.manifest.size(), "sample"));
}

/// The candidates of `--candidates` that belong to no problem of the run.
std::string left_out(const Report& report) {
  return of_headers(report.run, [](const RunHeader& header) {
    return printable(left_out_text(header.left_out));
  });
}

/// The sizes that differ from those of the problems' files.
std::string sizes(const Report& report) {
  std::map<std::string, ReducedSizes> problems;
  for (const std::size_t index : report.judged) {
    const Record& record = report.run.records[index];
    if (record.reduced_sizes)
      problems.emplace(printable(record.problem.str()), *record.reduced_sizes);
  }
  std::string text = reduced_sizes_text(problems);
  const std::string set = of_headers(report.run, [](const RunHeader& header) {
    std::string constants;
    const auto found = header.options.find("sizes");
    if (found == header.options.end() || !found->is_object()) return constants;
    for (const auto& [name, value] : found->items())
      constants += fmt::format(" {}={}", printable(name), plain(value));
    return constants;
  });
  if (!set.empty()) text += fmt::format("{}--set{}", text.empty() ? "" : "; ", set);
  return text;
}

std::string precision(const Report& report) {
  const std::string rows = joined(report.run_settings.precisions);
  return rows.empty() ? option(report.run, "precision") : rows;
}

/// The judges with the number of their records; empty if all are kbench's own.
std::string judges(const Report& report) {
  std::map<Interned, std::int64_t> counts;
  for (const std::size_t index : report.judged) ++counts[report.run.records[index].judge];
  if (counts.empty() || (counts.size() == 1 && counts.begin()->first == kOwnJudge)) return {};
  std::string text;
  for (const auto& [judge, count] : counts) {
    add_part(text, "",
             fmt::format("{} {}{}", printable(judge.str()), count,
                         judge == kKernelBenchJudge ? " (imported: its verdicts and its times)"
                         : judge == kCompatJudge    ? " (kbench, by KernelBench's rules)"
                         : judge == kEvalModeJudge  ? " (kbench, both models in eval mode)"
                                                    : ""));
  }
  return text;
}

/// The files with stored baseline times that speedups use; empty if the run measured all baselines.
std::string stored_in(const Report& report) {
  const bool any = std::ranges::any_of(report.judged, [&](std::size_t index) {
    return std::ranges::any_of(report.run.records[index].speedup, &Speedup::stored);
  });
  if (!any) return "";
  std::vector<std::string> names;
  for (const RunHeader& header : report.run.headers) {
    const auto files = header.options.find("baseline_files");
    if (files == header.options.end() || !files->is_array()) continue;
    for (const json& name : *files)
      if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names.empty() ? "an earlier run" : fmt::format("{}", fmt::join(names, ", "));
}

std::string baseline(const Report& report) {
  std::string text = report.baseline.empty() ? "none" : report.baseline;
  std::vector<std::string> others;
  std::ranges::copy_if(report.baselines, std::back_inserter(others),
                       [&](const std::string& name) { return name != report.baseline; });
  if (!others.empty()) text += fmt::format(" (also run: {})", fmt::join(others, ", "));
  if (const std::string files = stored_in(report); !files.empty())
    text += fmt::format("; times stored in {}", files);
  return printable(text);
}

std::string timing(const Report& report) {
  const std::vector<std::string>& methods = report.run_settings.timing_methods;
  std::string text = methods.empty() ? "nothing was timed" : joined(methods);
  if (!report.on_cpu && !methods.empty()) add_part(text, "L2 ", option(report.run, "l2"));
  if (report.on_cpu && !methods.empty()) text += " of the CPU, not a measure of a GPU's speed";
  std::string trusted;
  for (const auto& [kind, count] : report.run_settings.trust)
    add_part(trusted, "", fmt::format("{} {}", count, kind));
  return trusted.empty() ? text : text + "; trust: " + trusted;
}

std::string speedups(const Report& report) {
  if (report.on_cpu) return "";
  constexpr std::array<std::string_view, 4> kRelations{"faster", "slower", "same", "ambiguous"};
  std::array<std::int64_t, kRelations.size()> counts{};
  for (const std::size_t index : report.judged) {
    const Record& record = report.run.records[index];
    const Speedup* over = earned_speedup(report, record);
    if (over == nullptr) continue;
    for (std::size_t i = 0; i < kRelations.size(); ++i)
      counts[i] += relation_of(*over) == kRelations[i] ? 1 : 0;
  }
  std::string text;
  for (std::size_t i = 0; i < kRelations.size(); ++i)
    if (counts[i] > 0) add_part(text, "", fmt::format("{} {}", counts[i], kRelations[i]));
  return text;
}

/// The fractions of the device's limit that correct candidates reached.
std::string limits(const Report& report) {
  double least = 1, most = 0, logarithms = 0;
  std::int64_t count = 0;
  for (const std::size_t index : report.judged) {
    const Record& record = report.run.records[index];
    if (!record.sol || !record.sol->share || !(*record.sol->share > 0)) continue;
    const double share = *record.sol->share;
    least = std::min(least, share);
    most = std::max(most, share);
    logarithms += std::log(share);
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("{:.3g} to {:.3g} % of the device's limit, geometric mean {:.3g} % ({})",
                     least * 100, most * 100,
                     std::exp(logarithms / static_cast<double>(count)) * 100, count);
}

/// The measured rates of a copy and of matrix products on the GPUs, next to the GPUs' attributes.
std::string reached(const RunFile& run) {
  return of_headers(run, [](const RunHeader& header) {
    std::string text;
    const auto gpus = header.environment.find("gpus");
    if (gpus == header.environment.end() || !gpus->is_array()) return text;
    for (const json& gpu : *gpus) {
      const auto measured = gpu.find("measured");
      if (measured == gpu.end()) continue;
      try {
        const Peaks peaks = peaks_from_json(*measured);
        std::string of_gpu = fmt::format("a copy {:.4g} GB/s", peaks.memory_bytes_s / 1e9);
        if (const auto known = gpu.find("memory_gb_s"); known != gpu.end() && known->is_number())
          of_gpu += fmt::format(" of {:.4g}", known->get<double>());
        of_gpu += "; products, in TFLOP/s:";
        for (std::size_t type = 0; type < kFlopTypes; ++type)
          if (peaks.flops_s[type] > 0)
            of_gpu += fmt::format(" {} {:.3g}", to_string(static_cast<FlopType>(type)),
                                  peaks.flops_s[type] / 1e12);
        if (text.find(of_gpu) == std::string::npos) add_part(text, "", of_gpu);
      } catch (const Error&) {
        continue;  // written by another version of kbench
      }
    }
    return text;
  });
}

std::string inputs(const Report& report) {
  std::string text;
  if (const std::string trials = option(report.run, "trials"); !trials.empty()) {
    text = trials + " trials";
  }
  add_part(text, "",
           option(report.run, "seed") + (option(report.run, "seed").empty() ? "" : " seed"));
  return text;
}

}  // namespace

void add_part(std::string& list, std::string_view before, std::string_view text) {
  if (text.empty()) return;
  list += fmt::format("{}{}{}", list.empty() ? "" : ", ", before, text);
}

std::vector<std::pair<std::string, std::string>> run_summary(const Report& report) {
  const std::string selected = printable(report.options.select.text());
  std::vector<std::pair<std::string, std::string>> all = {
      {"selected", selected.empty() ? ""
                                    : selected + (report.options.select.lists_some()
                                                      ? " (filters of results choose what is "
                                                        "listed; metrics count all)"
                                                      : "")},
      {"device", device(report)},
      {"problems", problems(report)},
      {"left out", left_out(report)},
      {"sizes", sizes(report)},
      {"excluded", exclusions_text(report)},
      {"not judged", unsupported_text(report)},
      {"degenerate", degenerate_included_text(report)},
      {"judge", judges(report)},
      {"precision", precision(report)},
      {"baseline", baseline(report)},
      {"timing", timing(report)},
      {"speedups", speedups(report)},
      {"limit", limits(report)},
      {"measured", reached(report.run)},
      {"inputs", inputs(report)},
      {"sandbox", fmt::format("{}", fmt::join(report.run_settings.sandboxes, "; "))},
      {"kbench", version_text(report.run)},
      {"run", run_text(report.run)}};
  std::erase_if(all, [](const auto& fact) { return fact.second.empty(); });
  if (!report.options.verbose)
    for (auto& [label, text] : all) text = fitted(text, kLongestFact);
  return all;
}

std::vector<std::string> warnings(const RunFile& run) {
  std::vector<std::string> all;
  std::int64_t faults = 0;
  const Record* first_fault = nullptr;
  for (const Record& record : run.records) {
    if (record.outcome != Outcome::kHarnessFault) continue;
    ++faults;
    if (first_fault == nullptr) first_fault = &record;
  }
  if (first_fault != nullptr) {
    all.push_back(fmt::format(
        "{} of kbench itself, tried again by --resume; the first: {}, {} {}: {}",
        counted(faults, "fault"), printable(first_fault->problem.str()),
        printable(first_fault->model.str()), first_fault->sample, printable(first_fault->message)));
  }
  if (!run.ended) {
    all.emplace_back(
        "the run has not ended: it is going on, or was interrupted (--resume continues it)");
  }
  if (run.torn) all.emplace_back("the last line is cut off and was skipped");
  if (const auto& bad = run.bad_lines; !bad.empty()) {
    const auto shown = std::min<std::ptrdiff_t>(kNamedLines, std::ssize(bad));
    all.push_back(
        fmt::format("{} could not be read: {}{}", counted(std::ssize(bad), "line"),
                    printable(fmt::format("{}", fmt::join(bad.begin(), bad.begin() + shown, "; "))),
                    shown < std::ssize(bad) ? ", …" : ""));
  }
  if (const auto versions = versions_of(run); versions.size() > 1)
    all.push_back(
        fmt::format("these are runs of {} versions of kbench, which may judge differently: {}",
                    versions.size(), joined(versions)));
  if (const auto& conflicts = run.conflicts; !conflicts.empty()) {
    const auto shown = std::min<std::ptrdiff_t>(kNamedConflicts, std::ssize(conflicts));
    all.push_back(fmt::format(
        "{} between files, and the later file counts: {}{}",
        conflicts.size() == 1 ? "1 sample differs"
                              : fmt::format("{} samples differ", conflicts.size()),
        printable(fmt::format("{}", fmt::join(conflicts.begin(), conflicts.begin() + shown, "; "))),
        shown < std::ssize(conflicts) ? ", …" : ""));
  }
  return all;
}

}  // namespace kbench::report
