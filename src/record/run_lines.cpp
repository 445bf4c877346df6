// SPDX-License-Identifier: MIT
#include "record/run_lines.hpp"

#include <fmt/format.h>

#include "base/json/fields.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using nlohmann::json;

struct SchemaVersion {
  int major = 0, minor = 0;
};

SchemaVersion schema_version(std::string_view text) {
  SchemaVersion version;
  std::string_view rest = text;
  if (take_number(rest, version.major) && rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (take_number(rest, version.minor) && rest.empty()) return version;
  }
  throw Error(fmt::format("field \"schema\" is \"{}\", not a version like \"2.0\"", text));
}

RunHeader header_from(const Fields& fields, int major) {
  const std::string_view schema = fields.text("schema");
  const SchemaVersion version = schema_version(schema);
  if (version.major != major) {
    throw UsageError(
        fmt::format("has schema {}, but this kbench reads {}.x: use the kbench that "
                    "wrote it{}",
                    schema, major, version.major > major ? " or a newer one" : ""));
  }
  RunHeader header;
  header.schema_minor = version.minor;
  header.run_id = fields.text("run_id");
  header.started = fields.text("started");
  header.kbench_version = fields.text("kbench_version");
  header.arguments = fields.texts("arguments");
  header.options = fields.object("options").to_json();
  header.environment = fields.object("environment").to_json();
  header.problem_set_hash = fields.text("problem_set_hash");
  if (const auto object = fields.maybe("left_out")) {
    const Fields left_out(*object);
    header.left_out = {left_out.integer<std::size_t>("count"), left_out.texts("first")};
  }
  return header;
}

std::vector<ManifestEntry> manifest_from(const Fields& fields) {
  std::vector<ManifestEntry> manifest;
  for (const JsonView item : fields.array("entries")) {
    const Fields entry(item);
    ManifestEntry planned;
    planned.problem = entry.text("problem");
    planned.level = entry.integer<int>("level");
    planned.model = entry.text("model");
    planned.tags = entry.texts("tags");
    for (const JsonView sample : entry.array("samples")) {
      const auto number = sample.natural();
      if (!number || !std::in_range<int>(*number))
        throw Error("field \"samples\" holds something other than numbers of samples");
      planned.sample = static_cast<int>(*number);
      manifest.push_back(planned);
    }
  }
  return manifest;
}

}  // namespace

json to_json(const RunHeader& header) {
  json line = {{"type", "run"},
               {"schema", fmt::format("{}.{}", kSchemaMajor, kSchemaMinor)},
               {"run_id", header.run_id},
               {"started", header.started},
               {"kbench_version", header.kbench_version},
               {"arguments", header.arguments},
               {"options", header.options},
               {"environment", header.environment},
               {"problem_set_hash", header.problem_set_hash}};
  if (header.left_out.count > 0)
    line["left_out"] = {{"count", header.left_out.count}, {"first", header.left_out.first}};
  return line;
}

json to_json(std::span<const ManifestEntry> manifest) {
  json entries = json::array();
  const ManifestEntry* last = nullptr;
  for (const ManifestEntry& entry : manifest) {
    const bool continues = last != nullptr && last->problem == entry.problem &&
                           last->model == entry.model && last->level == entry.level &&
                           last->tags == entry.tags;
    if (continues) {
      entries.back()["samples"].push_back(entry.sample);
    } else {
      entries.push_back({{"problem", entry.problem.str()},
                         {"level", entry.level},
                         {"model", entry.model.str()},
                         {"samples", json::array({entry.sample})},
                         {"tags", entry.tags}});
    }
    last = &entry;
  }
  return {{"type", "manifest"}, {"entries", std::move(entries)}};
}

json to_json(const RunEnd& end) {
  return {{"type", "end"}, {"complete", end.complete}, {"secret", end.secret}};
}

RunHeader run_header_from_json(const json& line, int major) {
  const JsonReader reader(line);
  return header_from(Fields(reader.root()), major);
}

RunLine run_line_from(JsonView line, Trials trials) {
  const Fields fields(line);
  const std::string_view type = fields.text("type");
  if (type == "record") return record_from(line, trials);
  if (type == "manifest") return manifest_from(fields);
  if (type == "run") return header_from(fields, kSchemaMajor);
  if (type == "end") {
    return RunEnd{.secret = fields.string("secret"), .complete = fields.boolean("complete")};
  }
  return UnknownLine{std::string(type)};
}

}  // namespace kbench
