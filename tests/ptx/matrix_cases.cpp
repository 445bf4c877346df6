// SPDX-License-Identifier: MIT
#include "ptx/matrix_cases.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

/// A floating format: bits of its fields and bias.
struct Format {
  unsigned bits = 0, mantissa = 0;
  int bias = 0;
  unsigned exponents() const { return 1U << (bits - 1 - mantissa); }
};

const Format* format_of(const std::string& type) {
  static const std::map<std::string, Format> kFormats{
      {"f16", {16, 10, 15}},  {"bf16", {16, 7, 127}}, {"tf32", {32, 23, 127}},
      {"f32", {32, 23, 127}}, {"e4m3", {8, 3, 7}},    {"e5m2", {8, 2, 15}},
      {"f64", {64, 52, 1023}}};
  const auto found = kFormats.find(type);
  return found == kFormats.end() ? nullptr : &found->second;
}

/// splitmix64
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t special(const Format& f, std::uint64_t choice) {
  const std::uint64_t top = std::uint64_t{f.exponents() - 1} << f.mantissa;
  const std::array<std::uint64_t, 6> values{
      0,
      top,
      f.bits == 8 && f.mantissa == 3 ? top | 7 : top | (1ULL << (f.mantissa - 1)),
      1,
      (1ULL << f.mantissa) - 1,
      1ULL << f.mantissa};
  return values[choice % 6] | ((choice / 6 % 2) << (f.bits - 1));
}

std::uint64_t element(const Format& f, MatrixInputs inputs, std::uint64_t random) {
  const std::uint64_t mantissa = random & ((1ULL << f.mantissa) - 1);
  const std::uint64_t sign = (random >> 63) << (f.bits - 1);
  const std::uint64_t choice = (random >> 52) & 0x7ffU;
  if (inputs == MatrixInputs::kZeros) return sign;
  if (inputs == MatrixInputs::kSpecial && choice % 16 == 0) return special(f, choice / 16);
  std::uint64_t exponent = static_cast<std::uint64_t>(f.bias) - 2 + choice % 4;
  if (inputs == MatrixInputs::kWide) {
    // Half of the range where sums of products would always overflow, all of it in short formats.
    const unsigned all = f.exponents() - 2;
    const unsigned span = f.bias > 15 ? all / 4 : all;
    exponent = 1 + (all - span) / 2 + choice % span;
  }
  return sign | (exponent << f.mantissa) | mantissa;
}

std::vector<std::uint32_t> words(const std::string& type, unsigned registers, MatrixInputs inputs,
                                 std::uint64_t& state) {
  const unsigned bits = matrix_bits(type);
  const Format* format = format_of(type);
  std::vector<std::uint32_t> out;
  for (unsigned i = 0; i < registers * 32; ++i) {
    std::uint64_t word = 0;
    for (unsigned at = 0; at < 32 || at < bits; at += format == nullptr ? 32 : bits) {
      const std::uint64_t random = next(state);
      word |= (format == nullptr ? random >> 32 : element(*format, inputs, random)) << at;
    }
    out.push_back(static_cast<std::uint32_t>(word));
    if (bits == 64) out.push_back(static_cast<std::uint32_t>(word >> 32));
  }
  return out;
}

/// Every other lane holds the negated elements of its neighbour (a), or the same up to the last
/// bit (b), so that products along k cancel.
void cancel(const std::string& type, std::vector<std::uint32_t>& out, bool negate) {
  const unsigned bits = matrix_bits(type);
  if (format_of(type) == nullptr) return;
  std::uint32_t flipped = 0;
  for (unsigned at = 0; at < 32 && bits < 64; at += bits) {
    const unsigned last = type == "tf32" ? 13 : 0;
    flipped |= 1U << (at + (negate ? bits - 1 : last));
  }
  const std::size_t step = bits == 64 ? 2 : 1;
  for (std::size_t i = 0; i + step < out.size(); i += 2 * step) {
    if (bits == 64) {
      out[i + 2] = negate ? out[i] : out[i] ^ 1U;
      out[i + 3] = negate ? out[i + 1] ^ 0x80000000U : out[i + 1];
    } else {
      out[i + 1] = out[i] ^ flipped;
    }
  }
}

unsigned number_after(const std::string& text, char letter) {
  unsigned m = 0, n = 0, k = 0;
  const std::size_t at = text.find(".m") + 1;
  if (std::sscanf(text.c_str() + at, "m%un%uk%u", &m, &n, &k) != 3) return 0;
  return letter == 'm' ? m : letter == 'n' ? n : k;
}

