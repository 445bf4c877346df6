// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "compile/headers/compatibility_headers.hpp"
#include "compile/split/halves.hpp"
#include "compile/split/lambda.hpp"
#include "compile/split/names.hpp"

namespace kbench {
namespace {

using Kind = SourceItem::Kind;

constexpr std::string_view kBothSpaces = "__host__ __device__ ";

/// cub's headers for one block or warp algorithm each; NVRTC cannot read the whole <cub/cub.cuh>.
struct CubHeader {
  std::string_view name, header;
};
constexpr CubHeader kCubHeaders[] = {
    {"BlockReduce", "cub/block/block_reduce.cuh"},
    {"BlockScan", "cub/block/block_scan.cuh"},
    {"BlockLoad", "cub/block/block_load.cuh"},
    {"BlockStore", "cub/block/block_store.cuh"},
    {"BlockExchange", "cub/block/block_exchange.cuh"},
    {"BlockRadixSort", "cub/block/block_radix_sort.cuh"},
    {"BlockMergeSort", "cub/block/block_merge_sort.cuh"},
    {"BlockHistogram", "cub/block/block_histogram.cuh"},
    {"BlockDiscontinuity", "cub/block/block_discontinuity.cuh"},
    {"BlockShuffle", "cub/block/block_shuffle.cuh"},
    {"WarpReduce", "cub/warp/warp_reduce.cuh"},
    {"WarpScan", "cub/warp/warp_scan.cuh"},
    {"WarpMergeSort", "cub/warp/warp_merge_sort.cuh"},
    {"WarpExchange", "cub/warp/warp_exchange.cuh"},
};

bool is_compatibility_header(std::string_view header) {
  const auto rows = compatibility_headers();
  return std::any_of(rows.begin(), rows.end(),
                     [header](const CompatibilityHeader& compatibility_header) {
                       return compatibility_header.name == header;
                     });
}

bool names(const SourceTokens& tokens, bool (*matches)(std::string_view)) {
  return std::any_of(tokens.begin(), tokens.end(), [matches](const SourceToken& token) {
    return token.is_identifier() && matches(token.text);
  });
}

bool is_half_name(std::string_view word) {
  if (word.starts_with("AT_DISPATCH")) {
    return word.find("HALF") != std::string_view::npos ||
           word.find("BFLOAT16") != std::string_view::npos ||
           word.find("_AND") != std::string_view::npos || word == "AT_DISPATCH_SWITCH";
  }
  return word == "Half" || word == "kHalf" || word == "kFloat16" || word == "BFloat16" ||
         word == "kBFloat16";
}

bool is_torch_device_name(std::string_view word) {
  return word.find("TensorAccessor") != std::string_view::npos || word == "packed_accessor32" ||
         word == "packed_accessor64" || word == "RestrictPtrTraits" || word == "acc_type" ||
         word == "opmath_type" || word == "CUDA_KERNEL_LOOP" || word == "CUDA_KERNEL_ASSERT" ||
         word == "gpuAtomicAdd" || word == "compat" || word == "ceil_div" ||
         word == "CUtensorMap" || word == "numeric_limits" || word.starts_with("WARP_SHFL") ||
         word.starts_with("C10_");
}

void keep_device_headers(const SourceTokens& tokens, Rewriter& rewriter) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_directive()) continue;
    const std::string header = included_header(tokens[i]);
    if (header.empty()) {
      const bool is_include = directive_name(tokens[i]) == "include";
      if (is_include) rewriter.drop(i, i + 1);
    } else if (header == "cub/cub.cuh" ||
               (!is_device_header(header) && !is_compatibility_header(header))) {
      rewriter.drop(i, i + 1);
    }
  }
}

/// The #includes that replace <cub/cub.cuh>.
std::string cub_includes(const SourceTokens& tokens) {
  const bool is_whole = std::any_of(tokens.begin(), tokens.end(), [](const SourceToken& token) {
    return token.is_directive() && included_header(token) == "cub/cub.cuh";
  });
  std::string made;
  if (!is_whole) return made;
  for (const CubHeader& row : kCubHeaders) {
    const bool is_used =
        std::any_of(tokens.begin(), tokens.end(),
                    [&row](const SourceToken& token) { return token.is(row.name); });
    if (is_used) made += fmt::format("#include <{}>\n", row.header);
  }
  return made;
}

