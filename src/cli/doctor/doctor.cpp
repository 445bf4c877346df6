// SPDX-License-Identifier: MIT
#include "cli/doctor/doctor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/format_option.hpp"

namespace kbench::cli {
namespace {

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kMissing:
      break;
  }
  return "missing";
}

std::string_view summary(const Verdict& can) {
  if (can.gpu) {
    return "kbench can run on the GPU and on the CPU.";
  }
  if (can.cpu) {
    return "kbench can run on the CPU (--device cpu), not on a GPU.";
  }
  return "kbench cannot run yet: follow the advice below each line marked missing.";
}

struct DoctorArguments {
  bool json = false;
  std::string probe;
};

int run(const DoctorArguments& options) {
  if (!options.probe.empty()) {
    std::cout << probe(options.probe).dump() << '\n';
    return 0;
  }
  const Machine machine = look_at_machine(std::filesystem::read_symlink("/proc/self/exe"));
  if (options.json) {
    std::cout << doctor_json(machine).dump(2) << '\n';
  } else {
    std::cout << doctor_text(machine);
  }
  const Verdict can = verdict(machine);
  return can.cpu || can.gpu ? 0 : 1;
}

}  // namespace

nlohmann::json doctor_json(const Machine& machine) {
  const Verdict can = verdict(machine);
  nlohmann::json checks = nlohmann::json::array();
  for (const Check& check : doctor_checks()) {
    const Finding finding = check.judge(machine);
    checks.push_back({{"name", check.name},
                      {"level", level_name(finding.level)},
                      {"found", finding.found},
                      {"advice", finding.advice}});
  }
  return {{"can_run", {{"cpu", can.cpu}, {"gpu", can.gpu}}}, {"checks", checks}};
}

std::string doctor_text(const Machine& machine) {
  std::string text;
  for (const Check& check : doctor_checks()) {
    const Finding finding = check.judge(machine);
    text += fmt::format("{:<8} {:<14} {}\n", level_name(finding.level), check.name, finding.found);
    if (!finding.advice.empty()) {
      text += fmt::format("{:<23} → {}\n", "", finding.advice);
    }
  }
  return text + fmt::format("\n{}\n", summary(verdict(machine)));
}

Subcommand add_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorArguments>();
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Report what this machine has, what is missing, and what to do about it");
  doctor->option_defaults()->group(group::kOutput);
  add_format_option(*doctor, options->json);
  // Hidden: doctor calls itself with this option, because a driver or compiler call may hang.
  doctor->add_option("--probe", options->probe)->group("");
  return {doctor, [options] { return run(*options); }};
}

}  // namespace kbench::cli