std::string list(char letter, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", letter, i);
  return text + "}";
}

}  // namespace

unsigned matrix_bits(const std::string& type) {
  if (const Format* format = format_of(type)) return format->bits;
  if (type == "s32") return 32;
  return static_cast<unsigned>(std::atoi(type.c_str() + 1));
}

std::vector<std::string> MatrixInstruction::types() const {
  std::vector<std::string> found;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '.');) {
    const bool integer = part.size() >= 2 && (part[0] == 's' || part[0] == 'u' || part[0] == 'b') &&
                         std::isdigit(part[1]) != 0;
    if (integer || format_of(part) != nullptr) found.push_back(part);
  }
  return found;
}

unsigned MatrixInstruction::m() const { return number_after(text, 'm'); }
unsigned MatrixInstruction::n() const { return number_after(text, 'n'); }
unsigned MatrixInstruction::k() const { return number_after(text, 'k'); }

std::vector<MatrixInstruction> matrix_instructions() {
  std::ifstream file(KBENCH_GOLDEN_MATRIX "/instructions.txt");
  std::vector<MatrixInstruction> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    MatrixInstruction row;
    std::istringstream(line) >> row.text >> row.d >> row.a >> row.b >> row.c;
    rows.push_back(row);
  }
  return rows;
}

MatrixOperands matrix_operands(const MatrixInstruction& instruction, MatrixInputs inputs,
                               std::uint64_t seed) {
  const auto types = instruction.types();
  MatrixOperands operands;
  std::uint64_t state = seed;
  operands.a = words(types[1], instruction.a, inputs, state);
  operands.b = words(types[2], instruction.b, inputs, state);
  operands.c = words(types[3], instruction.c, inputs, state);
  if (inputs == MatrixInputs::kCancelling) {
    cancel(types[1], operands.a, true);
    cancel(types[2], operands.b, false);
  }
  return operands;
}

namespace {

/// One block executes kernel k(d, a, b, c).
void run_block(const std::string& ptx, std::vector<std::uint32_t>& d, MatrixOperands operands,
               unsigned threads, unsigned shared_bytes) {
  auto loaded = load(ptx);
  if (const auto* unsupported = std::get_if<Unsupported>(&loaded)) {
    ADD_FAILURE() << unsupported->instruction << ": " << unsupported->message;
    return;
  }
  const auto region = [](std::vector<std::uint32_t>& v, const char* name) {
    return Region{name, reinterpret_cast<std::byte*>(v.data()), v.size() * 4, 0, 0, true};
  };
  Launch launch;
  launch.kernel = "k";
  launch.block = {threads, 1, 1};
  launch.dynamic_shared_bytes = shared_bytes;
  launch.arguments = arguments(d.data(), operands.a.data(), operands.b.data(), operands.c.data());
  run(std::get<Module>(loaded), launch,
      {region(d, "d"), region(operands.a, "a"), region(operands.b, "b"), region(operands.c, "c")});
}

std::string head(unsigned bytes) {
  return fmt::format(
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, "
      ".param .u64 k_param_1, .param .u64 k_param_2, .param .u64 k_param_3) {{\n"
      ".reg .b{} %a<9>, %b<9>, %c<9>, %d<9>;\n.reg .b32 %lane; .reg .b64 %at;\n"
      "mov.u32 %lane, %tid.x;\n",
      8 * bytes);
}

}  // namespace

std::string matrix_ptx(const MatrixInstruction& instruction) {
  const unsigned bytes = instruction.wide() ? 8 : 4;
  std::string body;
  const auto each = [&](char letter, unsigned count, int index, bool store) {
    body += fmt::format("ld.param.u64 %at, [k_param_{}]; mad.wide.u32 %at, %lane, {}, %at;\n",
                        index, bytes);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned offset = i * 32 * bytes;
      body += store ? fmt::format("st.global.b{} [%at+{}], %{}{};\n", 8 * bytes, offset, letter, i)
                    : fmt::format("ld.global.b{} %{}{}, [%at+{}];\n", 8 * bytes, letter, i, offset);
    }
  };
  each('a', instruction.a, 1, false);
  each('b', instruction.b, 2, false);
  each('c', instruction.c, 3, false);
  body += fmt::format("{} {}, {}, {}, {};\n", instruction.text, list('d', instruction.d),
                      list('a', instruction.a), list('b', instruction.b), list('c', instruction.c));
  each('d', instruction.d, 0, true);
  return head(bytes) + body + "ret; }\n";
}

