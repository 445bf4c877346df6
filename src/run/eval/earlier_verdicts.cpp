// SPDX-License-Identifier: MIT
#include "run/eval/earlier_verdicts.hpp"

#include "run/eval/verdicts.hpp"

namespace kbench::run {

EarlierVerdicts::EarlierVerdicts(const std::filesystem::path& file)
    : run_(read_run(file)), details_(run_) {
  const auto resumable = resumable_keys(run_);
  for (std::size_t i = 0; i < run_.records.size(); ++i)
    if (resumable.contains(record_key(run_.records[i])))
      places_.emplace(Verdicts::key_of(run_.records[i]), i);  // the first was judged, not copied
}

std::optional<EarlierVerdict> EarlierVerdicts::find(const Record& blank) const {
  const auto found = places_.find(Verdicts::key_of(blank));
  if (found == places_.end()) return std::nullopt;
  const Record& record = run_.records[found->second];
  if (details_.line(record).is_null()) return std::nullopt;
  std::string why_none;
  nlohmann::json details = details_.details(record, why_none);
  return EarlierVerdict{.record = reused(details_.whole(record), blank),
                        .details = std::move(details)};
}

}  // namespace kbench::run
