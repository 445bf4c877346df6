// SPDX-License-Identifier: MIT
#include "compile/host/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.hpp"
#include "compile/host/gone_names.hpp"
#include "compile/host/source.hpp"

namespace kbench {
namespace {

/// "file:12:3: error: text", nvcc's "file(12): error: text", or a linker's or driver's "program:
/// error: text".
struct LogLine {
  std::string_view file, line, kind, text;
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Moves ":12" or ":12:3", or nvcc's "(12)", from the end of `place` to `line`.
void take_numbers(std::string_view& place, std::string_view& line) {
  if (const std::size_t open = place.rfind('('); place.ends_with(')') && open > 0) {
    const std::string_view number = place.substr(open + 1, place.size() - open - 2);
    if (!is_number(number)) return;
    line = number;
    place = place.substr(0, open);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos || !is_number(place.substr(colon + 1))) return;
    line = place.substr(colon + 1);
    place = place.substr(0, colon);
  }
}

std::optional<LogLine> log_line(std::string_view line) {
  for (const std::string_view kind : {"fatal error: ", "error: ", "note: "}) {
    const std::size_t at = line.find(kind);
    if (at == std::string_view::npos) continue;
    std::string_view place = line.substr(0, at);
    while (place.ends_with(' ') || place.ends_with(':')) place.remove_suffix(1);
    LogLine read{place, {}, kind, line.substr(at + kind.size())};
    take_numbers(read.file, read.line);
    return read;
  }
  return std::nullopt;
}

bool is_error(const LogLine& line) { return line.kind != "note: "; }

bool is_own(const HostRequest& request, std::string_view file) {
  const auto named = [&](const HostText& text) { return text.name == file; };
  return std::ranges::any_of(request.cpp_sources, named) ||
         std::ranges::any_of(request.cuda_sources, named);
}

/// The place in the candidate's own text from which a header was instantiated. clang's notes after
/// the error name it ("requested here"), or GCC's lines before the error ("required from here").
std::optional<LogLine> own_place(std::string_view log, const HostRequest& request) {
  while (!log.empty()) {
    const std::string_view text = next_line(log);
    std::string_view place = text;
    const std::size_t here = std::min(text.find(":   required from"), text.find(": note: "));
    if (here == std::string_view::npos) continue;
    place = text.substr(0, here);
    LogLine read{place, {}, {}, {}};
    take_numbers(read.file, read.line);
    if (!read.line.empty() && is_own(request, read.file)) return read;
  }
  return std::nullopt;
}

std::string with_plain_quotes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_quote =
        text.substr(i).starts_with("\xE2\x80\x98") || text.substr(i).starts_with("\xE2\x80\x99");
    plain += is_quote ? '\'' : text[i];
    if (is_quote) i += 2;
  }
  return plain;
}

/// The first name that clang or GCC puts in quotes.
std::string quoted_name(std::string_view quoting) {
  const std::string text = with_plain_quotes(quoting);
  const std::size_t begin = text.find('\'');
  if (begin == std::string::npos) return {};
  return text.substr(begin + 1, text.find('\'', begin + 1) - begin - 1);
}

/// Each line of the bindings names one of `functions`. An error in that line means that no text
/// declares the function.
Diagnosis unknown_function(const LogLine& error, const HostRequest& request) {
  // A text that imitates a log may give a line beyond all functions.
  std::size_t line = 0;
  std::from_chars(error.line.data(), error.line.data() + error.line.size(), line);
  const bool known = request.functions && line >= 2 && line - 2 < request.functions->size();
  const std::string name = known ? (*request.functions)[line - 2].name : quoted_name(error.text);
  return {"unknown_function",
          fmt::format("`functions` names {}, but: {}", name.empty() ? "it" : name, error.text)};
}

/// The error, with advice if it is about a name that torch has removed.
std::string with_advice(std::string_view error) {
  const std::string_view instead = instead_of_gone(error);
  return instead.empty() ? std::string(error) : fmt::format("{} ({})", error, instead);
}

std::string_view host_cause_of(std::string_view text) {
  const auto says = [&](std::string_view words) {
    return text.find(words) != std::string_view::npos;
  };
  if (says("Permission denied")) return "illegal_include";
  if (says("file not found") || says("No such file or directory")) return "missing_include";
  return "syntax_error";
}

}  // namespace

Diagnosis diagnose_host(std::string_view log, const HostRequest& request) {
  std::string_view rest = log;
  while (!rest.empty()) {
    const auto error = log_line(next_line(rest));
    if (!error || !is_error(*error)) continue;
    if (error->file == kBindingsName) return unknown_function(*error, request);
    const std::string cause(host_cause_of(error->text));
    const std::string text = with_advice(error->text);
    if (error->line.empty()) return {cause, text};
    const auto said = [&](const LogLine& place) {
      return fmt::format("{}, line {}: {}", place.file, place.line, text);
    };
    if (is_own(request, error->file)) return {cause, said(*error)};
    const std::size_t slash = error->file.rfind('/');
    const auto place = own_place(log, request);
    const std::string where =
        fmt::format("{}, line {}", error->file.substr(slash + 1), error->line);
    return {cause, place ? fmt::format("{} (in {})", said(*place), where)
                         : fmt::format("{}: {}", where, text)};
  }
  const std::string_view line = next_line(log);
  return {"syntax_error",
          line.empty() ? "the host compiler failed and gave no reason" : std::string(line)};
}

bool may_need_heavy(std::string_view log) {
  constexpr std::array<std::string_view, 6> kNames = {"nn",   "optim",     "jit",
                                                      "data", "serialize", "python"};
  while (!log.empty()) {
    const auto line = log_line(next_line(log));
    if (!line || !is_error(*line) || line->file == kBindingsName) continue;
    if (!instead_of_gone(line->text).empty()) continue;  // no header of torch has it
    const auto says = [&](std::string_view word) {
      return line->text.find(word) != std::string_view::npos;
    };
    // "no member named 'nn' in namespace 'torch'"; in a text that is using namespace torch, "use of
    // undeclared identifier 'nn'".
    if (says("torch::nn") || says("torch::jit") || says("incomplete type")) return true;
    const std::string name = quoted_name(line->text);
    if (says("torch") || std::ranges::find(kNames, name) != kNames.end()) return true;
  }
  return false;
}

bool speaks_of_precompiled_header(std::string_view log) {
  constexpr std::string_view kWords[] = {"AST file", "PCH file", "precompiled header",
                                         "precompiled file"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return log.find(word) != std::string_view::npos; });
}

}  // namespace kbench
