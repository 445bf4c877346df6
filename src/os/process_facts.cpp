// SPDX-License-Identifier: MIT
#include "os/process_facts.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.hpp"

namespace kbench {

std::optional<ProcessFacts> process_facts(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  // The process's name in front of it may contain any character, even ")".
  const auto after = line.rfind(')');
  if (after == std::string::npos) return std::nullopt;
  ProcessFacts facts;
  facts.pid = pid;
  unsigned long long user = 0, system = 0, user_of_children = 0, system_of_children = 0;
  const int read = std::sscanf(line.c_str() + after + 1,
                               " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
                               &facts.state, &facts.parent, &facts.group, &facts.session, &user,
                               &system, &user_of_children, &system_of_children);
  if (read != 8) return std::nullopt;
  facts.ticks = user + system + user_of_children + system_of_children;
  return facts;
}

std::vector<ProcessFacts> running_processes() {
  std::vector<ProcessFacts> processes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = to_number<pid_t>(entry.path().filename().native());
    if (!pid) continue;
    if (const auto facts = process_facts(*pid)) processes.push_back(*facts);
  }
  return processes;
}

}  // namespace kbench
