// SPDX-License-Identifier: MIT
#include "run/build/own_name.hpp"

#include <fmt/format.h>

#include "compile/elf.hpp"
#include "compile/ptx_names.hpp"

namespace kbench::run {
namespace {

void replace(std::string& text, std::string_view what, const std::string& by) {
  std::string made;
  std::size_t done = 0;
  for (std::size_t at; (at = text.find(what, done)) != std::string::npos; done = at + what.size())
    made.append(text, done, at - done).append(by);
  if (done > 0) text = made.append(text, done);
}

/// Messages of diagnose() have the file name without folders; other messages have the whole path.
void name_in_message(std::string& message, const std::string& name) {
  replace(message, fmt::format("{}, line", kOwnName), name.substr(name.rfind('/') + 1) + ", line");
  replace(message, kOwnName, name);
}

void name_in_strings(nlohmann::json& value, const std::string& name) {
  if (auto* text = value.get_ptr<std::string*>()) return replace(*text, kOwnName, name);
  if (!value.is_structured()) return;
  for (auto& part : value) name_in_strings(part, name);
}

}  // namespace

ExtensionResult named(ExtensionResult result, const std::string& name) {
  if (auto* error = std::get_if<ExtensionError>(&result)) {
    name_in_message(error->message, name);
    name_in_message(error->fallback, name);
    replace(error->log, kOwnName, name);
    return result;
  }
  auto& extension = std::get<Extension>(result);
  name_in_message(extension.fallback, name);
  // A cubin has no file names.
  if (!extension.image.starts_with(kElf)) name_in_ptx(extension.image, kOwnName, name);
  return result;
}

void give_name(const std::string& name, Record& record, nlohmann::json& details) {
  replace(record.message, kOwnName, name);
  for (auto& finding : record.findings) {
    replace(finding.message, kOwnName, name);
    std::string file = finding.file.str();
    replace(file, kOwnName, name);
    finding.file = file;
  }
  name_in_strings(details, name);
}

}  // namespace kbench::run
