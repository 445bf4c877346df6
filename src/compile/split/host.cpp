// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "compile/split/halves.hpp"
#include "compile/split/launch.hpp"
#include "compile/split/names.hpp"

namespace kbench {
namespace {

using Kind = SourceItem::Kind;

/// Empty namespaces of device libraries, because using directives in host code may name them.
constexpr std::string_view kHostHead = R"cuda(#define KBENCH_SPLIT_CUDACC 1
namespace cooperative_groups {}
namespace nvcuda { namespace wmma {} }
namespace cub {}
)cuda";

class HostCode {
 public:
  HostCode(const SourceText& text, Rewriter& rewriter) : text_(text), rewriter_(rewriter) {}
  void directives();
  void write(const PlacedItem& placed);

 private:
  void kernel(const SourceItem& item);
  std::string stub(const SourceItem& item);
  void declare(const SourceItem& item);
  void shadow(const SourceItem& item);
  void type(const SourceItem& item);

  const SourceText& text_;
  Rewriter& rewriter_;
};

/// The directive as nvcc's host pass reads it, with __CUDACC__ defined.
std::string with_cudacc(const SourceToken& directive) {
  std::string made = "#";
  for (const SourceToken& token : directive_tokens(directive)) {
    const bool is_nvcc = token.is("__CUDACC__") || token.is("__NVCC__");
    made += token.space + (is_nvcc ? "KBENCH_SPLIT_CUDACC" : token.text);
  }
  return made;
}

void HostCode::directives() {
  for (std::size_t i = 0; i < text_.tokens.size(); ++i) {
    const SourceToken& token = text_[i];
    if (!token.is_directive()) continue;
    const std::string header = included_header(token);
    if (!header.empty() && is_device_only_header(header)) rewriter_.drop(i, i + 1);
    if (is_conditional(token) && token.text.find("CC__") != std::string::npos) {
      rewriter_.replace(i, with_cudacc(token));
    }
    if (directive_name(token) == "define") rewrite_launches(text_, i, i + 1, rewriter_);
  }
}

/// A stub's body, which passes the addresses of the parameters on. Gives unnamed parameters a name.
std::string HostCode::stub(const SourceItem& item) {
  std::string arguments;
  int unnamed = 0;
  for (const SourceParameter& each : source_parameters(text_, item.open, item.close)) {
    std::string name = each.name == kNoToken ? "" : text_[each.name].text;
    if (name.empty()) {
      name = fmt::format("kb_{}", unnamed++);
      rewriter_.insert_after(each.declarator_end - 1, " " + name);
    }
    arguments += fmt::format("::kbench_split::argument({}){}, ", name, each.is_pack ? "..." : "");
  }
  // The last element is a filler, because an array cannot be empty.
  return fmt::format(
      " const ::kbench_split::Argument kb_arguments[] = {{{}{{}}}}; "
      "::kbench_split::launch_stub(kb_arguments, "
      "sizeof(kb_arguments) / sizeof(kb_arguments[0]) - 1);",
      arguments);
}

void HostCode::kernel(const SourceItem& item) {
  for (std::size_t i = item.open; i < item.close; ++i) {
    if (text_[i].is_directive() && is_conditional(text_[i])) {
      throw SplitRefusal{"conditional_parameters",
                         fmt::format("the parameters of {} depend on an #if", item.name),
                         text_[i].line};
    }
  }
  if (item.body == kNoToken) return;
  for (std::size_t i = item.body; i < item.body_end; ++i) {
    if (text_.is(i, "{")) text_.after_group(i);  // throws if an #if divides the braces
  }
  rewriter_.insert_before(item.specifiers, "__attribute__((noinline)) ");
  rewriter_.drop(item.body + 1, item.body_end);
  rewriter_.insert_after(item.body, stub(item));
}

/// Keeps only the declaration of a device function, because host code may name it.
void HostCode::declare(const SourceItem& item) {
  if (item.body == kNoToken) return;
  const std::size_t end = std::min(item.initializer, item.body);
  rewriter_.drop(end, item.end);
  rewriter_.insert_before(end, ";");
}

/// Makes a host variable whose address stands for that of the device variable.
void HostCode::shadow(const SourceItem& item) {
  for (std::size_t i = item.begin; i < item.end; ++i) {
    if (text_.is(i, "{") || text_.is(i, "=")) break;
    if (text_.is(i, "static") || text_.is(i, "extern") || text_.is(i, "inline")) {
      rewriter_.drop(i, i + 1);
    }
  }
  rewriter_.insert_before(item.specifiers, "static ");
  if (item.initializer == kNoToken || item.is_const || item.is_constexpr) return;
  if (item.names.size() > 1) return;
  for (std::size_t i = item.begin; i < item.initializer; ++i) {
    if (text_.is(i, "[") && text_.is(i + 1, "]")) return;  // the initializer sets the length
  }
  rewriter_.drop(item.initializer, item.end - 1);
}

void HostCode::type(const SourceItem& item) {
  for (const SourceItem& member : item.members) {
    if (member.is(Kind::kFunction) && is_device_only(member)) declare(member);
    if (member.is(Kind::kType)) type(member);
  }
}

void HostCode::write(const PlacedItem& placed) {
  const SourceItem& item = *placed.item;
  if (!placed.in_host) return rewriter_.drop(item.begin, item.end);
  if (item.is(Kind::kFunction) && item.is_global) return kernel(item);
  if (item.is(Kind::kFunction) && is_device_only(item)) return declare(item);
  if (item.is(Kind::kVariable) && item.has_space()) return shadow(item);
  if (item.is(Kind::kType)) type(item);
  rewrite_launches(text_, item.begin, item.end, rewriter_);
}

}  // namespace

std::string host_code(const SourceUnit& unit, const std::vector<PlacedItem>& items,
                      Rewriter& rewriter) {
  HostCode half(unit.text, rewriter);
  half.directives();
  for (const PlacedItem& item : items) half.write(item);
  return std::string(kHostHead) + first_line_directive(unit) + rewriter.text();
}

}  // namespace kbench
