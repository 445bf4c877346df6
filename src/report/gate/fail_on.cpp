// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "report/compare/compared_gate.hpp"
#include "report/gate/gate.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

using report::counted;
using report::named;

void look_for_cheats(const Report& report, std::vector<std::string>& sentences) {
  if (report.finished == 0)
    sentences.emplace_back("--fail-on cheat: the run has no verdict to check");
  std::vector<std::string> cheats;
  // All judged samples, not only the listed ones: a selection must not hide a cheat.
  for (const std::size_t index : report.judged) {
    const Record& record = report.run.records[index];
    if (record.outcome == Outcome::kCheat) cheats.push_back(report::candidate_name(record));
  }
  if (!cheats.empty())
    sentences.push_back(fmt::format(
        "{}: {}", counted(cheats.size(), "candidate") + (cheats.size() == 1 ? " cheats" : " cheat"),
        named(cheats)));
}

/// Adds a sentence for each kind of failure relative to the older run.
void hold_against(const report::ComparedView& view, const FailOn& fail_on, const std::string& older,
                  std::vector<std::string>& sentences) {
  std::vector<std::string> broken, slower;
  for (const ComparedSample& sample : view.pair.samples) {
    if (sample.change == Change::kBroken) {
      broken.push_back(report::sample_name(sample));
    } else if (sample.regression) {
      slower.push_back(report::sample_name(sample));
    }
  }
  const auto add = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty())
      sentences.push_back(fmt::format("{} {}, against {}: {}", counted(names.size(), "sample"),
                                      what, older, named(names)));
  };
  // A sample that is no longer correct fails both gates: new-failure and regression.
  add(broken, "no longer correct");
  add(report::unjudged_names(view), "without a verdict now, correct before");
  add(report::gone_names(view), "no longer planned, correct before");
  if (!fail_on.regression) return;
  add(slower, fmt::format("slower by more than {:g} %", *fail_on.regression * 100));
  if (const std::string why = report::why_nothing_compared(view, true); !why.empty())
    sentences.push_back(
        fmt::format("--fail-on regression: no time could be compared with {}: {}", older, why));
}

}  // namespace

void parse_fail_on(std::string_view argument, FailOn& fail_on) {
  if (argument == "cheat") {
    fail_on.cheat = true;
  } else if (argument == "new-failure") {
    fail_on.new_failure = true;
  } else if (argument.substr(0, argument.find('=')) == "regression") {
    fail_on.regression = parse_regression_gate(argument);
  } else {
    throw UsageError(
        fmt::format("there is no gate --fail-on {}; there are cheat, new-failure and "
                    "regression[=FRACTION]{}",
                    argument, did_you_mean(argument, {"cheat", "new-failure", "regression"})));
  }
}

void check_on_cpu(const FailOn& fail_on) {
  if (fail_on.regression)
    throw UsageError(
        "--fail-on regression needs the times of a GPU, and these are a CPU's: use --fail-on "
        "new-failure, which compares outcomes");
}

FailOnResult failed_on(const Report& report, const FailOn& fail_on, const ComparedRun* older) {
  FailOnResult result;
  if (report.on_cpu) check_on_cpu(fail_on);
  if (fail_on.cheat) look_for_cheats(report, result.sentences);
  if (!fail_on.needs_other()) return result;
  if (older == nullptr)
    throw UsageError(
        "--fail-on new-failure and --fail-on regression need --against OLD.jsonl, the run to "
        "compare with");
  ComparisonOptions options;
  if (fail_on.regression) options.regression = *fail_on.regression;
  std::vector<ComparedRun> runs(2);
  runs[0] = *older;
  // The older run gets the same selection; otherwise every sample that it leaves out would look
  // missing.
  report.options.select.apply(runs[0].run);
  runs[1] = {.name = "this run", .run = report.run};
  const Comparison comparison = build_comparison(std::move(runs), options);
  const report::ComparedView view{comparison, comparison.comparisons.front()};
  const std::string name = report::printable(older->name);
  if (const std::string why = report::why_nothing_compared(view, false); !why.empty()) {
    result.sentences.push_back(
        fmt::format("--fail-on {}: no sample of this run could be compared with {}: {}",
                    fail_on.new_failure ? "new-failure" : "regression", name, why));
    return result;
  }
  result.compared = report::compared_count(view, name);
  hold_against(view, fail_on, name, result.sentences);
  return result;
}

}  // namespace kbench
