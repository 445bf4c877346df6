// SPDX-License-Identifier: MIT
#include "report/model/run_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/model/run_summary.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

std::string field(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string() : plain(*found);
}

/// The sandbox of the candidates' processes.
std::string sandbox(const RunHeader& header) {
  const auto sandbox = header.environment.find("sandbox");
  if (sandbox == header.environment.end()) return {};
  if (!sandbox->is_object()) return plain(*sandbox);
  const auto lacks = sandbox->find("lacks");
  std::vector<std::string> missing;
  if (lacks != sandbox->end() && lacks->is_array())
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

RunSettings run_settings_of(const Report& report) {
  RunSettings run_settings;
  const RunFile& run = report.run;
  std::set<Interned> problems, models, devices, precisions, methods;
  for (const ManifestEntry& entry : run.manifest) {
    problems.insert(entry.problem);
    models.insert(entry.model);
  }
  for (const Record& record : run.records) devices.insert(record.device);
  // Uses all judged records, including those that the selection does not list.
  for (const std::size_t index : report.judged) {
    const Record& record = run.records[index];
    precisions.insert(record.precision);
    if (!record.timing) continue;
    methods.insert(record.timing->method);
    ++run_settings.trust[record.timing->trust.str()];
  }
  run_settings.problems = static_cast<std::int64_t>(problems.size());
  run_settings.models = static_cast<std::int64_t>(models.size());
  run_settings.devices = names_of(devices);
  run_settings.precisions = names_of(precisions);
  run_settings.timing_methods = names_of(methods);
  const auto texts = [&](const auto& text) { return texts_of_headers(run, text); };
  run_settings.problem_sets =
      texts([](const RunHeader& header) { return printable(header.problem_set_hash); });
  run_settings.seeds = texts([](const RunHeader& header) { return field(header.options, "seed"); });
  run_settings.sandboxes = texts(sandbox);
  run_settings.versions = versions_of(run);
  return run_settings;
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
