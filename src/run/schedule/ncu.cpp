// SPDX-License-Identifier: MIT
#include "run/schedule/ncu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_tree.hpp"
#include "os/find_program.hpp"
#include "os/subprocess.hpp"
#include "run/devices.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Each section takes several more runs of the kernel.
constexpr const char* kSections[] = {
    "SpeedOfLight",   "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis",
    "SchedulerStats", "WarpStateStats",          "Occupancy",
    "LaunchStats"};
constexpr std::chrono::seconds kNcuLimit{180};
constexpr std::size_t kMaxText = 100'000;
constexpr std::size_t kTail = 600;

/// "reduce" of "void kernels::reduce<128, float>(const float*)".
std::string bare_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find_first_of("<("));
  const std::size_t start = kernel.find_last_of(": ");
  return std::string(start == std::string_view::npos ? kernel : kernel.substr(start + 1));
}

std::string tail_of(std::string_view text) {
  return std::string(text.substr(text.size() - std::min(text.size(), kTail)));
}

/// The command line of the traced kbench.
std::vector<std::string> judged_once(const fs::path& kbench, const QueueDevice& device,
                                     const Prepared& prepared, const fs::path& file,
                                     const fs::path& out) {
  std::vector<std::string> command{kbench.string(), "eval"};
  for (const std::string& word :
       {std::string("--candidate"), file.string(), std::string("--problem"),
        prepared.problem->path.string(), std::string("--device"), device.name,
        std::string("--precision"), prepared.record.precision.str(), std::string("--out"),
        out.string()})
    command.push_back(word);
  for (const auto& [name, value] : prepared.sizes)
    command.insert(command.end(), {"--set", fmt::format("{}={}", name, value)});
  if (prepared.record.judge == kEvalModeJudge) command.emplace_back("--eval-mode");
  for (const char* word : {"--trials", "1", "--no-distributions", "--timing", "none",
                           "--no-sandbox", "--quiet", "--timeout", "60"})
    command.emplace_back(word);
  return command;
}

}  // namespace

std::optional<fs::path> find_ncu() {
  if (const std::string named = environment_variable("KBENCH_NCU"); !named.empty())
    return find_program(named);
  if (auto found = find_program("ncu")) return found;
  return find_program("/usr/local/cuda/bin/ncu");
}

void profile_by_ncu(const fs::path& ncu, const fs::path& kbench, const QueueDevice& device,
                    const Prepared& prepared, int cancel_fd, json& details) {
  std::set<std::string> kernels;
  std::int64_t launches = 0;
  for (const KernelProfile& row : prepared.record.profile) {
    kernels.insert(bare_name(row.kernel));
    launches += static_cast<std::int64_t>(row.launches);
  }
  if (kernels.empty()) {
    details["ncu_failed"] = "kbench saw no kernel of the candidate";
    return;
  }
  const Candidate& candidate = *prepared.candidate;
  const PrivateFolder folder;
  const std::string name =
      candidate.kind == CandidateKind::kModule ? "candidate.py" : "candidate.cu";
  folder.write(name, candidate.source);
  for (const auto& [file, text] : candidate.files) folder.write(file, text);
  const fs::path log = folder.path() / "ncu.txt";
  SpawnOptions spawn;
  spawn.env = {{kHeldForUs, device.gpu ? device.gpu->uuid : ""}, {"NO_COLOR", "1"}};
  spawn.command = {ncu.string(),
                   "--target-processes",
                   "all",
                   "--log-file",
                   log.string(),
                   "--print-details",
                   "all",
                   "--kernel-name-base",
                   "function",
                   "--kernel-name",
                   fmt::format("regex:^({})$", fmt::join(kernels, "|")),
                   "--launch-count",
                   std::to_string(launches)};
  for (const char* section : kSections)
    spawn.command.insert(spawn.command.end(), {"--section", section});
  const auto command =
      judged_once(kbench, device, prepared, folder.path() / name, folder.path() / "run.jsonl");
  spawn.command.insert(spawn.command.end(), command.begin(), command.end());
  const CommandResult result = run_command(spawn, kNcuLimit, {}, 1u << 20, cancel_fd);
  if (result.cancelled) throw Cancelled{};
  std::string text = file_text(log);
  if (text.find("Section:") == std::string::npos) {
    details["ncu_failed"] =
        result.timed_out
            ? fmt::format("ncu took longer than {} s", kNcuLimit.count())
            : fmt::format("ncu exited with code {} and printed no section: {}", result.status.code,
                          tail_of(text + result.output + result.error));
    return;
  }
  // Nsight Compute's own messages precede the first kernel's sections.
  if (text.size() > kMaxText) text = text.substr(0, kMaxText) + "\n[cut off]\n";
  details["ncu"] = std::move(text);
}

}  // namespace kbench::run
