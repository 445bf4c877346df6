// SPDX-License-Identifier: MIT
#include "compile/split/lambda.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "compile/split/locals.hpp"
#include "compile/split/work.hpp"

namespace kbench {
namespace {

constexpr int kMaxLambdas = 200;

/// A captured name and the expression of its value.
struct Capture {
  std::string name, value;
};

/// One lambda as token indices, and the names that it uses from the function around it.
struct DeviceLambda {
  std::size_t begin = 0, end = 0;  ///< from [ to after }
  std::size_t attributes = 0;
  std::size_t open = kNoToken, close = kNoToken;  ///< of its parameters
  std::size_t body = 0;
  bool is_host = false, is_mutable = false;
  std::size_t result = kNoToken;  ///< its ->
  bool captures_all = false;
  std::vector<Capture> captures;
  std::vector<std::string> types, declared_types;  ///< arguments and parameters of the class
};

[[noreturn]] void refuse_lambda(const SourceText& text, std::size_t at, std::string_view what) {
  throw SplitRefusal{"device_lambda", fmt::format("a device lambda {}", what), text[at].line};
}

void read_captures(const SourceText& text, DeviceLambda& lambda) {
  const std::size_t close = text.after_group(lambda.begin) - 1;
  for (std::size_t i = lambda.begin + 1; i < close;) {
    std::size_t end = i;
    while (end < close && !text.is(end, ",")) {
      const bool opens = text.is(end, "(") || text.is(end, "[") || text.is(end, "{");
      end = opens ? text.after_group(end) : end + 1;
    }
    if (text.is(i, "=") && end == i + 1) {
      lambda.captures_all = true;
    } else if (text.is(i, "&")) {
      refuse_lambda(text, i, "captures by reference");
    } else if (text.is(i, "this") || text.is(i, "*")) {
      refuse_lambda(text, i, "captures this");
    } else if (end == i + 1) {
      lambda.captures.push_back({text[i].text, text[i].text});
    } else if (text.is(i + 1, "=")) {
      lambda.captures.push_back({text[i].text, one_line(text, i + 2, end)});
    } else {
      refuse_lambda(text, i, "has a capture of an unsupported form");
    }
    i = end + 1;
  }
}

DeviceLambda read_lambda(const SourceText& text, std::size_t begin) {
  DeviceLambda lambda;
  lambda.begin = begin;
  read_captures(text, lambda);
  std::size_t at = lambda.attributes = text.after_group(begin);
  for (; text.is(at, "__device__") || text.is(at, "__host__"); ++at) {
    lambda.is_host |= text.is(at, "__host__");
  }
  if (text.is(at, "(")) {
    lambda.open = at;
    at = text.after_group(at);
    lambda.close = at - 1;
  }
  for (; !text.is(at, "{"); ++at) {
    if (text.is(at, "mutable")) lambda.is_mutable = true;
    if (text.is(at, "->")) lambda.result = at;
    if (text.is(at, ";") || text[at].kind == SourceKind::kEnd)
      refuse_lambda(text, begin, "has no body");
  }
  lambda.body = at;
  lambda.end = text.after_group(at);
  return lambda;
}

/// Identifiers in the lambda that may belong to the function around it.
std::vector<std::string> free_names(const SourceText& text, const DeviceLambda& lambda) {
  LocalNames own;
  collect_locals(text, lambda.body, lambda.end, own);
  if (lambda.open != kNoToken) {
    for (const SourceParameter& each : source_parameters(text, lambda.open, lambda.close)) {
      if (each.name != kNoToken) own.values.insert(text[each.name].text);
    }
  }
  std::vector<std::string> names;
  std::set<std::string_view> known;
  const std::size_t begin = lambda.open == kNoToken ? lambda.body : lambda.open;
  for (std::size_t i = begin; i < lambda.end; ++i) {
    const std::string& name = text[i].text;
    const bool is_member = text.is(i - 1, ".") || text.is(i - 1, "::") ||
                           (text.is(i - 1, "->") && i - 1 != lambda.result);
    if (!text[i].is_identifier() || is_member) continue;
    if (own.values.contains(name) || own.constants.contains(name) || own.types.contains(name)) {
      continue;
    }
    if (known.insert(name).second) names.push_back(name);
  }
  return names;
}

void resolve(const SourceText& text, const SourceItem& function, DeviceLambda& lambda) {
  const LocalNames locals = local_names(text, function, lambda.begin);
  std::set<std::string> captured;
  for (const Capture& capture : lambda.captures) captured.insert(capture.name);
  for (const std::string& name : free_names(text, lambda)) {
    if (captured.contains(name)) continue;
    if (locals.values.contains(name)) {
      if (lambda.captures_all) lambda.captures.push_back({name, name});
    } else if (locals.constants.contains(name)) {
      lambda.types.push_back(name);
      lambda.declared_types.push_back("auto " + name);
    } else if (locals.types.contains(name)) {
      lambda.types.push_back(name);
      lambda.declared_types.push_back("typename " + name);
    } else if (const auto own = locals.template_parameters.find(name);
               own != locals.template_parameters.end()) {
      if (own->second.find("...") != std::string::npos) {
        refuse_lambda(text, lambda.begin, "uses a template parameter pack");
      }
      lambda.types.push_back(name);
      lambda.declared_types.push_back(own->second);
    }
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// "template <typename T, typename kb_0> " and "<T, kb_0>", or nothing.
struct TemplateText {
  std::string head, arguments;
};

TemplateText template_text(const DeviceLambda& lambda) {
  std::vector<std::string> declared = lambda.declared_types, arguments = lambda.types;
  for (std::size_t i = 0; i < lambda.captures.size(); ++i) {
    arguments.push_back(fmt::format("kb_{}", i));
    declared.push_back("typename " + arguments.back());
  }
  if (declared.empty()) return {};
  return {fmt::format("template <{}> ", joined(declared)), fmt::format("<{}>", joined(arguments))};
}

/// "template <typename kb_auto_0> " if a parameter is auto, and "(kb_auto_0 i)".
struct ParameterText {
  std::string head, list;
};

ParameterText parameter_text(const SourceText& text, const DeviceLambda& lambda) {
  if (lambda.open == kNoToken) return {"", "()"};
  std::vector<std::string> types;
  std::string list;
  for (std::size_t i = lambda.open; i <= lambda.close; ++i) {
    list += i > lambda.open && !text[i].space.empty() ? " " : "";
    if (text.is(i, "auto")) {
      types.push_back(fmt::format("kb_auto_{}", types.size()));
      list += types.back();
    } else {
      list += text[i].text;
    }
  }
  if (types.empty()) return {"", list};
  return {fmt::format("template <typename {}> ", fmt::join(types, ", typename ")), list};
}

/// The class that replaces the lambda; `with_body`: including the lambda's body.
std::string functor(const SourceUnit& unit, const DeviceLambda& lambda, const std::string& name,
                    bool with_body, int next_line) {
  const SourceText& text = unit.text;
  std::string made = template_text(lambda).head + "struct " + name + " { ";
  for (std::size_t i = 0; i < lambda.captures.size(); ++i) {
    made += fmt::format("kb_{} {}; ", i, lambda.captures[i].name);
  }
  const ParameterText parameters = parameter_text(text, lambda);
  const std::string result =
      lambda.result == kNoToken ? "" : " " + one_line(text, lambda.result, lambda.body);
  made += parameters.head + (lambda.is_host ? "__host__ " : "") + "__device__ auto operator()" +
          parameters.list + (lambda.is_mutable ? "" : " const") + result;
  if (!with_body) return made + "; };";
  // The body gets its own lines, because it may contain directives.
  made += fmt::format("\n#line {} \"{}\"\n", text[lambda.body].line, unit.file_name);
  for (std::size_t i = lambda.body; i < lambda.end; ++i) {
    made += (i == lambda.body ? "" : text[i].space) + text[i].text;
  }
  return made + fmt::format(" }};\n#line {} \"{}\"\n", next_line, unit.file_name);
}

/// The host function that makes an object of the class.
std::string maker(const DeviceLambda& lambda, const std::string& name) {
  const TemplateText parameters = template_text(lambda);
  std::vector<std::string> taken, given;
  for (std::size_t i = 0; i < lambda.captures.size(); ++i) {
    taken.push_back(fmt::format("const kb_{}& kb_value_{}", i, i));
    given.push_back(fmt::format("kb_value_{}", i));
  }
  return fmt::format("{}inline {}{} {}_made({}) {{ return {{{}}}; }} ", parameters.head, name,
                     parameters.arguments, name, joined(taken), joined(given));
}

std::string call(const DeviceLambda& lambda, const std::string& name) {
  std::vector<std::string> values;
  for (const Capture& capture : lambda.captures) values.push_back(capture.value);
  const std::string types = lambda.types.empty() ? "" : "<" + joined(lambda.types) + ">";
  return fmt::format("{}_made{}({})", name, types, joined(values));
}

}  // namespace

std::size_t find_device_lambda(const SourceText& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    spend_steps(1);
    if (!text.is(i, "[") || text.partners[i] == kNoToken) continue;
    const std::size_t after = text.after_group(i);
    if (text.is(after, "__device__")) return i;
    if (text.is(after, "__host__") && text.is(after + 1, "__device__")) return i;
  }
  return kNoToken;
}

void rewrite_lambdas(const SourceUnit& unit, const SourceItem& function, Rewriter& device,
                     Rewriter& host, int& count) {
  if (function.body == kNoToken) return;
  const SourceText& text = unit.text;
  const int next_line = text[function.begin].line;
  for (std::size_t at = function.body;;) {
    at = find_device_lambda(text, at, function.body_end);
    if (at == kNoToken) return;
    if (count >= kMaxLambdas) refuse_lambda(text, at, "exceeds the allowed number of lambdas");
    DeviceLambda lambda = read_lambda(text, at);
    if (find_device_lambda(text, lambda.body, lambda.end) != kNoToken) {
      refuse_lambda(text, at, "contains another device lambda");
    }
    resolve(text, function, lambda);
    const std::string name = fmt::format("kbench_lambda_{}", count++);
    device.insert_before(function.begin, functor(unit, lambda, name, true, next_line));
    host.insert_before(function.begin, functor(unit, lambda, name, lambda.is_host, next_line) +
                                           " " + maker(lambda, name));
    host.drop(at + 1, lambda.end);
    host.replace(at, call(lambda, name));
    at = lambda.end;
  }
}

}  // namespace kbench
