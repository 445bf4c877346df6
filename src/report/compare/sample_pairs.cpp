// SPDX-License-Identifier: MIT
#include "report/compare/sample_pairs.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "report/model/narrowed.hpp"

namespace kbench::report {
namespace {

constexpr int kFirst = std::numeric_limits<int>::min();

using Samples = std::vector<const JudgedSample*>;
using Files = std::vector<std::pair<const JudgedSample*, std::string_view>>;
using Ends = std::unordered_map<std::string_view, const JudgedSample*>;
using Pairs = std::unordered_map<const JudgedSample*, const JudgedSample*>;

/// The last `count` names of the path.
std::string_view end_of(std::string_view path, std::size_t count) {
  std::size_t slash = path.size();
  while (count-- > 0) {
    if (slash == 0) return path;
    slash = path.rfind('/', slash - 1);
    if (slash == path.npos) return path;
  }
  return path.substr(slash + 1);
}

/// Sample by the end of its file's path; nothing if two files have the same end.
std::optional<Ends> ends_of(const Files& files, std::size_t count) {
  Ends ends;
  for (const auto& [sample, path] : files)
    if (!ends.emplace(end_of(path, count), sample).second) return std::nullopt;
  return ends;
}

/// The samples that have a file, without those whose file the other run left out as unchanged.
Files files_of(const RunSamples& run, const Samples& samples, const RunSamples& other) {
  Files files;
  for (const JudgedSample* sample : samples)
    if (const std::string_view file = run.file(*sample);
        !file.empty() && !other.has_unchanged(file))
      files.emplace_back(sample, file);
  return files;
}

Pairs pair_files(const Files& base, const Files& other) {
  std::ptrdiff_t longest = 0;
  for (const Files* files : {&base, &other})
    for (const auto& [sample, path] : *files)
      longest = std::max(longest, std::ranges::count(path, '/') + 1);
  for (std::size_t count = 1; std::cmp_less_equal(count, longest); ++count) {
    const auto of_base = ends_of(base, count), of_other = ends_of(other, count);
    if (!of_base || !of_other) continue;
    Pairs pairs;
    for (const auto& [end, sample] : *of_base)
      if (const auto found = of_other->find(end); found != of_other->end())
        pairs.emplace(sample, found->second);
    return pairs;
  }
  return {};
}

/// The sample of that number; null if there is none, or if it is taken.
const JudgedSample* numbered(const Samples& samples, int number,
                             const std::unordered_set<const JudgedSample*>& taken) {
  const auto found = std::ranges::lower_bound(
      samples, number, {}, [](const JudgedSample* sample) { return sample->first.sample; });
  const bool is_free =
      found != samples.end() && (*found)->first.sample == number && !taken.contains(*found);
  return is_free ? *found : nullptr;
}

/// Adds the pairs of renamed files: files without a counterpart that have equal code.
void pair_renamed(const RunSamples& base, const Files& of_base, const RunSamples& other,
                  const Files& of_other, Pairs& pairs) {
  if (pairs.size() == of_base.size() || pairs.size() == of_other.size()) return;
  std::unordered_set<const JudgedSample*> taken;
  for (const auto& [sample, counterpart] : pairs) taken.insert(counterpart);
  std::multimap<std::string_view, const JudgedSample*> by_code;
  for (const auto& [sample, path] : of_other)
    if (!taken.contains(sample)) by_code.emplace(other.code(*sample), sample);
  for (const auto& [sample, path] : of_base) {
    const std::string_view code = base.code(*sample);
    if (code.empty() || pairs.contains(sample)) continue;
    const auto found = by_code.lower_bound(code);
    if (found == by_code.end() || found->first != code) continue;
    pairs.emplace(sample, found->second);
    by_code.erase(found);
  }
}

/// True if the two samples of one number may be paired by it.
bool may_share_number(const RunSamples& base, const JudgedSample& sample, const RunSamples& other,
                      const JudgedSample& counterpart) {
  const std::string_view file = base.file(sample), other_file = other.file(counterpart);
  if (other.has_unchanged(file) || base.has_unchanged(other_file)) return false;
  return file.empty() || other_file.empty() ||
         (!base.awaits(sample.first) && !other.awaits(sample.first));
}

/// Adds the counterparts of the base's samples of one problem and model.
void pair_group(const RunSamples& base, const Samples& of_base, const RunSamples& other,
                const Samples& of_other, Samples& counterparts) {
  const Files files = files_of(base, of_base, other), other_files = files_of(other, of_other, base);
  Pairs pairs = pair_files(files, other_files);
  const SampleKey& key = of_base.front()->first;
  const bool all_paired = pairs.size() == files.size();
  if (!all_paired && !base.awaits(key) && !other.awaits(key))
    pair_renamed(base, files, other, other_files, pairs);
  std::unordered_set<const JudgedSample*> taken;
  for (const auto& [sample, counterpart] : pairs) taken.insert(counterpart);
  for (const JudgedSample* sample : of_base) {
    const auto pair = pairs.find(sample);
    const JudgedSample* found =
        pair != pairs.end() ? pair->second : numbered(of_other, sample->first.sample, taken);
    if (pair == pairs.end() && found != nullptr && !may_share_number(base, *sample, other, *found))
      found = nullptr;
    counterparts.push_back(found);
  }
}

}  // namespace

bool SampleKey::operator<(const SampleKey& other) const {
  if (problem != other.problem) {
    if (natural_less(problem.str(), other.problem.str())) return true;
    if (natural_less(other.problem.str(), problem.str())) return false;
    return problem < other.problem;
  }
  return std::tie(model, sample) < std::tie(other.model, other.sample);
}

RunSamples::RunSamples(const RunFile& run, const std::pair<Interned, Interned>* renamed)
    : run_(run), renamed_(renamed), unchanged_(unchanged_candidates(run)) {
  std::unordered_map<std::string_view, const Record*> newest;  // by file
  for (const Record& record : run.records)
    if (!record.source && !record.candidate.empty()) newest[record.candidate] = &record;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& record = run.records[i];
    SampleKey key = key_of(record.problem, record.model, record.sample);
    const auto last = newest.find(record.candidate);
    if (last != newest.end() && !record.source && last->second->problem == record.problem &&
        last->second->model == record.model && last->second->sample != record.sample) {
      // A file before it came or went, and then the run was resumed.
      if (last->second->sample < record.sample) left_.insert(key);
      key.sample = last->second->sample;
    }
    auto& known = verdicts_[key];
    // If the sample was changed and run again, the last verdict is used.
    std::erase_if(known, [&](std::size_t earlier) {
      const Record& before = run.records[earlier];
      return std::tie(before.precision, before.device, before.judge) ==
             std::tie(record.precision, record.device, record.judge);
    });
    known.push_back(i);
  }
}

