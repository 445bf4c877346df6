// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.hpp"
#include "kbench/plan.hpp"
#include "plan/scope.hpp"

namespace kbench {
namespace {

bool is_plain_segment(std::string_view segment, bool first) {
  const auto part = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); };
  if (segment.empty() || !std::ranges::all_of(segment, part)) return false;
  return !first || std::isdigit(static_cast<unsigned char>(segment.front())) == 0;
}

/// The name as a plan writes it; in backticks if the plain name would be read differently.
std::string plan_name(const std::string& name) {
  bool plain = !plan::is_reserved(name);
  std::size_t begin = 0;
  for (bool last = false; !last && plain;) {
    const std::size_t end = name.find('.', begin);
    last = end == std::string::npos;
    plain = is_plain_segment(std::string_view(name).substr(begin, last ? end : end - begin),
                             begin == 0);
    begin = end + 1;
  }
  return plain ? name : fmt::format("`{}`", name);
}

/// Writes "name  meaning" lines with the meanings in one column.
class NameList {
 public:
  void group(std::string_view title) { rows_.emplace_back(title, ""); }
  void add(const std::string& name, const std::string& meaning) {
    rows_.emplace_back(fmt::format("  {}", name), meaning);
  }
  std::string text() const {
    std::size_t width = 0;
    for (const auto& [name, meaning] : rows_) {
      if (!meaning.empty()) width = std::max(width, name.size());
    }
    std::string result;
    for (const auto& [name, meaning] : rows_) {
      result += meaning.empty() ? name : fmt::format("{:<{}}  {}", name, width, meaning);
      result += '\n';
    }
    return result;
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

/// Makes names that are unique and valid in C++ and in a plan, close to the given ones.
class UniqueNames {
 public:
  explicit UniqueNames(std::set<std::string> taken) : taken_(std::move(taken)) {}
  std::string name(std::string_view wish) {
    std::string result;
    for (const char c : wish) {
      const auto byte = static_cast<unsigned char>(c);
      result += byte < 0x80 && std::isalnum(byte) != 0 ? c : '_';
    }
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0) {
      result = fmt::format("n{}", result);
    }
    while (!taken_.insert(result).second || plan::is_reserved(result)) result += '_';
    return result;
  }

 private:
  std::set<std::string> taken_;
};

/// Names that Python allows for arguments but C++ reserves or CUDA defines.
const std::set<std::string>& taken_in_cpp() {
  static const std::set<std::string> kWords{"alignas",
                                            "alignof",
                                            "auto",
                                            "bool",
                                            "case",
                                            "catch",
                                            "char",
                                            "const",
                                            "constexpr",
                                            "decltype",
                                            "default",
                                            "delete",
                                            "do",
                                            "double",
                                            "enum",
                                            "explicit",
                                            "export",
                                            "extern",
                                            "float",
                                            "friend",
                                            "goto",
                                            "inline",
                                            "int",
                                            "long",
                                            "mutable",
                                            "namespace",
                                            "new",
                                            "noexcept",
                                            "nullptr",
                                            "operator",
                                            "private",
                                            "protected",
                                            "public",
                                            "register",
                                            "short",
                                            "signed",
                                            "sizeof",
                                            "static",
                                            "struct",
                                            "switch",
                                            "template",
                                            "this",
                                            "throw",
                                            "typedef",
                                            "typeid",
                                            "typename",
                                            "union",
                                            "unsigned",
                                            "using",
                                            "virtual",
                                            "void",
                                            "volatile",
                                            "wchar_t",
                                            "asm",
                                            "compute",
                                            "blockIdx",
                                            "blockDim",
                                            "threadIdx",
                                            "gridDim",
                                            "warpSize",
                                            "half",
                                            "n",
                                            "i",
                                            "dim3",
                                            "char8_t",
                                            "concept",
                                            "requires",
                                            "co_await",
                                            "co_yield",
                                            "co_return",
                                            "char16_t",
                                            "char32_t",
                                            "xor",
                                            "and_eq",
                                            "bitand",
                                            "bitor",
                                            "compl",
                                            "not_eq",
                                            "or_eq",
                                            "xor_eq",
                                            "friend",
                                            "static_assert",
                                            "thread_local",
                                            "const_cast",
                                            "static_cast",
                                            "dynamic_cast",
                                            "reinterpret_cast",
                                            "consteval",
                                            "constinit",
                                            "kBlock",
                                            "INFINITY",
                                            "NAN",
                                            "NULL",
                                            "assert",
                                            "linux",
                                            "unix"};
  return kWords;
}

/// Makes the text of a skeleton: dims of the inputs, an `out` and a launch for each output.
class Skeleton {
 public:
  explicit Skeleton(const Signature& signature)
      : signature_(signature), plan_names_(names_of(signature)), cpp_names_(taken_in_cpp()) {}

