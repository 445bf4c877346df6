// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kbench {

/// The fields of a KernelBench run folder's generation_config.yaml; "" or nothing if the field or
/// the file does not exist.
struct GenerationConfig {
  std::string model, precision;
  std::optional<int> level;
};

/// Reads `folder`/generation_config.yaml: its top-level scalars, plain or in quotes.
GenerationConfig read_generation_config(const std::filesystem::path& folder);

/// A file that read_generation_config() reads back as `config`; `run` is the folder's name.
std::string generation_config_text(const GenerationConfig& config, std::string_view run);

}  // namespace kbench
