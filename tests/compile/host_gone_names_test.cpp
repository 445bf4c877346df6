// SPDX-License-Identifier: MIT
// Names that torch has no more: each row of the table stands for an error that compilers make.
#include <gmock/gmock.h>

#include <map>

#include "compile/host/diagnostics.hpp"
#include "compile/host/gone_names.hpp"
#include "compile/host_fixture.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;

class HostGoneNames : public HostCompileTest {};

std::string in_forward(const std::string& statement) {
  return "#include <torch/extension.h>\ntorch::Tensor forward(torch::Tensor x) {\n  " + statement +
         "\n  return x;\n}\n";
}

std::string including(const std::string& header) {
  return "#include <torch/extension.h>\n#include <" + header + ">\n" + in_forward("");
}

/// A source that fails for want of each name.
std::map<std::string, std::string> samples() {
  const auto dispatched_by = [&](const std::string& what) {
    return in_forward("AT_DISPATCH_FLOATING_TYPES(" + what +
                      ", \"f\", ([&] { x.data_ptr<scalar_t>(); }));");
  };
  return {
      {"DeprecatedTypeProperties ScalarType", dispatched_by("x.type()")},
      {"DeprecatedTypeProperties ", in_forward("auto y = x.type().tensor({1});")},
      {"TypeMeta ScalarType", dispatched_by("x.dtype()")},
      {"AT_CHECK ", in_forward("AT_CHECK(x.is_contiguous(), \"x must be contiguous\");")},
      {"THCudaCheck ", in_forward("THCudaCheck(0);")},
      {"THCState ", "#include <torch/extension.h>\nextern THCState* state;\n" + in_forward("")},
      {"THCState_getCurrentStream ", in_forward("auto s = THCState_getCurrentStream(nullptr);")},
      {"getTHCState ", in_forward("auto* s = at::globalContext().getTHCState();")},
      {"THC/THC.h ", including("THC/THC.h")},
      {"THC/THCGeneral.h ", including("THC/THCGeneral.h")},
      {"ATen/cuda/CUDAGuard.h ", including("ATen/cuda/CUDAGuard.h")},
      {"ATen/cuda/CUDAStream.h ", including("ATen/cuda/CUDAStream.h")},
  };
}

TEST_F(HostGoneNames, EachFailsToCompileAndSaysWhatToWriteInstead) {
  auto sources = samples();
  for (const GoneName& row : gone_names()) {
    const std::string name = std::string(row.words[0]) + " " + std::string(row.words[1]);
    const auto source = sources.extract(name);
    ASSERT_FALSE(source.empty()) << "no source for " << name;
    const CompileError error = must_fail(request(source.mapped(), ""));
    EXPECT_THAT(error.message, HasSubstr(row.instead)) << name;
    EXPECT_THAT(error.message, HasSubstr("main.cpp, line ")) << name;
  }
  EXPECT_TRUE(sources.empty());
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