  std::string text() {
    plan_ = fmt::format("//@ problem {}\n", signature_.problem);
    for (const InputInfo& input : signature_.inputs) add_input(input);
    for (std::size_t i = 0; i < signature_.outputs.size(); ++i) add_output(i);
    return includes() + plan_ + kernels_;
  }

 private:
  static std::set<std::string> names_of(const Signature& signature) {
    std::set<std::string> names;
    for (const InputInfo& input : signature.inputs) names.insert(input.name);
    for (const StateInfo& entry : signature.state) names.insert(entry.tensor.name);
    return names;
  }

  void add_input(const InputInfo& input) {
    const std::string cpp_name = cpp_names_.name(input.name);
    const auto* tensor = std::get_if<TensorInfo>(&input.value);
    if (tensor == nullptr) {
      add_scalar(input, cpp_name);
      return;
    }
    std::vector<std::string> sizes;
    for (std::size_t i = 0; i < tensor->shape.size(); ++i) {
      sizes.push_back(plan_names_.name(fmt::format("{}_{}", input.name, i)));
      dims_.push_back({tensor->shape[i], i, sizes.back()});
    }
    plan_ += fmt::format("//@ dims {}[{}]\n", plan_name(input.name), fmt::join(sizes, ", "));
    add_parameter(fmt::format("const {}* {}", dtype_row(tensor->dtype).cuda_type, cpp_name),
                  input.name);
  }

  void add_scalar(const InputInfo& input, const std::string& cpp_name) {
    const Value& value = std::get<Value>(input.value);
    const char* type = std::holds_alternative<bool>(value)           ? "bool"
                       : std::holds_alternative<std::int64_t>(value) ? "long long"
                       : std::holds_alternative<double>(value)       ? "float"
                                                                     : nullptr;
    // A kernel cannot take lists and texts; only expressions use them.
    if (type != nullptr) add_parameter(fmt::format("{} {}", type, cpp_name), input.name);
  }

  void add_parameter(const std::string& parameter, const std::string& argument) {
    parameters_ += parameter + ", ";
    arguments_ += plan_name(argument) + ", ";
  }

  /// A name that has this value: an input's size, at the same index if possible, else an attribute,
  /// an argument of the model or a parameter's size. The number if nothing has it.
  std::string size_text(std::int64_t size, std::size_t place) const {
    if (size <= 1) return fmt::format("{}", size);
    for (const bool same_place : {true, false})
      for (const Dim& dim : dims_)
        if (dim.size == size && (dim.place == place || !same_place)) return dim.name;
    const Value value(size);
    for (const char* part : {".out_", ""})  // out_features, out_channels
      for (const auto& [name, known] : signature_.attributes)
        if (known == value && name.find(part) != std::string::npos) return plan_name(name);
    for (const auto& [name, known] : signature_.init)
      if (known == value) return plan_name(fmt::format("init.{}", name));
    for (const StateInfo& entry : signature_.state)
      for (std::size_t i = 0; i < entry.tensor.shape.size(); ++i)
        if (entry.tensor.shape[i] == size)
          return fmt::format("size({}, {})", plan_name(entry.tensor.name), i);
    return fmt::format("{}", size);
  }

