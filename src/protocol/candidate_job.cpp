// SPDX-License-Identifier: MIT
#include "protocol/candidate_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "os/memory_file.hpp"

namespace kbench {
namespace {

using nlohmann::json;

json module_json(const ModuleJob& job) {
  json arguments = json::array();
  for (const auto& argument : job.arguments) {
    if (const auto* tensor = std::get_if<std::size_t>(&argument))
      arguments.push_back({{"tensor", *tensor}});
    else
      arguments.push_back({{"value", kbench::to_json(std::get<Value>(argument))}});
  }
  return {{"file_name", job.file_name},
          {"source", job.source},
          {"folder", job.folder},
          {"entry", job.entry},
          {"problem_path", job.problem_path},
          {"problem_source", job.problem_source},
          {"sizes", job.sizes},
          {"precision", job.precision},
          {"eval_mode", job.eval_mode},
          {"arguments", arguments},
          {"returns_sequence", job.returns_sequence},
          {"dry_import", job.dry_import}};
}

ModuleJob module_from_json(const json& object) {
  ModuleJob job;
  job.file_name = object.at("file_name");
  job.source = object.at("source");
  job.folder = object.at("folder");
  job.entry = object.at("entry");
  job.problem_path = object.at("problem_path");
  job.problem_source = object.at("problem_source");
  job.sizes = object.at("sizes").get<Sizes>();
  job.precision = object.at("precision");
  job.eval_mode = object.at("eval_mode");
  job.returns_sequence = object.at("returns_sequence");
  job.dry_import = object.at("dry_import");
  for (const auto& argument : object.at("arguments")) {
    if (argument.contains("tensor"))
      job.arguments.emplace_back(argument.at("tensor").get<std::size_t>());
    else
      job.arguments.emplace_back(value_from_json(argument.at("value")));
  }
  return job;
}

}  // namespace

Fd pack_job(const CandidateJob& job) {
  const nlohmann::json head{{"kind", to_string(job.kind)},
                            {"module", module_json(job.module)},
                            {"device", job.device},
                            {"plan", to_json(job.plan)},
                            {"sources_writable", job.sources_writable},
                            {"nonce", job.nonce},
                            {"sanitize", job.sanitize},
                            {"max_instructions", job.max_instructions},
                            {"image_bytes", job.image.size()},
                            {"timing_image_bytes", job.timing_image.size()},
                            {"undefined_ptx_bytes", job.undefined_ptx.size()},
                            {"problem_values_bytes", job.module.problem_values.size()}};
  // One line of JSON, then the raw bytes of images and values.
  const std::string text = head.dump() + "\n" + job.image + job.timing_image + job.undefined_ptx +
                           job.module.problem_values;
  return sealed_memory_file(text);
}

CandidateJob unpack_job(int fd) {
  const std::string text = read_whole(fd);
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) throw Error("a candidate's job has no image");
  try {
    const auto head = nlohmann::json::parse(text.substr(0, end));
    CandidateJob job;
    const auto kind = candidate_kind_from_name(head.at("kind").get<std::string>());
    if (!kind) throw Error("a candidate's job has an unknown kind");
    job.kind = *kind;
    job.module = module_from_json(head.at("module"));
    job.device = head.at("device");
    job.plan = launch_plan_from_json(head.at("plan"));
    job.sources_writable = head.at("sources_writable");
    job.nonce = head.at("nonce");
    job.sanitize = head.at("sanitize");
    job.max_instructions = head.at("max_instructions");
    const auto image_bytes = head.at("image_bytes").get<std::size_t>();
    const auto flush_bytes = head.at("timing_image_bytes").get<std::size_t>();
    const auto ptx_bytes = head.at("undefined_ptx_bytes").get<std::size_t>();
    const auto values_bytes = head.at("problem_values_bytes").get<std::size_t>();
    if (text.size() - (end + 1) != image_bytes + flush_bytes + ptx_bytes + values_bytes)
      throw Error("the image of a candidate's job is incomplete");
    job.image = text.substr(end + 1, image_bytes);
    job.timing_image = text.substr(end + 1 + image_bytes, flush_bytes);
    job.undefined_ptx = text.substr(end + 1 + image_bytes + flush_bytes, ptx_bytes);
    job.module.problem_values = text.substr(text.size() - values_bytes);
    return job;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("a candidate's job is invalid: {}", error.what()));
  }
}

}  // namespace kbench
