// SPDX-License-Identifier: MIT
#include "ptx/scalar_forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kbench/ptx.hpp"

namespace kbench::ptx::testing {
namespace {

TEST(ScalarForms, all_are_implemented) {
  auto forms = read_forms();
  std::erase_if(forms, [](const Form& form) { return form.how == "refused"; });
  EXPECT_GT(forms.size(), 2600U);
  std::vector<std::string> refused;
  run_forms(forms, false, refused);
  for (const auto& one : refused) ADD_FAILURE() << one;
}

TEST(ScalarForms, some_are_refused_by_name) {
  auto forms = read_forms();
  std::erase_if(forms, [](const Form& form) { return form.how != "refused"; });
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
