// SPDX-License-Identifier: MIT
#include "ptx/scalar_forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "kbench/ptx.hpp"
#include "ptx/scalar_oracle.hpp"

namespace kbench::ptx::testing {
namespace {

std::vector<Form> forms_with(const std::string& how) {
  auto forms = read_forms();
  std::erase_if(forms, [&](const Form& form) { return form.how != how; });
  return forms;
}

std::optional<Result> oracle(const Form& form, const Tuple& t) {
  for (const auto& family : {video_oracle, integer_oracle, float_oracle, convert_oracle,
                             compare_oracle, move_oracle, bit_oracle}) {
    if (auto result = family(form, t)) return result;
  }
  return std::nullopt;
}

/// The first tuple whose result differs from the oracle's; empty where none does.
std::string difference(const Form& form, const std::vector<Result>& results, bool divergent) {
  const auto tuples = operands(form);
  for (std::size_t k = 0; k < kTuples; ++k) {
    const Tuple& t = tuples[k];
    auto want = oracle(form, t);
    if (!want) return form.code + ": the oracle does not know this form";
    if (divergent && k % 4 == 3) want = Result{};
    want->d = canonical(form.results[0], want->d);
    if (form.results.size() > 1) want->e = canonical(form.results[1], want->e);
    const Result got{canonical(form.results[0], results[k].d),
                     form.results.size() > 1 ? canonical(form.results[1], results[k].e) : 0};
    if (got.d == want->d && got.e == want->e) continue;
    return fmt::format("{} with a={:x} b={:x} c={:x} p={} gives {:x} {:x}, not {:x} {:x}{}",
                       form.code, t.a, t.b, t.c, t.p & 3, got.d, got.e, want->d, want->e,
                       divergent ? " (divergent)" : "");
  }
  return "";
}

TEST(ScalarForms, exact_ones_equal_the_oracle) {
  const auto forms = forms_with("exact");
  EXPECT_GT(forms.size(), 2600U);
  for (const bool divergent : {false, true}) {
    std::vector<std::string> refused;
    const auto results = run_forms(forms, divergent, refused);
    for (const auto& one : refused) ADD_FAILURE() << one;
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (results[i].empty()) continue;
      const std::string text = difference(forms[i], results[i], divergent);
      EXPECT_EQ(text, "") << forms[i].signature;
    }
  }
}

TEST(ScalarForms, some_are_refused_by_name) {
  const auto forms = forms_with("refused");
  ASSERT_FALSE(forms.empty());
  for (const Form& form : forms) {
    const auto loaded = load(module_text({form}, false));
    const auto* unsupported = std::get_if<Unsupported>(&loaded);
    ASSERT_NE(unsupported, nullptr) << form.code;
    EXPECT_TRUE(form.code.starts_with(unsupported->instruction)) << unsupported->instruction;
  }
}

}  // namespace
}  // namespace kbench::ptx::testing
