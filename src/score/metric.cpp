// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "kbench/metrics.hpp"
#include "score/interval.hpp"

namespace kbench {
namespace {

using score::fraction;
using score::ratio;
using score::Term;

Estimate none(std::string why) {
  Estimate result;
  result.why_none = std::move(why);
  return result;
}

/// e to the power of the value and of the interval's ends.
Estimate exponential(Estimate of) {
  for (std::optional<double>* logarithm : {&of.value, &of.lo, &of.hi})
    *logarithm = std::exp(**logarithm);
  return of;
}

Estimate share_of_firsts(std::span<const ProblemSamples> problems,
                         const std::function<bool(const SampleResult&)>& success) {
  std::vector<Term> terms;
  for (const ProblemSamples& problem : problems) {
    if (problem.first_excluded || problem.samples.empty()) continue;
    terms.push_back({.numerator = success(problem.samples[0]) ? 1.0 : 0.0});
  }
  if (terms.empty()) return none("no problems");
  return fraction(terms);
}

/// True if `counts` holds for at least one first sample, and `known` for none of those.
bool none_of_firsts(std::span<const ProblemSamples> problems, bool (*counts)(const SampleResult&),
                    bool (*known)(const SampleResult&)) {
  bool any = false;
  for (const ProblemSamples& problem : problems) {
    if (problem.first_excluded || problem.samples.empty() || !counts(problem.samples[0])) continue;
    if (known(problem.samples[0])) return false;
    any = true;
  }
  return any;
}

bool exceeds(const std::optional<double>& speedup, double p) { return speedup && *speedup > p; }

/// True if the sample is correct and has a counted speedup above p.
bool earns(const SampleResult& sample, double p) {
  return sample.correct && sample.computes && exceeds(sample.speedup, p);
}

bool fast(const SampleResult& sample, double p) {
  return p <= 0 ? sample.correct : earns(sample, p);
}

constexpr double kJustAboveZero = 1e-6;  // below any speedup
constexpr std::size_t kMostSteps = 1000;

/// `all_p` if there are few; else of those within a kMostSteps-th of the range only the largest, so
/// that a chart of ten thousand problems stays quick. Its curve is then off by less than a pixel.
std::vector<double> thinned(std::vector<double> all_p) {
  if (all_p.size() <= kMostSteps) return all_p;
  const double least = (all_p.back() - all_p.front()) / kMostSteps;
  std::vector<double> kept;
  double start = all_p.front();
  for (const double p : all_p) {
    if (kept.size() > 1 && p - start < least) {
      kept.back() = p;
    } else {
      kept.push_back(start = p);
    }
  }
  return kept;
}

/// 1 − C(n−c, k)/C(n, k), as a product of factors near 1, because the binomials overflow.
double unbiased_pass(std::size_t n, std::size_t c, std::size_t k) {
  if (n - c < k) return 1;
  double all_fail = 1;
  for (std::size_t i = n - c + 1; i <= n; ++i) {
    all_fail *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - all_fail;
}

std::string too_few_samples(std::span<const ProblemSamples> problems, std::size_t k) {
  constexpr std::size_t kNamed = 3;
  std::string names;
  std::size_t count = 0;
  for (const ProblemSamples& problem : problems) {
    if (problem.samples.empty() || problem.samples.size() >= k) continue;
    if (++count > kNamed) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", problem.problem,
                         problem.samples.size());
  }
  if (count == 0) return {};
  if (count > kNamed) names += fmt::format(" and {} more", count - kNamed);
  return fmt::format("fewer than {} judged samples of {}", k, names);
}

Estimate share_at_k(std::span<const ProblemSamples> problems, int k,
                    const std::function<bool(const SampleResult&)>& success) {
  if (k < 1) throw UsageError(fmt::format("k = {} is not a number of samples: use 1 or more", k));
  const auto draws = static_cast<std::size_t>(k);
  if (std::string why = too_few_samples(problems, draws); !why.empty()) return none(std::move(why));
  std::vector<Term> terms;
  for (const ProblemSamples& problem : problems) {
    if (problem.samples.empty()) continue;
    const auto good = static_cast<std::size_t>(std::ranges::count_if(problem.samples, success));
    terms.push_back({.numerator = unbiased_pass(problem.samples.size(), good, draws)});
  }
  if (terms.empty()) return none("no problems");
  return fraction(terms);
}

/// Expected largest of `draws` values, drawn without replacement. Of the C(n, draws) possible
/// draws, the i-th smallest of n values is the largest in C(i−1, draws−1).
double expected_best(std::vector<double> values, std::size_t draws) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  const auto k = static_cast<double>(draws);
  double weight = k / n, sum = 0;
  for (std::size_t i = values.size(); i >= draws; --i) {
    sum += weight * values[i - 1];
    if (i == draws) break;
    const auto at = static_cast<double>(i);
    weight *= (at - k) / (at - 1);
  }
  return sum;
}

}  // namespace

Estimate fast_p(std::span<const ProblemSamples> problems, double p) {
  return share_of_firsts(problems, [p](const SampleResult& sample) { return fast(sample, p); });
}

