// SPDX-License-Identifier: MIT
#include "report/format/console_candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/model/observed.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kEnoughForNames = 40;  // problems and models stay distinguishable
constexpr std::size_t kLeastForNames = 20;
constexpr std::size_t kSample = 3, kTime = 9, kLimit = 5, kFactor = 7, kInterval = 11;
constexpr std::size_t kRemarksIndent = 8;

void add_remark(std::string& remarks, const std::string& remark) {
  if (!remark.empty()) remarks += (remarks.empty() ? "" : " ") + remark;
}

class CandidateLines {
 public:
  CandidateLines(const Report& report, ConsoleLines& out) : report_(report), out_(out) {
    bool several_models = false;
    for (const std::size_t index : report.candidates) {
      const Record& record = report.run.records[index];
      outcome_ = std::max(outcome_, columns(outcome_text(record.outcome)));
      problem_ = std::max(problem_, columns(printable(record.problem.str())));
      model_ = std::max(model_, columns(printable(record.model.str())));
      several_models = several_models || record.model != first().model;
    }
    gpu_ = estimated_gpu(report);
    estimate_ = gpu_.empty() ? 0 : std::max<std::size_t>(16, gpu_.size() + 9);
    limit_ = has_limits(report) ? kLimit : 0;
    interval_ = report.on_cpu ? 0 : kInterval;
    // If there is no room, the least useful columns go first.
    if (room() < std::min(kEnoughForNames, problem_ + model_)) estimate_ = 0;
    if (room() < std::min(kEnoughForNames, problem_ + model_)) limit_ = 0;
    if (room() < problem_ + model_ && !several_models) model_ = 0;
    if (room() < std::min(kLeastForNames, problem_ + model_)) interval_ = 0;
    const std::size_t names = std::max(room(), kLeastForNames / 2);
    if (problem_ + model_ > names) {
      model_ = std::min(model_, std::max(names / 3, names - std::min(names, problem_)));
      problem_ = names - model_;
    }
    problems_ = fitted_of(&Record::problem, problem_);
    models_ = fitted_of(&Record::model, model_);
  }

  void write() {
    if (out_.is_narrow()) {
      out_.heading("Candidates");
      for (const std::size_t index : report_.candidates) write_stacked(report_.run.records[index]);
      return;
    }
    out_.heading(line({.outcome = "Outcome",
                       .problem = "problem",
                       .model = "model",
                       .sample = "#",
                       .time = time_label(report_),
                       .estimate = "estimate " + gpu_,
                       .limit = "limit",
                       .factor = report_.on_cpu ? "" : "speedup over " + report_.baseline,
                       .interval = {}}));
    for (const std::size_t index : report_.candidates) write(report_.run.records[index]);
  }

 private:
  struct Cells {
    std::string outcome, problem, model, sample, time, estimate, limit, factor, interval;
  };

  const Record& first() const { return report_.run.records[report_.candidates.front()]; }

  /// Name → the name cut to `width`; different names stay different.
  std::map<Interned, std::string> fitted_of(Interned Record::*field, std::size_t width) const {
    std::map<Interned, std::string> texts;
    if (width == 0) return texts;
    for (const std::size_t index : report_.candidates)
      texts.emplace(report_.run.records[index].*field, "");
    std::vector<std::string> names;
    names.reserve(texts.size());
    for (const auto& [name, text] : texts) names.push_back(printable(name.str()));
    names = fitted_names(names, width);
    std::size_t i = 0;
    for (auto& [name, text] : texts) text = std::move(names[i++]);
    return texts;
  }

  /// The width that is left for problem and model.
  std::size_t room() const {
    const auto of = [](std::size_t width, std::size_t before) {
      return width == 0 ? 0 : width + before;
    };
    const std::size_t taken = outcome_ + 1 + (model_ > 0 ? 1 : 0) + 1 + kSample + 1 + kTime +
                              of(estimate_, 2) + of(limit_, 2) +
                              (report_.on_cpu ? 0 : 2 + kFactor) + of(interval_, 1);
    return out_.width() - std::min(out_.width(), taken);
  }

