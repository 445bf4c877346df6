// SPDX-License-Identifier: MIT
#include "compile/host/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kbench {
namespace {

// Newer standards than that of the headers work; older ones do not.
constexpr std::array<std::string_view, 2> kNewerStandards = {"c++20", "c++23"};

std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    if (c != '\r') quoted += c;
  }
  return quoted + '"';
}

std::string all_of(const std::vector<HostText>& texts) {
  std::string joined;
  for (const HostText& text : texts) joined += named_text(text);
  return joined;
}

std::string binding_text(const HostRequest& request) {
  if (!request.functions) return {};
  return named_text({std::string(kBindingsName), bindings(request)});
}

/// "-DNAME=VALUE" as a #define line.
std::string macro_line(std::string_view definition) {
  const std::size_t equals = definition.find('=');
  if (equals == std::string_view::npos) return fmt::format("#define {} 1\n", definition);
  return fmt::format("#define {} {}\n", definition.substr(0, equals),
                     definition.substr(equals + 1));
}

std::string_view trimmed_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// The header that a line includes in angle brackets or quotes, if it is one of torch's.
std::string_view torch_header(std::string_view line) {
  line = trimmed_left(line);
  if (!line.starts_with('#')) return {};
  line = trimmed_left(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = trimmed_left(line.substr(7));
  if (!line.starts_with('<') && !line.starts_with('"')) return {};
  const std::string_view name = line.substr(1, line.find_first_of(">\"", 1) - 1);
  const bool torchs = name.starts_with("ATen/") || name.starts_with("c10/") ||
                      name.starts_with("torch/") || name.starts_with("caffe2/");
  return torchs ? name : std::string_view();
}

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
}

}  // namespace

std::string named_text(const HostText& text) {
  return fmt::format("#line 1 {}\n{}\n", literal(text.name), text.text);
}

std::string bindings(const HostRequest& request) {
  std::string text = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n";
  for (const auto& [name, docstring] : *request.functions) {
    const std::string function =
        request.error_handling ? fmt::format("torch::wrap_pybind_function({})", name) : name;
    text += fmt::format("m.def({}, {}, {});\n", literal(name), function, literal(docstring));
  }
  return text + "}\n";
}

std::string preamble(std::string_view text) {
  std::string before;
  if (text.find("autograd") != std::string_view::npos ||
      text.find("Autograd") != std::string_view::npos) {
    before = "#include <torch/autograd.h>\n#include <torch/csrc/autograd/custom_function.h>\n";
  }
  while (!text.empty()) {
    if (const std::string_view name = torch_header(next_line(text)); !name.empty()) {
      before += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", name);
    }
  }
  return before + "#include \"kbench_macros.hpp\"\n";
}

std::string joined_source(const HostRequest& request) {
  const std::string text =
      all_of(request.cpp_sources) + binding_text(request) + all_of(request.cuda_sources);
  return preamble(text) + text;
}

std::vector<std::string> separate_sources(const HostRequest& request) {
  std::vector<std::string> units;
  if (std::string main = all_of(request.cpp_sources) + binding_text(request); !main.empty()) {
    units.push_back(preamble(main) + main);
  }
  for (const HostText& text : request.cuda_sources) {
    units.push_back(preamble(text.text) + named_text(text));
  }
  return units;
}

HostFlags read_flags(const std::vector<std::string>& flags) {
  HostFlags read;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    std::string_view flag = flags[i];
    if (!is_one_line(flag)) continue;
    // "-D NAME" and "-I FOLDER" may be two words.
    const bool alone = flag == "-D" || flag == "-I" || flag == "-U";
    const std::string_view value =
        alone ? (i + 1 < flags.size() ? std::string_view(flags[++i]) : std::string_view())
              : flag.substr(std::min<std::size_t>(2, flag.size()));
    if (value.empty() || !is_one_line(value)) continue;
    if (flag.starts_with("-D")) read.macros += macro_line(value);
    if (flag.starts_with("-U")) read.macros += fmt::format("#undef {}\n", value);
    if (flag.starts_with("-I")) read.folders.emplace_back(value);
    if (flag.starts_with("-std=")) {
      std::string standard(flag.substr(5));
      if (standard.starts_with("gnu++")) standard.replace(0, 3, "c");
      if (standard == "c++2a") standard = "c++20";
      if (std::ranges::find(kNewerStandards, standard) != kNewerStandards.end()) {
        read.standard = standard;
      }
    }
  }
  return read;
}

}  // namespace kbench
