// SPDX-License-Identifier: MIT
#include "worker/device/cpu_executor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "kbench/error.hpp"
#include "kbench/ptx.hpp"

namespace kbench::worker {
namespace {

struct FaultRow {
  ptx::FaultKind kind;
  Outcome outcome;
  std::string_view cause;
};

/// The failure that a GPU gives for each fault of the executor.
constexpr FaultRow kFaults[] = {
    {ptx::FaultKind::kIllegalWrite, Outcome::kIllegalWrite, "out_of_bounds_write"},
    {ptx::FaultKind::kIllegalRead, Outcome::kCrash, "out_of_bounds_read"},
    {ptx::FaultKind::kIllegalAddress, Outcome::kCrash, "illegal_address"},
    {ptx::FaultKind::kMisaligned, Outcome::kCrash, "misaligned_address"},
    {ptx::FaultKind::kTrap, Outcome::kCrash, "trap"},
    {ptx::FaultKind::kDeadlock, Outcome::kTimeout, "deadlock"},
    {ptx::FaultKind::kBadLaunch, Outcome::kCrash, "invalid_launch"},
    {ptx::FaultKind::kUnsupported, Outcome::kUnsupported, "unsupported_instruction"},
    {ptx::FaultKind::kDeadline, Outcome::kTimeout, "execution_limit"},
    {ptx::FaultKind::kBudget, Outcome::kTimeout, "instruction_limit"},
};

}  // namespace

CandidateFailure failure_of(const ptx::Fault& fault, std::span<const KernelTensor> tensors) {
  for (const auto& row : kFaults) {
    if (row.kind != fault.kind) continue;
    std::string cause(row.cause);
    const auto tensor = std::find_if(tensors.begin(), tensors.end(),
                                     [&](const auto& t) { return t.name == fault.region; });
    if (row.outcome == Outcome::kIllegalWrite && tensor != tensors.end() && !tensor->writable &&
        fault.offset_bytes >= 0 &&
        fault.offset_bytes < static_cast<std::int64_t>(tensor->size_bytes))
      cause = "input_written";
    return {row.outcome, cause, fault.message};
  }
  throw Error(fmt::format("the executor reported a fault of unknown kind: {}", fault.message));
}

ptx::Options executor_options(const Watch& watch, std::uint64_t seed) {
  ptx::Options options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  options.schedule_seed = seed;
  options.print = [](std::string_view text) {
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, text.data(), text.size());
  };
  options.sanitize = watch.sanitize;
  options.count = watch.count;
  options.max_instructions = watch.max_instructions;
  options.deadline = watch.deadline;
  return options;
}

LaunchReport report_of(ptx::Result& result) {
  LaunchReport report;
  report.read_clock = result.statistics.read_clock;
  report.counters = result.statistics.counters;
  report.findings = std::move(result.findings);
  if (!result.fault) return report;
  const bool told = std::ranges::any_of(report.findings, [](const ptx::Finding& finding) {
    return finding.kind == ptx::FindingKind::kFault;
  });
  if (told) return report;
  ptx::Finding finding;
  static_cast<ptx::Site&>(finding) = *result.fault;
  finding.message = result.fault->message;
  report.findings.push_back(std::move(finding));
  return report;
}

ptx::Module load_ptx(std::string_view image) {
  auto loaded = ptx::load_lazily(image);
  if (auto* unsupported = std::get_if<ptx::Unsupported>(&loaded))
    throw CandidateFailure{Outcome::kUnsupported, "unsupported_instruction", unsupported->message};
  return std::get<ptx::Module>(std::move(loaded));
}

}  // namespace kbench::worker