std::vector<FastPStep> fast_p_steps(std::span<const ProblemSamples> problems, double most) {
  std::vector<const SampleResult*> firsts;
  for (const ProblemSamples& problem : problems)
    if (!problem.first_excluded && !problem.samples.empty()) firsts.push_back(&problem.samples[0]);
  if (firsts.empty()) return {};
  std::set<double> all_p = {0, most};
  for (const SampleResult* first : firsts) {
    if (!first->correct) continue;
    // fast_0 counts a correct sample without a counted speedup; no p above 0 does.
    const double p = earns(*first, 0) ? *first->speedup : kJustAboveZero;
    if (p < most) all_p.insert(p);
  }
  const std::vector<double> steps = thinned({all_p.begin(), all_p.end()});
  std::vector<std::size_t> successes;
  for (const SampleResult* first : firsts) {
    const auto end = std::ranges::find_if(steps, [&](double p) { return !fast(*first, p); });
    successes.push_back(static_cast<std::size_t>(end - steps.begin()));
  }
  const std::vector<Estimate> values = score::fractions_by_step(successes, steps.size());
  std::vector<FastPStep> curve;
  for (std::size_t i = 0; i < steps.size(); ++i)
    curve.push_back({.p = steps[i], .value = values[i]});
  return curve;
}

Estimate fast_p_ci(std::span<const ProblemSamples> problems, double p) {
  if (p > 0 && none_of_firsts(
                   problems, [](const SampleResult& sample) { return sample.speedup.has_value(); },
                   [](const SampleResult& sample) { return sample.speedup_lo.has_value(); }))
    return none("the speedups have no intervals");
  return share_of_firsts(problems, [p](const SampleResult& sample) {
    return sample.correct && (p <= 0 || (sample.computes && exceeds(sample.speedup_lo, p)));
  });
}

Estimate fast_p_own(std::span<const ProblemSamples> problems, double p) {
  if (none_of_firsts(
          problems, [](const SampleResult& sample) { return sample.correct; },
          [](const SampleResult& sample) { return sample.own.has_value(); }))
    return none("no record says whose kernels ran");
  return share_of_firsts(problems, [p](const SampleResult& sample) {
    return sample.own.value_or(false) && fast(sample, p);
  });
}

Estimate pass_at_k(std::span<const ProblemSamples> problems, int k) {
  return share_at_k(problems, k, [](const SampleResult& sample) { return sample.correct; });
}

Estimate fast_p_at_k(std::span<const ProblemSamples> problems, double p, int k) {
  return share_at_k(problems, k, [p](const SampleResult& sample) { return fast(sample, p); });
}

GeometricMean geometric_mean(std::span<const ProblemSamples> problems) {
  GeometricMean mean;
  std::vector<Term> terms;
  for (const ProblemSamples& problem : problems) {
    if (problem.first_excluded || problem.samples.empty()) continue;
    const SampleResult& first = problem.samples[0];
    // Problems without a speedup stay among the terms, because their number is uncertain too.
    if (earns(first, 0)) {
      terms.push_back({.numerator = std::log(*first.speedup)});
      ++mean.count;
    } else {
      terms.push_back({.numerator = 0, .denominator = 0});
    }
  }
  if (mean.count == 0) {
    mean.estimate = none("no correct sample with a speedup");
  } else {
    mean.estimate = exponential(ratio(terms));
  }
  return mean;
}

Estimate geometric_mean_of_all(std::span<const ProblemSamples> problems) {
  std::vector<Term> terms;
  bool any = false;
  for (const ProblemSamples& problem : problems) {
    if (problem.first_excluded || problem.samples.empty()) continue;
    const SampleResult& first = problem.samples[0];
    const bool counts = earns(first, 0);
    any = any || counts;
    terms.push_back({.numerator = counts ? std::log(*first.speedup) : 0});
  }
  if (!any) return none("no correct sample with a speedup");
  return exponential(ratio(terms));
}

Estimate best_of_k(std::span<const ProblemSamples> problems, int k) {
  if (k < 1) throw UsageError(fmt::format("k = {} is not a number of samples: use 1 or more", k));
  const auto draws = static_cast<std::size_t>(k);
  if (std::string why = too_few_samples(problems, draws); !why.empty()) return none(std::move(why));
  std::vector<Term> terms;
  bool any = false;
  for (const ProblemSamples& problem : problems) {
    if (problem.samples.empty()) continue;
    std::vector<double> logs;
    for (const SampleResult& sample : problem.samples) {
      any = any || (sample.correct && sample.computes && sample.speedup);
      logs.push_back(earns(sample, 1) ? std::log(*sample.speedup) : 0);
    }
    terms.push_back({.numerator = expected_best(std::move(logs), draws)});
  }
  if (!any) return none("no correct sample with a speedup");
  return exponential(ratio(terms));
}

Estimate share_correct(std::span<const ProblemSamples> problems) {
  std::vector<Term> terms;
  for (const ProblemSamples& problem : problems) {
    if (problem.samples.empty()) continue;
    const auto right = std::ranges::count(problem.samples, true, &SampleResult::correct);
    terms.push_back({.numerator = static_cast<double>(right),
                     .denominator = static_cast<double>(problem.samples.size())});
  }
  if (terms.empty()) return none("no problems");
  return fraction(terms);
}

Estimate share_allclose(std::span<const ProblemSamples> problems, double t) {
  // A sample without outputs to compare does not show if the judge computes allclose_at.
  const auto gave = [](const SampleResult& s) {
    return !s.allclose_at || *s.allclose_at < HUGE_VAL;
  };
  const auto compared = [](const SampleResult& s) { return s.allclose_at.has_value(); };
  if (none_of_firsts(problems, gave, compared))
    return none("no record has a comparison with tolerances");
  return share_of_firsts(problems, [t](const SampleResult& sample) {
    return sample.allclose_at && *sample.allclose_at <= t;
  });
}

}  // namespace kbench