  std::string line(const Cells& cells) const {
    std::string text =
        padded(fitted(cells.outcome, outcome_), outcome_) + " " + padded(cells.problem, problem_);
    if (model_ > 0) text += " " + padded(cells.model, model_);
    text += " " + padded(cells.sample, kSample, true) + " " + padded(cells.time, kTime, true);
    if (estimate_ > 0) text += "  " + padded(cells.estimate, estimate_, true);
    if (limit_ > 0) text += "  " + padded(cells.limit, limit_, true);
    if (report_.on_cpu) return text;
    text += "  " + padded(cells.factor, kFactor, cells.factor.size() <= kFactor);
    if (interval_ > 0 && columns(cells.factor) <= kFactor)
      text += " " + padded(cells.interval, kInterval);
    return fitted(text, out_.width());
  }

  /// The same as a name and, below it, what is known.
  void write_stacked(const Record& record) {
    const Cells cells = cells_of(record);
    const bool correct = record.outcome == Outcome::kCorrect;
    out_.toned(correct ? Tone::kGood : Tone::kBad, cells.outcome);
    out_.labelled("", 2, candidate_name(record));
    std::string values;
    const auto add = [&](const std::string& label, const std::string& value) {
      if (!value.empty())
        values += fmt::format("{}{}{}{}", values.empty() ? "" : "; ", label,
                              label.empty() ? "" : ": ", value);
    };
    add(time_label(report_), cells.time);
    add("limit", cells.limit);
    add("estimate " + gpu_, cells.estimate);
    if (!report_.on_cpu) add("speedup over " + report_.baseline, cells.factor);
    add("", cells.interval);
    add("", report::remarks(record));
    if (!values.empty()) out_.labelled("", 4, values);
  }

  Cells cells_of(const Record& record) const {
    const bool correct = record.outcome == Outcome::kCorrect;
    const auto time = time_ms(record, "candidate");
    Cells cells{.outcome = outcome_text(record.outcome),
                .problem = {},
                .model = {},
                .sample = std::to_string(record.sample),
                .time = time ? duration(*time) : std::string(correct ? kNoValue : ""),
                .estimate = short_estimate(record),
                .limit = correct ? limit_text(record) : "",
                .factor = correct ? std::string(kNoValue) : "",
                .interval = {}};
    if (const Speedup* over = speedup_over(record, report_.baseline); over != nullptr) {
      cells.factor = factor(over->value);
      cells.interval = interval_text({.value = {}, .lo = over->lo, .hi = over->hi, .why_none = {}});
    }
    return cells;
  }

  void write(const Record& record) {
    const bool correct = record.outcome == Outcome::kCorrect;
    Cells cells = cells_of(record);
    cells.problem = problems_.at(record.problem);
    if (model_ > 0) cells.model = models_.at(record.model);
    std::string text = line(cells);
    std::string remarks = remarks_of(record, cells);
    // A candidate without a time has empty columns, so its remarks start after its sample number.
    if (cells.time.empty()) {
      text.resize(text.find_last_not_of(' ') + 1);
      text += ' ';
    }
    if (columns(text) + 1 + columns(remarks) <= out_.width()) {
      text += " " + remarks;
      remarks.clear();
    }
    const std::string label = fitted(cells.outcome, outcome_);
    text.replace(0, label.size(), out_.painted(correct ? Tone::kGood : Tone::kBad, label));
    out_.line(std::move(text));
    if (!remarks.empty()) out_.labelled("", kRemarksIndent, remarks);
  }

  /// The cells that have no column here, then the candidate's remarks.
  std::string remarks_of(const Record& record, const Cells& cells) const {
    std::string remarks;
    if (interval_ == 0 && !report_.on_cpu) add_remark(remarks, cells.interval);
    if (limit_ == 0 && record.sol && record.sol->share)
      add_remark(remarks, "limit " + limit_text(record));
    if (estimate_ == 0 && record.estimate)
      add_remark(remarks, fmt::format("estimate {} {}", gpu_, cells.estimate));
    add_remark(remarks, report::remarks(record));
    return remarks;
  }

  const Report& report_;
  ConsoleLines& out_;
  std::map<Interned, std::string> problems_, models_;  // name → printed name
  std::string gpu_;  // the GPU of the estimates; empty: no candidate has an estimate
  // Widths of columns; 0: the column is left out.
  std::size_t outcome_ = 7, problem_ = 7, model_ = 5, estimate_ = 0, limit_ = 0, interval_ = 0;
};

}  // namespace

void write_candidate_lines(const Report& report, ConsoleLines& out) {
  if (!report.candidates.empty()) CandidateLines(report, out).write();
}

}  // namespace kbench::report