bool is_defaulted(const SourceText& text, const SourceItem& function) {
  for (std::size_t i = function.close; i < function.end; ++i) {
    if (text.is(i, "default") || text.is(i, "delete")) return function.body == kNoToken;
  }
  return false;
}

void drop_static(const SourceText& text, const SourceItem& item, Rewriter& rewriter) {
  for (std::size_t i = item.begin; i < std::min(item.end, item.open); ++i) {
    if (text.is(i, "{") || text.is(i, "=")) return;
    if (text.is(i, "static")) rewriter.drop(i, i + 1);
  }
}

class DeviceCode {
 public:
  DeviceCode(const SourceUnit& unit, Rewriter& rewriter) : unit_(unit), rewriter_(rewriter) {}
  void name_namespaces(const std::vector<SourceItem>& items);
  void write(const PlacedItem& placed);

 private:
  void function(const SourceItem& item);
  void type(const SourceItem& item);
  void plain_lambdas(const SourceItem& item);
  const SourceUnit& unit_;
  Rewriter& rewriter_;
};

/// Turns unnamed namespaces into named inline ones, so that name expressions find their kernels.
void DeviceCode::name_namespaces(const std::vector<SourceItem>& items) {
  for (const SourceItem& item : items) {
    if (item.is(Kind::kNamespace) && item.name.empty()) {
      rewriter_.replace(item.specifiers, "inline namespace kbench_unnamed");
    }
    if (item.is(Kind::kNamespace) || item.is(Kind::kLinkage)) name_namespaces(item.members);
  }
}

void DeviceCode::function(const SourceItem& item) {
  if (item.is_global) return drop_static(unit_.text, item, rewriter_);
  if (item.is_device || item.is_host || is_defaulted(unit_.text, item)) return;
  rewriter_.insert_before(item.specifiers, std::string(kBothSpaces));
}

void DeviceCode::type(const SourceItem& item) {
  for (const SourceItem& member : item.members) {
    if (is_host_member(unit_, member)) {
      rewriter_.drop(member.begin, member.end);
    } else if (member.is(Kind::kFunction)) {
      function(member);
    } else if (member.is(Kind::kType)) {
      type(member);
    }
  }
}

/// Removes __device__ and __host__ from lambdas. In device code all lambdas are device lambdas, and
/// NVRTC accepts these words only with an extra option.
void DeviceCode::plain_lambdas(const SourceItem& item) {
  for (std::size_t i = item.begin; i < item.end; ++i) {
    i = find_device_lambda(unit_.text, i, item.end);
    if (i == kNoToken) return;
    for (std::size_t at = unit_.text.after_group(i); unit_.text[at].text.starts_with("__"); ++at) {
      rewriter_.drop(at, at + 1);
    }
  }
}

void DeviceCode::write(const PlacedItem& placed) {
  const SourceItem& item = *placed.item;
  if (!placed.in_device) return rewriter_.drop(item.begin, item.end);
  plain_lambdas(item);
  if (item.is(Kind::kFunction)) function(item);
  if (item.is(Kind::kType)) type(item);
  if (item.is(Kind::kVariable) && item.has_space()) drop_static(unit_.text, item, rewriter_);
}

}  // namespace

std::string device_code(const SourceUnit& unit, const std::vector<PlacedItem>& items,
                        Rewriter& rewriter) {
  const SourceTokens& tokens = unit.text.tokens;
  keep_device_headers(tokens, rewriter);
  DeviceCode half(unit, rewriter);
  half.name_namespaces(unit.items);
  for (const PlacedItem& item : items) half.write(item);
  std::string head;
  if (names(tokens, is_half_name)) head += "#include <kbench/torch_half.h>\n";
  if (names(tokens, is_torch_device_name)) head += "#include <kbench/torch.h>\n";
  return head + cub_includes(tokens) + first_line_directive(unit) + rewriter.text();
}

}  // namespace kbench
