// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kbench {

/// What a KernelBench run folder's generation_config.yaml says of its kernels; "" or nothing where
/// it does not say it, or is not there.
struct GenerationConfig {
  std::string model, precision;
  std::optional<int> level;
};

/// Reads `folder`/generation_config.yaml: its top-level scalars, plain or in quotes.
GenerationConfig read_generation_config(const std::filesystem::path& folder);

/// A file that read_generation_config() reads back as `config`; `run` is the folder's name.
std::string generation_config_text(const GenerationConfig& config, std::string_view run);

}  // namespace kbench
