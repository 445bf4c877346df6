// SPDX-License-Identifier: MIT
#include "compile/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "base/text.hpp"
#include "compile/compiler_fault.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using nlohmann::json;

struct Frame {
  json head;
  std::string_view body;
};

// Source text and diagnostics may contain invalid UTF-8. A wrong letter in a log is better than no
// answer.
std::string pack_frame(const json& head, std::string_view body) {
  const std::string text = dumped(head);
  return fmt::format("{} {}\n{}{}", text.size(), body.size(), text, body);
}

std::size_t take_number(std::string_view& bytes, char end) {
  std::size_t value = 0;
  if (!kbench::take_number(bytes, value) || !bytes.starts_with(end)) {
    throw Error("the compiler's message has no header");
  }
  bytes.remove_prefix(1);
  return value;
}

Frame unpack_frame(std::string_view bytes) {
  const std::size_t head_bytes = take_number(bytes, ' ');
  const std::size_t body_bytes = take_number(bytes, '\n');
  if (bytes.size() < head_bytes || bytes.size() - head_bytes != body_bytes) {
    throw Error("the compiler's message is cut off");
  }
  return {json::parse(bytes.substr(0, head_bytes)), bytes.substr(head_bytes)};
}

json kernel_json(const KernelEntry& kernel) {
  json parameters = json::array();
  for (const auto& parameter : kernel.parameters) {
    parameters.push_back({parameter.is_pointer, parameter.type});
  }
  return {{"expression", kernel.expression},
          {"symbol", kernel.symbol},
          {"parameters", std::move(parameters)}};
}

KernelEntry kernel_from_json(const json& entry) {
  KernelEntry kernel{entry.at("expression"), entry.at("symbol"), {}};
  for (const auto& parameter : entry.at("parameters")) {
    kernel.parameters.push_back({parameter.at(0), parameter.at(1)});
  }
  return kernel;
}

std::string pack_artifact(const Artifact& artifact) {
  json kernels = json::array();
  for (const auto& kernel : artifact.kernels) kernels.push_back(kernel_json(kernel));
  return pack_frame({{"ok", true},
                     {"is_ptx", artifact.is_ptx},
                     {"kernels", std::move(kernels)},
                     {"log", artifact.log},
                     {"seconds", artifact.seconds},
                     {"way", artifact.way},
                     {"image_bytes", artifact.image.size()}},
                    artifact.image + artifact.undefined_ptx);
}

std::string pack_error(const CompileError& error) {
  json head = error_json(error);
  head["ok"] = false;
  return pack_frame(head, {});
}

template <typename Read>
auto reading(Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw Error(fmt::format("the compiler's message is malformed: {}", error.what()));
  }
}

}  // namespace

json error_json(const CompileError& error) {
  return {{"cause", error.cause},
          {"message", error.message},
          {"log", error.log},
          {"seconds", error.seconds},
          {"limit_s", error.limit_s}};
}

CompileError error_from_json(const json& head) {
  return {head.at("cause"),  head.at("message"), head.at("log"), head.at("seconds"), false,
          head.at("limit_s")};
}

std::string pack(const CompilerJob& job) {
  std::vector<std::string> includes;
  for (const auto& include : job.includes) includes.push_back(include.string());
  return pack_frame({{"nvrtc", job.nvrtc.string()},
                     {"includes", std::move(includes)},
                     {"memory_bytes", job.memory_bytes},
                     {"flags", job.request.flags},
                     {"name_expressions", job.request.name_expressions},
                     {"find_parameters", job.request.find_parameters},
                     {"arch", job.request.arch}},
                    job.request.source);
}

std::string pack(const CompileResult& result) {
  const auto* artifact = std::get_if<Artifact>(&result);
  return artifact != nullptr ? pack_artifact(*artifact)
                             : pack_error(std::get<CompileError>(result));
}

std::string pack_fault(std::string_view message) { return pack_frame({{"fault", message}}, {}); }

CompilerJob unpack_job(std::string_view bytes) {
  return reading([&] {
    const Frame frame = unpack_frame(bytes);
    CompilerJob job;
    job.nvrtc = frame.head.at("nvrtc").get<std::string>();
    for (const auto& include : frame.head.at("includes")) {
      job.includes.emplace_back(include.get<std::string>());
    }
    frame.head.at("memory_bytes").get_to(job.memory_bytes);
    frame.head.at("flags").get_to(job.request.flags);
    frame.head.at("name_expressions").get_to(job.request.name_expressions);
    frame.head.at("find_parameters").get_to(job.request.find_parameters);
    frame.head.at("arch").get_to(job.request.arch);
    job.request.source = frame.body;
    return job;
  });
}

CompileResult unpack_result(std::string_view bytes) {
  return reading([&]() -> CompileResult {
    const Frame frame = unpack_frame(bytes);
    const json& head = frame.head;
    if (head.contains("fault")) throw CompilerFault(head.at("fault").get<std::string>());
    if (!head.at("ok").get<bool>()) return error_from_json(head);
    Artifact artifact;
    const auto image_bytes = head.at("image_bytes").get<std::size_t>();
    artifact.image = frame.body.substr(0, image_bytes);
    artifact.undefined_ptx = frame.body.substr(std::min(image_bytes, frame.body.size()));
    head.at("is_ptx").get_to(artifact.is_ptx);
    for (const auto& kernel : head.at("kernels")) {
      artifact.kernels.push_back(kernel_from_json(kernel));
    }
    head.at("log").get_to(artifact.log);
    head.at("seconds").get_to(artifact.seconds);
    head.at("way").get_to(artifact.way);
    return artifact;
  });
}

}  // namespace kbench
