// SPDX-License-Identifier: MIT
#include "ptx/scalar_forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "ptx/nvrtc_helper.hpp"

namespace kbench::ptx::testing {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::ifstream data_file(const char* name) {
  std::ifstream file(std::string(KBENCH_GOLDEN_SCALAR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  return file;
}

/// Name of the instruction that the form is about.
std::vector<std::string> instruction_name(const std::string& code) {
  std::string text = code;
  for (const char* before : {"and.b32 %b, %b, 31; ", "mov.b32 %d, 0; "}) {
    if (text.starts_with(before)) text = text.substr(std::string(before).size());
  }
  return split(text.substr(0, text.find(' ')), '.');
}

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

const std::vector<std::uint64_t>& edges(const std::string& kind) {
  static const auto kEdges = [] {
    std::map<std::string, std::vector<std::uint64_t>> all;
    auto file = data_file("edges.txt");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name, word;
      words >> name;
      while (words >> word) all[name].push_back(std::stoull(word, nullptr, 16));
    }
    return all;
  }();
  return kEdges.at(kind);
}

struct FloatLayout {
  unsigned mantissa, exponent;
};
FloatLayout layout(const std::string& type) {
  if (type.starts_with("f16")) return {10, 5};
  if (type.starts_with("bf16")) return {7, 8};
  if (type == "f64") return {52, 11};
  return {23, 8};
}

bool packed(const std::string& type) { return type.ends_with("x2") && type.find('f') < 2; }
bool floating(const std::string& type) { return type.find('f') != std::string::npos; }

/// One operand from a random word: an edge, any bits, or a moderate value.
std::uint64_t pick_operand(const std::string& type, unsigned bits, std::uint64_t random) {
  const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  const std::uint64_t more = mix(random);
  const std::string kind = floating(type) ? type : std::to_string(bits);
  const auto& list = edges(kind);
  if ((random & 3) < 2) return list[(random >> 8) % list.size()];
  if ((random & 3) == 2) return more & mask;
  if (!floating(type)) return (more & mask) >> ((random >> 8) % bits);
  const auto [mantissa, exponent] = layout(type);
  const std::uint64_t bias = (1ULL << (exponent - 1)) - 1;
  const std::uint64_t range = (random >> 8) & 1 ? (exponent == 5 ? 14 : 62) : 8;
  const std::uint64_t power = bias - 4 + (random >> 16) % range;
  const std::uint64_t keep = ~0ULL << ((random >> 32) % mantissa);  // halves and short values, too
  return ((more & keep & ((1ULL << mantissa) - 1)) | (power << mantissa) |
          ((random >> 40 & 1) << (mantissa + exponent))) &
         mask;
}

std::uint64_t operand(const std::string& type, std::uint64_t position, std::uint64_t k) {
  const std::uint64_t random = mix((position << 32) | k);
  if (!packed(type)) return pick_operand(type, width(type), random);
  const std::string half = type.substr(0, type.size() - 2);
  return pick_operand(half, 16, random) | (pick_operand(half, 16, mix(random ^ 77)) << 16);
}

std::string kernel_text(const Form& form, std::size_t index, bool divergent) {
  std::string text = fmt::format(
      ".visible .entry f{}(.param .u64 in, .param .u64 out) {{\n.reg .pred %p, %q, %z;\n"
      ".reg .b32 %i, %n; .reg .b64 %at, %to;\n"
      "mov.u32 %i, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %i, 128, %n;\n"
      "ld.param.u64 %at, [in]; mad.wide.u32 %at, %i, 32, %at;\n"
      "ld.param.u64 %to, [out]; mad.wide.u32 %to, %i, 16, %to;\n",
      index);
  const auto each = [](const std::vector<std::string>& types, char first, auto&& f) {
    for (std::size_t j = 0; j < types.size(); ++j) {
      f(width(types[j]), static_cast<char>(first + static_cast<char>(j)), j);
    }
  };
  each(form.results, 'd', [&](unsigned bits, char name, std::size_t) {
    text += fmt::format(".reg .b{} %{};\n", bits, name);
  });
  each(form.sources, 'a', [&](unsigned bits, char name, std::size_t j) {
    text += fmt::format(".reg .b{0} %{1}; ld.global.b{0} %{1}, [%at+{2}];\n", bits, name, 8 * j);
  });
  text +=
      "ld.global.u32 %n, [%at+24]; and.b32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
      "ld.global.u32 %n, [%at+24]; and.b32 %n, %n, 2; setp.ne.u32 %q, %n, 0;\n";
  if (divergent) text += "and.b32 %n, %i, 3; setp.eq.u32 %z, %n, 3; @%z bra DONE;\n";
  text += form.code + "\n";
  each(form.results, 'd', [&](unsigned bits, char name, std::size_t j) {
    text += fmt::format("st.global.b{} [%to+{}], %{};\n", bits, 8 * j, name);
  });
  return text + "DONE: ret; }\n";
}

std::vector<Result> run_kernel(Module& module, const std::string& name, std::vector<Tuple> in) {
  std::vector<Result> out(in.size());
  Launch launch;
  launch.kernel = name;
  launch.block = {128, 1, 1};
  launch.grid = {static_cast<std::uint32_t>(in.size() / 128), 1, 1};
  launch.arguments = arguments(in.data(), out.data());
  Options options;
  options.threads = 1;
  const auto region = [](auto& v, const char* what) {
    return Region{what, reinterpret_cast<std::byte*>(v.data()), v.size() * sizeof(v[0]), 0, 0,
                  true};
  };
  run(module, launch, {region(in, "in"), region(out, "out")}, options);
  return out;
}

}  // namespace

bool Form::has(const std::string& modifier) const {
  return std::find(name.begin() + 1, name.end(), modifier) != name.end();
}

std::vector<Form> read_forms() {
  std::vector<Form> forms;
  auto file = data_file("forms.txt");
  for (std::string line; std::getline(file, line);) {
    const auto fields = split(line, '\t');
    const auto sides = split(fields.at(0), '=');
    forms.push_back({fields[0], fields.at(1), fields.at(2), split(sides.at(0), ','),
                     split(sides.at(1), ','), instruction_name(fields[2])});
  }
  return forms;
}

unsigned width(const std::string& type) {
  if (type == "f16" || type == "bf16" || type == "e4m3x2" || type == "e5m2x2") return 16;
  if (type.ends_with("x2") || type == "tf32") return 32;
  return static_cast<unsigned>(std::stoul(type.substr(1)));
}

std::vector<Tuple> operands(const Form& form) {
  std::vector<Tuple> tuples(kTuples);
  for (std::size_t k = 0; k < kTuples; ++k) {
    Tuple& t = tuples[k];
    std::uint64_t* const slots[] = {&t.a, &t.b, &t.c};
    for (std::size_t j = 0; j < form.sources.size(); ++j) {
      // Equal operands are an edge, too.
      const bool equal = j == 1 && k % 16 == 5 && form.sources[0] == form.sources[1];
      *slots[j] = operand(form.sources[j], equal ? 0 : j, k);
    }
    t.p = mix((std::uint64_t{3} << 32) | k) >> 20;
  }
  return tuples;
}

std::string module_text(const std::vector<Form>& forms, bool divergent) {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n";
  for (std::size_t i = 0; i < forms.size(); ++i) text += kernel_text(forms[i], i, divergent);
  return text;
}

std::vector<std::vector<Result>> run_forms(const std::vector<Form>& forms, bool divergent,
                                           std::vector<std::string>& refused) {
  std::vector<std::vector<Result>> results(forms.size());
  constexpr std::size_t kChunk = 64;
  for (std::size_t first = 0; first < forms.size();) {
    const std::size_t last = std::min(forms.size(), first + kChunk);
    std::vector<Form> chunk(forms.begin() + static_cast<std::ptrdiff_t>(first),
                            forms.begin() + static_cast<std::ptrdiff_t>(last));
    auto loaded = load(module_text(chunk, divergent));
    if (const auto* bad = std::get_if<Unsupported>(&loaded)) {
      // One form that is missing must not hide the others: each alone.
      if (chunk.size() == 1) {
        refused.push_back(
            fmt::format("{} {}: {}", chunk[0].signature, chunk[0].code, bad->message));
      } else {
        for (std::size_t i = 0; i < chunk.size(); ++i) {
          results[first + i] = run_forms({chunk[i]}, divergent, refused).at(0);
        }
      }
      first = last;
      continue;
    }
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      results[first + i] =
          run_kernel(std::get<Module>(loaded), fmt::format("f{}", i), operands(chunk[i]));
    }
    first = last;
  }
  return results;
}

