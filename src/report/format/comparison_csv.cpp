// SPDX-License-Identifier: MIT
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "report/compare/compared_text.hpp"
#include "report/format/comparison_formats.hpp"
#include "report/format/csv_row.hpp"

namespace kbench::report {
namespace {

/// A row: a sample of both runs, or of only one.
struct Row {
  ComparedView view;
  const ComparedSample* both = nullptr;
  const UnmatchedSample* one = nullptr;

  /// The record of the base or of the other run; null if that run has none.
  const Record* record(bool base) const {
    if (both != nullptr) return base ? &view.base_record(*both) : &view.other_record(*both);
    if (one->in_base != base) return nullptr;
    return &(base ? view.base() : view.other()).run.records[one->record];
  }
};

struct ComparisonColumn {
  std::string_view name;
  void (*append)(Buffer& row, const Row& from);
};

template <bool Base, auto Field>
void sample_text_of(Buffer& row, const Row& from) {
  if (const Record* record = from.record(Base)) append_text(row, (record->*Field).str());
}

template <bool Base>
void outcome_of(Buffer& row, const Row& from) {
  if (const Record* record = from.record(Base)) append_text(row, to_string(record->outcome));
}

template <bool Base>
void limit_share_of(Buffer& row, const Row& from) {
  const Record* record = from.record(Base);
  if (record != nullptr && record->sol) append_number(row, record->sol->share);
}

const Record& any_record(const Row& from) {
  const Record* base = from.record(true);
  return base != nullptr ? *base : *from.record(false);
}

template <auto Field>
void number_of(Buffer& row, const Row& from) {
  append_number(row, any_record(from).*Field);
}

constexpr std::array kComparisonColumns = {
    ComparisonColumn{
        "run", [](Buffer& row, const Row& from) { append_text(row, from.view.other().label); }},
    ComparisonColumn{
        "file", [](Buffer& row, const Row& from) { append_text(row, from.view.other().name); }},
    ComparisonColumn{
        "problem",
        [](Buffer& row, const Row& from) { append_text(row, any_record(from).problem.str()); }},
    ComparisonColumn{"level", number_of<&Record::level>},
    ComparisonColumn{"base_model", sample_text_of<true, &Record::model>},
    ComparisonColumn{"other_model", sample_text_of<false, &Record::model>},
    ComparisonColumn{"sample", number_of<&Record::sample>},
    ComparisonColumn{"other_sample",
                     [](Buffer& row, const Row& from) {
                       if (const Record* other = from.record(false))
                         append_number(row, other->sample);
                     }},
    ComparisonColumn{"change",
                     [](Buffer& row, const Row& from) {
                       append_text(row,
                                   from.both != nullptr
                                       ? changes()[static_cast<std::size_t>(from.both->change)].name
                                   : from.one->in_base ? "only_in_base"
                                                       : "only_in_other");
                     }},
    ComparisonColumn{"regression",
                     [](Buffer& row, const Row& from) {
                       if (from.both != nullptr) append_number(row, from.both->regression ? 1 : 0);
                     }},
    ComparisonColumn{"reason",
                     [](Buffer& row, const Row& from) {
                       if (from.both != nullptr) append_text(row, from.both->reason);
                       if (from.one != nullptr && from.one->planned)
                         append_text(row, "no verdict there yet");
                       if (from.one != nullptr && from.one->unchanged)
                         append_text(row, "unchanged, so not judged there");
                     }},
    ComparisonColumn{"basis",
                     [](Buffer& row, const Row& from) {
                       if (from.both != nullptr) append_text(row, basis_text(*from.both));
                     }},
    ComparisonColumn{"base_outcome", outcome_of<true>},
    ComparisonColumn{"base_cause", sample_text_of<true, &Record::cause>},
    ComparisonColumn{"other_outcome", outcome_of<false>},
    ComparisonColumn{"other_cause", sample_text_of<false, &Record::cause>},
    ComparisonColumn{"base_device", sample_text_of<true, &Record::device>},
    ComparisonColumn{"other_device", sample_text_of<false, &Record::device>},
    ComparisonColumn{"base_limit_share", limit_share_of<true>},
    ComparisonColumn{"other_limit_share", limit_share_of<false>},
    ComparisonColumn{"base_precision", sample_text_of<true, &Record::precision>},
    ComparisonColumn{"other_precision", sample_text_of<false, &Record::precision>},
};

/// Three fields: value, lo, hi.
void append_measured(Buffer& row, const Measured* measured) {
  row.push_back(',');
  if (measured != nullptr) append_number(row, std::optional(measured->value));
  row.push_back(',');
  if (measured != nullptr) append_number(row, measured->lo);
  row.push_back(',');
  if (measured != nullptr) append_number(row, measured->hi);
}

const Measured* compared(const ComparedSample* sample,
                         std::optional<Measured> ComparedSample::*field) {
  return sample != nullptr && sample->*field ? &*(sample->*field) : nullptr;
}

void append_row(Buffer& buffer, const Row& from, const std::vector<Interned>& baselines) {
  for (const ComparisonColumn& column : kComparisonColumns) {
    if (buffer.size() > 0) buffer.push_back(',');
    column.append(buffer, from);
  }
  append_measured(buffer, compared(from.both, &ComparedSample::base_ms));
  append_measured(buffer, compared(from.both, &ComparedSample::other_ms));
  append_measured(buffer, compared(from.both, &ComparedSample::time_ratio));
  for (const Interned& baseline : baselines) {
    const ComparedBaseline* shared = nullptr;
    if (from.both != nullptr)
      for (const ComparedBaseline& entry : from.both->baselines)
        if (entry.baseline == baseline) shared = &entry;
    for (const auto field :
         {&ComparedBaseline::base, &ComparedBaseline::other, &ComparedBaseline::ratio})
      append_measured(buffer, shared == nullptr ? nullptr : &(shared->*field));
  }
}

void append_titles(Buffer& buffer, const std::vector<Interned>& baselines) {
  for (const ComparisonColumn& column : kComparisonColumns) {
    if (buffer.size() > 0) buffer.push_back(',');
    buffer.append(column.name);
  }
  const auto add = [&](const std::string& name, std::string_view unit) {
    for (const char* end : {"", "_lo", "_hi"}) {
      buffer.push_back(',');
      append_text(buffer, name + std::string(unit) + end);
    }
  };
  add("base", "_ms");
  add("other", "_ms");
  add("time_ratio", "");
  for (const Interned& baseline : baselines)
    for (const char* side : {"base_speedup_", "other_speedup_", "speedup_ratio_"})
      add(side + baseline.str(), "");
}

}  // namespace

void write_comparison_csv(const Comparison& comparison, std::ostream& out) {
  const std::vector<Interned> baselines = shared_baselines(comparison);
  Buffer buffer;
  const auto flush = [&] { write_row(buffer, out); };
  append_titles(buffer, baselines);
  flush();
  for (const RunComparison& pair : comparison.comparisons) {
    const ComparedView view{comparison, pair};
    for (const ComparedSample& sample : pair.samples) {
      if (!sample.listed) continue;
      append_row(buffer, {.view = view, .both = &sample}, baselines);
      flush();
    }
    for (const UnmatchedSample& sample : pair.unmatched) {
      if (!sample.listed) continue;
      append_row(buffer, {.view = view, .one = &sample}, baselines);
      flush();
    }
  }
}

}  // namespace kbench::report