SampleKey RunSamples::key_of(const Interned& problem, const Interned& model, int sample) const {
  const bool is_renamed = renamed_ != nullptr && model == renamed_->first;
  return {problem, is_renamed ? renamed_->second : model, sample};
}

std::string_view RunSamples::file(const JudgedSample& sample) const {
  const Record& first = run_.records[sample.second.front()];
  // A candidate of standard input has a source in the run's details, and an id instead of a path.
  const bool is_one = std::ranges::all_of(sample.second, [&](std::size_t index) {
    const Record& record = run_.records[index];
    return !record.source && record.candidate == first.candidate;
  });
  return is_one ? std::string_view(first.candidate) : std::string_view();
}

std::string_view RunSamples::code(const JudgedSample& sample) const {
  return run_.records[sample.second.back()].candidate_hash;
}

std::vector<const JudgedSample*> RunSamples::of_same_group(const SampleKey& key) const {
  std::vector<const JudgedSample*> samples;
  for (auto sample = verdicts_.lower_bound({key.problem, key.model, kFirst});
       sample != verdicts_.end() && sample->first.is_beside(key); ++sample)
    samples.push_back(&*sample);
  return samples;
}

bool RunSamples::awaits(const SampleKey& key) const {
  if (!open_) {
    open_.emplace();
    for (const ManifestEntry& entry : run_.manifest) {
      const SampleKey planned = key_of(entry.problem, entry.model, entry.sample);
      if (!verdicts_.contains(planned) && !left_.contains(planned)) open_->insert(planned);
    }
  }
  const auto next = open_->lower_bound({key.problem, key.model, kFirst});
  return next != open_->end() && next->is_beside(key);
}

std::vector<const JudgedSample*> pair_samples(const RunSamples& base, const RunSamples& other) {
  Samples counterparts;
  for (auto sample = base.verdicts().begin(); sample != base.verdicts().end();) {
    const Samples of_base = base.of_same_group(sample->first);
    pair_group(base, of_base, other, other.of_same_group(sample->first), counterparts);
    std::advance(sample, of_base.size());
  }
  return counterparts;
}

}  // namespace kbench::report