std::vector<std::uint32_t> run_matrix(const MatrixInstruction& instruction,
                                      const MatrixOperands& operands) {
  std::vector<std::uint32_t> d(std::size_t{instruction.d} * 32 * (instruction.wide() ? 2 : 1));
  run_block(matrix_ptx(instruction), d, operands, 32, 0);
  return d;
}

std::vector<std::uint32_t> run_matrix_layout(const std::string& text, std::size_t words) {
  const unsigned bytes = text.ends_with("f64") ? 8 : 4;
  const auto count = static_cast<unsigned>(words * 4 / bytes / 32);
  std::string ptx =
      head(bytes) + "ld.param.u64 %at, [k_param_1];\n" +
      fmt::format("{} {}, [%at];\n", text, list('d', count)) +
      fmt::format("ld.param.u64 %at, [k_param_0]; mad.wide.u32 %at, %lane, {}, %at;\n", bytes);
  for (unsigned i = 0; i < count; ++i) {
    ptx += fmt::format("st.global.b{} [%at+{}], %d{};\n", 8 * bytes, i * 32 * bytes, i);
  }
  MatrixOperands operands;
  std::uint64_t state = 1;
  for (unsigned i = 0; i < 512; ++i) {
    operands.a.push_back(static_cast<std::uint32_t>(next(state) >> 32));
  }
  operands.b = operands.c = {0};
  std::vector<std::uint32_t> d(words);
  run_block(ptx + "ret; }\n", d, operands, 32, 0);
  return d;
}

namespace {

std::string wgmma_ptx(const std::string& text, const std::vector<std::string>& types,
                      const WgmmaLayout& l, unsigned count) {
  const std::uint64_t a = std::uint64_t{l.leading >> 4} << 16 | std::uint64_t{l.stride >> 4} << 32 |
                          std::uint64_t{l.mode} << 62;
  std::string literals = types[0] == "s32" ? "" : ", 1, 1";
  if (matrix_bits(types[1]) == 16) literals += fmt::format(", {}, {}", l.trans_a, l.trans_b);
  std::string loads, stores;
  for (unsigned i = 0; i < count; ++i) {
    loads += fmt::format("ld.global.b32 %d{}, [%cp+{}];\n", i, 512 * i);
    stores += fmt::format("st.global.b32 [%dp+{}], %d{};\n", 512 * i, i);
  }
  return fmt::format(
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2, "
      ".param .u64 k_param_3) {{\n"
      ".reg .b32 %d<{}>, %t, %i, %v; .reg .b64 %dp, %cp, %ip, %da, %db, %w; .reg .pred %p;\n"
      "mov.u32 %t, %tid.x;\n"
      "ld.param.u64 %dp, [k_param_0]; mad.wide.u32 %dp, %t, 4, %dp;\n"
      "ld.param.u64 %cp, [k_param_2]; mad.wide.u32 %cp, %t, 4, %cp;\n"
      "ld.param.u64 %ip, [k_param_1]; shl.b32 %i, %t, 2;\n"
      "COPY: cvt.u64.u32 %w, %i; add.u64 %w, %w, %ip; ld.global.b32 %v, [%w];\n"
      "st.shared.b32 [%i], %v; add.u32 %i, %i, 512; setp.lt.u32 %p, %i, 65536; @%p bra COPY;\n"
      "mov.u64 %da, {}; mov.u64 %db, {};\n{}"
      "fence.proxy.async; bar.sync 0; setp.eq.u32 %p, 0, 0; wgmma.fence.sync.aligned;\n"
      "{} {}, %da, %db, %p{};\n"
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n{}ret; }}\n",
      count, a, a + (32768 >> 4), loads, text, list('d', count), literals, stores);
}

}  // namespace

std::vector<std::uint32_t> run_wgmma(const std::string& text, const WgmmaLayout& layout,
                                     MatrixInputs inputs, std::size_t words_of_d) {
  const auto types = MatrixInstruction{text}.types();
  const auto count = static_cast<unsigned>(words_of_d / 128);
  std::uint64_t state = 1;
  MatrixOperands operands;
  operands.a = words(types[1], 256, inputs, state);
  const auto b = words(types[2], 256, inputs, state);
  operands.a.insert(operands.a.end(), b.begin(), b.end());
  operands.b = words(types[0], 4 * count, inputs, state);
  operands.c = {0};
  std::vector<std::uint32_t> d(words_of_d);
  run_block(wgmma_ptx(text, types, layout, count), d, operands, 128, 65536);
  return d;
}

}  // namespace kbench::ptx::testing
