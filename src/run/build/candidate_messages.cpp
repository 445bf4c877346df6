// SPDX-License-Identifier: MIT
#include "run/build/candidate_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "protocol/protocol.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;

/// Deepest nesting of an honest message: an object of lists, or of texts by name. Deeper values are
/// refused while parsing, because copying and writing values recurses.
constexpr int kDeepest = 2;
/// The most values in one message. Values take many times more memory than their text.
constexpr std::size_t kMostValues = 20'000;

struct TooMuch {
  const char* what;
};

/// Parses a text within these limits. Throws json::exception and TooMuch.
json bounded_json(std::string_view text) {
  std::size_t values = 0;
  return json::parse(text, [&](int depth, json::parse_event_t event, const json&) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kDeepest) throw TooMuch{"it is nested too deeply"};
    if (++values > kMostValues) throw TooMuch{"it has too many values"};
    return true;
  });
}

/// The type of a request's field. Null always means that there is none.
enum class FieldKind : std::uint8_t { kText, kTexts, kBool, kTextsByName };

struct Field {
  std::string_view name;
  FieldKind kind;
  std::size_t most_bytes;  ///< of all its texts together
};

constexpr std::size_t kMostSourceBytes = protocol::kMaxCompileBody;
/// Flags become words of a command line, which the system limits to about two megabytes.
constexpr std::size_t kMostFlagBytes = 64u << 10;
constexpr std::size_t kMostNameBytes = 4096;

/// The fields that module_extension.py and module_entry.py send. To add a field: a row.
constexpr Field kFields[] = {
    {"kind", FieldKind::kText, 16},
    {"name", FieldKind::kText, kMostNameBytes},
    {"source", FieldKind::kText, kMostSourceBytes},
    {"cpp_sources", FieldKind::kTexts, kMostSourceBytes},
    {"cuda_sources", FieldKind::kTexts, kMostSourceBytes},
    {"cpp_files", FieldKind::kTexts, kMostSourceBytes},
    {"cuda_files", FieldKind::kTexts, kMostSourceBytes},
    {"functions", FieldKind::kTextsByName, kMostSourceBytes},
    {"extra_cflags", FieldKind::kTexts, kMostFlagBytes},
    {"extra_cuda_cflags", FieldKind::kTexts, kMostFlagBytes},
    {"extra_ldflags", FieldKind::kTexts, kMostFlagBytes},
    {"extra_include_paths", FieldKind::kTexts, kMostFlagBytes},
    {"with_cuda", FieldKind::kBool, 0},
    {"with_pytorch_error_handling", FieldKind::kBool, 0},
    {"no_implicit_headers", FieldKind::kBool, 0},
    {"is_python_module", FieldKind::kBool, 0},
};

std::string_view expected(FieldKind kind) {
  switch (kind) {
    case FieldKind::kText:
      return "a string";
    case FieldKind::kTexts:
      return "a list of strings";
    case FieldKind::kBool:
      return "true or false";
    case FieldKind::kTextsByName:
      return "an object of strings";
  }
  return "";
}

bool fits(FieldKind kind, const json& value) {
  switch (kind) {
    case FieldKind::kText:
      return value.is_string();
    case FieldKind::kTexts:
      return value.is_array() &&
             std::ranges::all_of(value, [](const json& item) { return item.is_string(); });
    case FieldKind::kBool:
      return value.is_boolean();
    case FieldKind::kTextsByName:
      // A docstring that is not a text is ignored; the function is still accepted.
      return value.is_object() &&
             std::ranges::all_of(value, [](const json& item) { return item.is_primitive(); });
  }
  return false;
}

/// Bytes of the texts in a value of a known type, plus one for each text in a list.
std::size_t text_bytes(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  std::size_t bytes = 0;
  if (value.is_structured())
    for (const json& item : value)
      bytes += 1 + (item.is_string() ? item.get_ref<const std::string&>().size() : 0);
  return bytes;
}

/// The error in the fields of a request; "" if there is none.
std::string fault_of(const json& request) {
  if (!request.is_object()) return "it is not an object";
  for (const auto& [name, value] : request.items()) {
    const auto* field = std::ranges::find(kFields, name, &Field::name);
    if (field == std::end(kFields))
      return fmt::format("{} is not a known field", as_utf8(name.substr(0, 60)));
    if (value.is_null()) continue;
    if (!fits(field->kind, value)) return fmt::format("{} must be {}", name, expected(field->kind));
    if (field->kind != FieldKind::kBool && text_bytes(value) > field->most_bytes)
      return fmt::format("{} has more than {} bytes", name, field->most_bytes);
  }
  return "";
}

std::string cut(const json& text, std::size_t most_bytes) {
  return as_utf8(text.get_ref<const std::string&>().substr(0, most_bytes));
}

}  // namespace

std::variant<json, std::string> read_compile_request(std::string_view body) {
  try {
    json request = bounded_json(body);
    if (auto fault = fault_of(request); !fault.empty()) return fault;
    return request;
  } catch (const TooMuch& excess) {
    return std::string(excess.what);
  } catch (const json::exception&) {
    return std::string("it is not valid JSON");
  }
}

std::optional<DryImportEnd> read_dry_import_end(std::string_view body) {
  constexpr std::size_t kCauseBytes = sizeof(protocol::FailedBody::cause) - 1;
  constexpr std::size_t kMessageBytes = sizeof(protocol::FailedBody::message) - 1;
  try {
    const json end = bounded_json(body);
    DryImportEnd reported{cut(end.at("stage"), kCauseBytes), Outcome::kLoadFailure,
                          cut(end.at("cause"), kCauseBytes), cut(end.at("message"), kMessageBytes)};
    if (const auto outcome = outcome_from_name(end.value("outcome", "")))
      reported.outcome = protocol::claimable(*outcome);
    return reported;
  } catch (const TooMuch&) {
    return std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace kbench::run
