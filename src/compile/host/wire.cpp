// SPDX-License-Identifier: MIT
#include "compile/host/wire.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "compile/wire.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using nlohmann::json;

json module_json(const HostModule& module) {
  json stubs = json::array();
  for (const HostStub& stub : module.stubs) {
    stubs.push_back({stub.offset, stub.size, stub.symbol, stub.kernel, stub.expression});
  }
  json variables = json::array();
  for (const HostVariable& variable : module.variables) {
    variables.push_back({variable.name, variable.offset, variable.size});
  }
  std::vector<std::string> folders;
  for (const auto& folder : module.library_folders) folders.push_back(folder.string());
  return {{"stubs", std::move(stubs)},  {"variables", std::move(variables)},
          {"library_folders", folders}, {"log", module.log},
          {"seconds", module.seconds},  {"way", module.way}};
}

HostModule module_from_json(const json& head, std::string_view object) {
  HostModule module;
  module.object = object;
  for (const json& stub : head.at("stubs")) {
    module.stubs.push_back({stub.at(0), stub.at(1), stub.at(2), stub.at(3), stub.at(4)});
  }
  for (const json& variable : head.at("variables")) {
    module.variables.push_back({variable.at(0), variable.at(1), variable.at(2)});
  }
  for (const json& folder : head.at("library_folders")) {
    module.library_folders.emplace_back(folder.get<std::string>());
  }
  head.at("log").get_to(module.log);
  head.at("seconds").get_to(module.seconds);
  head.at("way").get_to(module.way);
  return module;
}

}  // namespace

// One line of JSON, then the object. Symbols and logs may hold invalid UTF-8.
std::string pack(const HostResult& result) {
  const auto* module = std::get_if<HostModule>(&result);
  const json head =
      module != nullptr ? module_json(*module) : error_json(std::get<CompileError>(result));
  return dumped(head) + '\n' + (module != nullptr ? module->object : std::string());
}

HostResult unpack_host_result(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) throw Error("the cached host code has no header");
  try {
    const json head = json::parse(bytes.substr(0, end));
    if (head.contains("cause")) return error_from_json(head);
    return module_from_json(head, bytes.substr(end + 1));
  } catch (const json::exception& error) {
    throw Error(fmt::format("the cached host code is malformed: {}", error.what()));
  }
}

}  // namespace kbench
