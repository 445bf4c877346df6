// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "ptx/scalar_forms.hpp"

// The executor against what a GPU of sm_90 gave for the same operands (golden_scalar.py).
namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;

/// What the GPU gave for one form: a hash of everything, and the first results.
struct Golden {
  std::string hash, values;
};

/// Results by signature and code, and the digest of the operands.
struct GoldenFile {
  std::map<std::string, Golden> forms;
  std::string operands;
};

GoldenFile read_golden() {
  GoldenFile golden;
  std::ifstream file(std::string(KBENCH_GOLDEN_SCALAR) + "/golden.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string signature, code;
    Golden one;
    std::getline(fields, signature, '\t');
    std::getline(fields, code, '\t');
    if (!std::getline(fields, one.hash, '\t')) {
      golden.operands = code;
      continue;
    }
    std::getline(fields, one.values, '\t');
    golden.forms[signature + "\t" + code] = one;
  }
  return golden;
}

class Digest {
 public:
  void add(u64 word) {
    value_ = (value_ ^ word) * 0x100000001b3ULL;
    value_ ^= value_ >> 29;
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  u64 value_ = 0xcbf29ce484222325ULL;
};

std::vector<u64> words_of(const Form& form, const std::vector<Result>& results) {
  std::vector<u64> words;
  for (const Result& r : results) {
    words.push_back(canonical(form.results[0], r.d));
    if (form.results.size() > 1) words.push_back(canonical(form.results[1], r.e));
  }
  return words;
}

std::string digest_of(const std::vector<u64>& words) {
  Digest digest;
  for (const u64 word : words) digest.add(word);
  return digest.text();
}

std::string operands_digest(const std::vector<Form>& forms) {
  Digest digest;
  for (const Form& form : forms) {
    const auto tuples = operands(form);
    for (std::size_t k = 0; k < 64; ++k) {
      for (const u64 word : {tuples[k].a, tuples[k].b, tuples[k].c, tuples[k].p}) digest.add(word);
    }
  }
  return digest.text();
}

std::vector<u64> parse_values(const std::string& text) {
  std::vector<u64> values;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    values.push_back(std::stoull(word, nullptr, 16));
  }
  return values;
}

/// Both are within the bound of the true value, so within twice the bound of each other. `a` is the
/// operand: sin and cos have a bound in [−π, π] alone.
bool agree(const Form& form, u64 a, u64 got, u64 want) {
  const std::string type = form.results[0];
  const long double x = value_of(type, got), y = value_of(type, want);
  if (form.how[0] == 's' && !(std::fabs(value_of(form.sources[0], a)) <= 3.1415926L)) return true;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  const int bits = std::stoi(form.how.substr(1));
  const long double bound = std::ldexp(2.0L, -bits);
  const long double tiny = type == "f64"             ? 0x1p-1022L
                           : type.starts_with("f16") ? 0x1p-23L
                                                     : 0x1p-126L;
  const bool absolute = form.how[0] != 'r', relative = form.how[0] == 'r' || form.how[0] == 'm';
  const long double difference = std::fabs(x - y);
  return (absolute && difference <= bound) ||
         (relative && difference <= bound * std::fabs(y) + tiny);
}

std::string approximate_difference(const Form& form, const std::vector<Result>& results,
                                   const std::vector<u64>& golden) {
  const auto tuples = operands(form);
  const bool packed = form.results[0].ends_with("x2");
  for (std::size_t k = 0; k < golden.size(); ++k) {
    const u64 got = results[k].d, want = golden[k];
    const bool same = packed ? agree(form, tuples[k].a & 0xffff, got & 0xffff, want & 0xffff) &&
                                   agree(form, tuples[k].a >> 16, got >> 16, want >> 16)
                             : agree(form, tuples[k].a, got, want);
    if (!same) {
      return fmt::format("{} with a={:x} b={:x} gives {:x}, the GPU {:x}", form.code, tuples[k].a,
                         tuples[k].b, got, want);
    }
  }
  return "";
}

/// Everything that the GPU gave for a form, where KBENCH_GOLDEN_FULL names the unpacked full.xz.
std::map<std::string, std::vector<Result>> read_full(const char* path) {
  std::map<std::string, std::vector<Result>> full;
  std::ifstream file(path, std::ios::binary);
  for (std::string name; std::getline(file, name);) {
    std::vector<Result> results(kTuples);
    file.read(reinterpret_cast<char*>(results.data()), kTuples * sizeof(Result));
    full[name] = results;
  }
  return full;
}

/// The first tuple that differs, as far as the dump tells.
std::string explain(const Form& form, const std::vector<Result>& results, const Golden& golden) {
  auto want = parse_values(golden.values);
  if (const char* path = std::getenv("KBENCH_GOLDEN_FULL")) {
    static const auto kFull = read_full(path);
    want = words_of(form, kFull.at(form.signature + "\t" + form.code));
  }
  const auto got = words_of(form, results);
  const auto tuples = operands(form);
  std::string text = fmt::format("{} {}:", form.signature, form.code);
  int shown = 0;
  for (std::size_t i = 0; i < want.size() && shown < 4; ++i) {
    if (got[i] == want[i]) continue;
    const std::size_t k = i / form.results.size();
    text += fmt::format(" [{}] a={:x} b={:x} c={:x} p={} gives {:x}, the GPU {:x};", k, tuples[k].a,
                        tuples[k].b, tuples[k].c, tuples[k].p & 3, got[i], want[i]);
    ++shown;
  }
  return text + (shown == 0 ? " beyond the results that are kept" : "");
}

TEST(ScalarGolden, the_executor_gives_what_the_gpu_gave) {
  const auto [golden, operands_then] = read_golden();
  if (golden.empty()) GTEST_SKIP() << "golden_scalar/golden.txt has not been recorded";
  auto forms = read_forms();
  std::erase_if(forms, [&](const Form& form) {
    return golden.find(form.signature + "\t" + form.code) == golden.end();
  });
  EXPECT_EQ(operands_then, operands_digest(forms)) << "golden.txt was recorded with other operands";
  EXPECT_EQ(forms.size(), golden.size()) << "golden.txt has forms that the table lacks";
  std::erase_if(forms, [](const Form& form) { return form.how == "refused"; });
  std::vector<std::string> refused;
  const auto results = run_forms(forms, false, refused);
  EXPECT_EQ(refused.size(), 0U);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Form& form = forms[i];
    const Golden& want = golden.at(form.signature + "\t" + form.code);
    if (!form.approximate()) {
      EXPECT_TRUE(digest_of(words_of(form, results[i])) == want.hash)
          << explain(form, results[i], want);
    } else {
      EXPECT_EQ(approximate_difference(form, results[i], parse_values(want.values)), "");
    }
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
