// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kbench/record.hpp"
#include "run/build/extension_builder.hpp"

namespace kbench::run {

/// The file name that compilers see for a module or an extension, so that equal texts give equal
/// keys and images in any folder. Users see the candidate's own name instead.
inline constexpr std::string_view kOwnName = "kbench-own-source.cu";

/// Replaces kOwnName by `name` in a build's result.
ExtensionResult named(ExtensionResult result, const std::string& name);

/// Replaces kOwnName in a record and its details, where __FILE__ and assertions may have put it.
void give_name(const std::string& name, Record& record, nlohmann::json& details);

}  // namespace kbench::run