std::vector<Result> run_form(const Form& form, const std::vector<Tuple>& tuples) {
  auto loaded = load(module_text({form}, false));
  return run_kernel(std::get<Module>(loaded), "f0", tuples);
}

std::uint64_t canonical(const std::string& type, std::uint64_t bits) {
  const auto one = [](const std::string& t, std::uint64_t x) {
    const auto [mantissa, exponent] = layout(t);
    const std::uint64_t magnitude = x & ((1ULL << (mantissa + exponent)) - 1);
    const std::uint64_t infinity = ((1ULL << exponent) - 1) << mantissa;
    return magnitude > infinity ? (1ULL << (mantissa + exponent)) - 1 : x;
  };
  if (!floating(type) || type.starts_with('e')) return bits;
  if (!packed(type)) return one(type, bits);
  return one(type, bits & 0xffff) | (one(type, bits >> 16) << 16);
}

long double value_of(const std::string& type, std::uint64_t bits) {
  const auto [mantissa, exponent] = layout(type);
  const auto fraction = bits & ((1ULL << mantissa) - 1);
  const auto power = static_cast<int>((bits >> mantissa) & ((1ULL << exponent) - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  long double magnitude = 0;
  if (power == 2 * bias + 1) {
    magnitude = fraction != 0 ? NAN : INFINITY;
  } else {
    const auto whole = static_cast<long double>(fraction | (power == 0 ? 0 : 1ULL << mantissa));
    magnitude = std::ldexp(whole, std::max(power, 1) - bias - static_cast<int>(mantissa));
  }
  return (bits >> (mantissa + exponent)) & 1 ? -magnitude : magnitude;
}

}  // namespace kbench::ptx::testing
