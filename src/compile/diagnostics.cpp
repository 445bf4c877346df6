// SPDX-License-Identifier: MIT
#include "compile/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "compile/wire.hpp"

namespace kbench {
namespace {

constexpr std::string_view kNameMap = "__nv_name_map";

/// "file(line): error: text", or ptxas's "ptxas error   : text" with no file.
struct FirstError {
  std::string file, line, text;
  std::string_view rest;  ///< of the log, after this line
};

/// A message without the colons before it and the spaces around it.
std::string_view without_marks(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with(':')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The text after "error: ", "catastrophic error: ", "error #20-D: ", if `line` has that.
std::optional<std::string_view> after_error(std::string_view line) {
  const std::size_t at = line.find("error");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = line.find(": ", at);
  if (colon == std::string_view::npos) return std::nullopt;
  return line.substr(colon + 2);
}

std::optional<FirstError> front_end_error(std::string_view line) {
  const std::size_t close = line.find("): ");
  const std::size_t open = line.rfind('(', close);
  if (close == std::string_view::npos || open == std::string_view::npos) return std::nullopt;
  const std::string_view number = line.substr(open + 1, close - open - 1);
  const std::string_view rest = line.substr(close + 3);
  const bool is_error = rest.starts_with("error") || rest.starts_with("catastrophic error") ||
                        rest.starts_with("internal error");
  if (!is_error || number.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto text = after_error(rest);
  if (!text) return std::nullopt;
  return FirstError{std::string(line.substr(0, open)), std::string(number), std::string(*text), {}};
}

std::optional<FirstError> ptxas_error(std::string_view line) {
  if (!line.starts_with("ptxas")) return std::nullopt;
  for (const std::string_view word : {"error   : ", "fatal   : "}) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) continue;
    return FirstError{{}, {}, std::string(without_marks(line.substr(at + word.size()))), {}};
  }
  return std::nullopt;
}

std::optional<FirstError> first_error(std::string_view log) {
  std::string_view rest = log;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    auto error = front_end_error(line);
    if (!error) error = ptxas_error(line);
    if (!error) continue;
    error->rest = rest;
    return error;
  }
  return std::nullopt;
}

/// For an error in a header: the candidate's line that leads there.
std::optional<std::string> candidate_line(std::string_view rest) {
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (front_end_error(line)) return std::nullopt;
    const std::size_t of = line.find(fmt::format(" of {}", kSourceName));
    const std::size_t at = line.rfind("at line ", of);
    if (of == std::string_view::npos || at == std::string_view::npos) continue;
    return std::string(line.substr(at + 8, of - at - 8));
  }
  return std::nullopt;
}

/// The plan's kernel whose lookup failed. The log must name it: with #line, a source could imitate
/// the lookup.
std::optional<std::string> failed_lookup(std::string_view log,
                                         const std::vector<std::string>& name_expressions) {
  const auto named = std::ranges::find_if(name_expressions, [&](const std::string& name) {
    return log.find(fmt::format("nv_mangled_name {}\n", name)) != std::string_view::npos;
  });
  return named == name_expressions.end() ? std::nullopt : std::optional(*named);
}

Diagnosis unknown_kernel(const std::string& name, const FirstError& error) {
  if (error.text.find("which instance") != std::string::npos) {
    return {
        "unknown_kernel",
        fmt::format("the plan launches {}, but its template arguments do not match the kernel's",
                    name)};
  }
  if (error.text.find("is undefined") != std::string::npos) {
    return {"unknown_kernel", fmt::format("the plan launches {}, but {}", name, error.text)};
  }
  return {"unknown_kernel",
          fmt::format("the plan launches {}, but that is not a kernel: {}", name, error.text)};
}

std::string_view cause_of(const FirstError& error) {
  const auto says = [&](std::string_view words) {
    return error.text.find(words) != std::string::npos;
  };
  if (says("cannot open source file")) return "missing_include";
  if (!error.file.empty()) return "syntax_error";
  if (says("too much shared data")) return "too_much_shared_memory";
  if (says("Unresolved extern")) return "undefined_function";
  return "ptxas_error";
}

/// Advice on an error that authors often misunderstand; "" for other errors.
std::string_view advice(const FirstError& error) {
  const auto is_in = [&](std::string_view part) {
    return error.file.find(part) != std::string::npos;
  };
  const auto says = [&](std::string_view words) {
    return error.text.find(words) != std::string::npos;
  };
  std::string_view rest = error.rest;
  const bool names_device = next_line(rest).find("cub::Device") != std::string_view::npos;
  const bool of_host = says("not allowed in JIT mode") || says("cannot open source file");
  if (names_device || is_in("/thrust/") || (is_in("/cub/") && of_host))
    return "; cub's device-wide algorithms and thrust are host code: kernels may include "
           "cub/block/…, cub/warp/… and cub/thread/…, or all three with cub/cub.cuh";
  return "";
}

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

}  // namespace

Diagnosis diagnose(std::string_view log, const std::vector<std::string>& name_expressions) {
  const auto error = first_error(log);
  if (!error) {
    const std::string_view line = without_marks(next_line(log));
    return {"syntax_error", line.empty() ? "NVRTC failed and gave no reason" : std::string(line)};
  }
  const auto kernel = failed_lookup(log, name_expressions);
  if (error->file == kNameMap && kernel) return unknown_kernel(*kernel, *error);
  const std::string cause(cause_of(*error));
  if (error->file.empty()) return {cause, "ptxas: " + error->text};
  if (error->file == kSourceName)
    return {cause, fmt::format("line {}: {}{}", error->line, error->text, advice(*error))};
  const auto line = candidate_line(error->rest);
  const std::string where = fmt::format("{}, line {}", base_name(error->file), error->line);
  return {cause,
          line ? fmt::format("line {}: {} (in {}){}", *line, error->text, where, advice(*error))
               : fmt::format("{}: {}{}", where, error->text, advice(*error))};
}

}  // namespace kbench
