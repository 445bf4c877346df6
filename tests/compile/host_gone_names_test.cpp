// SPDX-License-Identifier: MIT
// Names that torch has no more: each row of the table stands for an error that compilers make.
#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "compile/host/diagnostics.hpp"
#include "compile/host/gone_names.hpp"
#include "compile/host_fixture.hpp"

namespace kbench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class HostGoneNames : public HostCompileTest {};

std::string function(const std::string& name, const std::string& statement) {
  return "torch::Tensor " + name + "(torch::Tensor x) {\n  " + statement + "\n  return x;\n}\n";
}

std::string dispatched_by(const std::string& what) {
  return "AT_DISPATCH_FLOATING_TYPES(" + what + ", \"f\", ([&] { x.data_ptr<scalar_t>(); }));";
}

/// Where one source has an error for want of each name.
std::map<std::string, std::string> statements() {
  return {
      {"DeprecatedTypeProperties ScalarType", dispatched_by("x.type()")},
      {"DeprecatedTypeProperties ", "auto y = x.type().tensor({1});"},
      {"TypeMeta ScalarType", dispatched_by("x.dtype()")},
      {"AT_CHECK ", "AT_CHECK(x.is_contiguous(), \"x must be contiguous\");"},
      {"THCudaCheck ", "THCudaCheck(0);"},
      {"THCState ", "extern THCState* state;"},
      {"THCState_getCurrentStream ", "auto s = THCState_getCurrentStream(nullptr);"},
      {"getTHCState ", "auto* s = at::globalContext().getTHCState();"},
  };
}

bool is_header(const GoneName& row) { return row.words[0].ends_with(".h"); }

TEST_F(HostGoneNames, EachFailsToCompileAndSaysWhatToWriteInstead) {
  auto known = statements();
  std::string source = "#include <torch/extension.h>\n";
  for (const auto& [name, statement] : known)
    source += function("f" + std::to_string(source.size()), statement);
  const HostRequest asked = request(source, "");
  const std::string log = must_fail(asked).log;
  for (const GoneName& row : gone_names()) {
    if (is_header(row)) continue;
    const std::string name = std::string(row.words[0]) + " " + std::string(row.words[1]);
    EXPECT_EQ(known.erase(name), 1u) << "no statement for " << name;
    std::vector<std::string> messages;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);)
      if (line.find(row.words[0]) != std::string::npos)
        messages.push_back(diagnose_host(line + "\n", asked).message);
    EXPECT_THAT(messages, Contains(AllOf(HasSubstr(row.instead), HasSubstr("main.cpp, line "))))
        << name;
  }
  EXPECT_TRUE(known.empty());
}

TEST_F(HostGoneNames, AHeaderEndsTheCompileAndSaysWhichToTakeInstead) {
  for (const GoneName& row : gone_names()) {
    if (!is_header(row)) continue;
    const std::string header(row.words[0]);
    const CompileError error = must_fail(request(
        "#include <torch/extension.h>\n#include <" + header + ">\n" + function("forward", ""), ""));
    EXPECT_THAT(error.message, AllOf(HasSubstr(row.instead), HasSubstr("main.cpp, line ")));
  }
}

TEST(GoneNames, AreThoseOfAnErrorAndNoOthers) {
  const HostRequest nothing;
  const auto said = [&](const std::string& error) {
    return diagnose_host("a.cu:1:1: error: " + error + "\n", nothing).message;
  };
  EXPECT_THAT(said("\xE2\x80\x98"
                   "AT_CHECK\xE2\x80\x99 was not declared in this scope"),
              HasSubstr("TORCH_CHECK"));
  EXPECT_THAT(said("identifier \"AT_CHECK\" is undefined"), HasSubstr("TORCH_CHECK"));
  // Of clang 16, which leaves the namespace out.
  EXPECT_THAT(said("no viable conversion from 'const DeprecatedTypeProperties' to "
                   "'torch::headeronly::ScalarType'"),
              HasSubstr("scalar_type()"));
  EXPECT_EQ(instead_of_gone("use of undeclared identifier 'MY_AT_CHECK'"), "");
  EXPECT_EQ(instead_of_gone("use of undeclared identifier 'x'"), "");
  EXPECT_FALSE(may_need_heavy(
      "a.cu:1:1: error: no viable conversion from 'const at::DeprecatedTypeProperties' to "
      "'torch::headeronly::ScalarType'\n"));
}

}  // namespace
}  // namespace kbench
