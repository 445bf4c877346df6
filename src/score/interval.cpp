// SPDX-License-Identifier: MIT
#include "score/interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace kbench::score {
namespace {

constexpr int kResamples = 2000;
constexpr std::size_t kLowRank = 50, kHighRank = kResamples - 1 - kLowRank;  // 2.5 and 97.5 %
constexpr std::uint64_t kSeed = 0x6b62656e6368;  // fixed: a repeated report has the same intervals
constexpr double kNormalQuantile = 1.959963984540054;  // 97.5 %

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014): one addition and a few mixes per 64 bits.
class Random {
 public:
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = kSeed;
};

/// Draws `n` of `n` problems with replacement and calls `visit(problem, lane)` for each. The lanes
/// 0 and 1 alternate, so that a caller may add up two sums, which the CPU adds in parallel.
template <typename Visit>
void resample(Random& random, std::uint64_t n, Visit visit) {
  std::uint64_t drawn = 0;
  for (; drawn + 1 < n; drawn += 2) {
    const std::uint64_t bits = random();
    visit(((bits >> 32) * n) >> 32, 0);
    visit(((bits & 0xffffffffu) * n) >> 32, 1);
  }
  if (drawn < n) visit(((random() >> 32) * n) >> 32, 0);
}

/// For each resample of the terms: the sum of numerators over the sum of denominators. Resamples
/// whose denominators sum to 0 are left out.
std::vector<double> resampled_ratios(std::span<const Term> terms) {
  Random random;
  std::vector<double> ratios;
  ratios.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    std::array<Term, 2> sums = {Term{0, 0}, Term{0, 0}};
    resample(random, terms.size(), [&](std::uint64_t problem, std::size_t lane) {
      sums[lane].numerator += terms[problem].numerator;
      sums[lane].denominator += terms[problem].denominator;
    });
    const double denominator = sums[0].denominator + sums[1].denominator;
    if (denominator > 0) ratios.push_back((sums[0].numerator + sums[1].numerator) / denominator);
  }
  return ratios;
}

/// Sets the interval to the percentiles of the ratios, which it reorders.
void set_interval(Estimate& estimate, std::vector<double>& ratios) {
  // Resamples may have been left out, so the ranks are scaled to their number.
  const auto at_rank = [&](std::size_t of_all) {
    const auto place =
        ratios.begin() + static_cast<std::ptrdiff_t>(of_all * ratios.size() / kResamples);
    std::ranges::nth_element(ratios, place);
    return *place;
  };
  estimate.lo = at_rank(kLowRank);
  estimate.hi = at_rank(kHighRank);
}

/// Sets Wilson's interval if all problems have the same value, as if none or all of them succeed:
/// all resamples are then equal.
void widen_if_equal(Estimate& estimate, std::size_t problems) {
  if (estimate.lo < estimate.hi) return;
  // (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
  const double p = *estimate.value;
  const double square = kNormalQuantile * kNormalQuantile / static_cast<double>(problems);
  const double half = std::sqrt(square * p * (1 - p) + square * square / 4);
  estimate.lo = p <= 0 ? 0 : (p + square / 2 - half) / (1 + square);
  estimate.hi = p >= 1 ? 1 : (p + square / 2 + half) / (1 + square);
}

}  // namespace

Estimate ratio(std::span<const Term> terms) {
  Term sum{.numerator = 0, .denominator = 0};
  for (const Term& term : terms) {
    sum.numerator += term.numerator;
    sum.denominator += term.denominator;
  }
  Estimate estimate;
  estimate.value = sum.numerator / sum.denominator;
  std::vector<double> ratios = resampled_ratios(terms);
  set_interval(estimate, ratios);
  return estimate;
}

Estimate fraction(std::span<const Term> terms) {
  Estimate estimate = ratio(terms);
  widen_if_equal(estimate, terms.size());
  return estimate;
}

std::vector<Estimate> fractions_by_step(std::span<const std::size_t> successes, std::size_t steps) {
  const auto problems = static_cast<double>(successes.size());
  // ends[i]: the number of problems that succeed at exactly the first i steps.
  std::vector<std::size_t> ends(steps + 1);
  const auto fractions_of = [&](auto put) {
    std::size_t fewer = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      fewer += ends[step];
      put(step, static_cast<double>(successes.size() - fewer) / problems);
    }
  };
  std::vector<Estimate> estimates(steps);
  for (const std::size_t last : successes) ++ends[last];
  fractions_of([&](std::size_t step, double value) { estimates[step].value = value; });
  std::vector<std::vector<double>> ratios(steps);
  for (std::vector<double>& of_step : ratios) of_step.reserve(kResamples);
  Random random;
  for (int i = 0; i < kResamples; ++i) {
    std::ranges::fill(ends, 0u);
    resample(random, successes.size(),
             [&](std::uint64_t problem, std::size_t) { ++ends[successes[problem]]; });
    fractions_of([&](std::size_t step, double value) { ratios[step].push_back(value); });
  }
  for (std::size_t step = 0; step < steps; ++step) {
    set_interval(estimates[step], ratios[step]);
    widen_if_equal(estimates[step], successes.size());
  }
  return estimates;
}

}  // namespace kbench::score
