// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "kbench/plan.hpp"
#include "kbench/problem.hpp"

namespace kbench::cli {

/// One problem as `kbench list` shows it.
struct ListedProblem {
  Problem problem;
  Sizes sizes;                                 ///< the sizes of its run
  std::variant<Signature, std::string> found;  ///< or why it failed
  std::optional<ReducedSizes>
      reduced_sizes;  ///< set if it was above the limits of `--reduce-sizes`
};

/// "x: float32[16, 1000], dim = 1": the arguments of forward.
std::string inputs_text(const Signature& signature);

/// The problem's constants with the values of its run, in the order of the file; then sizes that
/// are not constants of the file.
std::vector<std::pair<std::string, std::string>> effective_sizes(const ListedProblem& listed);

/// A table for people: one line per problem. A failed problem has its message in place of the
/// inputs. `device_class` is "cpu" or "gpu"; `width` is that of the terminal.
std::string list_text(std::span<const ListedProblem> problems, std::string_view device_class,
                      std::size_t width = SIZE_MAX);

/// The same for programs, with more fields: {"device", "precision", "problems": [{"key", "id",
/// "name", "level", "path", "tags", "sizes", "named_sizes"}]}. Each problem also has "inputs",
/// "outputs", "parameters", "input_bytes", "state_bytes" and "output_bytes", or "failure"; and
/// "reduced_sizes".
nlohmann::json list_json(std::span<const ListedProblem> problems, std::string_view device_class);

/// Every name that a plan for the problem may use, and a skeleton that compiles. For a failed
/// problem, its message.
std::string names_text(const ListedProblem& listed, const DeviceLimits& limits);

}  // namespace kbench::cli
