// SPDX-License-Identifier: MIT
#include "report/model/setting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/model/facts.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

std::string field(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : plain(*found);
}

/// The sandbox of the candidates' processes.
std::string cage(const RunHeader& header) {
  const auto cage = header.environment.find("cage");
  if (cage == header.environment.end()) return {};
  if (!cage->is_object()) return plain(*cage);
  const auto lacks = cage->find("lacks");
  std::vector<std::string> missing;
  if (lacks != cage->end() && lacks->is_array())
    for (const json& part : *lacks) missing.push_back(plain(part));
  return missing.empty() ? "complete" : fmt::format("without {}", fmt::join(missing, ", "));
}

std::vector<std::string> names_of(const std::set<Interned>& names) {
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const Interned& name : names) texts.push_back(name.str());
  return texts;
}

}  // namespace

Setting setting_of(const Report& report) {
  Setting setting;
  const RunFile& run = report.run;
  std::set<Interned> problems, models, devices, precisions, methods;
  for (const RosterEntry& entry : run.roster) {
    problems.insert(entry.problem);
    models.insert(entry.model);
  }
  for (const Record& record : run.records) devices.insert(record.device);
  // All judged records, also those that the selection does not list.
  for (const std::size_t index : report.judged) {
    const Record& record = run.records[index];
    precisions.insert(record.precision);
    if (!record.timing) continue;
    methods.insert(record.timing->method);
    ++setting.trust[record.timing->trust.str()];
  }
  setting.problems = static_cast<std::int64_t>(problems.size());
  setting.models = static_cast<std::int64_t>(models.size());
  setting.devices = names_of(devices);
  setting.precisions = names_of(precisions);
  setting.timing_methods = names_of(methods);
  const auto texts = [&](const auto& text) { return texts_of_headers(run, text); };
  setting.problem_sets =
      texts([](const RunHeader& header) { return printable(header.problem_set_hash); });
  setting.seeds = texts([](const RunHeader& header) { return field(header.options, "seed"); });
  setting.cages = texts(cage);
  setting.versions = versions_of(run);
  return setting;
}

std::vector<std::string> versions_of(const RunFile& run) {
  return texts_of_headers(run,
                          [](const RunHeader& header) { return printable(header.kbench_version); });
}

std::vector<std::string> texts_of_headers(
    const RunFile& run, const std::function<std::string(const RunHeader&)>& text) {
  std::vector<std::string> different;
  for (const RunHeader& header : run.headers) {
    std::string value = text(header);
    if (!value.empty() && std::ranges::find(different, value) == different.end())
      different.push_back(std::move(value));
  }
  return different;
}

std::string of_headers(const RunFile& run,
                       const std::function<std::string(const RunHeader&)>& text) {
  return fmt::format("{}", fmt::join(texts_of_headers(run, text), "; "));
}

std::string plain(const json& value) {
  if (value.is_null()) return {};
  return printable(value.is_string() ? value.get_ref<const std::string&>() : value.dump());
}

std::string option(const RunFile& run, const char* key) {
  return of_headers(run, [&](const RunHeader& header) { return field(header.options, key); });
}

std::string environment(const RunFile& run, const char* key) {
  return of_headers(run, [&](const RunHeader& header) { return field(header.environment, key); });
}

std::string run_text(const RunFile& run) {
  return of_headers(run, [](const RunHeader& header) {
    return printable(header.run_id + (header.started.empty() ? "" : " of " + header.started));
  });
}

std::string version_text(const RunFile& run) {
  std::string versions = fmt::format("{}", fmt::join(versions_of(run), "; "));
  add_part(versions, "torch ", environment(run, "torch"));
  add_part(versions, "", environment(run, "nvrtc"));
  return versions;
}

std::vector<std::string> known_baselines(const RunFile& run) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const RunHeader& header : run.headers) {
    const auto asked = header.options.find("baselines");
    if (asked == header.options.end() || !asked->is_array()) continue;
    for (const json& name : *asked) {
      if (name.is_string()) add(name.get<std::string>());
    }
  }
  for (const Record& record : run.records) {
    for (const Speedup& speedup : record.speedup) add(speedup.baseline);
  }
  return names;
}

}  // namespace kbench::report