  void add_output(std::size_t index) {
    const TensorInfo& output = signature_.outputs[index];
    const bool alone = signature_.outputs.size() == 1;
    const std::string suffix = alone ? "" : fmt::format("{}", index);
    const std::string name = plan_names_.name("y" + suffix);
    const std::string cpp_name = cpp_names_.name("y" + suffix);
    std::vector<std::string> sizes;
    bool has_number = false;
    for (std::size_t i = 0; i < output.shape.size(); ++i) {
      sizes.push_back(size_text(output.shape[i], i));
      has_number = has_number || (output.shape[i] > 1 && is_digit(sizes.back().front()));
    }
    plan_ += fmt::format(
        "//@ out {}: {}[{}]{}\n", name, dtype_row(output.dtype).name, fmt::join(sizes, ", "),
        has_number ? "  # no name has this size: replace the number by a formula" : "");
    plan_ += fmt::format("//@ compute{}<<<max(1, cdiv(numel({}), 256)), 256>>>({}{}, numel({}))\n",
                         suffix, name, arguments_, name, name);
    const std::string_view type = dtype_row(output.dtype).cuda_type;
    kernels_ += fmt::format(
        "\n__global__ void compute{}({}{}* {}, long long n) {{\n"
        "  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
        "  if (i < n) {}[i] = static_cast<{}>({});\n"
        "}}\n",
        suffix, parameters_, type, cpp_name, cpp_name, type,
        output.dtype == DType::kBool ? "false" : "0.0f");
  }

  std::string includes() const {
    const auto has = [&](DType dtype) {
      const auto input_has = [&](const InputInfo& input) {
        const auto* tensor = std::get_if<TensorInfo>(&input.value);
        return tensor != nullptr && tensor->dtype == dtype;
      };
      const auto is = [&](const TensorInfo& tensor) { return tensor.dtype == dtype; };
      return std::ranges::any_of(signature_.inputs, input_has) ||
             std::ranges::any_of(signature_.outputs, is);
    };
    std::string result;
    if (has(DType::kFloat16)) result += "#include <cuda_fp16.h>\n";
    if (has(DType::kBFloat16)) result += "#include <cuda_bf16.h>\n";
    return result.empty() ? result : result + "\n";
  }

  struct Dim {
    std::int64_t size;
    std::size_t place;
    std::string name;
  };
  const Signature& signature_;
  UniqueNames plan_names_, cpp_names_;
  std::vector<Dim> dims_;
  std::string plan_, parameters_, arguments_, kernels_;
};

}  // namespace

std::string plan_names(const Signature& signature, const DeviceLimits& limits) {
  NameList list;
  list.group("inputs");
  for (const InputInfo& input : signature.inputs) {
    list.add(plan_name(input.name),
             std::visit([](const auto& value) { return describe(value); }, input.value));
  }
  for (const bool buffers : {false, true}) {
    const auto listed = [&](const StateInfo& entry) { return entry.is_buffer == buffers; };
    if (std::ranges::none_of(signature.state, listed)) continue;
    list.group(buffers ? "buffers" : "parameters");
    for (const StateInfo& entry : signature.state) {
      if (listed(entry)) list.add(plan_name(entry.tensor.name), describe(entry.tensor));
    }
  }
  if (!signature.attributes.empty()) list.group("attributes of the modules");
  for (const auto& [name, value] : signature.attributes) {
    list.add(plan_name(name), describe(value));
  }
  if (!signature.init.empty()) list.group("init arguments");
  for (const auto& [name, value] : signature.init) {
    list.add(plan_name(fmt::format("init.{}", name)), describe(value));
  }
  list.group("device");
  list.add("device.sms", fmt::format("{}", limits.sms));
  list.add("device.smem",
           fmt::format("{} (bytes of shared memory a block may ask for)", limits.smem_bytes));
  return list.text();
}

std::string plan_skeleton(const Signature& signature) { return Skeleton(signature).text(); }

}  // namespace kbench
