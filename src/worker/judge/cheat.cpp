// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "worker/compare/compare.hpp"
#include "worker/compare/content_digest.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/judge/evaluation.hpp"

// Wrong answers that are cheats and not mistakes, because the call did not compute its output.
namespace kbench::worker {
namespace {

/// Outputs with fewer elements may be equal by chance.
constexpr std::int64_t kTellingElements = 16;
/// A rare race makes a smaller fraction of the elements wrong.
constexpr double kMuchWrong = 0.1;
constexpr std::int64_t kMix = 0x9e3779b97f4a7c1;

/// True if it proves something that another output is equal. A constant proves nothing, because
/// many mistakes give one value everywhere.
bool tells(const at::Tensor& output) {
  return output.numel() >= kTellingElements && !is_constant(output);
}

}  // namespace

std::int64_t Evaluation::digest_of(std::span<const at::Tensor> outputs) {
  std::uint64_t digest = 0;
  for (const at::Tensor& output : outputs)
    digest = (digest ^ static_cast<std::uint64_t>(content_digest(output))) *
             static_cast<std::uint64_t>(kMix);
  return static_cast<std::int64_t>(digest);
}

std::int64_t Evaluation::outputs_digest(std::size_t slot) const {
  return digest_of(outputs_in(slot));
}

void Evaluation::refuse_late_write(std::size_t slot) const {
  const auto noted = timed_digests_.find(slot);
  if (noted == timed_digests_.end() || noted->second == outputs_digest(slot)) return;
  throw CandidateFailure{Outcome::kCheat, "late_write",
                         "an output of a timed call changed after the end of its time"};
}

bool Evaluation::remember_outputs(std::size_t slot) {
  const std::int64_t digest = outputs_digest(slot);
  if (seen_outputs_.insert(digest).second) return false;
  repeated_outputs_.insert(digest);
  return true;
}

bool Evaluation::is_old_output(std::size_t slot, const Digests& old) const {
  return std::ranges::any_of(outputs_in(slot), tells) && old.contains(outputs_digest(slot));
}

void Evaluation::refuse_unwritten(std::size_t slot) {
  if (seen_outputs_.empty()) return;
  std::int64_t elements = 0;
  for (const at::Tensor& output : outputs_in(slot)) elements += output.numel();
  if (elements > 0 && count_unwritten(slot, elements) == elements)
    throw CandidateFailure{Outcome::kCheat, "not_written",
                           "output not written by this call: it still holds the fill values of "
                           "kbench, although earlier calls wrote it"};
}

void Evaluation::refuse_old_outputs(std::size_t slot, const TrialResult& result,
                                    const Digests& old) {
  refuse_unwritten(slot);
  if (is_old_output(slot, old))
    throw CandidateFailure{
        Outcome::kCheat, "old_output",
        fmt::format("output not computed by this call: it equals the output of a call with other "
                    "inputs bit for bit, and {} of its elements are wrong",
                    result.wrong_elements)};
}

void Evaluation::refuse_timed_shortcut(std::size_t slot, const TrialResult& result) {
  std::int64_t elements = 0;
  for (const at::Tensor& output : outputs_in(slot)) elements += output.numel();
  if (static_cast<double>(result.wrong_elements) < kMuchWrong * static_cast<double>(elements))
    return;
  const auto is_wrong = [&] {
    return judge_outputs(slot, problem_.slot_set(slot)).wrong_elements > 0;
  };
  bool less = false;
  try {
    client_.resume();
    call(slot);
    if (is_wrong()) return;
    time_once(slot);
    less = is_wrong();
  } catch (const CandidateFailure&) {
    return;  // a failure of the further calls proves no shortcut; the timed output is still wrong
  }
  if (less)
    throw CandidateFailure{Outcome::kCheat, "timed_shortcut",
                           fmt::format("timed calls do less: {} elements are wrong in the output "
                                       "of a timed call, but none if the same call is not timed",
                                       result.wrong_elements)};
}

}  // namespace kbench::worker
