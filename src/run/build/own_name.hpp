// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kbench/record.hpp"
#include "run/build/extension_builder.hpp"

namespace kbench::run {

/// The name under which compilers see the file of a module or an extension, so that equal texts
/// give equal keys and images wherever they lie; people see the candidate's own name in its place.
inline constexpr std::string_view kOwnName = "kbench-own-source.cu";

/// What was built of a file under kOwnName, with its name.
ExtensionResult named(ExtensionResult result, const std::string& name);

/// The same of what was told of running it, where __FILE__ and assertions have put it.
void give_name(const std::string& name, Record& record, nlohmann::json& details);

}  // namespace kbench::run
